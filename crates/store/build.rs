//! A new file in `migrations/` is embedded at the next build.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
