//! Tells cargo that the program contains the files of `studies`, new ones too.

fn main() {
    println!("cargo::rerun-if-changed=studies");
}
