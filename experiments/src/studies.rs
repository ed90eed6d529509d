//! The studies of papers, embedded in the program.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use burn_gp_runs::study::Study;
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/studies");

static STUDIES: LazyLock<Vec<Study>> = LazyLock::new(|| {
    let read = |file: &include_dir::File<'_>| {
        let text = file.contents_utf8().unwrap_or_default();
        match toml::from_str(text) {
            Ok(study) => study,
            Err(error) => unreachable!("{}, which tests read: {error}", file.path().display()),
        }
    };
    let mut studies: Vec<Study> = FILES.files().map(read).collect();
    studies.sort_by(|a, b| a.name.cmp(&b.name));
    studies
});

/// The studies of papers, by name.
pub fn all() -> &'static [Study] {
    &STUDIES
}

/// The study with this name.
///
/// # Panics
///
/// If there is no such study.
pub fn named(name: &str) -> &'static Study {
    let found = all().iter().find(|study| study.name == name);
    found.unwrap_or_else(|| panic!("there is no study {name}"))
}
