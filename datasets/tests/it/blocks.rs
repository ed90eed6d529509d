//! Parquet files that are read in blocks.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn_gp_datasets::{
    BlockFile, ColumnKind, ColumnRoles, DataError, DataSource, FileError, InputColumns, NewRows,
    Purpose, Standardizer, StreamedStatistics, TargetColumn, Task,
};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use temp_dir::TempDir;

/// Row groups that are smaller than a block, and one of several blocks.
const GROUPS: [usize; 5] = [100, 40_000, 7, 16_384, 20_000];

/// Writes a row number, a number with gaps, a category and a target.
fn write(path: &Path) {
    let message = "message rows { required int64 row; optional double x; required binary place (UTF8); \
                   required double y; }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut first = 0;
    for size in GROUPS {
        let rows = first..first + size;
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<i64> = rows.clone().map(|row| row as i64).collect();
        (column
            .typed::<Int64Type>()
            .write_batch(&numbers, None, None))
        .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = rows.clone().map(|row| i16::from(row % 11 != 3)).collect();
        let x = (rows.clone()).filter(|row| row % 11 != 3);
        let x: Vec<f64> = x.map(|row| 100.0 + (row as f64).sin()).collect();
        (column
            .typed::<DoubleType>()
            .write_batch(&x, Some(&levels), None))
        .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let places = rows.clone().map(|row| ["north", "south", "west"][row % 3]);
        let places: Vec<ByteArray> = places.map(ByteArray::from).collect();
        (column
            .typed::<ByteArrayType>()
            .write_batch(&places, None, None))
        .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let y: Vec<f64> = rows.clone().map(|row| (row as f64 * 0.1).cos()).collect();
        (column.typed::<DoubleType>().write_batch(&y, None, None)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        first += size;
    }
    writer.close().unwrap();
}

struct Rows(TempDir);

impl Rows {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        write(&folder.path());
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("rows.parquet")
    }
}

fn roles() -> ColumnRoles {
    ColumnRoles {
        target: TargetColumn::Name("y".into()),
        inputs: InputColumns {
            inferred: true,
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    }
}

#[test]
fn the_blocks_have_the_rows_of_the_file() {
    let rows = Rows::new();
    let path = rows.path();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    let whole = source.load_columns(&roles()).unwrap();
    let file = BlockFile::open(&path).unwrap();
    assert_eq!(file.rows(), whole.rows());
    assert_eq!(file.columns(), 4);
    let sample = file.sample(&roles()).unwrap();
    assert_eq!(sample.schema, whole.schema);
    assert_eq!(file.task_of(&roles()).unwrap(), Task::Regression);

    let mut statistics = StreamedStatistics::new(whole.columns());
    let mut first = 0;
    for block in 0..file.blocks() {
        let features = (file.read(block, &sample.schema, &NewRows::default())).unwrap();
        let targets = features.targets.as_ref().unwrap();
        assert!(targets.len() <= 16_384);
        for (row, &target) in targets.iter().enumerate() {
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let expected = whole.inputs.row(first + row);
            assert_eq!(bits(features.inputs.row(row)), bits(expected));
            assert_eq!(target, whole.targets[first + row]);
            statistics.push(features.inputs.row(row), target);
        }
        let last = targets.len() - 1;
        let place = features.origin.location(last).number();
        assert_eq!(place as usize, first + targets.len());
        first += targets.len();
    }
    assert_eq!(first, whole.rows());

    let all: Vec<usize> = (0..whole.rows()).collect();
    let expected = Standardizer::fit(&whole, &all);
    let found = statistics.standardizer(&sample.schema);
    near(&found, &expected);
    let ranges = statistics.with_input_ranges(found, &sample.schema);
    near(&ranges, &expected.with_input_ranges(&whole, &all));
}

/// Sums of 76 491 terms in another order: 1e-12 of the largest mean, 100.
fn near(found: &Standardizer, expected: &Standardizer) {
    let numbers = |standardizer: &Standardizer| {
        let Standardizer {
            input_mean,
            input_scale,
            target_mean,
            target_scale,
            ..
        } = standardizer;
        [
            input_mean.as_slice(),
            input_scale,
            &[*target_mean, *target_scale],
        ]
        .concat()
    };
    for (found, expected) in numbers(found).iter().zip(numbers(expected)) {
        assert!((found - expected).abs() <= 1e-10, "{found} {expected}");
    }
}

/// The sample has rows from the whole file, so row numbers in it are not consecutive.
#[test]
fn a_row_number_is_found_by_the_first_block() {
    let rows = Rows::new();
    let sample = (BlockFile::open(&rows.path()).unwrap().sample(&roles())).unwrap();
    assert_eq!(sample.columns[0].kind, ColumnKind::RowNumber);
    assert!(matches!(sample.columns[0].purpose, Purpose::LeftOut(_)));
    assert_eq!(sample.columns[2].kind, ColumnKind::Category);
}

/// The mean of 1e9 + sin(n) has ten more digits than the standard deviation.
#[test]
fn statistics_keep_the_digits_of_a_small_deviation() {
    let mut statistics = StreamedStatistics::new(1);
    let values: Vec<f64> = (0..1000).map(|row| 1e9 + f64::from(row).sin()).collect();
    values
        .iter()
        .for_each(|&value| statistics.push(&[value], value));
    let mean = values.iter().map(|value| value - 1e9).sum::<f64>() / 1e3;
    let squares = values.iter().map(|value| (value - 1e9 - mean).powi(2));
    let deviation = (squares.sum::<f64>() / 1e3).sqrt();
    let data = DataSource::resolve("synthetic:sines?n=50&noise=0.1&seed=1", None).unwrap();
    let schema = data.load(None).unwrap().schema;
    let found = statistics.standardizer(&schema);
    assert!((found.target_scale - deviation).abs() < 1e-7, "{found:?}");
    assert!((found.input_mean[0] - 1e9 - mean).abs() < 1e-6, "{found:?}");
    assert!(!statistics.has_constant_target());
}

#[test]
fn only_parquet_files_have_blocks() {
    let error = BlockFile::open(Path::new("rows.csv")).err().unwrap();
    assert!(
        matches!(error, DataError::File(FileError::NotInBlocks { .. })),
        "{error}"
    );
}
