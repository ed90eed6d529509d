//! Loading of text files: delimiters, headers, targets, gzip, and new data for a model.

use std::fs;
use std::io::Write;
use std::path::Path;

use burn_gp_datasets::{
    DataSource, DataWarning, Dataset, EqualInputs, Schema, Split, TargetColumn, load_features_file,
    load_file, load_points_file, warnings,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use temp_dir::TempDir;

fn load(contents: impl AsRef<[u8]>, target: &TargetColumn) -> Dataset {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("table.csv");
    fs::write(&path, contents).unwrap();
    load_file(&path, target).unwrap()
}

fn last(contents: impl AsRef<[u8]>) -> Dataset {
    load(contents, &TargetColumn::Last)
}

#[test]
fn the_three_delimiters_and_both_line_ends_give_the_same_data() {
    let reference = last("x,z,y\n1,2,3\n4,5,6\n");
    assert_eq!(reference.name, "table");
    assert_eq!(reference.input_names(), ["x", "z"]);
    assert_eq!(reference.target_name(), "y");
    assert_eq!(reference.inputs.values(), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(reference.targets, [3.0, 6.0]);
    for same in [
        "x;z;y\n1;2;3\n4;5;6\n",
        "x\tz\ty\n1\t2\t3\n4\t5\t6\n",
        "x,z,y\r\n1,2,3\r\n4,5,6\r\n",
        "\"x\",\"z\",\"y\"\r\n1, 2 ,3\n4,\"5\",\"6\"\r\n",
        "x,z,y\n1,2,3\n4,5,6",
        "\u{feff}x,z,y\n1,2,3\n4,5,6",
    ] {
        let loaded = last(same);
        assert_eq!(loaded.schema, reference.schema, "{same:?}");
        assert_eq!(loaded.inputs, reference.inputs, "{same:?}");
        assert_eq!(loaded.targets, reference.targets, "{same:?}");
    }
}

#[test]
fn a_table_without_a_header_gets_numbered_names() {
    let data = last("\u{feff}1,2,3\n4,5,6\n");
    assert_eq!(data.input_names(), ["x1", "x2"]);
    assert_eq!(data.target_name(), "y");
    assert!(!data.schema.named);
    assert_eq!(data.targets, [3.0, 6.0]);
    assert_eq!(data.location(1).number(), 2);
}

#[test]
fn blank_lines_are_skipped_and_lines_still_counted() {
    let data = last("\n\nx,y\n\n1,2\r\n\r\n   \n3,4\n");
    assert_eq!(data.targets, [2.0, 4.0]);
    let lines: Vec<u64> = (0..2).map(|row| data.location(row).number()).collect();
    assert_eq!(lines, [5, 8]);
    let path = data.origin.source().to_owned();
    assert_eq!(data.location(1).to_string(), format!("{path}:8"));
    assert_eq!(data.select(&[1]).location(0).number(), 8);
}

#[test]
fn a_line_feed_inside_a_quoted_name_counts_as_a_line() {
    let data = last("\"x\nin m\",y\n1,2\n3,4\n");
    assert_eq!(data.input_names(), ["x\nin m"]);
    assert_eq!(data.location(0).number(), 3);
}

#[test]
fn the_target_is_found_by_name_and_by_number() {
    let table = "a,b,7\n1,2,3\n4,5,6\n";
    for (target, targets) in [
        (TargetColumn::Name("b".into()), [2.0, 5.0]),
        (TargetColumn::Name("last".into()), [3.0, 6.0]),
        (TargetColumn::Name("7".into()), [3.0, 6.0]),
        (TargetColumn::Name("1".into()), [1.0, 4.0]),
        (TargetColumn::Name("-2".into()), [2.0, 5.0]),
        (TargetColumn::Number(2), [2.0, 5.0]),
        (TargetColumn::Number(-3), [1.0, 4.0]),
    ] {
        let data = load(table, &target);
        assert_eq!(data.targets, targets, "{target:?}");
        assert_eq!(data.columns(), 2);
    }
    let middle = load(table, &TargetColumn::Number(2));
    assert_eq!(middle.input_names(), ["a", "7"]);
    assert_eq!(middle.inputs.values(), [1.0, 3.0, 4.0, 6.0]);
    assert_eq!(middle.schema.target_position, 1);
}

#[test]
fn numbers_survive_bit_for_bit() {
    let values = [
        0.1,
        -1.0 / 3.0,
        1e-308,
        5e-324,
        f64::MAX,
        123_456_789.123_456_78,
    ];
    let text: String = values
        .iter()
        .map(|value| format!("{value:e},{value}\n"))
        .collect();
    let data = last(text);
    assert_eq!(data.targets, values);
    assert_eq!(data.inputs.values(), values);
}

#[test]
fn gzip_is_unpacked_whatever_the_name_and_in_several_members() {
    let folder = TempDir::new().unwrap();
    let mut bytes = Vec::new();
    for part in ["x,y\n1,2\n", "3,4\n5,6\n"] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(part.as_bytes()).unwrap();
        bytes.extend(encoder.finish().unwrap());
    }
    for name in ["a.csv.gz", "a.csv"] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let data = load_file(&path, &TargetColumn::Last).unwrap();
        assert_eq!(data.name, "a");
        assert_eq!(data.targets, [2.0, 4.0, 6.0]);
        assert_eq!(data.location(2).number(), 4);
    }
}

fn features(contents: &str, schema: &Schema) -> burn_gp_datasets::Features {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new.csv");
    fs::write(&path, contents).unwrap();
    load_features_file(&path, schema).unwrap()
}

#[test]
fn new_data_are_matched_by_name_in_any_order() {
    let schema = last("a,b,y\n1,2,3\n4,5,6\n").schema;
    let found = features("y,note,b,a\n9,hello,8,7\n", &schema);
    assert_eq!(found.inputs.row(0), [7.0, 8.0]);
    assert_eq!(found.targets, Some(vec![9.0]));
    assert_eq!(found.ignored, ["note"]);
    let without_target = features("b,a\n8,7\n6,5\n", &schema);
    assert_eq!(without_target.inputs.values(), [7.0, 8.0, 5.0, 6.0]);
    assert_eq!(without_target.targets, None);
    let without_header = features("7,8\n", &schema);
    assert_eq!(without_header.inputs.row(0), [7.0, 8.0]);
}

#[test]
fn new_data_without_names_are_matched_by_position() {
    let schema = load("1,2,3\n4,5,6\n", &TargetColumn::Number(1)).schema;
    let found = features("7,8,9\n", &schema);
    assert_eq!(found.inputs.row(0), [8.0, 9.0]);
    assert_eq!(found.targets, Some(vec![7.0]));
    let found = features("p,q\n8,9\n", &schema);
    assert_eq!(found.inputs.row(0), [8.0, 9.0]);
    assert_eq!(found.targets, None);
}

#[test]
fn a_schema_survives_json() {
    let schema = last("a,b,y\n1,2,3\n4,5,6\n").schema;
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

/// The warnings about a data set whose last row is the test row.
fn warned(data: &Dataset) -> Vec<DataWarning> {
    let last = data.rows() - 1;
    let split = Split {
        train: (0..last).collect(),
        test: vec![last],
        ..Split::default()
    };
    warnings(data, &EqualInputs::from(data), &split)
}

fn texts(warnings: &[DataWarning]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn warnings_name_what_is_odd() {
    let data = last("a,b,y\n1,7,1e9\n1,7,3\n2,7,1e9\n");
    let found = warned(&data);
    assert_eq!(
        found,
        [
            DataWarning::ConstantColumn {
                name: "b".into(),
                value: 7.0
            },
            DataWarning::RepeatedInputs { count: 1, rows: 3 },
            DataWarning::ExtremeTarget {
                name: "y".into(),
                magnitude: 1e9
            },
        ]
    );
    assert_eq!(
        texts(&found),
        [
            r#"the input "b" is 7 in every row, so it says nothing about the target"#,
            "1 of 3 rows has the inputs of an earlier row; rows with equal inputs are on the same side of the split",
            r#"the target "y" reaches 1e9, so consider another unit or its logarithm"#,
        ]
    );
    assert!(warned(&last("a,y\n1,2\n3,3\n2,2\n")).is_empty());
}

#[test]
fn a_split_that_tests_on_training_inputs_is_named() {
    let found = warned(&last("a,y\n1,2\n2,3\n1,2\n"));
    assert_eq!(found, [DataWarning::SharedInputs { count: 1, tests: 1 }]);
    assert_eq!(
        texts(&found),
        [
            "1 of 1 test row of this split has the inputs of a training row, so scores may be better than on new rows"
        ]
    );
}

#[test]
fn many_constant_columns_are_one_warning() {
    let data = last("a,b,c,d,e,f,g,y\n1,0,0,0,0,0,0,1\n2,0,0,0,0,0,0,2\n");
    assert_eq!(
        texts(&warned(&data)),
        [
            r#"6 of 7 inputs, the first of them "b", are the same in every row, so they say nothing about the target"#
        ]
    );
}

#[test]
fn a_file_is_a_source_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    assert_eq!(source.name(), "t");
    assert_eq!(source.load(None).unwrap().targets, [2.0, 4.0]);
    assert_eq!(
        source.mask(2).unwrap_err().to_string(),
        "the data set t has no splits of its own; use a test fraction and a seed"
    );
    assert!(!source.is_synthetic());
    assert!(Path::new(&path).exists());
}

/// All columns are coordinates, even a single one, with and without a header.
#[test]
fn points_have_no_target() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("points.csv");
    for (text, columns) in [("date\n1.5\n2\n", 1), ("1,2\n3,4\n", 2)] {
        fs::write(&path, text).unwrap();
        let points = load_points_file(&path).unwrap();
        assert_eq!(
            (points.inputs.rows(), points.inputs.columns()),
            (2, columns)
        );
        assert_eq!(points.targets, None);
    }
    fs::write(&path, "date\n1.5\nx\n").unwrap();
    let error = load_points_file(&path).unwrap_err().to_string();
    assert!(
        error.contains("points.csv") && error.contains('3'),
        "{error}"
    );
}

#[test]
fn a_first_line_of_numbers_that_count_up_may_be_names() {
    for (first, named) in [
        ("2019,2020,2021", Some("2019,2020,2021")),
        ("0,1,2", Some("0,1,2")),
        ("-1,0,1", Some("-1,0,1")),
        ("\"2019\",\"2020\",\"2021\"", Some("2019,2020,2021")),
        (" 98, 99, 100", Some("98,99,100")),
        ("2019;2020;2021", Some("2019,2020,2021")),
        ("2019\t2020\t2021", Some("2019,2020,2021")),
        ("1,2,4", None),
        ("0.5,1.5,2.5", None),
        ("2021,2020,2019", None),
        ("a,b,y", None),
    ] {
        let delimiter = first.chars().find(|found| ";\t".contains(*found));
        let rows =
            "3,1,4\n1,5,9\n2,6,5\n3,5,8\n".replace(',', &delimiter.unwrap_or(',').to_string());
        let found = warned(&last(format!("{first}\n{rows}")));
        let lines = found.iter().filter_map(|warning| match warning {
            DataWarning::NumbersLikeNames { line } => Some(line.as_str()),
            _ => None,
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            Vec::from_iter(named),
            "{first}: {found:?}"
        );
    }
    // Every row counts up, so the first looks like the others.
    assert!(warned(&last("1,2,3\n4,5,6\n2,3,4\n")).is_empty());
}
