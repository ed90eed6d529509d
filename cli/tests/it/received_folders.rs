//! A folder that somebody has sent is shown without harm: no script of it runs, no file of this machine is copied,
//! nothing is waited for, and no terminal obeys a name.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{program, read, run, seal, succeed, write_regression};

const TRAIN: &str = "train --data data.csv --model sgpr --inducing 5 --steps 4 --quiet --out run";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn trained() -> temp_dir::TempDir {
    let folder = temp_dir::TempDir::new().expect("a folder");
    write_regression(&folder.path().join("data.csv"), 60);
    succeed(folder.path(), &words(TRAIN));
    folder
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the program, which must end by itself.
fn ends(folder: &Path, line: &str) -> Output {
    let mut command = program();
    command.current_dir(folder).args(words(line));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a process").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("the process can be killed");
            panic!("{line} waits");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("its output")
}

fn make_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
}

#[test]
fn no_script_of_a_plot_gets_onto_the_page() {
    let folder = trained();
    let path = folder.path();
    let plot = path.join("run/loss.svg");
    let drawn = read(&plot);
    for attack in [
        "<script>alert('loss')</script>",
        "<image href=\"x\" onerror=\"alert('loss')\"/>",
        "<foreignObject><iframe src=\"https://example.org\"/></foreignObject>",
        "</svg></figure><script>alert('loss')</script>",
        "<a href=\"javascript:alert('loss')\"><rect width=\"800\" height=\"560\"/></a>",
    ] {
        fs::write(&plot, drawn.replace("</svg>", &format!("{attack}</svg>"))).expect("a plot");
        seal(&path.join("run"));
        succeed(path, &words("report run --overwrite"));
        let page = read(&path.join("report.html"));
        for mark in ["<script", "alert(", "onerror", "iframe", "example.org"] {
            assert!(!page.contains(mark), "{attack}: {mark} is on the page");
        }
        assert!(page.contains("<img src=\"data:image/svg+xml;base64,"));
    }
    // Images follow the dark mode as the plots did, and browsers are told to run nothing.
    let page = read(&path.join("report.html"));
    let dark = ".plots img, .effects svg, .key::before { filter: invert";
    assert!(page.contains(dark), "no dark mode");
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
}

#[test]
fn a_link_copies_no_file_to_the_page() {
    let folder = trained();
    let path = folder.path();
    fs::write(path.join("secret"), "key = \"hunter2\"\n").expect("a file");
    for name in ["config.toml", "loss.svg"] {
        let file = path.join("run").join(name);
        let kept = fs::read(&file).expect("a file");
        fs::remove_file(&file).expect("a file");
        symlink("../secret", &file).expect("a link");
        let output = run(path, &words("report run --overwrite"));
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let page = read(&path.join("report.html"));
        // Base64 of the text would have it too.
        let encoded = "a2V5ID0gImh1bnRlcjIi";
        for text in [&page, &errors(&output)] {
            assert!(
                !text.contains("hunter2") && !text.contains("key =") && !text.contains(encoded)
            );
        }
        let warning = format!("warning: run/{name} is left out: it is a link\n");
        assert!(errors(&output).contains(&warning), "{}", errors(&output));
        fs::remove_file(&file).expect("a link");
        fs::write(&file, kept).expect("a file");
    }
}

#[test]
fn pipes_and_devices_are_not_waited_for() {
    let whole = trained();
    for name in [
        "loss.svg",
        "metrics.json",
        "config.toml",
        "model.json",
        "weights.bpk",
    ] {
        for is_pipe in [true, false] {
            let folder = temp_dir::TempDir::new().expect("a folder");
            let path = folder.path();
            let copied = Command::new("cp")
                .arg("-r")
                .arg(whole.path().join("run"))
                .arg(path)
                .status();
            assert!(copied.expect("cp").success());
            let file = path.join("run").join(name);
            match is_pipe {
                true => make_pipe(&file),
                false => {
                    fs::remove_file(&file).expect("a file");
                    symlink("/dev/zero", &file).expect("a link");
                }
            }
            for line in ["report run", "show run"] {
                let output = ends(path, line);
                let is_needed = name != "loss.svg" && name != "config.toml";
                let expected = if is_needed { 2 } else { 0 };
                assert_eq!(
                    output.status.code(),
                    Some(expected),
                    "{line}, {name}: {}",
                    errors(&output)
                );
            }
        }
    }
    // The data that the configuration names.
    let path = whole.path();
    let configuration = path.join("run/config.toml");
    let text = read(&configuration);
    make_pipe(&path.join("pipe.csv"));
    for (old, new) in [("data.csv", "pipe.csv"), ("data.csv", "/dev/zero")] {
        let own = path
            .join(old)
            .canonicalize()
            .expect("a path")
            .display()
            .to_string();
        let named = if text.contains(&own) {
            own
        } else {
            old.to_owned()
        };
        fs::write(&configuration, text.replace(&named, new)).expect("a file");
        seal(&path.join("run"));
        let output = ends(path, "report run --overwrite");
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let reason = "is neither a file nor a folder";
        assert!(errors(&output).contains(reason), "{}", errors(&output));
    }
}

/// Names with the sequences that set a terminal's title, color and clipboard, or erase its lines.
#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    let input = "x\x1b]0;owned\x07";
    let target = "y\x1b[2J\r\u{9b}31m";
    let rows = (0..60).map(|row| {
        let label = ["low\x1b[31m", "high\x1b]52;c;aGk=\x07"][usize::from(row % 7 > 3)];
        format!("{},{label}\n", f64::from(row * 37 % 61) / 9.0)
    });
    let data = "data\x1b[8m.csv";
    fs::write(
        path.join(data),
        format!("\"{input}\",\"{target}\"\n{}", rows.collect::<String>()),
    )
    .expect("the data");
    let train = [
        "train",
        "--data",
        data,
        "--model",
        "svgp",
        "--inducing",
        "5",
        "--steps",
        "9",
        "--out",
        "run",
    ];
    let shown = ["show", "run"];
    let predict = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        data,
        "--out",
        "predictions.csv",
    ];
    let missing = ["predict", "--model-dir", "run", "--data", "no\x1b[31m.csv"];
    let report = ["report", "run"];
    let named = [
        "train",
        "--data",
        data,
        "--target",
        "z\x1b[31m",
        "--out",
        "other",
    ];
    for line in [&train[..], &shown, &predict, &missing, &report, &named] {
        let output = run(path, line);
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
        let is_escape = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
        assert!(!text.contains(is_escape), "{line:?}: {text:?}");
        assert!(!text.is_empty(), "{line:?}");
        let is_refused = line == missing || line == named;
        assert_eq!(output.status.success(), !is_refused, "{line:?}: {text}");
    }
    let output = succeed(path, &shown);
    assert!(output.contains("x\\u{1b}]0;owned\\u{7}"), "{output}");
    // Data for programs stay as they are.
    let output = succeed(path, &["predict", "--model-dir", "run", "--data", data]);
    assert!(output.contains("low\x1b[31m"), "{output:?}");
    // XML does not allow them either.
    for entry in fs::read_dir(path.join("run")).expect("a folder") {
        let file = entry.expect("an entry").path();
        if file.extension().is_some_and(|extension| extension == "svg") {
            roxmltree::Document::parse(&read(&file))
                .unwrap_or_else(|error| panic!("{file:?}: {error}"));
        }
    }
}
