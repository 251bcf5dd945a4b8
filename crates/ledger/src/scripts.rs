//! The scripts' texts: the first line of each file (`#!lua`, flags), then the shared fragments, then the body.

use std::sync::LazyLock;

/// One script, ready to be called by its digest.
#[derive(Debug)]
pub struct Script {
    /// The verb.
    pub name: &'static str,
    text: String,
    inner: redis::Script,
}

/// What stands before every body, in this order: each fragment uses those before it.
const FRAGMENTS: [&str; 3] =
    [include_str!("../lua/prelude.lua"), include_str!("../lua/limits.lua"), include_str!("../lua/items.lua")];

impl Script {
    fn assemble(name: &'static str, file: &'static str) -> Self {
        let (shebang, body) = file.split_once('\n').unwrap_or((file, ""));
        let fragments: Vec<&str> =
            FRAGMENTS.iter().map(|fragment| fragment.split_once('\n').map_or("", |(_, rest)| rest)).collect();
        let text = format!("{shebang}\n{}\n{body}", fragments.join("\n"));
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
    EVICT = "evict";
    OPEN = "open";
    READ = "read";
}
