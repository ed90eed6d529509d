//! The time of one training step of sparse variational regression, compared with a lower limit from
//! matrix products in the same run on the same machine.
//!
//! `cargo bench --bench svgp_step [-- FILTER]` prints one line of JSON per row whose name contains the
//! filter, or of the row with exactly that name. A row without a suffix is the step of
//! `benches/peers/svgp_step.py`: whitened, ARD Matérn-5/2, Gaussian noise, full covariance, all
//! parameters trained with Adam, eight input dimensions. Each suffix stands for one change: `-unwhitened`
//! coordinates; `-natural` gradients for `q(u)`; `-orthogonal`, a second set of as many inducing points
//! (SOLVE-GP).

use std::{error::Error, time::Instant};

use burn::tensor::DType;

#[path = "../../cli/src/allocator.rs"]
mod allocator;
mod floor;
#[path = "../median.rs"]
mod median;
#[path = "../product_rate.rs"]
mod product_rate;
mod rows;

use median::median;
use product_rate::product_rate;
use rows::Row;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let filter: String = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let rates = [DType::F32, DType::F64].map(|dtype| (dtype, product_rate(dtype)));
    for (dtype, rate) in rates {
        println!("{{\"gemm\": \"{dtype:?}\", \"gflops\": {:.0}}}", rate / 1e9);
    }
    let rows = Row::all();
    let exact = rows.iter().any(|row| row.name() == filter);
    for row in rows {
        let name = row.name();
        if name == filter || !exact && name.contains(&filter) {
            let rate = (rates.iter())
                .find(|(dtype, _)| *dtype == row.dtype)
                .map_or(1.0, |(_, rate)| *rate);
            report(row, rate)?;
        }
    }
    Ok(())
}

/// Measures a row and prints it.
fn report(row: Row, rate: f64) -> Result<(), Box<dyn Error>> {
    let steps = match row.inducing {
        ..256 => 2000,
        256..1024 => 150,
        _ => 60,
    };
    let warm_up = steps / 6;
    let mut step = row.training(steps);
    let (mut times, mut loss) = (Vec::new(), f64::NAN);
    for index in 0..steps {
        let start = Instant::now();
        loss = step()?;
        if index >= warm_up {
            times.push(start.elapsed());
        }
    }
    let milliseconds = median(times).as_secs_f64() * 1e3;
    let floor = floor::operations(&row) / rate * 1e3;
    println!(
        "{{\"row\": \"{}\", \"median_ms\": {milliseconds:.3}, \"floor_ms\": {floor:.3}, \
         \"ratio_to_floor\": {:.2}, \"final_loss\": {loss:.6}}}",
        row.name(),
        milliseconds / floor
    );
    Ok(())
}
