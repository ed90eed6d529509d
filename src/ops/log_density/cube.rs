//! The log-density on GPUs: nothing is read back, and it is NaN if the factorization fails.

use core::f64::consts::PI;

use burn::backend::{TensorMetadata, ops::FloatTensorOps};
use burn_cubecl::cubecl::{self, prelude::*};

use super::LogDensityOps;
use crate::ops::{
    cholesky::{CholeskyOps, Jitter, add_share_on_device, log_of_diagonal, multiple_of_identity},
    cpu::Side,
    cube::{
        Argument, CubeBackend, CubeTensor, Part, REDUCING, Reduction, Target, contiguous, element,
        empty_like, matrices, ones_like, product, reduce, transposed, with_shape, zeros_like,
    },
    decompositions::count_decomposition,
    triangular_solve::TriangularSolveOps,
};

impl LogDensityOps for CubeBackend {
    fn gaussian_log_density(
        covariance: CubeTensor,
        residual: CubeTensor,
        jitter: Jitter,
    ) -> (CubeTensor, CubeTensor, CubeTensor, CubeTensor) {
        let (factor, status) = Self::cholesky(covariance, jitter);
        let whitened = Self::factor_solve(factor.clone(), residual, Side::Lower);
        let density = log_density(factor.clone(), whitened.clone());
        let weights = Self::factor_solve(factor.clone(), whitened, Side::Transposed);
        (density, status, factor, weights)
    }

    fn gaussian_log_density_backward(
        [status, factor, weights]: [CubeTensor; 3],
        gradient: CubeTensor,
        wanted: [bool; 2],
    ) -> [Option<CubeTensor>; 2] {
        let gradient = with_shape(contiguous(gradient), [1, 1]);
        let covariance = wanted[0].then(|| {
            let slope = covariance_slope(factor, weights.clone());
            let half = Self::float_mul_scalar(gradient.clone(), 0.5.into());
            add_share_on_device(Self::float_mul(slope, half), status)
        });
        let residual = wanted[1].then(|| Self::float_neg(Self::float_mul(weights, gradient)));
        [covariance, residual]
    }
}

/// `ααᵀ − P·K⁻¹`, with `K⁻¹ = HᵀH` for `H = L⁻¹`.
fn covariance_slope(factor: CubeTensor, weights: CubeTensor) -> CubeTensor {
    count_decomposition();
    let (size, columns) = (weights.shape()[0], weights.shape()[1]);
    let other = transposed(weights.clone());
    let squares = product(weights, other, Target::New, Part::Symmetric);
    let identity = multiple_of_identity(ones_like(&factor, [1]), 1.0, size);
    let identity = with_shape(identity, [size, size]);
    let inverse = CubeBackend::factor_solve(factor, identity, Side::Lower);
    let other = transposed(inverse.clone());
    let inverse = product(other, inverse, Target::New, Part::Symmetric);
    let inverse = CubeBackend::float_mul_scalar(inverse, (columns as f64).into());
    CubeBackend::float_sub(squares, inverse)
}

/// `−½‖V‖² − P·(½log|K| + ½N·log 2π)` for `V = L⁻¹R`, [N, P].
fn log_density(factor: CubeTensor, whitened: CubeTensor) -> CubeTensor {
    let (rows, columns) = (whitened.shape()[0], whitened.shape()[1]);
    if rows * columns == 0 {
        return zeros_like(&factor, [1]);
    }
    let factor = matrices(factor);
    let out = empty_like(&factor, [1]);
    let (client, dtype) = (factor.client.clone(), element(&factor));
    let constant = 0.5 * rows as f64 * (2.0 * PI).ln();
    // SAFETY: the kernel stays within the diagonal of the factor and the values of V, and writes one value.
    unsafe {
        density::launch_unchecked(
            &client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(REDUCING as u32),
            factor
                .required_address_type()
                .max(whitened.required_address_type()),
            factor.argument(),
            whitened.argument(),
            out.clone().argument(),
            InputScalar::new(constant, dtype),
            dtype,
        );
    }
    out
}

/// `−½Σv² − P·(Σ log|L_ii| + c)` for contiguous v, [N, P].
#[cube(launch_unchecked, address_type = "dynamic")]
fn density<F: Float>(
    factor: &Tensor<F>,
    whitened: &Tensor<F>,
    out: &mut Tensor<F>,
    constant: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let logarithms = log_of_diagonal::<F>(factor, 0usize);
    let mut fit = F::new(0.0);
    let mut place = UNIT_POS as usize;
    while place < whitened.len() {
        fit += whitened[place] * whitened[place];
        place += REDUCING;
    }
    let fit = reduce::<F>(fit, Reduction::Sum);
    if UNIT_POS == 0 {
        let columns = F::cast_from(whitened.shape(1));
        out[0] = -(F::new(0.5) * fit) - columns * (logarithms + constant.get::<F>());
    }
}
