//! Values in double precision that single precision does not have.

use std::fmt::Write;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::ops::{Jitter, Stationary, cholesky, covariance, softplus};

/// A line for each value: what it is, the device's, the right one and the relative error.
pub fn report(device: &Device) -> String {
    let place = (device, DType::F64);
    let mut lines = String::new();
    let mut line = |name: &str, value: f64, expected: f64| {
        let error = ((value - expected) / expected).abs();
        // Writing to a string does not fail.
        let _ = writeln!(
            lines,
            "{name:<32} {value:>24e} of {expected:>24e}, error {error:.1e}"
        );
    };
    let far: [f64; 6] = [1.0, 13.0, 19.0, 25.0, 31.0, 37.0];
    let points = TensorData::new(far.to_vec(), [far.len(), 1]);
    let points = Tensor::<2>::from_data(points, place);
    let one = || Tensor::<1>::ones([1], place);
    let origin = Tensor::<2>::zeros([1, 1], place);
    let kind = Stationary::SquaredExponential;
    let values = numbers(covariance(kind, origin, points, one(), one()));
    for (distance, value) in far.into_iter().zip(values) {
        let expected = (-0.5 * distance * distance).exp();
        line(&format!("RBF at distance {distance}"), value, expected);
    }
    let large = softplus(Tensor::<1>::from_data([300.0], place));
    line("softplus(300)", numbers(large)[0], 300.0);
    let by_burn = Tensor::<1>::from_data([-180.5], place).exp();
    line("burn's exp(-180.5)", numbers(by_burn)[0], (-180.5f64).exp());
    let tiny = Tensor::<2>::from_data([[1e-90]], place);
    match cholesky(tiny, Jitter::NONE) {
        Ok(factor) => {
            let logarithm = numbers(factor.log_determinant())[0];
            line("log-determinant of 1e-90", logarithm, 1e-90f64.ln());
        }
        Err(error) => lines.push_str(&format!("log-determinant of 1e-90: {error}\n")),
    }
    lines
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
