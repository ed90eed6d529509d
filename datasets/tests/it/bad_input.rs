//! Every kind of bad input with its exact error message.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use burn_gp_datasets::{
    DataSource, Schema, SplitMask, TargetColumn, load_features_file, load_file,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use temp_dir::TempDir;

/// A folder with a single file, removed at the end.
struct OneFile {
    folder: TempDir,
    path: PathBuf,
}

impl OneFile {
    fn new(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        Self { folder, path }
    }

    /// The error message without the folder's name.
    fn message<T: std::fmt::Debug, E: std::error::Error>(&self, result: Result<T, E>) -> String {
        let folder = format!("{}/", self.folder.path().display());
        result.unwrap_err().to_string().replace(&folder, "")
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn loading(name: &str, contents: impl AsRef<[u8]>, target: &str) -> String {
    let file = OneFile::new(name, contents);
    file.message(load_file(&file.path, &target.parse().unwrap()))
}

fn last(contents: impl AsRef<[u8]>) -> String {
    loading("a.csv", contents, "last")
}

#[test]
fn a_file_that_is_missing() {
    let error = load_file(Path::new("no/such.csv"), &TargetColumn::Last).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no file no/such.csv; check the path"
    );
}

#[test]
fn a_number_that_is_too_large_to_compute_with() {
    let checked = |text: &str| {
        let file = OneFile::new("a.csv", text);
        let data = load_file(&file.path, &TargetColumn::Last).unwrap();
        match data.checked_magnitudes() {
            Ok(_) => String::new(),
            error => file.message(error),
        }
    };
    let sentence = |start: &str| {
        let advice = "which is too large to compute with; use another unit, or correct it";
        format!("a.csv:{start}, {advice}")
    };
    assert_eq!(
        checked("x,y\n1,2\n3,-1e300\n5,6\n"),
        sentence("3: the column \"y\" is -1e300")
    );
    assert_eq!(
        checked("x,z,y\n1,2,3\n3,4,5\n5,2e200,6\n"),
        sentence("4: the column \"z\" is 2e200")
    );
    assert_eq!(checked("x,y\n1,1e140\n3,-1e145\n5,6\n"), "");
}

#[test]
fn a_directory() {
    let file = OneFile::new("a.csv", "");
    let error = load_file(file.folder.path(), &TargetColumn::Last).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} is a directory, not a data file; name the file inside it",
            file.folder.path().display()
        )
    );
}

#[test]
fn gzip_that_is_not() {
    assert_eq!(
        loading("a.csv.gz", "1,2\n3,4\n", "last"),
        "a.csv.gz is not a gzip file although its name ends in .gz; rename it or compress it again"
    );
}

#[test]
fn gzip_cut_off() {
    let text: String = (0..20_000).map(|i| format!("{i},{}\n", i * i)).collect();
    let whole = gzip(&text);
    let message = loading("a.csv.gz", &whole[..whole.len() / 2], "last");
    let line = message
        .strip_prefix("a.csv.gz:")
        .and_then(|rest| {
            rest.strip_suffix(
                ": the gzip data are cut off or damaged here; copy or download the file again",
            )
        })
        .unwrap_or_else(|| panic!("unexpected message: {message}"));
    // Half of the compressed bytes contain about half of the lines.
    let line: u64 = line.parse().unwrap();
    assert!((5_000..15_000).contains(&line), "line {line}");
}

#[test]
fn gzip_with_a_wrong_checksum() {
    let mut bytes = gzip("1,2\n3,4\n");
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    assert_eq!(
        loading("a.csv.gz", &bytes, "last"),
        "a.csv.gz:3: the gzip data are cut off or damaged here; copy or download the file again"
    );
}

#[test]
fn an_empty_file() {
    let expected = "a.csv is empty; it must hold rows of numbers, with or without a header line";
    assert_eq!(last(""), expected);
    assert_eq!(last("\n\r\n  \n"), expected);
    assert_eq!(last("\u{feff}"), expected);
    assert_eq!(
        loading("a.csv.gz", gzip(""), "last"),
        expected.replace("a.csv", "a.csv.gz")
    );
}

#[test]
fn a_header_and_nothing_else() {
    assert_eq!(
        last("x,y\n"),
        "a.csv: there is a header but no row of data; add rows of numbers"
    );
}

#[test]
fn one_row() {
    assert_eq!(
        last("x,y\n1,2\n"),
        "a.csv:2: this is the only row of data; at least two rows are needed"
    );
}

#[test]
fn a_row_of_another_length() {
    assert_eq!(
        last("x,z,y\n1,2,3\n\n1,2\n"),
        "a.csv:4: found 2 fields where the first line has 3; give every line 3 fields"
    );
    assert_eq!(
        last("1,2\n1,2,3\n"),
        "a.csv:2: found 3 fields where the first line has 2; give every line 2 fields"
    );
}

#[test]
fn text_in_a_numeric_column() {
    assert_eq!(
        last("x,y\n1,2\nabc,4\n"),
        r#"a.csv:3: column 1 ("x") holds "abc", which is not a number; correct it, or remove the row or the column"#
    );
    assert_eq!(
        last("1,2\n3,4\n5,six"),
        r#"a.csv:3: column 2 holds "six", which is not a number; correct it, or choose a classification likelihood such as softmax"#
    );
    // The line number is also right after CRLF line ends and blank lines.
    assert_eq!(
        last("x,y\r\n1,2\r\n\r\n3,\"a\"\r\n"),
        r#"a.csv:4: column 2 ("y") holds "a", which is not a number; correct it, or choose a classification likelihood such as softmax"#
    );
}

#[test]
fn decimal_commas() {
    assert_eq!(
        last("x;y\n1,5;2\n"),
        r#"a.csv:2: column 1 ("x") holds "1,5", which is not a number; write decimal numbers with a point"#
    );
}

#[test]
fn numbers_that_are_not_finite() {
    for text in ["inf", "-inf", "1e999"] {
        assert_eq!(
            last(format!("x,y\n1,2\n3,{text}\n")),
            format!(
                "a.csv:3: column 2 (\"y\") holds \"{text}\", which is not a finite number; correct it or remove the row"
            )
        );
    }
}

#[test]
fn missing_values() {
    for text in ["", " ", "NA", "?", "null", "NaN"] {
        assert_eq!(
            last(format!("x,y\n1,2\n{text},4\n")),
            "a.csv:3: column 1 (\"x\") has no value; fill it in or remove the row"
        );
    }
    // A row with a missing value is not a header.
    assert_eq!(
        last("1,,3\n4,5,6\n"),
        "a.csv:1: column 2 has no value; fill it in or remove the row"
    );
}

#[test]
fn a_target_that_is_not_there() {
    let table = "acidity,alcohol,quality\n1,2,3\n4,5,6\n";
    assert_eq!(
        loading("a.csv", table, "qualty"),
        r#"a.csv: there is no target column "qualty" (did you mean "quality"?); the columns are "acidity", "alcohol", "quality""#
    );
    assert_eq!(
        loading("a.csv", table, "price"),
        r#"a.csv: there is no target column "price"; the columns are "acidity", "alcohol", "quality""#
    );
    assert_eq!(
        loading("a.csv", "1,2\n3,4\n", "price"),
        r#"a.csv: there is no target column "price", because the file has no header line; give its number, 1 to 2"#
    );
}

#[test]
fn a_target_number_out_of_range() {
    for number in ["0", "4", "-4"] {
        assert_eq!(
            loading("a.csv", "1,2,3\n4,5,6\n", number),
            format!(
                "a.csv: column number {number} cannot be the target, because there are 3 columns; give 1 to 3, or -1 for the last"
            )
        );
    }
}

#[test]
fn column_names_given_twice() {
    assert_eq!(
        last("x,y,x\n1,2,3\n"),
        r#"a.csv: columns 1 and 3 are both named "x"; rename one of them"#
    );
}

#[test]
fn no_input_column() {
    assert_eq!(
        last("y\n1\n2\n"),
        "a.csv: there is only one column, so there is no input besides the target; separate columns by commas, semicolons or tabs"
    );
}

#[test]
fn bytes_that_are_not_utf8() {
    assert_eq!(
        last(b"x,y\n1,2\n3,\xff4\n"),
        r#"a.csv:3: column 2 ("y") is not UTF-8 text; save the file as UTF-8"#
    );
    assert_eq!(
        last(b"x,gr\xf6sse\n1,2\n"),
        "a.csv:1: column 2 is not UTF-8 text; save the file as UTF-8"
    );
}

#[test]
fn a_constant_target() {
    assert_eq!(
        last("x,y\n1,5\n2,5.0\n"),
        r#"a.csv: the target, column 2 ("y"), is 5 in every row, so there is nothing to learn; choose another target"#
    );
    let rounded = last("x,y\n1,1000000000000000\n2,1000000000000000.5\n");
    assert!(
        rounded.contains("is 1000000000000000, up to rounding, in every row"),
        "{rounded}"
    );
}

#[test]
fn new_data_that_do_not_fit_the_model() {
    let schema = Schema {
        input_names: vec!["alcohol".into(), "acidity".into()],
        target_name: "quality".into(),
        named: true,
        target_position: 2,
        columns: Vec::new(),
        source_columns: 0,
        companion: None,
        id: None,
        classes: None,
        missing_values: None,
        refuses_gaps: false,
        target_notation: None,
    };
    let file = OneFile::new("new.csv", "alcohol,acid\n1,2\n");
    assert_eq!(
        file.message(load_features_file(&file.path, &schema)),
        r#"new.csv: the input column "acidity" that the model was trained on is missing (did you mean "acid"?); add it or use the data the model was made for"#
    );
    let file = OneFile::new("new.csv", "1,2,3,4\n1,2,3,4\n");
    assert_eq!(
        file.message(load_features_file(&file.path, &schema)),
        "new.csv: found 4 columns where the model needs 2 inputs, or all 3 columns it was trained on; give one or the other"
    );
}

#[test]
fn masks_that_do_not_fit() {
    let mask = |text: &str, rows| {
        let file = OneFile::new("test_mask.csv", text);
        file.message(SplitMask::load(&file.path, rows))
    };
    assert_eq!(
        mask("0,1\n1,0\n", 3),
        "test_mask.csv: the test mask has 2 rows where the data have 3; use the mask that belongs to the data"
    );
    assert_eq!(
        mask("0,1\n2,0\n", 2),
        r#"test_mask.csv:2: column 1 holds "2", but a test mask holds 0 and 1 only; correct it or use --test-fraction instead of --split"#
    );
    assert_eq!(
        mask("0,1\n0\n", 2),
        "test_mask.csv:2: found 1 fields where the first line has 2; give every line 2 fields"
    );
    let file = OneFile::new("test_mask.csv", "0,1\n1,1\n");
    let loaded = SplitMask::load(&file.path, 2).unwrap();
    assert_eq!(
        file.message(loaded.split(2)),
        "test_mask.csv: there is no split 2; the splits are numbered 0 to 1"
    );
    assert_eq!(
        file.message(loaded.split(1)),
        "test_mask.csv: split 1 leaves no training rows; use another split"
    );
}

#[test]
fn names_that_nothing_has() {
    let error = |text| DataSource::resolve(text, None).unwrap_err().to_string();
    assert_eq!(
        error("winequalty"),
        r#"there is no data set and no file named "winequalty" (did you mean "winequality"?); `datasets list` shows the known names"#
    );
    assert_eq!(
        error("zzz"),
        r#"there is no data set and no file named "zzz"; `datasets list` shows the known names"#
    );
    let missing = DataSource::resolve("zzz.csv", None).unwrap();
    assert_eq!(
        missing.load(None).unwrap_err().to_string(),
        "there is no file zzz.csv; check the path"
    );
}

#[test]
fn sets_that_are_not_on_disk() {
    let error = |name, folder: Option<&str>| {
        DataSource::resolve(name, folder.map(Path::new))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("3droad", Some("my/data")),
        "the data set 3droad is not on disk: looked for my/data/uci/3droad/data.csv.gz and my/data/3droad/data.csv.gz; \
         copy the folder 3droad of the public collection uci_datasets (https://github.com/treforevans/uci_datasets) to my/data/uci/3droad"
    );
    assert_eq!(
        error("kin40k", None),
        "the data set kin40k is not on disk: no data directory is given (--data-dir or BURN_GP_DATA); \
         copy the folder kin40k of the public collection uci_datasets (https://github.com/treforevans/uci_datasets) to DATA_DIR/uci/kin40k"
    );
    assert_eq!(
        error("snelson", Some("my/data")),
        "the data set snelson is not on disk: looked for my/data/small/snelson.csv and my/data/snelson.csv; \
         save the set as CSV, with a header and the target last, at my/data/small/snelson.csv"
    );
}

#[test]
fn synthetic_sets_that_no_memory_can_hold() {
    for (text, rows, inputs) in [
        (
            "sines?n=9223372036854775807",
            i64::MAX as u64,
            "1 input".to_owned(),
        ),
        (
            "sines?n=18446744073709551615",
            u64::MAX,
            "1 input".to_owned(),
        ),
        (
            "friedman?d=18446744073709551615",
            200,
            format!("{} inputs", u64::MAX),
        ),
    ] {
        let source = DataSource::resolve(&format!("synthetic:{text}"), None).unwrap();
        let message = source.load(None).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "not enough memory for the {rows} rows of {inputs} of {}; ask for fewer",
                source.name()
            )
        );
    }
}

#[test]
fn synthetic_sets_that_cannot_be_read() {
    let error = |text| DataSource::resolve(text, None).unwrap_err().to_string();
    for (text, reason) in [
        (
            "synthetic:sinus",
            r#"there is no function "sinus", did you mean "sines""#,
        ),
        (
            "synthetic:qqq",
            r#"there is no function "qqq", only sines, step, sinc, levels, friedman"#,
        ),
        ("synthetic:step?n", r#""n" is not of the form key=value"#),
        (
            "synthetic:step?n=1",
            "n=1 is not a whole number of at least 2",
        ),
        (
            "synthetic:step?noise=-1",
            "noise=-1 is not a number of at least 0",
        ),
        (
            "synthetic:step?noise=nan",
            "noise=nan is not a number of at least 0",
        ),
        ("synthetic:step?seed=x", "seed=x is not a whole number"),
        ("synthetic:step?n=9&n=9", "n is given twice"),
        ("synthetic:step?d=7", r#""d" is not one of n, noise, seed"#),
        (
            "synthetic:friedman?d=4",
            "d=4 is not a whole number of at least 5",
        ),
    ] {
        assert_eq!(
            error(text),
            format!(
                "{text:?} does not describe a synthetic set: {reason}; write for example synthetic:sines?n=1000&noise=0.1&seed=1"
            )
        );
    }
}
