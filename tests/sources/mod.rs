//! The source files that tests of the code's structure read.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of the workspace. It is read at run time, because a compiled test may have been built in
/// another folder.
pub fn workspace() -> PathBuf {
    let tests = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    (Path::new(&tests)
        .parent()
        .expect("the folder above the tests"))
    .to_owned()
}

/// All Rust files in a folder and below.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

pub fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).expect("a source file");
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
