//! Builds the console: Rust to WebAssembly, JavaScript glue, one style sheet, hashed names, compressed copies.
//!
//! The result is `crates/admin-ui/dist`, which the admin API embeds in its binary. A second call with nothing changed
//! asks cargo, compares one fingerprint and is done. Nothing here needs Node, trunk or an installed `wasm-bindgen`: the
//! glue comes from the library of the same version as the crate, pinned by the lock file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};
use wasm_bindgen_cli_support::Bindgen;

use crate::{cargo, say};
use parts::Parts;
use toolchain::Toolchain;

mod parts;
mod toolchain;

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm";
const PACKAGE: &str = "tollgate-admin-ui";
const BINARY: &str = "tollgate-console";
/// What the first load may weigh, in bytes, compressed by brotli.
const MOST: u64 = 400_000;
/// Style sheets in the order of the cascade.
const STYLES: [&str; 3] = ["tokens.css", "base.css", "console.css"];
/// Starts the module. A file of its own, because the console's content security policy allows no inline script.
const BOOT: &str = "import init from './console.js';\n\
                    await init({ module_or_path: new URL('console_bg.wasm', import.meta.url) });\n";

/// Builds the console of the workspace at `root` into `crates/admin-ui/dist`.
///
/// # Errors
/// Names the commands to type where no compiler can build for WebAssembly; else what failed and in which file.
pub fn build(root: &Path) -> Result<()> {
    let toolchain = Toolchain::find()?;
    compile(root, &toolchain)?;
    let wasm = root.join("target/ui").join(TARGET).join(PROFILE).join(BINARY).with_extension("wasm");
    let ui = root.join("crates/admin-ui");
    let dist = ui.join("dist");
    let fingerprint = fingerprint(&wasm, &ui)?;
    let stamp = root.join("target/ui/dist.stamp");
    if dist.join("index.html").exists() && fs::read_to_string(&stamp).is_ok_and(|old| old == fingerprint) {
        return Ok(());
    }
    pack(&wasm, &ui, &dist)?;
    fs::write(&stamp, fingerprint).context("writing target/ui/dist.stamp")?;
    let loads = Loads::of(&dist)?;
    for (part, bytes) in &loads.parts {
        say::note(&format!("console: part {part}, {} kB compressed", bytes.div_ceil(1000)));
    }
    say::note(&format!("console: first load {} kB compressed", loads.first.div_ceil(1000)));
    loads.fits()
}

fn compile(root: &Path, toolchain: &Toolchain) -> Result<()> {
    let target = root.join("target/ui");
    let target = target.to_str().context("the path of the checkout is not UTF-8")?;
    let mut arguments = vec!["build", "--package", PACKAGE, "--bin", BINARY, "--target", TARGET, "--profile", PROFILE];
    arguments.extend(["--target-dir", target]);
    if root.join("crates/admin-ui/dist/index.html").exists() {
        arguments.push("--quiet");
    } else {
        say::step("building the console (the first time takes some minutes)");
    }
    let mut command = toolchain.cargo(root, &arguments);
    cargo::succeed(&mut command).with_context(|| format!("the console did not compile {toolchain}"))
}

/// Changes when anything that goes into the result changes, this program included.
fn fingerprint(wasm: &Path, ui: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(include_str!("ui.rs"));
    hash.update(include_str!("ui/parts.rs"));
    hash.update(read(wasm)?);
    for style in STYLES {
        hash.update(read(&ui.join("style").join(style))?);
    }
    for page in ["index.html", "head.js", "icon.svg"] {
        hash.update(read(&ui.join(page))?);
    }
    Ok(hex(hash))
}

fn pack(wasm: &Path, ui: &Path, dist: &Path) -> Result<()> {
    // Built beside and moved into place, so that an interrupted build leaves no half of a console behind.
    let fresh = ui.join("dist.new");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).with_context(|| format!("removing {}", fresh.display()))?;
    }
    let assets = fresh.join("assets");
    fs::create_dir_all(&assets).with_context(|| format!("making {}", assets.display()))?;

    let module = bind(wasm, &assets)?;
    let mut style = Vec::new();
    for name in STYLES {
        style.extend(read(&ui.join("style").join(name))?);
    }
    let style = put(&assets, "console", "css", &style)?;
    let head = put(&assets, "head", "js", &read(&ui.join("head.js"))?)?;
    let icon = put(&assets, "icon", "svg", &read(&ui.join("icon.svg"))?)?;

    let template = String::from_utf8(read(&ui.join("index.html"))?).context("index.html is not UTF-8")?;
    fs::write(fresh.join("index.html"), page(&template, &module, &style, &head, &icon)?)?;

    compress_all(&fresh)?;
    if dist.exists() {
        fs::remove_dir_all(dist).with_context(|| format!("removing {}", dist.display()))?;
    }
    fs::rename(&fresh, dist).with_context(|| format!("moving the console to {}", dist.display()))
}

/// Cuts the module into parts, makes the glue and puts all of it into one folder named by the hash of what is in it: the
/// files refer to each other by relative names, so one name changes when any of them does.
fn bind(wasm: &Path, assets: &Path) -> Result<String> {
    let staging = assets.join("staging");
    let main = staging.join("main.wasm");
    let parts = Parts::cut(&read(wasm)?, &staging, &main)?;
    Bindgen::new()
        .input_path(&main)
        .out_name("console")
        .web(true)?
        .typescript(false)
        .keep_lld_exports(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&staging)
        .context("making the JavaScript glue: are wasm-bindgen and wasm-bindgen-cli-support of one version?")?;
    fs::remove_file(&main).context("removing the module before the glue")?;
    fs::write(staging.join("boot.js"), BOOT)?;
    let mut hash = Sha256::new();
    for file in files(&staging)? {
        hash.update(file.strip_prefix(&staging)?.to_string_lossy().as_bytes());
        hash.update(read(&file)?);
    }
    let name = short(hash);
    fs::rename(&staging, assets.join(&name)).context("naming the module's folder")?;
    parts.write(&assets.join(&name).join(parts::LIST))?;
    Ok(name)
}

/// Writes `stem-HASH.extension` and returns the name.
fn put(folder: &Path, stem: &str, extension: &str, content: &[u8]) -> Result<String> {
    let name = format!("{stem}-{}.{extension}", short(Sha256::new_with_prefix(content)));
    fs::write(folder.join(&name), content).with_context(|| format!("writing {name}"))?;
    Ok(name)
}

/// Replaces the template's development part by the hashed assets.
fn page(template: &str, module: &str, style: &str, head: &str, icon: &str) -> Result<String> {
    const BEGIN: &str = "<!-- assets -->";
    const END: &str = "<!-- /assets -->";
    let (before, rest) = template.split_once(BEGIN).context("index.html lacks the line <!-- assets -->")?;
    let (_, after) = rest.split_once(END).context("index.html lacks the line <!-- /assets -->")?;
    let link = parts::LINK;
    Ok(format!(
        "{before}<script src=\"/assets/{head}\"></script>\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"/assets/{icon}\">\n\
         <link rel=\"stylesheet\" href=\"/assets/{style}\">\n\
         <link rel=\"modulepreload\" href=\"/assets/{module}/console.js\">\n\
         <link rel=\"modulepreload\" href=\"/assets/{module}/{link}\">\n\
         <link rel=\"preload\" as=\"fetch\" type=\"application/wasm\" crossorigin href=\"/assets/{module}/console_bg.wasm\">\n\
         <script type=\"module\" src=\"/assets/{module}/boot.js\"></script>{after}"
    ))
}

fn compress_all(folder: &Path) -> Result<()> {
    for file in files(folder)? {
        let content = read(&file)?;
        fs::write(with_suffix(&file, "br"), brotli(&content)?)?;
        fs::write(with_suffix(&file, "gz"), gzip(&content)?)?;
    }
    Ok(())
}

fn brotli(content: &[u8]) -> Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut out, &parameters).context("compressing with brotli")?;
    Ok(out)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(content).context("compressing with gzip")?;
    out.finish().context("compressing with gzip")
}

/// What a browser loads, in bytes, compressed by brotli.
pub struct Loads {
    /// To sign in and see the first page.
    pub first: u64,
    /// What each part adds when its first page is shown.
    pub parts: Vec<(String, u64)>,
}

impl Loads {
    /// The promise of the first load.
    ///
    /// # Errors
    /// Where it is broken.
    pub fn fits(&self) -> Result<()> {
        ensure!(self.first < MOST, "the console's first load is {} B compressed, {MOST} at most", self.first);
        Ok(())
    }

    /// Weighs a console that was built.
    ///
    /// # Errors
    /// Where there is none, or it was built by another version of this program.
    pub fn of(dist: &Path) -> Result<Self> {
        let (list, parts) = Parts::find(dist)?;
        let folder = list.parent().context("the list of parts lies nowhere")?;
        let weigh = |file: &Path| -> Result<u64> {
            let packed = with_suffix(file, "br");
            Ok(fs::metadata(&packed).with_context(|| format!("weighing {}", packed.display()))?.len())
        };
        let mut first = 0;
        for file in files(dist)? {
            let is_copy = file.extension().is_some_and(|extension| extension == "br" || extension == "gz");
            if is_copy || file == list || (file.parent() == Some(folder) && parts.holds(&file)) {
                continue;
            }
            first += weigh(&file)?;
        }
        let mut weighed = Vec::new();
        for (part, stems) in parts.iter() {
            let mut bytes = 0;
            for stem in stems {
                bytes += weigh(&folder.join(stem).with_extension("wasm"))?;
            }
            if part == parts::FIRST {
                first += bytes;
            }
            weighed.push((part.clone(), bytes));
        }
        Ok(Self { first, parts: weighed })
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.with_context(|| format!("listing {}", folder.display()))?;
        if entry.file_type().is_file() {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("reading {}", file.display()))
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn short(hash: Sha256) -> String {
    hex(hash).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_load_is_what_is_loaded_first() {
        let folder = tempfile::tempdir().unwrap();
        let assets = folder.path().join("assets/0123");
        fs::create_dir_all(&assets).unwrap();
        let lay = |name: &str, bytes: usize| {
            fs::write(assets.join(name), "x").unwrap();
            fs::write(assets.join(format!("{name}.br")), vec![0_u8; bytes]).unwrap();
        };
        lay("console_bg.wasm", 1_000);
        lay("chunk_1.wasm", 20);
        lay("split_overview.wasm", 300);
        lay("split_usage.wasm", 4_000);
        let list = r#"{"overview":["chunk_1","split_overview"],"usage":["chunk_1","split_usage"]}"#;
        fs::write(assets.join(parts::LIST), list).unwrap();
        let loads = Loads::of(folder.path()).unwrap();
        assert_eq!(loads.first, 1_320);
        assert_eq!(loads.parts, [("overview".to_owned(), 320), ("usage".to_owned(), 4_020)]);
        assert!(loads.fits().is_ok() && Loads { first: MOST, parts: Vec::new() }.fits().is_err());
    }

    #[test]
    fn a_console_that_was_built_keeps_its_promise() {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/admin-ui/dist");
        if dist.join("index.html").exists() {
            Loads::of(&dist).unwrap().fits().unwrap();
        }
    }
}
