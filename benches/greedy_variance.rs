//! The time that `greedy_variance` takes to choose inducing points, compared with the time of its
//! multiply-adds at the rate of a matrix product.
//!
//! `cargo bench --bench greedy_variance` prints one line of JSON per row, for
//! Matérn-3/2 with a lengthscale per dimension on generated inputs. It contains the seconds in
//! single and in double precision, the seconds of the N·M²/2 multiply-adds of a pivoted Cholesky
//! factorization at the rate of a product of two square matrices in the same run, and the ratio.
//! `-- ROWS DIMENSIONS POINTS` runs another size.

use std::{error::Error, hint::black_box, time::Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inducing::greedy_variance,
    kernels::{StationaryConfig, StationaryKernel},
    ops::Stationary,
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;

/// N, D, M
const ROWS: [(usize, usize, usize); 3] = [(5_000, 9, 500), (15_000, 17, 1000), (40_000, 9, 1000)];

/// Rows and columns of the matrices whose product determines the rate.
const SQUARE: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let device = Device::flex();
    device.seed(0);
    match arguments::numbers()?[..] {
        [rows, dimensions, points] => report((rows, dimensions, points), &device)?,
        _ => {
            for size in ROWS {
                report(size, &device)?;
            }
        }
    }
    Ok(())
}

/// Multiply-adds per second of a matrix product.
fn speed(options: (&Device, DType)) -> f64 {
    let square = Tensor::<2>::random([SQUARE, SQUARE], Distribution::Default, options);
    black_box(square.clone().matmul(square.clone()).into_data());
    let begin = Instant::now();
    black_box(square.clone().matmul(square).into_data());
    SQUARE.pow(3) as f64 / begin.elapsed().as_secs_f64()
}

fn report(
    (rows, dimensions, points): (usize, usize, usize),
    device: &Device,
) -> Result<(), Box<dyn Error>> {
    for dtype in [DType::F32, DType::F64] {
        let options = (device, dtype);
        let kernel: StationaryKernel = StationaryConfig::new(Stationary::Matern32)
            .with_lengthscale(2.0)
            .init(dimensions, options);
        let normal = Distribution::Normal(0.0, 1.0);
        let inputs = Tensor::random([rows, dimensions], normal, options);
        let begin = Instant::now();
        black_box(greedy_variance(&kernel, inputs, points, 0)?);
        let seconds = begin.elapsed().as_secs_f64();
        let least = (rows * points * points) as f64 / 2.0 / speed(options);
        println!(
            "{{\"rows\": {rows}, \"dimensions\": {dimensions}, \"points\": {points}, \
             \"dtype\": \"{dtype:?}\", \"seconds\": {seconds:.3}, \
             \"seconds_of_products\": {least:.3}, \"ratio\": {:.1}}}",
            seconds / least
        );
    }
    Ok(())
}
