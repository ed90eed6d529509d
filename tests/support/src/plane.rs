//! A small data set.

use burn::tensor::Tensor;

use super::Platform;

/// Points of the plane, and two outputs, `[N, 2]` each.
pub fn plane(platform: &Platform, rows: usize) -> (Tensor<2>, Tensor<2>) {
    let values = |value: fn(f64) -> f64| -> Tensor<2> {
        let all: Vec<f64> = (0..2 * rows).map(|i| value(i as f64)).collect();
        platform.tensor(&all, [rows, 2])
    };
    (
        values(|i| (1.7 * i).sin() * 1.5),
        values(|i| (0.9 * i).cos() + 0.3),
    )
}
