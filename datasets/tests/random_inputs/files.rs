//! Text files, plain and gzipped, collections with masks, and schemas.

use std::fs;
use std::io::Write;
use std::path::Path;

use burn_gp_datasets::{
    CellError, ColumnRoles, Companion, DataError, DataSource, EqualInputs, InputColumns, Labels,
    MissingValues, NewRows, RowRole, Schema, Split, SplitMask, Standardizer, TargetColumn, Time,
    load_features_file, load_file, load_points_file, warnings,
};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use temp_dir::TempDir;

use crate::memory::with_little_memory;
use crate::mutations::{Bytes, corner, damaged, damaged_text};
use crate::search::{no_panic, search};

/// Typical tables: with and without a header, the three delimiters, quotes, labels and all number
/// formats.
const TABLES: &[&str] = &[
    "a,b,y\n1,2,3\n4,5,6\n7,8,10\n",
    "1,2,3\n4,5,6\n-1e-3,+5.5,.5\n",
    "a;b;y\r\n1;2;3\r\n4;5;6\r\n",
    "a\tb\tnoise\ty\n1\t2\t0.1\tred\n4\t5\t0.2\tgreen\n1\t1\t0.5\tblue\n",
    "\u{feff}\"a, first\",b,\"y\"\n1,2,\"3\"\n\n4,5,6\n",
    "x1,x2,y\n1,2,yes\n1,2,no\n3,4,yes\n",
    "y\n1\n2\n",
    "0,1\n1,0\n0,0\n",
];

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn originals() -> Vec<Vec<u8>> {
    TABLES.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn column() -> impl Strategy<Value = TargetColumn> {
    prop_oneof![
        Just(TargetColumn::Last),
        prop_oneof![-5i64..6, any::<i64>()].prop_map(TargetColumn::Number),
        corner().prop_map(|text| TargetColumn::Name(text.into())),
        proptest::sample::select(&["a", "b", "noise", "red"][..])
            .prop_map(|text| TargetColumn::Name(text.into())),
    ]
}

/// All class orders.
fn labels() -> impl Strategy<Value = Labels> {
    let names = proptest::collection::vec(corner(), 1..4);
    prop_oneof![
        Just(Labels::Unordered),
        Just(Labels::Ordered),
        names.prop_filter_map("an order of classes", |names| {
            Some(Labels::InOrder(names.join(",").parse().ok()?))
        }),
    ]
}

fn inputs() -> impl Strategy<Value = InputColumns> {
    let missing = prop_oneof![
        Just(MissingValues::Indicator),
        Just(MissingValues::Median),
        Just(MissingValues::Drop),
        Just(MissingValues::Refuse),
    ];
    let time = prop_oneof![Just(Time::Linear), Just(Time::Cyclic)];
    let said = (any::<bool>(), any::<Option<bool>>());
    (said, missing, time).prop_map(|((inferred, header), missing, time)| InputColumns {
        inferred,
        header,
        missing,
        time,
        ..InputColumns::default()
    })
}

pub fn roles() -> impl Strategy<Value = ColumnRoles> {
    let labels = proptest::option::of(labels());
    let noise = proptest::option::of(column());
    (column(), noise, 0..3, labels, inputs()).prop_map(|(target, column, role, labels, inputs)| {
        let role: RowRole = match role {
            0 => Companion::Trials.into(),
            1 => Companion::Noise.into(),
            _ => Companion::RowNoise.into(),
        };
        let roles = ColumnRoles {
            target,
            labels,
            inputs,
            ..ColumnRoles::default()
        };
        roles.with(role, column)
    })
}

/// Reads an existing file in every way and processes the data.
pub fn read_in_every_way(path: &Path, roles: &ColumnRoles) {
    let _ = load_points_file(path);
    let _ = load_file(path, &roles.target);
    let source = DataSource::resolve(&path.display().to_string(), None).unwrap();
    let Ok(data) = source.load_columns(roles) else {
        return;
    };
    let _ = source.mask(data.rows());
    let all: Vec<usize> = (0..data.rows()).collect();
    let equal = EqualInputs::among(&data.inputs);
    if let Ok(split) = Split::random(equal.clone(), 0.3, 1) {
        let _ = warnings(&data, &equal, &split);
    }
    let standardizer = Standardizer::fit(&data, &all).with_input_ranges(&data, &all[..1]);
    let inputs = standardizer
        .with_medians(&data, &all)
        .transform_inputs(&data.inputs);
    assert!(inputs.values().iter().all(|value| !value.is_nan()));
    let rows = NewRows {
        header: roles.inputs.header,
        lenient: true,
        ..NewRows::default()
    };
    let has = |kind: Companion| roles.rows.contains_key(&kind.into());
    let same = match source.load_new_rows(&data.schema, &rows) {
        Ok(same) => same,
        // A label that only rows with gaps have is not one of the classes.
        Err(DataError::Cell(CellError::UnknownLabel { .. })) if data.left_out > 0 => return,
        // A row without its noise is left out of training, and cannot be predicted.
        Err(DataError::Cell(_))
            if data.left_out > 0 && has(Companion::Noise) || has(Companion::Trials) =>
        {
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(same.inputs.rows(), data.rows() + data.left_out);
    let bits = |row: &[f64]| -> Vec<u64> { row.iter().map(|value| value.to_bits()).collect() };
    for row in 0..data.rows() {
        let again = same.inputs.row(data.source_row(row));
        assert_eq!(bits(again), bits(data.inputs.row(row)));
    }
    let schema: Schema =
        serde_json::from_str(&serde_json::to_string(&data.schema).unwrap()).unwrap();
    assert_eq!(schema, data.schema);
}

#[test]
fn text_files() {
    with_little_memory("files::text_files", |folder| {
        let inputs = (damaged(originals(), 4), any::<[bool; 2]>(), roles());
        search(
            2000,
            inputs,
            |(Bytes(bytes), [compressed, named], roles)| {
                let bytes = if compressed { gzip(&bytes) } else { bytes };
                let path = folder.join(if named { "a.csv.gz" } else { "a.csv" });
                fs::write(&path, bytes).unwrap();
                no_panic(&[], || read_in_every_way(&path, &roles))?;
                Ok(())
            },
        );
    });
}

#[test]
fn damaged_gzip() {
    with_little_memory("files::damaged_gzip", |folder| {
        let path = folder.join("a.csv.gz");
        let originals = originals().iter().map(|text| gzip(text)).collect();
        search(1000, (damaged(originals, 3), roles()), |(bytes, roles)| {
            fs::write(&path, bytes.0).unwrap();
            no_panic(&[], || read_in_every_way(&path, &roles))?;
            Ok(())
        });
    });
}

#[test]
fn files_of_other_columns_than_the_model() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    let inputs = (damaged(originals(), 2), damaged(originals(), 2), roles());
    search(1500, inputs, |(fitted, new, roles)| {
        fs::write(&first, fitted.0).unwrap();
        fs::write(&second, new.0).unwrap();
        no_panic(&[], || {
            let source = DataSource::resolve(&first.display().to_string(), None).unwrap();
            if let Ok(data) = source.load_columns(&roles) {
                let _ = load_features_file(&second, &data.schema);
            }
        })?;
        Ok(())
    });
}

/// The schema of a saved model with manual changes.
#[test]
fn damaged_schemas() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    const SCHEMAS: &[&str] = &[
        r#"{"input_names":["a","b"],"target_name":"y","named":true,"target_position":2}"#,
        r#"{"input_names":["x1","x2"],"target_name":"y","named":false,"target_position":2}"#,
        r#"{"input_names":["a"],"target_name":"y","named":true,"target_position":1,"companion":{"kind":"noise","name":"noise","position":2}}"#,
        r#"{"input_names":["x1"],"target_name":"y","named":false,"target_position":2,"companion":{"kind":"trials","name":"noise","position":1},"classes":["1","2"]}"#,
    ];
    let inputs = (damaged_text(SCHEMAS, 3), damaged(originals(), 1));
    search(2500, inputs, |(schema, bytes)| {
        fs::write(&path, bytes.0).unwrap();
        no_panic(&[], || {
            if let Ok(schema) = serde_json::from_str::<Schema>(&schema) {
                let _ = load_features_file(&path, &schema);
            }
        })?;
        Ok(())
    });
}

#[test]
fn masks() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("mask.csv");
    let originals = vec![
        b"0,1\n1,0\n0,0\n".to_vec(),
        b"1\n0\n".to_vec(),
        b"0;1\n0;0\n".to_vec(),
    ];
    let inputs = (
        damaged(originals, 3),
        0usize..5,
        prop_oneof![0usize..4, any::<usize>()],
    );
    search(1500, inputs, |(Bytes(bytes), rows, split)| {
        fs::write(&path, bytes).unwrap();
        no_panic(&[], || {
            if let Ok(mask) = SplitMask::load(&path, rows) {
                let _ = mask.split(split);
                (0..mask.splits()).for_each(|split| drop(mask.split(split)));
            }
        })?;
        Ok(())
    });
}

/// A folder in the layout of the collection. Both files are damaged and loaded by name.
#[test]
fn collections() {
    let folder = TempDir::new().unwrap();
    let set = folder.path().join("uci/concrete");
    fs::create_dir_all(&set).unwrap();
    let data = vec![gzip(b"1,2,3\n4,5,6\n7,8,10\n")];
    let mask = vec![gzip(b"0,1\n1,0\n0,0\n"), b"0,1\n1,0\n0,0\n".to_vec()];
    let inputs = (damaged(data, 1), damaged(mask, 2), roles());
    search(1000, inputs, |(data, mask, roles)| {
        fs::write(set.join("data.csv.gz"), data.0).unwrap();
        fs::write(set.join("test_mask.csv.gz"), mask.0).unwrap();
        no_panic(&[], || {
            let source = DataSource::resolve("concrete", Some(folder.path())).unwrap();
            if let Ok(data) = source.load_columns(&roles)
                && let Ok(mask) = source.mask(data.rows())
            {
                (0..mask.splits()).for_each(|split| {
                    if let Ok(split) = mask.split(split) {
                        let _ = Standardizer::fit(&data, &split.train);
                        let _ = data.select(&split.test);
                    }
                });
            }
        })?;
        Ok(())
    });
}
