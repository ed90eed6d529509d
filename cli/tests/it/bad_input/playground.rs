//! Files for invalid command lines, and checks of their messages.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::support::{run, succeed};

/// The paths and contents of all files below a folder.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.insert(name, Vec::new());
            found.extend(contents(&path));
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// 40 valid rows.
pub fn sound_rows() -> String {
    let mut text = String::from("a,b,y\n");
    for row in 0..40 {
        let a = f64::from(row % 8) / 8.0;
        let b = f64::from(row) / 40.0;
        text += &format!("{a},{b},{}\n", a - 2.0 * b * b);
    }
    text
}

/// Files for invalid command lines, a finished run in `run`, and a folder with unrelated files.
pub fn playground() -> temp_dir::TempDir {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(path.join(name), bytes).unwrap();
    write("good.csv", sound_rows().as_bytes());
    write("empty.csv", b"");
    write("header.csv", b"a,b,y\n");
    write("one.csv", b"a,b,y\n1,2,3\n");
    write("large.csv", b"x,y\n1,2\n2,1e300\n3,4\n");
    write("ragged.csv", b"a,b,y\n1,2,3\n4,5\n");
    let with = |field: &str| sound_rows().replacen("0.125,0.025,", &format!("0.125,{field},"), 1);
    write("text.csv", with("five").as_bytes());
    write("nan.csv", with("NaN").as_bytes());
    write("missing.csv", with("").as_bytes());
    write("latin.csv", b"a,b,y\n1,2,3\n4,\xe9,6\n");
    write("twice.csv", b"a,a,y\n1,2,3\n4,5,6\n");
    write("single.csv", b"y\n1\n2\n");
    write("constant.csv", b"a,b,y\n1,2,3\n4,5,3\n");
    write("nameless.csv", b"1,2,3\n4,5,6\n7,8,10\n");
    write("plain.csv.gz", b"a,b,y\n1,2,3\n");
    let packed = gzip(sound_rows().as_bytes());
    write("cut.csv.gz", &packed[..packed.len() / 2]);
    write("not.parquet", b"PAR");
    write("three.csv", b"a,c\n1,0\n2,1\n3,2\n4,1\n");
    let repeated: String = (0..30).map(|row| format!("{},{row}\n", row % 3)).collect();
    write("repeated.csv", format!("a,y\n{repeated}").as_bytes());
    write("unknown.json", br#"{"modell": "svgp"}"#);
    write(
        "both.json",
        br#"{"data": "good.csv", "epochs": 3, "steps": 3}"#,
    );
    for (set, mask) in [
        ("whole", "0,1\n1,0\n0,1\n"),
        ("short", "0\n1\n"),
        ("odd", "0\n2\n1\n"),
    ] {
        let set = path.join("sets").join(set);
        fs::create_dir_all(&set).unwrap();
        fs::write(set.join("data.csv.gz"), gzip(b"1,2,3\n4,5,6\n7,8,10\n")).unwrap();
        fs::write(set.join("test_mask.csv.gz"), gzip(mask.as_bytes())).unwrap();
    }
    fs::create_dir(path.join("foreign")).unwrap();
    write("foreign/notes.txt", b"mine");
    let train = [
        "train",
        "--data",
        "good.csv",
        "--steps",
        "3",
        "--inducing",
        "5",
        "--out",
        "run",
        "--quiet",
    ];
    succeed(path, &train);
    folder
}

/// Runs each command line (words separated by spaces) in a shared playground. The output folder is
/// that of a finished run that may be overwritten. Compares the messages.
pub fn check(command: &str, cases: &[(&str, &str)]) {
    let folder = playground();
    let before = contents(folder.path());
    for (words, message) in cases {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.extend(words.split(' ').filter(|word| !word.is_empty()));
        let output = run(folder.path(), &arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, format!("error: {message}\n"), "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed something");
        assert!(
            contents(folder.path()) == before,
            "{arguments:?} wrote something"
        );
    }
}
