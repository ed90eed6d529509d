//! Tells cargo to rebuild when a file in `studies` changes or is added.

fn main() {
    println!("cargo::rerun-if-changed=studies");
}
