//! Which compiler can build for WebAssembly here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::TARGET;
use crate::cargo;

/// Where Debian and Ubuntu put cargo and the compiler.
const SYSTEM: &str = "/usr/bin";

/// A cargo that can build for WebAssembly.
#[derive(Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The one this program was built with; rustup installed the target.
    Current,
    /// The distribution's packages; the standard library is compiled from their sources where they bring none.
    System {
        /// Whether the standard library must be compiled as well.
        build_std: bool,
    },
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Current => "with the present toolchain",
            Self::System { build_std: false } => "with the system's packages",
            Self::System { build_std: true } => "with the system's packages, standard library from source",
        })
    }
}

impl Toolchain {
    /// Looks for one, rustup's first.
    ///
    /// # Errors
    /// Names the commands that install one.
    pub fn find() -> Result<Self> {
        let system = Path::new(SYSTEM);
        if has_target(Path::new("rustc")) {
            return Ok(Self::Current);
        }
        if system.join("cargo").exists() && system.join("rustc").exists() {
            if has_target(&system.join("rustc")) {
                return Ok(Self::System { build_std: false });
            }
            if has_sources(&system.join("rustc")) && (linker().is_absolute() || system.join("wasm-ld").exists()) {
                return Ok(Self::System { build_std: true });
            }
        }
        bail!(
            "no compiler for {TARGET} found. Type one of\n  rustup target add {TARGET}\n  \
             apt-get install rustc-web cargo-web rust-web-src lld   (Debian, where rustup can't fetch the target)"
        )
    }

    /// A cargo command with the environment of this toolchain.
    pub fn cargo(&self, root: &Path, arguments: &[&str]) -> Command {
        let ours = cargo::command(root, arguments);
        let Self::System { build_std } = self else { return ours };
        let mut command = Command::new(Path::new(SYSTEM).join("cargo"));
        if *build_std {
            command.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-std=std,panic_abort");
        }
        command.args(arguments).current_dir(root);
        for (name, _) in ours.get_envs().filter(|(_, value)| value.is_none()) {
            command.env_remove(name);
        }
        for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTDOC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(name);
        }
        // The system's folder first, or rustup's cargo and rustc answer to calls by name.
        let mut path = std::ffi::OsString::from(format!("{SYSTEM}:"));
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command
            .env("PATH", path)
            .env("RUSTC", Path::new(SYSTEM).join("rustc"))
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker());
        command
    }
}

/// The linker that came with the present toolchain, which is as new as it; else the system's.
fn linker() -> PathBuf {
    let ours = printed(Path::new("rustc"), &["--print", "target-libdir"])
        .and_then(|libraries| Some(libraries.parent()?.join("bin/rust-lld")));
    ours.filter(|linker| linker.exists()).unwrap_or_else(|| PathBuf::from("wasm-ld"))
}

fn printed(rustc: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let output = Command::new(rustc).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(text.trim()))
}

fn has_target(rustc: &Path) -> bool {
    let Some(folder) = printed(rustc, &["--print", "target-libdir", "--target", TARGET]) else { return false };
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore"))
}

fn has_sources(rustc: &Path) -> bool {
    printed(rustc, &["--print", "sysroot"])
        .is_some_and(|sysroot| sysroot.join("lib/rustlib/src/rust/library/std/Cargo.toml").exists())
}
