//! Files of every format except Parquet and images, as bytes.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, NullArray,
    RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

/// An archive of these files.
pub fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name.as_str(), options).unwrap();
        archive.write_all(contents).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The lines `x,y`, `1,2` and `3,4`, compressed by another program.
pub const XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x0b, 0x78, 0x2c, 0x79, 0x0a, 0x31,
    0x2c, 0x32, 0x0a, 0x33, 0x2c, 0x34, 0x0a, 0x00, 0x78, 0x1d, 0xaa, 0x18, 0x29, 0x74, 0xd9, 0x64,
    0x00, 0x01, 0x24, 0x0c, 0xa6, 0x18, 0xd8, 0xd8, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x04, 0x59, 0x5a,
];

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Columns of many types.
fn batch() -> RecordBatch {
    let keys = Int32Array::from(vec![Some(0), None, Some(1), Some(0)]);
    let values: ArrayRef = Arc::new(StringArray::from(vec!["red", "green"]));
    let colors = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
    let columns: [(&str, ArrayRef); 8] = [
        ("count", Arc::new(Int32Array::from(vec![1, 2, 5, 7]))),
        (
            "city",
            Arc::new(StringArray::from(vec!["Bern", "Rome", "Bern", ""])),
        ),
        (
            "view",
            Arc::new(StringViewArray::from(vec![
                "a",
                "a longer text than twelve",
                "b",
                "c",
            ])),
        ),
        ("color", Arc::new(colors)),
        (
            "new",
            Arc::new(BooleanArray::from(vec![true, false, true, true])),
        ),
        ("day", Arc::new(Date32Array::from(vec![1, 2, 4, 9]))),
        ("nothing", Arc::new(NullArray::new(4))),
        (
            "y",
            Arc::new(Float64Array::from(vec![
                Some(0.5),
                None,
                Some(1.5),
                Some(9.0),
            ])),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Arrow files and a stream, plain and compressed.
pub fn arrow() -> Vec<Vec<u8>> {
    let batch = batch();
    let file = |compression: Option<CompressionType>| {
        let options = IpcWriteOptions::default()
            .try_with_compression(compression)
            .unwrap();
        let schema = batch.schema();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        file.write(&batch).unwrap();
        file.write(&batch).unwrap();
        file.into_inner().unwrap()
    };
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    vec![
        file(None),
        file(Some(CompressionType::LZ4_FRAME)),
        file(Some(CompressionType::ZSTD)),
        stream.into_inner().unwrap(),
    ]
}

/// A file of an archive.
fn part(name: &str, contents: impl Into<Vec<u8>>) -> (String, Vec<u8>) {
    (name.to_owned(), contents.into())
}

/// The files of an xlsx workbook whose sheet has these cells, in XML.
pub fn xlsx(cells: &str) -> Vec<(String, Vec<u8>)> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let root = format!(
        r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let book = format!(
        r#"<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>"#
    );
    let links = format!(
        r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{office}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="{office}/styles" Target="styles.xml"/></Relationships>"#
    );
    let texts = format!(
        r#"<sst xmlns="{main}" count="2" uniqueCount="2"><si><t>x</t></si><si><t>y</t></si></sst>"#
    );
    let styles = format!(
        r#"<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
    );
    let sheet = format!(r#"<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>"#);
    vec![
        part(
            "[Content_Types].xml",
            format!(r#"<Types xmlns="{package}/content-types"/>"#),
        ),
        part("_rels/.rels", root),
        part("xl/workbook.xml", book),
        part("xl/_rels/workbook.xml.rels", links),
        part("xl/sharedStrings.xml", texts),
        part("xl/styles.xml", styles),
        part("xl/worksheets/sheet1.xml", sheet),
    ]
}

/// The cells of a small table.
pub const CELLS: &str = r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c><c r="B2" s="1"><v>25570</v></c></row><row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3"><v>2.5</v></c></row><row r="7"><c r="A7" t="inlineStr"><is><t>text</t></is></c><c r="B7" t="e"><v>#N/A</v></c></row>"#;

/// The files of an OpenDocument spreadsheet with these rows, in XML.
pub fn ods(rows: &str) -> Vec<(String, Vec<u8>)> {
    let manifest = r#"<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/"/></manifest:manifest>"#;
    let content = format!(
        r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="a">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    vec![
        part("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        part("META-INF/manifest.xml", manifest),
        part("content.xml", content),
    ]
}

/// The rows of a small table, with repetitions.
pub const ROWS: &str = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>y</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="1.5"><text:p>1.5</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row><table:table-row><table:table-cell office:value-type="date" office:date-value="2020-01-01"/><table:table-cell office:value-type="float" office:value="3"/></table:table-row><table:table-row table:number-rows-repeated="1048572"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>"#;

/// A record of an old Excel workbook.
fn record(kind: u16, contents: &[u8]) -> Vec<u8> {
    let length = contents.len() as u16;
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), contents].concat()
}

/// Little-endian words, one after the other.
fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A number in a cell of an old Excel workbook.
pub fn number(row: u16, column: u16, value: f64) -> Vec<u8> {
    let contents = [words(&[row, column, 0]), value.to_le_bytes().to_vec()].concat();
    record(0x0203, &contents)
}

/// The stream of an old Excel workbook whose sheet has these records besides a header.
pub fn biff(cells: &[Vec<u8>]) -> Vec<u8> {
    let begin = |kind: u16| record(0x0809, &words(&[0x0600, kind, 0, 0, 0, 0, 0, 0]));
    let text = |text: &str| {
        [
            words(&[text.len() as u16]),
            vec![0],
            text.as_bytes().to_vec(),
        ]
        .concat()
    };
    let texts = [words(&[2, 0, 2, 0]), text("x"), text("y")].concat();
    let sheet = |start: u32| {
        let name = [&start.to_le_bytes()[..], &[0, 0, 1, 0, b'a']].concat();
        record(0x0085, &name)
    };
    let start = begin(5).len() + sheet(0).len() + record(0x00fc, &texts).len() + 4;
    let header = [0, 1].map(|column| record(0x00fd, &words(&[0, column, 0, column, 0])));
    let size = record(0x0200, &words(&[0, 0, 4, 0, 0, 2, 0]));
    let book = [
        begin(5),
        sheet(start as u32),
        record(0x00fc, &texts),
        record(0x000a, &[]),
    ];
    let end = record(0x000a, &[]);
    [
        book.concat(),
        begin(16),
        size,
        header.concat(),
        cells.concat(),
        end,
    ]
    .concat()
}

/// The cells of a small table: numbers, a text, several numbers at once, and a truth value.
pub fn biff_cells() -> Vec<Vec<u8>> {
    let text = [words(&[2, 0, 0, 3]), vec![0], b"abc".to_vec()].concat();
    let several = words(&[3, 0, 0, 2, 0x4059, 0, 6, 0x4059, 1]);
    vec![
        number(1, 0, 1.0),
        number(1, 1, 2.0),
        number(2, 1, 3.0),
        record(0x0204, &text),
        record(0x00bd, &several),
        record(0x0205, &[words(&[4, 0, 0]), vec![1, 0]].concat()),
        number(4, 1, 5.0),
    ]
}

/// An old Excel workbook with this stream, in sectors of 512 bytes: a table, a directory, and the stream.
pub fn xls(stream: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 512;
    let data = stream.len().max(4096).div_ceil(SECTOR);
    let (no, end) = ([0xff; 4], [0xfe, 0xff, 0xff, 0xff]);
    let mut header = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    header.extend([0; 16]);
    header.extend(words(&[
        0x3e, 3, 0xfffe, 9, 6, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 4096, 0,
    ]));
    header.extend([&end[..], &[0; 4], &end, &[0; 4], &[0; 4]].concat());
    header.extend(no.repeat((SECTOR - header.len()) / 4));
    let mut table = [[0xfd, 0xff, 0xff, 0xff], end].concat();
    table.extend((3..2 + data as u32).flat_map(u32::to_le_bytes));
    table.extend(end);
    table.resize(SECTOR, 0xff);
    let entry = |name: &str, kind: u8, start: u32, length: usize| {
        let mut entry = words(&name.encode_utf16().collect::<Vec<_>>());
        let size = entry.len() as u8 + 2;
        entry.resize(64, 0);
        entry.extend([size, 0, kind, 1]);
        entry.extend([no, no, if kind == 5 { [1, 0, 0, 0] } else { no }].concat());
        entry.resize(116, 0);
        entry.extend([start, length as u32, 0].map(u32::to_le_bytes).concat());
        entry
    };
    let mut directory = entry("Root Entry", 5, 0xffff_fffe, 0);
    directory.extend(entry("Workbook", 2, 2, data * SECTOR));
    directory.resize(SECTOR, 0);
    let mut file = [header, table, directory, stream.to_vec()].concat();
    file.resize(SECTOR * (3 + data), 0);
    file
}

/// The files of a binary workbook.
pub fn xlsb() -> Vec<(String, Vec<u8>)> {
    let record = |kind: u16, contents: &[u8]| {
        let kind = match kind {
            ..0x80 => vec![kind as u8],
            _ => vec![(kind & 0x7f) as u8 | 0x80, (kind >> 7) as u8],
        };
        [kind, vec![contents.len() as u8], contents.to_vec()].concat()
    };
    let text = |text: &str| {
        let units: Vec<u16> = text.encode_utf16().collect();
        [(units.len() as u32).to_le_bytes().to_vec(), words(&units)].concat()
    };
    let book = [vec![0; 8], text("rId1"), text("a")].concat();
    let book = [
        record(0x0083, &[]),
        record(0x009c, &book),
        record(0x0090, &[]),
        record(0x0084, &[]),
    ];
    let cell = |kind: u16, column: u32, value: &[u8]| {
        record(kind, &[&column.to_le_bytes()[..], &[0; 4], value].concat())
    };
    let row = |row: u32| record(0, &[&row.to_le_bytes()[..], &[0; 13]].concat());
    let value = |value: f64| value.to_le_bytes();
    let sheet = [
        record(0x0081, &[]),
        record(0x0094, &words(&[0, 0, 2, 0, 0, 0, 1, 0])),
        record(0x0091, &[]),
        row(0),
        cell(6, 0, &text("x")),
        cell(6, 1, &text("y")),
        row(1),
        cell(5, 0, &value(1.0)),
        cell(5, 1, &value(2.0)),
        row(2),
        cell(2, 0, &[0x06, 0x10, 0, 0]),
        cell(5, 1, &value(4.0)),
        record(0x0092, &[]),
    ];
    let mut files = xlsx("");
    files.retain(|(name, _)| !name.starts_with("xl/") || name.ends_with(".rels"));
    files.iter_mut().for_each(|(name, contents)| {
        *name = name.replace("workbook.xml", "workbook.bin");
        let text = String::from_utf8_lossy(contents).replace(".xml\"", ".bin\"");
        *contents = text.into_bytes();
    });
    files.push(part("xl/workbook.bin", book.concat()));
    files.push(part("xl/worksheets/sheet1.bin", sheet.concat()));
    files
}
