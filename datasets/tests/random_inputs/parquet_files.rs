//! Damaged Parquet files, made from valid ones with several compression methods.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use burn_gp_datasets::{ColumnRoles, Labels};

use crate::files::read_in_every_way;
use crate::memory::with_little_memory;
use crate::mutations::damaged;
use crate::search::{no_panic, search};

const COLUMNS: &str = "message t { REQUIRED DOUBLE a; OPTIONAL FLOAT b; REQUIRED INT32 c (UINT_8); \
                       REQUIRED INT64 d (DECIMAL(9, 2)); REQUIRED BOOLEAN e; }";

fn write(path: &Path, compression: Compression, groups: usize) {
    let schema = Arc::new(parse_message_type(COLUMNS).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties))
            .unwrap();
    for _ in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        let mut next = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match next {
                0 => column
                    .typed::<DoubleType>()
                    .write_batch(&[1.0, 2.0, 3.5], None, None),
                1 => column.typed::<FloatType>().write_batch(
                    &[1.0, 2.0, 3.5],
                    Some(&[1, 1, 1]),
                    None,
                ),
                2 => column
                    .typed::<Int32Type>()
                    .write_batch(&[1, 2, 3], None, None),
                3 => column
                    .typed::<Int64Type>()
                    .write_batch(&[100, 250, -3], None, None),
                _ => column
                    .typed::<BoolType>()
                    .write_batch(&[true, false, true], None, None),
            }
            .unwrap();
            column.close().unwrap();
            next += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_files() {
    with_little_memory("parquet_files::parquet_files", |folder| {
        let path = folder.join("a.parquet");
        let compressions = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ];
        let originals = compressions.map(|compression| {
            write(&path, compression, 2);
            fs::read(&path).unwrap()
        });
        search(
            1000,
            (damaged(originals.to_vec(), 3), any::<bool>()),
            |(bytes, labels)| {
                fs::write(&path, bytes.0).unwrap();
                let roles = ColumnRoles {
                    labels: labels.then_some(Labels::Unordered),
                    ..ColumnRoles::default()
                };
                no_panic(&[], || read_in_every_way(&path, &roles))?;
                Ok(())
            },
        );
    });
}
