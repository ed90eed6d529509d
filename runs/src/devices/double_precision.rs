//! Whether a device computes in double precision throughout.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::ops::{Jitter, Stationary, cholesky, covariance, softplus};

use super::reports::without_reports;

/// The number of values of burn's functions.
const COUNT: u32 = 16;

/// A relative error far above that of double precision and far below that of single precision.
const TOLERANCE: f64 = 1e-12;

/// Distances at which the squared exponential is too small for single precision.
const FAR: [f64; 3] = [19.0, 25.0, 37.0];

/// An argument at which softplus equals the argument, if its exponential is in double precision.
const LARGE: f64 = 300.0;

/// A number too small for single precision.
const TINY: f64 = 1e-90;

/// Computes with burn's constants, functions and products and with the library's exponential and logarithm,
/// and compares the results with the CPU. A device that fails to compute them has no double precision either.
pub fn is_real(device: &Device) -> bool {
    let compute = || [of_burn(device), of_library(device)].concat();
    let computed = catch_unwind(AssertUnwindSafe(|| without_reports(compute)));
    computed.is_ok_and(|values| agree(&values, &expected()))
}

/// Whether every value has the digits of double precision.
fn agree(values: &[f64], expected: &[f64]) -> bool {
    let mut pairs = values.iter().zip(expected);
    values.len() == expected.len()
        && pairs.all(|(value, expected)| (value - expected).abs() <= TOLERANCE * expected.abs())
}

fn argument(index: u32) -> f64 {
    f64::from(index).mul_add(0.37, 0.1)
}

fn expected() -> Vec<f64> {
    let function = |x: f64| ((x * 0.1 + 1.0 / 3.0).exp() + 1.0).ln();
    let squares: f64 = (0..COUNT)
        .map(|index| function(argument(index)).powi(2))
        .sum();
    let of_burn = (0..COUNT).map(|index| function(argument(index)) * squares);
    let far = FAR.map(|distance| (-0.5 * distance * distance).exp());
    of_burn.chain(far).chain([LARGE, TINY.ln()]).collect()
}

fn of_burn(device: &Device) -> Vec<f64> {
    let x: Vec<f64> = (0..COUNT).map(argument).collect();
    let x = TensorData::new(x, [COUNT as usize, 1]);
    let x = Tensor::<2>::from_data(x, (device, DType::F64));
    let values = ((x * 0.1 + 1.0 / 3.0).exp() + 1.0).log();
    let squares = values.clone().transpose().matmul(values.clone()); // [1, 1]
    numbers(values.matmul(squares))
}

/// The squared exponential at the distances [`FAR`], `softplus` of [`LARGE`], and the logarithm of [`TINY`] by a
/// log-determinant.
fn of_library(device: &Device) -> Vec<f64> {
    let place = (device, DType::F64);
    let one = || Tensor::<1>::ones([1], place);
    let origin = Tensor::<2>::zeros([1, 1], place);
    let far = Tensor::<2>::from_data(TensorData::new(FAR.to_vec(), [FAR.len(), 1]), place);
    let tiny = covariance(Stationary::SquaredExponential, origin, far, one(), one());
    let large = softplus(Tensor::<1>::from_data([LARGE], place));
    let matrix = Tensor::<2>::from_data([[TINY]], place);
    let logarithm = cholesky(matrix, Jitter::NONE).map(|factor| factor.log_determinant());
    let logarithm = logarithm.map(numbers).unwrap_or_default();
    [numbers(tiny), numbers(large), logarithm].concat()
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_double_precision() {
        assert!(is_real(&Device::flex()));
    }

    /// A device whose exponential takes the branch of single precision gave 5.5e75 at the first far point.
    #[test]
    fn one_wrong_value_is_enough() {
        let right = expected();
        assert!(agree(&right, &right));
        for index in 0..right.len() {
            for wrong in [right[index] * (1.0 + 1e-8), 5.46e75, f64::NAN] {
                let mut values = right.clone();
                values[index] = wrong;
                assert!(!agree(&values, &right), "{index}: {wrong}");
            }
        }
        assert!(!agree(&right[1..], &right));
    }
}
