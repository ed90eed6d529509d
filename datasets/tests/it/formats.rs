//! Files of every compression and format hold the same table.

use std::fs;
use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, RecordBatch,
    StringArray,
    types::{ArrowPrimitiveType, Decimal256Type, Float16Type, Int32Type},
};
use burn_gp_datasets::{ColumnRoles, DataError, DataSource, Dataset, InputColumns};
use temp_dir::TempDir;

const TABLE: &str = "x,y\n1,2\n3,4\n";

/// [`TABLE`], compressed by another program.
const XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x0b, 0x78, 0x2c, 0x79, 0x0a, 0x31,
    0x2c, 0x32, 0x0a, 0x33, 0x2c, 0x34, 0x0a, 0x00, 0x78, 0x1d, 0xaa, 0x18, 0x29, 0x74, 0xd9, 0x64,
    0x00, 0x01, 0x24, 0x0c, 0xa6, 0x18, 0xd8, 0xd8, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x04, 0x59, 0x5a,
];

fn load(name: &str, contents: impl AsRef<[u8]>) -> Result<Dataset, DataError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, contents).unwrap();
    let roles = ColumnRoles {
        inputs: InputColumns {
            inferred: true,
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    };
    DataSource::resolve(path.to_str().unwrap(), None)?.load_columns(&roles)
}

fn bzip2() -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(TABLE.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// An archive of these files.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(contents.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn every_compression_is_unpacked() {
    let zstd = zstd::encode_all(TABLE.as_bytes(), 1).unwrap();
    let zip = zip(&[("folder/a.csv", TABLE)]);
    for (name, bytes) in [
        ("a.csv.bz2", bzip2()),
        ("a.csv.xz", XZ.to_vec()),
        ("a.csv.zst", zstd),
        ("a.csv.zip", zip),
    ] {
        let data = load(name, bytes).unwrap();
        assert_eq!(data.name, "a", "{name}");
        assert_eq!(data.inputs.values(), [1.0, 3.0], "{name}");
        assert_eq!(data.targets, [2.0, 4.0], "{name}");
    }
}

#[test]
fn damaged_compressions_get_their_message() {
    let whole = bzip2();
    for (name, bytes, message) in [
        (
            "a.csv.bz2",
            whole[..whole.len() / 2].to_vec(),
            "a.csv.bz2:1: the bzip2 data are cut off or damaged here; copy or download the file again",
        ),
        (
            "a.csv.xz",
            XZ[..XZ.len() / 2].to_vec(),
            "a.csv.xz:1: the xz data are cut off or damaged here; copy or download the file again",
        ),
        (
            "a.zip",
            zip(&[("a.csv", TABLE), ("b.csv", TABLE)]),
            "a.zip cannot be read (the archive does not hold exactly one file); check the file and its permissions",
        ),
    ] {
        let error = load(name, bytes).unwrap_err().to_string();
        let end = error.find(name).unwrap();
        assert_eq!(&error[end..], message);
    }
}

/// Numbers, texts, truth values, dates and gaps.
fn batch() -> RecordBatch {
    let columns: [(&str, ArrayRef); 5] = [
        ("count", Arc::new(Int32Array::from(vec![1, 2, 5]))),
        (
            "city",
            Arc::new(StringArray::from(vec!["Bern", "Rome", "Bern"])),
        ),
        ("new", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("day", Arc::new(Date32Array::from(vec![1, 2, 4]))),
        (
            "y",
            Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.5)])),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A dictionary of truth values is unusual, but a file may contain one.
#[test]
fn arrow_dictionaries_of_any_values_are_read() {
    let keys = Int32Array::from(vec![0, 1, 0]);
    let values: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let dictionary = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
    let y: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let columns: [(&str, ArrayRef); 2] = [("new", Arc::new(dictionary)), ("y", y)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let data = load("a.arrow", file.into_inner().unwrap()).unwrap();
    assert_eq!(data.inputs.values(), [1.0, 0.0, 1.0]);
}

/// Every type of a number or a time, with a gap in the second row.
#[test]
fn arrow_numbers_and_times_of_every_type_are_read() {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    type Wide = <Decimal256Type as ArrowPrimitiveType>::Native;
    macro_rules! array {
        ($array:ident: $value:expr) => {
            Arc::new(arrow_array::$array::from(vec![
                Some($value),
                None,
                Some(Default::default()),
            ])) as ArrayRef
        };
    }
    let columns: Vec<(ArrayRef, f64)> = vec![
        (array!(Int8Array: -3), -3.0),
        (array!(Int16Array: -300), -300.0),
        (array!(Int32Array: 70_000), 70_000.0),
        (array!(Int64Array: 1 << 40), 1_099_511_627_776.0),
        (array!(UInt8Array: 200), 200.0),
        (array!(UInt16Array: 60_000), 60_000.0),
        (array!(UInt32Array: 4_000_000_000), 4e9),
        (array!(UInt64Array: 1 << 52), 4_503_599_627_370_496.0),
        (array!(Float16Array: Half::from_f64(1.5)), 1.5),
        (array!(Float32Array: 0.1), f64::from(0.1f32)),
        (array!(Float64Array: 0.1), 0.1),
        (array!(Date32Array: -2), -2.0),
        (array!(Date64Array: 129_600_000), 1.5),
        (array!(TimestampSecondArray: 43_200), 0.5),
        (array!(TimestampMillisecondArray: 129_600_000), 1.5),
        (array!(TimestampMicrosecondArray: 21_600_000_000), 0.25),
        (array!(TimestampNanosecondArray: 21_600_000_000_000), 0.25),
        (array!(Time32SecondArray: 21_600), 0.25),
        (array!(Time32MillisecondArray: 64_800_000), 0.75),
        (array!(Time64MicrosecondArray: 43_200_000_000), 0.5),
        (array!(Time64NanosecondArray: 43_200_000_000_000), 0.5),
        // 123456789012345678.9 is not a double-precision number: the nearest one is read.
        (
            Arc::new(
                arrow_array::Decimal128Array::from(vec![
                    Some(1_234_567_890_123_456_789),
                    None,
                    Some(0),
                ])
                .with_precision_and_scale(20, 1)
                .unwrap(),
            ),
            123_456_789_012_345_678.9,
        ),
        (
            Arc::new(
                arrow_array::Decimal32Array::from(vec![Some(-125), None, Some(0)])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
            -1.25,
        ),
        (
            Arc::new(
                arrow_array::Decimal64Array::from(vec![Some(725), None, Some(0)])
                    .with_precision_and_scale(18, -1)
                    .unwrap(),
            ),
            7250.0,
        ),
        (
            Arc::new(
                arrow_array::Decimal256Array::from(vec![
                    Some(Wide::from_i128(-1)),
                    None,
                    Some(Wide::from_i128(0)),
                ])
                .with_precision_and_scale(76, 3)
                .unwrap(),
            ),
            -1e-3,
        ),
    ];
    for (array, expected) in columns {
        let kind = array.data_type().to_string();
        let y: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
        let batch = RecordBatch::try_from_iter([("x", array), ("y", y)]).unwrap();
        let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        file.write(&batch).unwrap();
        let data = load("a.arrow", file.into_inner().unwrap()).unwrap();
        // A second column marks the gap.
        assert_eq!(data.inputs.row(0), [expected, 0.0], "{kind}");
        let gap = data.inputs.row(1);
        assert!(gap[0].is_nan() && gap[1] == 1.0, "{kind}: {gap:?}");
        assert_eq!(data.inputs.row(2), [0.0, 0.0], "{kind}");
    }
}

/// Databases store identifiers as decimals without digits after the point. Neighbors beyond double precision
/// are different levels.
#[test]
fn arrow_decimals_without_a_fraction_are_exact() {
    let neighbors = [9_007_199_254_740_992_i64, 9_007_199_254_740_993];
    let [first, second] = neighbors;
    let narrow = arrow_array::Decimal64Array::from(vec![first, second, first, second])
        .with_precision_and_scale(18, 0)
        .unwrap();
    let [first, second] = neighbors.map(i128::from);
    let wide = arrow_array::Decimal128Array::from(vec![first, second, first, second])
        .with_precision_and_scale(38, 0)
        .unwrap();
    for array in [Arc::new(narrow) as ArrayRef, Arc::new(wide)] {
        let y: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]));
        let batch = RecordBatch::try_from_iter([("x", array), ("y", y)]).unwrap();
        let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        file.write(&batch).unwrap();
        let data = load("a.arrow", file.into_inner().unwrap()).unwrap();
        let names = data.input_names();
        assert!(
            neighbors
                .iter()
                .all(|number| names.contains(&format!("x={number}"))),
            "{names:?}"
        );
    }
}

#[test]
fn arrow_files_and_streams_are_read() {
    let batch = batch();
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let file = file.into_inner().unwrap();
    let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let stream = stream.into_inner().unwrap();
    for (name, bytes) in [("a.feather", file), ("a.arrow", stream)] {
        let data = load(name, bytes).unwrap();
        assert_eq!(
            data.input_names(),
            [
                "count",
                "city=Bern",
                "city=Rome",
                "city=(other)",
                "new=true",
                "day"
            ]
        );
        assert_eq!(
            (data.targets.as_slice(), data.left_out),
            (&[0.5, 1.5][..], 1)
        );
        assert_eq!(data.inputs.row(0), [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(data.inputs.row(1), [5.0, 1.0, 0.0, 0.0, 1.0, 4.0]);
    }
    let error = load("a.arrow", "no arrow").unwrap_err().to_string();
    assert!(
        error.contains("a.arrow is not a readable Arrow file ("),
        "{error}"
    );
}

/// The smallest workbook that Excel would open, with a date in the style of one.
fn workbook() -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let text = |cell: &str, text: &str| {
        format!(r#"<c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    let number = |cell: &str, value: f64| format!(r#"<c r="{cell}"><v>{value}</v></c>"#);
    let day = |cell: &str, value: f64| format!(r#"<c r="{cell}" s="1"><v>{value}</v></c>"#);
    let rows = [
        [text("A1", "city"), text("B1", "day"), text("C1", "y")],
        [text("A2", "Bern"), day("B2", 25_570.0), number("C2", 0.5)],
        [text("A3", "Rome"), day("B3", 25_571.0), number("C3", 1.5)],
        [text("A4", "Bern"), day("B4", 25_573.0), number("C4", 2.5)],
    ];
    let rows: String = (rows.iter().enumerate())
        .map(|(row, cells)| format!(r#"<row r="{}">{}</row>"#, row + 1, cells.concat()))
        .collect();
    let sheet = format!(r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>"#);
    let styles = format!(
        r#"<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
    );
    let book = format!(
        r#"<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>"#
    );
    let links = format!(
        r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{office}/styles" Target="styles.xml"/></Relationships>"#
    );
    let root = format!(
        r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let types = format!(r#"<Types xmlns="{package}/content-types"/>"#);
    zip(&[
        ("[Content_Types].xml", &types),
        ("_rels/.rels", &root),
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", &links),
        ("xl/styles.xml", &styles),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

#[test]
fn the_first_sheet_of_a_workbook_is_read() {
    let data = load("a.xlsx", workbook()).unwrap();
    assert_eq!(
        data.input_names(),
        ["city=Bern", "city=Rome", "city=(other)", "day"]
    );
    assert_eq!(data.inputs.row(0), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(data.inputs.row(1), [0.0, 1.0, 0.0, 2.0]);
    assert_eq!(data.columns[1].values, "1970-01-02 to 1970-01-05");
    // Locations are rows of the sheet.
    assert!(data.location(0).to_string().ends_with("a.xlsx, row 2"));
    let error = load("a.xlsx", "no workbook").unwrap_err().to_string();
    assert!(
        error.contains("a.xlsx is not a readable workbook ("),
        "{error}"
    );
}
