//! Small files that declare or unpack to large contents. Each is rejected in one sentence, with little
//! memory.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use burn_gp_datasets::{ColumnRoles, DataSource, InputColumns, RowRole, TargetColumn, load_file};
use flate2::{Compression, write::GzEncoder};

use crate::memory::with_little_memory;
use crate::packed;

/// The message for a file with these contents.
fn refusal(folder: &Path, name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, contents).unwrap();
    let error = load_file(&path, &Default::default()).unwrap_err();
    error.to_string()
}

const TOO_MUCH: &str = "but its contents would take more than";

#[test]
fn every_original_is_read() {
    let folder = temp_dir::TempDir::new().unwrap();
    let inputs = InputColumns {
        inferred: true,
        ..InputColumns::default()
    };
    let roles = ColumnRoles {
        inputs,
        ..ColumnRoles::default()
    };
    let biff = packed::biff(&packed::biff_cells());
    let mut files = vec![
        ("a.xlsx", packed::zip(&packed::xlsx(packed::CELLS)), 3),
        ("a.xlsb", packed::zip(&packed::xlsb()), 2),
        ("a.ods", packed::zip(&packed::ods(packed::ROWS)), 3),
        ("a.xls", packed::xls(&biff), 4),
    ];
    files.extend(packed::arrow().into_iter().map(|file| ("a.arrow", file, 8)));
    files.last_mut().unwrap().2 = 4;
    for (name, contents, rows) in files {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        let source = DataSource::resolve(&path.display().to_string(), None).unwrap();
        let data = source
            .load_columns(&roles)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(data.rows() + data.left_out, rows, "{name}");
    }
}

/// A workbook whose second cell is in the last row and column: with all cells between them, it would
/// take half a terabyte.
#[test]
fn a_workbook_with_two_cells_far_apart() {
    with_little_memory("hostile::a_workbook_with_two_cells_far_apart", |folder| {
        let far = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
        let text = refusal(folder, "a.xlsx", packed::zip(&packed::xlsx(far)));
        assert!(text.contains("row 1: column 2 has no value"), "{text}");
        let rows: String = (1..=40_000)
            .map(|row| format!(r#"<row r="{row}"><c r="A{row}"><v>1</v></c></row>"#))
            .collect();
        let wide = format!(r#"{rows}<row r="40001"><c r="XFD40001"><v>2</v></c></row>"#);
        let text = refusal(folder, "a.xlsx", packed::zip(&packed::xlsx(&wide)));
        assert!(text.contains(TOO_MUCH), "{text}");
        let cells = [
            packed::number(1, 0, 1.0),
            packed::number(65_535, 65_535, 2.0),
        ];
        let text = refusal(folder, "a.xls", packed::xls(&packed::biff(&cells)));
        assert!(text.contains(TOO_MUCH), "{text}");
        let mut binary = packed::xlsb();
        let sheet = &mut binary.last_mut().unwrap().1;
        // The column of the last number: 16 711 680.
        let last = sheet.len() - 3 - 16;
        sheet[last..last + 4].copy_from_slice(&[0, 0, 0xff, 0]);
        let text = refusal(folder, "a.xlsb", packed::zip(&binary));
        assert!(text.contains(TOO_MUCH), "{text}");
        let all = r#"<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/></table:table-row>"#;
        let text = refusal(folder, "a.ods", packed::zip(&packed::ods(all)));
        assert!(text.contains(TOO_MUCH), "{text}");
    });
}

#[test]
fn records_without_common_names() {
    with_little_memory("hostile::records_without_common_names", |folder| {
        let lines: String = (0..23_000)
            .map(|row| format!("{{\"k{row}\":1}}\n"))
            .collect();
        let text = refusal(folder, "a.jsonl", &lines);
        assert!(text.contains(TOO_MUCH), "{text}");
        let list = format!("[{}]", lines.trim().replace('\n', ","));
        let text = refusal(folder, "a.json", list);
        assert!(text.contains(TOO_MUCH), "{text}");
    });
}

/// A gigabyte or more of one byte after another `start`.
fn endless(mut encoder: impl Write, start: &str, byte: u8) {
    encoder.write_all(start.as_bytes()).unwrap();
    std::io::copy(&mut std::io::repeat(byte).take(1 << 30), &mut encoder).unwrap();
}

#[test]
fn endless_contents() {
    with_little_memory("hostile::endless_contents", |folder| {
        let mut line = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        endless(&mut line, "x,y\n1,2\n", b'1');
        let line = line.finish().unwrap();
        let text = refusal(folder, "a.csv.zst", &line);
        assert!(text.ends_with("the row that begins on line 3 has more than 64 MiB; end each row with a line feed, and close every quote"), "{text}");
        let mut quoted = GzEncoder::new(Vec::new(), Compression::fast());
        endless(&mut quoted, "x,y\n1,\"", b'\n');
        let text = refusal(folder, "a.csv.gz", quoted.finish().unwrap());
        assert!(text.contains("the row that begins on line 2"), "{text}");
        let mut text = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        endless(&mut text, "{\"x\":\"", b'1');
        let text = refusal(folder, "a.json.zst", text.finish().unwrap());
        assert!(text.contains(TOO_MUCH), "{text}");
    });
}

/// Reading takes time in proportion to the number of columns.
#[test]
fn a_hundred_thousand_columns() {
    with_little_memory("hostile::a_hundred_thousand_columns", |folder| {
        let names: Vec<String> = (0..100_000).map(|column| format!("c{column}")).collect();
        let row = |add: usize| {
            let cells: Vec<String> = (0..100_000)
                .map(|column| ((column * 7 + add) % 90).to_string())
                .collect();
            cells.join(",")
        };
        let rows = [row(1), row(25), row(50)].join("\n");
        let path = folder.join("a.csv");
        fs::write(&path, format!("{}\n{rows}\n", names.join(","))).unwrap();
        let inputs = InputColumns {
            inferred: true,
            ..InputColumns::default()
        };
        let roles = ColumnRoles {
            inputs,
            ..ColumnRoles::default()
        };
        let roles = roles.with(RowRole::Id, TargetColumn::Name("c5".to_owned()));
        let start = Instant::now();
        let source = DataSource::resolve(&path.display().to_string(), None).unwrap();
        let data = source.load_columns(&roles).unwrap();
        let again = source.load_features(&data.schema).unwrap();
        assert_eq!(again.inputs.columns(), data.inputs.columns());
        let taken = start.elapsed();
        assert!(taken < Duration::from_secs(20), "{taken:?}");
    });
}
