//! The scripts' texts: the first line of each file (`#!lua`, flags), then the prelude, then the body.

use std::sync::LazyLock;

/// One script, ready to be called by its digest.
#[derive(Debug)]
pub struct Script {
    /// The verb.
    pub name: &'static str,
    text: String,
    inner: redis::Script,
}

impl Script {
    fn assemble(name: &'static str, file: &'static str) -> Self {
        let (shebang, body) = file.split_once('\n').unwrap_or((file, ""));
        let prelude = include_str!("../lua/prelude.lua").split_once('\n').map_or("", |(_, rest)| rest);
        let text = format!("{shebang}\n{prelude}\n{body}");
        let inner = redis::Script::new(&text);
        Self { name, text, inner }
    }

    /// The text that Redis runs.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-1 of the text.
    pub fn digest(&self) -> &str {
        self.inner.get_hash()
    }
}

macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        $(pub static $name: LazyLock<Script> = LazyLock::new(|| Script::assemble($file, include_str!(concat!("../lua/", $file, ".lua"))));)*
        /// Every script, for loading.
        pub fn all() -> Vec<&'static Script> {
            vec![$(&*$name),*]
        }
    };
}

scripts! {
    FREEZE = "freeze";
    EXTEND = "extend";
    BEAT = "beat";
    SETTLE = "settle";
    CONFIRM = "confirm";
    INSTALL = "install";
    LOWER = "lower";
    OPEN = "open";
    READ = "read";
}
