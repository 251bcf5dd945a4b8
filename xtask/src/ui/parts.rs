//! The console cut into parts that a browser loads when it shows one of their pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

/// The part of the page that one sees first after signing in.
pub const FIRST: &str = "overview";
/// The script that loads parts.
pub const LINK: &str = "parts.js";
/// Which files each part is made of; for those who weigh them, not for browsers.
pub const LIST: &str = "parts.json";

/// Each part's files, without their extension; one may belong to several parts.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Parts(BTreeMap<String, Vec<String>>);

impl Parts {
    /// Cuts `module` at the functions that are marked in `crates/admin-ui/src/parts.rs`. What is loaded at once goes to
    /// `main`, for wasm-bindgen; the parts and the script that loads them go to `folder`.
    ///
    /// # Errors
    /// Where the module was linked without relocations, or its marks don't fit together.
    pub fn cut(module: &[u8], folder: &Path, main: &Path) -> Result<Self> {
        let link = format!("./{LINK}");
        let mut options = Options::new(module);
        options.output_dir = folder;
        options.main_out_path = main;
        options.link_name = &link;
        options.main_module = "./console.js";
        let cut = transform(options).map_err(|error| anyhow!("cutting the console into parts: {error:?}"))?;
        for file in &cut.split_modules {
            let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            let bare = without_custom_sections(&bytes).with_context(|| format!("{} is no module", file.display()))?;
            fs::write(file, bare).with_context(|| format!("writing {}", file.display()))?;
        }
        // The marks carry a hash of their place in the source; a part's name is what stands before it.
        Ok(Self(cut.prefetch_map.into_iter().collect()))
    }

    /// Writes the list.
    ///
    /// # Errors
    /// Where the file can't be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        fs::write(file, serde_json::to_vec(self)?).with_context(|| format!("writing {}", file.display()))
    }

    /// The list in a console that was built.
    ///
    /// # Errors
    /// Where there is none.
    pub fn find(dist: &Path) -> Result<(PathBuf, Self)> {
        let list = super::files(dist)?
            .into_iter()
            .find(|file| file.file_name().is_some_and(|name| name == LIST))
            .context("the console was not built: ./dev xtask ui")?;
        let parts = serde_json::from_slice(&super::read(&list)?).context("the list of parts is of another form")?;
        Ok((list, parts))
    }

    /// Each part and its files.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.0.iter()
    }

    /// Whether a file belongs to a part.
    pub fn holds(&self, file: &Path) -> bool {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy());
        stem.is_some_and(|stem| self.0.values().flatten().any(|other| *other == stem))
    }
}

/// A module without names and other notes for tools.
fn without_custom_sections(module: &[u8]) -> Option<Vec<u8>> {
    const HEAD: usize = 8;
    let mut bare = module.get(..HEAD)?.to_vec();
    let mut rest = module.get(HEAD..)?;
    while let [id, after @ ..] = rest {
        let (size, digits) = leb128(after)?;
        let whole = 1 + digits + size;
        if *id != 0 {
            bare.extend(rest.get(..whole)?);
        }
        rest = rest.get(whole..)?;
    }
    Some(bare)
}

/// A number as WebAssembly writes sizes, and how many bytes it takes.
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0_usize;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_custom_sections_are_left_out() {
        let module = [b"\0asm\x01\0\0\0".as_slice(), &[0, 3, 1, b'n', 9], &[1, 2, 7, 7], &[0, 1, 0]].concat();
        assert_eq!(without_custom_sections(&module).unwrap(), b"\0asm\x01\0\0\0\x01\x02\x07\x07");
        assert_eq!(leb128(&[0x80, 0x01]), Some((128, 2)));
        assert!(without_custom_sections(&module[..10]).is_none());
    }
}
