//! Writes a Parquet file of any number of rows, to try training on data that do not fit into memory.
//!
//! ```text
//! cargo run --release -p burn-gp-datasets --example write_rows -- rows.parquet 100000000
//! ```
//!
//! Four inputs are uniform in [−1, 1], and y = sin(3·a) + b² + c·d + ε with ε of standard deviation 0.1.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::FloatType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, Normal};

const GROUP_ROWS: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [path, rows] => write(Path::new(path), rows.parse()?),
        _ => Err("usage: write_rows FILE.parquet ROWS".into()),
    }
}

fn write(path: &Path, rows: usize) -> Result<(), Box<dyn Error>> {
    let message = "message rows { required float a; required float b; required float c; \
                   required float d; required float y; }";
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false);
    let mut writer = SerializedFileWriter::new(
        File::create(path)?,
        Arc::new(parse_message_type(message)?),
        Arc::new(properties.build()),
    )?;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let noise = Normal::new(0.0f32, 0.1)?;
    let mut left = rows;
    while left > 0 {
        let count = GROUP_ROWS.min(left);
        let mut columns = vec![Vec::new(); 5];
        for _ in 0..count {
            let [a, b, c, d]: [f32; 4] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
            let y = (3.0 * a).sin() + b * b + c * d + noise.sample(&mut random);
            for (column, value) in columns.iter_mut().zip([a, b, c, d, y]) {
                column.push(value);
            }
        }
        let mut group = writer.next_row_group()?;
        for values in &columns {
            let mut column = group.next_column()?.ok_or("a column is missing")?;
            column
                .typed::<FloatType>()
                .write_batch(values, None, None)?;
            column.close()?;
        }
        group.close()?;
        left -= count;
    }
    writer.close()?;
    Ok(())
}
