//! Whether a device computes in double precision throughout.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::reports::without_reports;

/// The number of computed values.
const COUNT: u32 = 16;

/// The tolerated error, far above the errors of double precision and far below those of single precision.
const TOLERANCE: f64 = 1e-12;

/// Computes with constants, elementary functions and a product in double precision, and compares the result
/// with the CPU. A device that fails to compute it has no double precision either.
pub fn is_real(device: &Device) -> bool {
    let computed = catch_unwind(AssertUnwindSafe(|| without_reports(|| values(device))));
    computed.is_ok_and(|values| {
        let mut pairs = values.iter().zip(expected());
        values.len() == COUNT as usize
            && pairs.all(|(value, expected)| (value - expected).abs() <= TOLERANCE)
    })
}

fn argument(index: u32) -> f64 {
    f64::from(index).mul_add(0.37, 0.1)
}

fn expected() -> impl Iterator<Item = f64> {
    let function = |x: f64| ((x * 0.1 + 1.0 / 3.0).exp() + 1.0).ln();
    let squares: f64 = (0..COUNT)
        .map(|index| function(argument(index)).powi(2))
        .sum();
    (0..COUNT).map(move |index| function(argument(index)) * squares)
}

fn values(device: &Device) -> Vec<f64> {
    let x: Vec<f64> = (0..COUNT).map(argument).collect();
    let x = TensorData::new(x, [COUNT as usize, 1]);
    let x = Tensor::<2>::from_data(x, (device, DType::F64));
    let values = ((x * 0.1 + 1.0 / 3.0).exp() + 1.0).log();
    let squares = values.clone().transpose().matmul(values.clone()); // [1, 1]
    let product = values.matmul(squares);
    product.into_data().iter::<f64>().collect()
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_double_precision() {
        assert!(is_real(&Device::flex()));
    }
}
