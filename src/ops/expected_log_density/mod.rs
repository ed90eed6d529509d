//! The expected log-density of data with Gaussian noise.

#[cfg(feature = "cube")]
mod cube;

use core::f64::consts::PI;

use burn::{
    backend::{TensorMetadata, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    cpu::{CpuMemory, Scalar, with_element, write, write_like},
    declaration::{dispatch, operations},
};

/// `Σ_p E[log N(y_np | f_np, σ²)] = −½Σ_p [((y_np − μ_np)² + v_np)/σ² + log 2πσ²]` with
/// `f_np ~ N(μ_np, v_np)`, in one pass in each direction.
///
/// # Shapes
///
/// - `mean` (μ), `variance` (v), `targets` (y): `[N, P]`
/// - `noise` (σ²): `[1]`
/// - result: `[N]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn expected_gaussian_log_density(
    mean: Tensor<2>,
    variance: Tensor<2>,
    targets: Tensor<2>,
    noise: Tensor<1>,
) -> Tensor<1> {
    let shapes = [mean.dims(), variance.dims(), targets.dims()];
    assert!(
        shapes[0] == shapes[1] && shapes[0] == shapes[2] && noise.dims() == [1],
        "expected_gaussian_log_density: mean {:?}, variance {:?}, targets {:?}, noise {:?}; expected \
         three of one shape and [1]",
        shapes[0],
        shapes[1],
        shapes[2],
        noise.dims()
    );
    dispatch!(expected_gaussian_log_density(
        mean, variance, targets, noise
    ))
}

operations! {
    /// Backend implementation of the expectation.
    trait ExpectedLogDensityOps on devices {
        /// `[N]`, from means, variances and targets, [N, P], and the variance of the noise, [1].
        fn expected_gaussian_log_density(mean, variance, targets, noise) -> FloatTensor<Self>
            = vector(mean, outer(mean)),
            |gradient, wanted| {
                let saved = [mean, variance, targets, noise];
                let [mean, variance, noise] =
                    B::expected_gaussian_log_density_backward(saved, gradient);
                let targets = wanted[2].then(|| B::float_neg(mean.clone()));
                [Some(mean), Some(variance), targets, Some(noise)]
            };
    } backward {
        /// The gradients of the means, `g·(y − μ)/σ²`, the variances, `−½g/σ²`, and the noise,
        /// `½Σ_np g_n·(((y − μ)² + v)/σ⁴ − 1/σ²)`.
        fn expected_gaussian_log_density_backward([mean, variance, targets, noise], gradient)
            -> [FloatTensor<Self>; 3] = [like(mean), like(variance), like(noise)];
    }
}

impl<B: CpuMemory> ExpectedLogDensityOps for B {
    fn expected_gaussian_log_density(
        mean: FloatTensor<B>,
        variance: FloatTensor<B>,
        targets: FloatTensor<B>,
        noise: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let (rows, outputs) = (mean.shape()[0], mean.shape()[1]);
        with_element!(mean, T => {
            let [means, variances, values] = [&mean, &variance, &targets].map(|t| B::read::<T>(t));
            let noise = B::read::<T>(&noise)[0].to_f64();
            let factor = <T as Scalar>::from_f64(-0.5 / noise);
            let constant = <T as Scalar>::from_f64(-0.5 * outputs as f64 * (2.0 * PI * noise).ln());
            let mut sums = vec![constant; rows];
            for (sum, row) in sums.iter_mut().zip(0..) {
                for place in row * outputs..(row + 1) * outputs {
                    let error = values[place] - means[place];
                    *sum += factor * (error * error + variances[place]);
                }
            }
            write::<B, T>(sums, [rows], &mean.device())
        })
    }

    fn expected_gaussian_log_density_backward(
        [mean, variance, targets, noise]: [FloatTensor<B>; 4],
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 3] {
        let outputs = mean.shape()[1];
        with_element!(mean, T => {
            let [means, variances, values, gradients] =
                [&mean, &variance, &targets, &gradient].map(|t| B::read::<T>(t));
            let precision = B::read::<T>(&noise)[0].to_f64().recip();
            let factor = <T as Scalar>::from_f64(precision);
            let mut mean_gradient = Vec::with_capacity(means.len());
            let mut variance_gradient = Vec::with_capacity(means.len());
            let mut sum = 0.0;
            for (row, &gradient) in gradients.iter().enumerate() {
                let weight = gradient * factor;
                for place in row * outputs..(row + 1) * outputs {
                    let error = values[place] - means[place];
                    mean_gradient.push(weight * error);
                    variance_gradient.push(<T as Scalar>::from_f64(-0.5) * weight);
                    let square = (error * error + variances[place]).to_f64();
                    sum += gradient.to_f64() * (square * precision - 1.0);
                }
            }
            let noise_gradient = <T as Scalar>::from_f64(0.5 * precision * sum);
            [
                write_like::<B, T>(mean_gradient, &mean),
                write_like::<B, T>(variance_gradient, &variance),
                write_like::<B, T>(vec![noise_gradient], &noise),
            ]
        })
    }
}
