//! Notices a console that was built anew: its files have other names then, which a macro cannot see.

fn main() {
    let dist = concat!(env!("CARGO_MANIFEST_DIR"), "/../admin-ui/dist");
    // An empty folder rather than none: cargo would look at a missing one as changed on every build.
    let _ = std::fs::create_dir_all(dist);
    println!("cargo::rerun-if-changed={dist}");
    println!("cargo::rerun-if-changed=build.rs");
}
