//! Completions for shells and the pages of the manual.

use temp_dir::TempDir;

use crate::support::{read, run, succeed};

#[test]
fn every_shell_gets_commands_and_options() {
    let folder = TempDir::new().expect("a folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeed(folder.path(), &["completions", shell]);
        for word in ["train", "completions", "inducing", "solve-unwhitened"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    let output = run(folder.path(), &["completions", "cmd"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("possible values: bash"), "{errors}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = TempDir::new().expect("a folder");
    let page = succeed(folder.path(), &["man"]);
    assert!(page.contains(".TH burn-gp 1"), "{page}");
    assert_eq!(succeed(folder.path(), &["man", "pages"]), "");
    let pages = folder.path().join("pages");
    for (name, word) in [
        ("burn-gp.1", "compare"),
        ("burn-gp-train.1", "inducing"),
        ("burn-gp-datasets-list.1", "BURN_GP_DATA"),
    ] {
        assert!(read(&pages.join(name)).contains(word), "{name}");
    }
    // A file is in the way.
    let in_the_way = pages.join("burn-gp.1");
    let output = run(folder.path(), &["man", &in_the_way.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
}
