//! Parquet files written by the `parquet` crate.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn_gp_datasets::{
    ColumnKind, ColumnRoles, DataError, DataSource, Dataset, InputColumns, TargetColumn,
    load_features_file, load_file,
};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use temp_dir::TempDir;

/// One column of a row group. A definition level of 0 is a null.
enum Column {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Optional(Vec<f64>, Vec<i16>),
    Text(Vec<&'static str>),
}

fn write(path: &Path, message: &str, compression: Compression, groups: Vec<Vec<Column>>) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for group in groups {
        let mut row_group = writer.next_row_group().unwrap();
        for column in group {
            let mut column_writer = row_group.next_column().unwrap().unwrap();
            match column {
                Column::Bool(values) => column_writer
                    .typed::<BoolType>()
                    .write_batch(&values, None, None),
                Column::Int32(values) => column_writer
                    .typed::<Int32Type>()
                    .write_batch(&values, None, None),
                Column::Int64(values) => column_writer
                    .typed::<Int64Type>()
                    .write_batch(&values, None, None),
                Column::Float(values) => column_writer
                    .typed::<FloatType>()
                    .write_batch(&values, None, None),
                Column::Double(values) => column_writer
                    .typed::<DoubleType>()
                    .write_batch(&values, None, None),
                Column::Optional(values, levels) => column_writer
                    .typed::<DoubleType>()
                    .write_batch(&values, Some(&levels), None),
                Column::Text(values) => {
                    let values: Vec<ByteArray> = values.into_iter().map(ByteArray::from).collect();
                    column_writer
                        .typed::<ByteArrayType>()
                        .write_batch(&values, None, None)
                }
            }
            .unwrap();
            column_writer.close().unwrap();
        }
        row_group.close().unwrap();
    }
    writer.close().unwrap();
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a.parquet")
    }

    fn load(&self) -> Result<Dataset, DataError> {
        load_file(&self.path(), &TargetColumn::Last)
    }

    fn message(&self) -> String {
        let folder = format!("{}/", self.0.path().display());
        self.load().unwrap_err().to_string().replace(&folder, "")
    }
}

const NUMBERS: &str = "message table {
    REQUIRED BOOLEAN flag; REQUIRED INT32 count; REQUIRED INT32 small (INTEGER(32,false));
    REQUIRED INT64 big; REQUIRED INT32 price (DECIMAL(6,2)); REQUIRED FLOAT single;
    OPTIONAL DOUBLE y;
}";

fn numbers(first: i32) -> Vec<Column> {
    vec![
        Column::Bool(vec![true, false]),
        Column::Int32(vec![first, -5]),
        Column::Int32(vec![-1, 7]),
        Column::Int64(vec![1 << 40, -3]),
        Column::Int32(vec![12_345, -250]),
        Column::Float(vec![0.5, -2.25]),
        Column::Optional(vec![0.1, f64::from(first)], vec![1, 1]),
    ]
}

#[test]
fn every_kind_of_number_and_codec_is_read() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        let folder = Folder::new();
        write(
            &folder.path(),
            NUMBERS,
            compression,
            vec![numbers(9), numbers(8)],
        );
        let data = folder.load().unwrap();
        assert_eq!((data.rows(), data.columns()), (4, 6), "{compression}");
        assert_eq!(data.name, "a");
        assert_eq!(
            data.input_names(),
            ["flag", "count", "small", "big", "price", "single"]
        );
        let first = [1.0, 9.0, 4_294_967_295.0, 1_099_511_627_776.0, 123.45, 0.5];
        assert_eq!(data.inputs.row(0), first);
        assert_eq!(data.inputs.row(1), [0.0, -5.0, 7.0, -3.0, -2.5, -2.25]);
        assert_eq!(data.inputs.row(2)[1], 8.0);
        assert_eq!(data.targets, [0.1, 9.0, 0.1, 8.0]);
        assert_eq!(
            data.location(2).to_string(),
            format!("{}, row 3", folder.path().display())
        );
    }
}

#[test]
fn many_rows_come_in_order() {
    let folder = Folder::new();
    let message = "message t { REQUIRED DOUBLE x; REQUIRED DOUBLE y; }";
    let group = |start: u32| {
        let x: Vec<f64> = (start..start + 20_000).map(f64::from).collect();
        let y = x.iter().map(|x| -x).collect();
        vec![Column::Double(x), Column::Double(y)]
    };
    let groups = vec![group(0), group(20_000)];
    write(&folder.path(), message, Compression::SNAPPY, groups);
    let data = folder.load().unwrap();
    let expected: Vec<f64> = (0..40_000).map(f64::from).collect();
    assert_eq!(data.inputs.values(), expected);
    assert!(data.targets.iter().zip(&expected).all(|(y, x)| *y == -x));
}

#[test]
fn new_data_are_matched_by_name_and_text_beside_them_ignored() {
    let folder = Folder::new();
    let message = "message t { REQUIRED DOUBLE x; REQUIRED DOUBLE z; REQUIRED DOUBLE y; }";
    let columns = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(|c| Column::Double(c.to_vec()));
    write(
        &folder.path(),
        message,
        Compression::SNAPPY,
        vec![columns.into()],
    );
    let schema = folder.load().unwrap().schema;
    let message = "message t { REQUIRED BINARY id (UTF8); REQUIRED DOUBLE z; REQUIRED DOUBLE x; }";
    let columns = vec![
        Column::Text(vec!["a"]),
        Column::Double(vec![8.0]),
        Column::Double(vec![7.0]),
    ];
    write(&folder.path(), message, Compression::SNAPPY, vec![columns]);
    let features = load_features_file(&folder.path(), &schema).unwrap();
    assert_eq!(features.inputs.row(0), [7.0, 8.0]);
    assert_eq!(features.targets, None);
    assert_eq!(features.ignored, ["id"]);
}

#[test]
fn bad_parquet_gets_its_message() {
    let folder = Folder::new();
    fs::write(folder.path(), "x,y\n1,2\n3,4\n").unwrap();
    assert_eq!(
        folder.message(),
        "a.parquet is not a readable Parquet file (Invalid Parquet file. Corrupt footer); write it again or give a CSV file"
    );
    fs::write(folder.path(), "").unwrap();
    assert_eq!(
        folder.message(),
        "a.parquet is empty; it must hold rows of numbers, with or without a header line"
    );
    let plain = Compression::UNCOMPRESSED;
    let message = "message t { REQUIRED BINARY name (UTF8); REQUIRED DOUBLE y; }";
    let columns = || vec![Column::Text(vec!["a", "b"]), Column::Double(vec![1.0, 2.0])];
    write(&folder.path(), message, plain, vec![columns()]);
    assert_eq!(
        folder.message(),
        r#"a.parquet, row 1: column 1 ("name") holds "a", which is not a number; correct it, or remove the row or the column"#
    );
    let message = "message t { OPTIONAL DOUBLE x; REQUIRED DOUBLE y; }";
    let columns = vec![
        Column::Optional(vec![1.0], vec![1, 0]),
        Column::Double(vec![1.0, 2.0]),
    ];
    write(&folder.path(), message, plain, vec![columns]);
    assert_eq!(
        folder.message(),
        r#"a.parquet, row 2: column 1 ("x") has no value; fill it in or remove the row"#
    );
    let columns = vec![
        Column::Optional(vec![1.0, f64::NAN], vec![1, 1]),
        Column::Double(vec![1.0, 2.0]),
    ];
    write(&folder.path(), message, plain, vec![columns]);
    assert_eq!(
        folder.message(),
        r#"a.parquet, row 2: column 1 ("x") has no value; fill it in or remove the row"#
    );
    write(&folder.path(), message, plain, vec![]);
    assert_eq!(
        folder.message(),
        "a.parquet: there is a header but no row of data; add rows of numbers"
    );
    let message = "message t { REQUIRED BINARY x; REQUIRED DOUBLE y; }";
    let columns = vec![Column::Text(vec!["a", "b"]), Column::Double(vec![1.0, 2.0])];
    write(&folder.path(), message, plain, vec![columns]);
    assert_eq!(
        folder.message(),
        r#"a.parquet: column 1 ("x") has the type BYTE_ARRAY, which cannot be read; convert or remove the column"#
    );
}

#[test]
fn texts_dates_and_gaps_become_inputs() {
    let folder = Folder::new();
    let message = "message t { REQUIRED BINARY city (UTF8); REQUIRED INT32 day (DATE); \
        REQUIRED INT64 at (TIMESTAMP(MILLIS,true)); REQUIRED BINARY raw; OPTIONAL DOUBLE x; \
        REQUIRED DOUBLE y; }";
    let columns = vec![
        Column::Text(vec!["Bern", "Rome", "Bern"]),
        Column::Int32(vec![1, 2, 3]),
        Column::Int64(vec![43_200_000, 0, 0]),
        Column::Text(vec!["a", "b", "c"]),
        Column::Optional(vec![5.0, 6.0], vec![1, 0, 1]),
        Column::Double(vec![1.0, 2.0, 3.0]),
    ];
    let plain = Compression::UNCOMPRESSED;
    write(&folder.path(), message, plain, vec![columns]);
    let roles = ColumnRoles {
        inputs: InputColumns {
            inferred: true,
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    };
    let path = folder.path();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    let data = source.load_columns(&roles).unwrap();
    assert_eq!(
        data.input_names(),
        [
            "city=Bern",
            "city=Rome",
            "city=(other)",
            "day",
            "at",
            "x",
            "x is missing"
        ]
    );
    assert_eq!(data.inputs.row(0), [1.0, 0.0, 0.0, 1.0, 0.5, 5.0, 0.0]);
    assert!(data.inputs.row(1)[5].is_nan());
    assert_eq!(data.columns[1].values, "1970-01-02 to 1970-01-04");
    assert_eq!(data.columns[3].kind, ColumnKind::Unreadable);
    // New rows have the same inputs.
    let same = source.load_features(&data.schema).unwrap();
    assert_eq!(same.inputs.row(0), data.inputs.row(0));
}

/// A model trained on the Parquet file reads the CSV of the same rows, and vice versa.
#[test]
fn the_csv_of_the_same_rows_has_the_same_inputs() {
    let folder = Folder::new();
    let message = "message t { REQUIRED INT32 day (DATE); REQUIRED INT64 at (TIMESTAMP(MILLIS,true)); \
        REQUIRED BOOLEAN new; REQUIRED INT64 account; REQUIRED DOUBLE y; }";
    let columns = vec![
        Column::Int32(vec![18_687, 18_718, 18_719]),
        Column::Int64(vec![
            1_614_610_800_000,
            1_614_614_400_000,
            1_614_618_000_000,
        ]),
        Column::Bool(vec![true, false, true]),
        Column::Int64(vec![
            9_007_199_254_740_993,
            9_007_199_254_740_992,
            9_007_199_254_740_993,
        ]),
        Column::Double(vec![1.0, 2.0, 3.0]),
    ];
    write(
        &folder.path(),
        message,
        Compression::UNCOMPRESSED,
        vec![columns],
    );
    let accounts = ["9007199254740993", "9007199254740992", "9007199254740993"];
    let roles = ColumnRoles {
        inputs: InputColumns {
            inferred: true,
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    };
    let parquet = DataSource::resolve(folder.path().to_str().unwrap(), None).unwrap();
    let of_parquet = parquet.load_columns(&roles).unwrap();
    for (days, times, [no, yes]) in [
        (
            ["2021-03-01", "2021-04-01", "2021-04-02"],
            [
                "2021-03-01 15:00:00",
                "2021-03-01 16:00:00",
                "2021-03-01 17:00:00",
            ],
            ["False", "True"],
        ),
        (
            ["2021/03/01", "2021/04/01", "2021/04/02"],
            [
                "2021-03-01T15:00:00Z",
                "2021-03-01T16:00:00Z",
                "2021-03-01T17:00:00Z",
            ],
            ["false", "true"],
        ),
        (
            ["20210301", "20210401", "20210402"],
            [
                "2021-03-01 15:00:00+00:00",
                "2021-03-01 16:00:00+00:00",
                "2021-03-01 17:00:00+00:00",
            ],
            ["0", "1"],
        ),
        (
            ["1 Mar 2021", "1 Apr 2021", "2 Apr 2021"],
            ["2021-03-01 15:00", "2021-03-01 16:00", "2021-03-01 17:00"],
            ["FALSE", "TRUE"],
        ),
        (
            ["01.03.2021", "01.04.2021", "02.04.2021"],
            [
                "2021-03-01 15:00:00 UTC",
                "2021-03-01 16:00:00 UTC",
                "2021-03-01 17:00:00 UTC",
            ],
            ["f", "t"],
        ),
    ] {
        let rows: String = (0..3)
            .map(|row| {
                let new = if row == 1 { no } else { yes };
                format!(
                    "{},{},{new},{},{}\n",
                    days[row],
                    times[row],
                    accounts[row],
                    row + 1
                )
            })
            .collect();
        let path = folder.path().with_extension("csv");
        fs::write(&path, format!("day,at,new,account,y\n{rows}")).unwrap();
        let csv = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
        let of_csv = csv.load_columns(&roles).unwrap();
        assert_eq!(of_csv.inputs, of_parquet.inputs, "{days:?}");
        let other = csv.load_features(&of_parquet.schema).unwrap();
        assert_eq!(other.inputs, of_parquet.inputs, "{days:?}");
        let other = parquet.load_features(&of_csv.schema).unwrap();
        assert_eq!(other.inputs, of_csv.inputs, "{days:?}");
    }
}

#[test]
fn a_parquet_file_cut_off_gets_its_message() {
    let folder = Folder::new();
    write(
        &folder.path(),
        NUMBERS,
        Compression::SNAPPY,
        vec![numbers(9)],
    );
    let whole = fs::read(folder.path()).unwrap();
    fs::write(folder.path(), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(
        folder.message(),
        "a.parquet is not a readable Parquet file (Invalid Parquet file. Corrupt footer); write it again or give a CSV file"
    );
}

#[test]
fn a_parquet_file_with_any_byte_damaged_never_panics() {
    let folder = Folder::new();
    let groups = vec![numbers(9), numbers(8)];
    write(&folder.path(), NUMBERS, Compression::SNAPPY, groups);
    let whole = fs::read(folder.path()).unwrap();
    let mut refused = 0;
    for position in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[position] ^= 0xff;
        fs::write(folder.path(), damaged).unwrap();
        refused += usize::from(folder.load().is_err());
    }
    // Damaged statistics and values may go unnoticed, but most other damage must not.
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
}
