//! Damaged files of every format, read with little memory. Containers are damaged inside and outside:
//! nearly every change of compressed bytes is found by a checksum.

use std::fs;
use std::path::Path;

use burn_gp_datasets::{ColumnRoles, DataSource, NewRows, load_file, load_points_file};
use proptest::prelude::*;

use crate::files::{gzip, originals, roles};
use crate::memory::with_little_memory;
use crate::mutations::{Bytes, damaged};
use crate::packed;
use crate::search::{no_panic, search};

/// Reads an existing file in every way.
fn read(path: &Path, roles: &ColumnRoles) {
    let _ = load_points_file(path);
    let _ = load_file(path, &roles.target);
    let source = DataSource::resolve(&path.display().to_string(), None).unwrap();
    let _ = source.task_of(roles);
    if let Ok(data) = source.load_columns(roles) {
        let rows = NewRows {
            lenient: true,
            ..NewRows::default()
        };
        let _ = source.load_new_rows(&data.schema, &rows);
    }
}

/// Reads files called `name` made from `contents`, in the test called `test`.
fn fuzz(test: &str, cases: u32, name: &str, contents: impl FnOnce() -> BoxedStrategy<Bytes>) {
    with_little_memory(test, |folder| {
        let path = folder.join(name);
        search(cases, (contents(), roles()), |(bytes, roles)| {
            fs::write(&path, bytes.0).unwrap();
            no_panic(&[], || read(&path, &roles))?;
            Ok(())
        });
    });
}

/// Contents that are damaged before `pack`, and afterwards.
fn packed(
    originals: Vec<Vec<u8>>,
    pack: impl Fn(&[u8]) -> Vec<u8> + Clone + 'static,
) -> BoxedStrategy<Bytes> {
    let whole = originals.iter().map(|bytes| pack(bytes)).collect();
    let inside = damaged(originals, 3).prop_map(move |bytes| Bytes(pack(&bytes.0)));
    prop_oneof![2 => inside, 1 => damaged(whole, 3)].boxed()
}

/// An archive one of whose files is damaged, or the archive itself.
fn archive(files: Vec<(String, Vec<u8>)>) -> BoxedStrategy<Bytes> {
    let whole = packed::zip(&files);
    let inside = (0..files.len()).prop_flat_map(move |place| {
        let files = files.clone();
        damaged(vec![files[place].1.clone()], 3).prop_map(move |bytes| {
            let mut files = files.clone();
            files[place].1 = bytes.0;
            Bytes(packed::zip(&files))
        })
    });
    prop_oneof![4 => inside, 1 => damaged(vec![whole], 3)].boxed()
}

fn records() -> Vec<Vec<u8>> {
    let lines = r#"{"x":1,"y":2.5,"z":"a"}
{"x":null,"y":true,"z":"b","w":[1,{"v":2}]}
{"y":1e3,"x":-4}
"#;
    let list = format!("[{}]", lines.trim().replace('\n', ","));
    vec![lines.into(), list.into()]
}

#[test]
fn json() {
    fuzz("formats::json", 800, "a.json", || {
        damaged(records(), 4).boxed()
    });
}

#[test]
fn json_in_zstd() {
    let test = "formats::json_in_zstd";
    fuzz(test, 300, "a.jsonl.zst", || packed(records(), packed::zstd));
}

#[test]
fn tabs_in_bzip2() {
    let test = "formats::tabs_in_bzip2";
    fuzz(test, 300, "a.tsv.bz2", || {
        packed(originals(), packed::bzip2)
    });
}

#[test]
fn text_in_xz() {
    fuzz("formats::text_in_xz", 400, "a.csv.xz", || {
        damaged(vec![packed::XZ.to_vec()], 3).boxed()
    });
}

#[test]
fn text_in_zstd() {
    fuzz("formats::text_in_zstd", 300, "a.csv.zst", || {
        packed(originals(), packed::zstd)
    });
}

#[test]
fn text_in_gzip() {
    fuzz("formats::text_in_gzip", 300, "a.csv.gz", || {
        packed(originals(), gzip)
    });
}

#[test]
fn text_in_zip() {
    fuzz("formats::text_in_zip", 300, "a.zip", || {
        archive(vec![("a.csv".into(), originals().swap_remove(0))])
    });
}

#[test]
fn arrow() {
    fuzz("formats::arrow", 1500, "a.arrow", || {
        damaged(packed::arrow(), 3).boxed()
    });
}

#[test]
fn xlsx() {
    fuzz("formats::xlsx", 600, "a.xlsx", || {
        archive(packed::xlsx(packed::CELLS))
    });
}

#[test]
fn xlsb() {
    fuzz("formats::xlsb", 600, "a.xlsb", || archive(packed::xlsb()));
}

#[test]
fn ods() {
    fuzz("formats::ods", 600, "a.ods", || {
        archive(packed::ods(packed::ROWS))
    });
}

#[test]
fn xls() {
    fuzz("formats::xls", 800, "a.xls", || {
        packed(vec![packed::biff(&packed::biff_cells())], packed::xls)
    });
}
