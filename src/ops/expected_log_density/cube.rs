//! The expectation on GPUs.

use core::f64::consts::PI;

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::ExpectedLogDensityOps;
use crate::ops::cube::{
    Argument, CubeBackend, CubeTensor, contiguous, cubes_for, element, empty_like,
    exponential::constant, logarithm::logarithm, row_sums, with_shape, zeros_like,
};

impl ExpectedLogDensityOps for CubeBackend {
    fn expected_gaussian_log_density(
        mean: CubeTensor,
        variance: CubeTensor,
        targets: CubeTensor,
        noise: CubeTensor,
    ) -> CubeTensor {
        let rows = mean.shape()[0];
        let out = empty_like(&mean, [rows]);
        if rows > 0 {
            let (client, dtype) = (mean.client.clone(), element(&mean));
            let [mean, variance, targets] = [mean, variance, targets].map(contiguous);
            let (cubes, dim) = cubes_for(&mean, rows);
            // SAFETY: the kernel checks a thread's index against the number of rows; the three matrices are
            // contiguous and have the same shape.
            unsafe {
                expectation::launch_unchecked(
                    &client,
                    cubes,
                    dim,
                    mean.required_address_type(),
                    mean.argument(),
                    variance.argument(),
                    targets.argument(),
                    noise.argument(),
                    out.clone().argument(),
                    dtype,
                );
            }
        }
        out
    }

    fn expected_gaussian_log_density_backward(
        saved: [CubeTensor; 4],
        gradient: CubeTensor,
    ) -> [CubeTensor; 3] {
        let [mean, variance, targets, noise] = saved.map(contiguous);
        let rows = mean.shape()[0];
        if rows == 0 {
            let noise_gradient = zeros_like(&noise, [1]);
            return [mean, variance, noise_gradient];
        }
        let (client, dtype) = (mean.client.clone(), element(&mean));
        let [mean_gradient, variance_gradient] =
            [&mean, &variance].map(|tensor| empty_like(tensor, tensor.shape()));
        let shares = empty_like(&noise, [rows]);
        let (cubes, dim) = cubes_for(&mean, rows);
        // SAFETY: as above; the gradients of mean and variance have the same shape, too, and the gradient of
        // the noise has one term per row.
        unsafe {
            expectation_backward::launch_unchecked(
                &client,
                cubes,
                dim,
                mean.required_address_type(),
                mean.argument(),
                variance.argument(),
                targets.argument(),
                noise.argument(),
                contiguous(gradient).argument(),
                mean_gradient.clone().argument(),
                variance_gradient.clone().argument(),
                shares.clone().argument(),
                dtype,
            );
        }
        let noise_gradient = row_sums(with_shape(shares, [1, rows]));
        [mean_gradient, variance_gradient, noise_gradient]
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn expectation<F: Float>(
    mean: &Tensor<F>,
    variance: &Tensor<F>,
    targets: &Tensor<F>,
    noise: &Tensor<F>,
    out: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let row = ABSOLUTE_POS;
    if row >= out.len() {
        terminate!();
    }
    let (outputs, noise) = (mean.shape(1), noise[0]);
    let mut sum = F::new(0.0);
    for output in 0..outputs {
        let place = row * outputs + output;
        let error = targets[place] - mean[place];
        sum += error * error + variance[place];
    }
    let constants = F::cast_from(outputs) * logarithm::<F>(constant::<F>(2.0 * PI) * noise);
    out[row] = -(F::new(0.5) * (sum / noise + constants));
}

/// The gradients of mean and variance, and one row's term in the gradient of the noise.
#[cube(launch_unchecked, address_type = "dynamic")]
fn expectation_backward<F: Float>(
    mean: &Tensor<F>,
    variance: &Tensor<F>,
    targets: &Tensor<F>,
    noise: &Tensor<F>,
    gradient: &Tensor<F>,
    mean_gradient: &mut Tensor<F>,
    variance_gradient: &mut Tensor<F>,
    shares: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let row = ABSOLUTE_POS;
    if row >= shares.len() {
        terminate!();
    }
    let (outputs, noise) = (mean.shape(1), noise[0]);
    let weight = gradient[row] / noise;
    let mut sum = F::new(0.0);
    for output in 0..outputs {
        let place = row * outputs + output;
        let error = targets[place] - mean[place];
        mean_gradient[place] = weight * error;
        variance_gradient[place] = -(F::new(0.5) * weight);
        sum += (error * error + variance[place]) / noise - F::new(1.0);
    }
    shares[row] = F::new(0.5) * weight * sum;
}
