//! The rate of matrix products, a reference for measured times.

use std::time::Instant;

use burn::tensor::{DType, Device, Distribution, Tensor};

use crate::median::median;

/// Operations per second of a square matrix product with 1024 rows.
pub fn product_rate(dtype: DType) -> f64 {
    let device = Device::flex();
    let options = (&device, dtype);
    let matrix = Tensor::<2>::random([1024, 1024], Distribution::Default, options);
    let times = (0..12).map(|_| {
        let start = Instant::now();
        let product = matrix.clone().matmul(matrix.clone());
        let elapsed = start.elapsed();
        drop(product);
        elapsed
    });
    2.0 * 1024f64.powi(3) / median(times.collect()).as_secs_f64()
}
