//! The parts of a function whose kernel is a sum.

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::ConditionError,
    kernels::{AnyKernel, Kernel, KernelModule, Structure},
    ops::{ExactMatmul, Jitter, add_to_diagonal, cholesky, numbers},
};

use crate::data::matrix;

/// Parts are computed from all rows at once, so only up to this many.
pub(crate) const MOST_ROWS: usize = 4000;
/// The number of training rows whose covariances show which inputs a kernel uses.
const PROBES: usize = 16;

/// A part of a function that is a sum, one for each term of its kernel, given the data. The means of all parts add up to
/// that of the function without its mean function; the variances do not, because the data know the sum better than the
/// parts.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionPart {
    /// The inputs that the part depends on.
    pub inputs: Vec<usize>,
    /// The means at the asked rows, `[N*]`.
    pub means: Vec<f64>,
    /// The variances, `[N*]`.
    pub variances: Vec<f64>,
}

/// The data that a function is conditioned on.
pub(crate) struct KnownRows {
    /// `[N, D]`
    pub inputs: Tensor<2>,
    /// y − m(X), `[N, 1]`
    pub residual: Tensor<2>,
    /// σ², `[1]`
    pub noise: Tensor<1>,
}

/// The terms of a sum, from first to last.
pub(crate) fn terms(kernel: &AnyKernel) -> Vec<&AnyKernel> {
    match kernel.structure() {
        Structure::Sum(first, second) => [terms(first), terms(second)].concat(),
        _ => vec![kernel],
    }
}

/// The moments of each term k_c at rows X*: `K_c(X*, X)·C⁻¹(y − m)` and
/// `diag(K_c(X*, X*) − K_c(X*, X)·C⁻¹·K_c(X, X*))` with `C = Σ_c K_c(X, X) + σ²I` (C. E. Rasmussen and C. K. I. Williams,
/// *Gaussian Processes for Machine Learning*, 2006, section 2.2; D. Duvenaud, *Automatic Model Construction with Gaussian
/// Processes*, 2014, section 2.4.5).
pub(crate) fn function_parts(
    terms: &[&AnyKernel],
    known: KnownRows,
    x: Tensor<2>,
) -> Result<Vec<FunctionPart>, ConditionError> {
    let KnownRows {
        inputs,
        residual,
        noise,
    } = known;
    let matrices = terms.iter().map(|term| term.matrix_at(inputs.clone()));
    let Some(sum) = matrices.reduce(|sum, own| sum + own) else {
        return Ok(Vec::new());
    };
    let factor = cholesky(add_to_diagonal(sum, noise), Jitter::NONE)?;
    let whitened = factor.solve(residual); // L⁻¹(y − m), [N, 1]
    let part = |term: &&AnyKernel| {
        let basis = factor.solve(term.covariance_at(inputs.clone(), x.clone())); // L⁻¹K_c(X, X*)
        let means = basis.clone().transpose().exact_matmul(whitened.clone());
        let reduction = basis.square().sum_dim(0);
        let variances = numbers(term.diagonal_at(x.clone())).into_iter();
        FunctionPart {
            inputs: used_inputs(term, &inputs),
            means: numbers(means),
            variances: (variances.zip(numbers(reduction)))
                .map(|(prior, known)| (prior - known).max(0.0))
                .collect(),
        }
    };
    Ok(terms.iter().map(part).collect())
}

/// The inputs that change covariances of a few rows.
fn used_inputs(kernel: &AnyKernel, inputs: &Tensor<2>) -> Vec<usize> {
    let [rows, columns] = inputs.dims();
    let probes = inputs.clone().narrow(0, 0, rows.min(PROBES));
    let own = numbers(kernel.covariance_at(probes.clone(), probes.clone()));
    let changes = |column: &usize| {
        // One row is moved by a different distance than the next.
        let mut values = numbers(probes.clone());
        for (row, value) in values.iter_mut().skip(*column).step_by(columns).enumerate() {
            *value += 0.37 + 0.61 * row as f64;
        }
        let moved = matrix(&values, columns, &probes.device(), probes.dtype());
        numbers(kernel.covariance_at(moved.clone(), moved)) != own
    };
    (0..columns).filter(changes).collect()
}
