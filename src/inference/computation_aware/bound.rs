//! Losses of a computation-aware posterior, with closed-form gradients.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use crate::{
    inference::low_rank::precise_type,
    ops::{CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, gram},
};

/// The number of data points whose products with the covariances are held in double precision at
/// once.
const COLUMNS: usize = 2048;

/// The arguments of the losses, for P outputs at N points with I actions.
pub(super) struct Terms {
    /// `W = SᵀK`, [I, N]
    pub covariance: Tensor<2>,
    /// `A = SᵀKS`, [I, I]
    pub projected: Tensor<2>,
    /// `G = SᵀS`, [I, I]
    pub gram: Tensor<2>,
    /// `t = Sᵀŷ`, [I, P]
    pub targets: Tensor<2>,
    /// `ŷ = y − m(X)`, [N, P]
    pub residual: Tensor<2>,
    /// `Σ_n k(x_n, x_n)`, `[1]`
    pub prior: Tensor<1>,
    /// σ², `[1]`
    pub noise: Tensor<1>,
}

/// `M = A + σ²G` and quantities derived from it, in double precision if the host computes.
struct Posterior {
    /// A and G, symmetric
    projected: Tensor<2>,
    gram: Tensor<2>,
    gram_factor: CholeskyFactor<2>,
    factor: CholeskyFactor<2>,
    /// `M⁻¹`
    inverse: Tensor<2>,
    /// `ṽ = M⁻¹t`, [I, P]
    weights: Tensor<2>,
    /// σ², `[1]`
    noise: Tensor<1>,
}

/// `½(B + Bᵀ)`
pub(in crate::inference) fn symmetric(matrix: Tensor<2>) -> Tensor<2> {
    (matrix.clone() + matrix.transpose()) * 0.5
}

/// `tr(AᵀB)`, `[1]`.
fn trace_of_product(left: Tensor<2>, right: Tensor<2>) -> Tensor<1> {
    (left * right).sum()
}

fn inverse(factor: &CholeskyFactor<2>, like: &Tensor<2>) -> Tensor<2> {
    let [size, _] = like.dims();
    let identity = Tensor::<2>::eye(size, &like.device()).cast(like.dtype());
    factor.solve_transposed(factor.solve(identity))
}

impl Posterior {
    fn new(terms: &Terms) -> Result<Self, NotPositiveDefinite> {
        let dtype = precise_type(&terms.projected);
        let noise = terms.noise.clone().inner().cast(dtype);
        let projected = symmetric(terms.projected.clone().inner().cast(dtype));
        let gram = symmetric(terms.gram.clone().inner().cast(dtype));
        let covariance = projected.clone() + gram.clone() * noise.clone().reshape([1, 1]);
        let factor = cholesky(covariance, Jitter::NONE)?;
        let gram_factor = cholesky(gram.clone(), Jitter::NONE)?;
        let targets = terms.targets.clone().inner().cast(dtype);
        Ok(Self {
            weights: factor.solve_transposed(factor.solve(targets)),
            inverse: inverse(&factor, &gram),
            projected,
            gram,
            gram_factor,
            factor,
            noise,
        })
    }

    /// σ², [1, 1].
    fn noise(&self) -> Tensor<2> {
        self.noise.clone().reshape([1, 1])
    }

    /// `log|M| − log|G|`
    fn log_determinant(&self) -> Tensor<1> {
        self.factor.log_determinant() - self.gram_factor.log_determinant()
    }

    /// The gradients with respect to G and σ² that come from M and `log|G|`: `Ḡ = σ²M̄ − P·G⁻¹/2`
    /// and `∂σ² = tr(M̄G)`, where M̄ is the gradient with respect to M.
    fn of_gram(&self, slope: &Tensor<2>, outputs: f64) -> (Tensor<2>, Tensor<1>) {
        let inverse = inverse(&self.gram_factor, &self.gram);
        let gram = slope.clone() * self.noise() - inverse * (0.5 * outputs);
        (gram, trace_of_product(slope.clone(), self.gram.clone()))
    }
}

/// Sums over the data.
struct Fit {
    /// `WWᵀ`, [I, I]
    squares: Tensor<2>,
    /// `W·r`, [I, P], with `r = ŷ − Wᵀṽ`
    errors: Tensor<2>,
    /// `Σ_p ‖r_p‖²`
    error: Tensor<1>,
    /// `r/σ²`, [N, P]
    residual: Tensor<2>,
    /// `−(Σ_p ṽ_pr_pᵀ + P·M⁻¹W)/σ²`, [I, N]
    covariance: Tensor<2>,
}

impl Fit {
    /// Processes the columns of W in blocks, so that no double-precision matrix of the size of W is
    /// needed.
    fn new(terms: &Terms, posterior: &Posterior) -> Self {
        let ([rows, columns], [_, outputs]) = (terms.covariance.dims(), terms.residual.dims());
        let (dtype, given) = (posterior.gram.dtype(), terms.covariance.dtype());
        let options = (&terms.covariance.device(), dtype);
        let mut squares = Tensor::<2>::zeros([rows, rows], options);
        let mut errors = Tensor::<2>::zeros([rows, outputs], options);
        let mut error = Tensor::<1>::zeros([1], options);
        let (mut residuals, mut slopes) = (Vec::new(), Vec::new());
        for start in (0..columns).step_by(COLUMNS) {
            let count = COLUMNS.min(columns - start);
            let covariance = terms.covariance.clone().inner().narrow(1, start, count);
            let covariance = covariance.cast(dtype); // [I, count]
            let targets = terms.residual.clone().inner().narrow(0, start, count);
            let fitted = covariance
                .clone()
                .transpose()
                .exact_matmul(posterior.weights.clone());
            let residual = targets.cast(dtype) - fitted; // [count, P]
            errors = errors + covariance.clone().exact_matmul(residual.clone());
            error = error + residual.clone().square().sum();
            squares = squares + gram(covariance.clone());
            let residual = residual / posterior.noise();
            let pulled = posterior
                .weights
                .clone()
                .exact_matmul(residual.clone().transpose());
            let explained = posterior.inverse.clone().exact_matmul(covariance) / posterior.noise();
            slopes.push((pulled + explained * outputs as f64).neg().cast(given));
            residuals.push(residual.cast(given));
        }
        Self {
            squares,
            errors,
            error,
            residual: Tensor::cat(residuals, 0),
            covariance: Tensor::cat(slopes, 1),
        }
    }
}

/// The negative evidence lower bound of the posterior conditioned on `Sᵀy`,
/// `−log p(y) + KL[q ‖ p(f | y)]`, summed over outputs (J. Wenger et al., arXiv:2411.01036, eqs. 10
/// and 11):
///
/// `½[(‖ŷ − Wᵀṽ‖² + Σk(x, x) − ‖L⁻¹W‖²)/σ² + (N − I)·log σ² + N·log 2π`
/// `  + ṽᵀAṽ − tr M⁻¹A + log|M| − log|G|]`, `M = A + σ²G = LLᵀ`, `ṽ = M⁻¹t`.
pub(super) fn evidence_loss(terms: Terms) -> Result<Tensor<1>, NotPositiveDefinite> {
    let posterior = Posterior::new(&terms)?;
    let fit = Fit::new(&terms, &posterior);
    let ([rows, columns], [_, outputs]) = (terms.covariance.dims(), terms.residual.dims());
    let outputs = outputs as f64;
    let Posterior {
        projected,
        inverse,
        weights,
        noise,
        ..
    } = &posterior;
    let dtype = projected.dtype();
    let explained = trace_of_product(inverse.clone(), fit.squares.clone()); // ‖L⁻¹W‖²
    let unexplained = terms.prior.clone().inner().cast(dtype) - explained;
    let misfit = fit.error.clone() + unexplained * outputs; // [1]
    let free = columns as f64 - rows as f64;
    let fitted = projected.clone().exact_matmul(weights.clone()); // Aṽ, [I, P]
    let relative = trace_of_product(weights.clone(), fitted.clone())
        + (posterior.log_determinant() - trace_of_product(inverse.clone(), projected.clone()))
            * outputs;
    let normalizer = (noise.clone().log() * free + columns as f64 * (2.0 * PI).ln()) * outputs;
    let value = (misfit.clone() / noise.clone() + normalizer + relative) * 0.5;

    let pull = fitted - fit.errors / posterior.noise();
    let targets = inverse.clone().exact_matmul(pull); // u, [I, P]
    let spread = inverse.clone()
        + congruent(inverse, fit.squares) / posterior.noise()
        + congruent(inverse, projected.clone());
    let mixed = targets.clone().exact_matmul(weights.clone().transpose());
    let slope = spread * (0.5 * outputs) - symmetric(mixed); // of M
    let direct =
        weights.clone().exact_matmul(weights.clone().transpose()) - inverse.clone() * outputs;
    let (gram, noise_of_gram) = posterior.of_gram(&slope, outputs);
    let noise_slope =
        (misfit / noise.clone().square()).neg() + noise.clone().recip() * free * outputs;
    finish(
        terms,
        value,
        Terms {
            covariance: fit.covariance,
            projected: direct * 0.5 + slope,
            gram,
            targets,
            residual: fit.residual,
            prior: noise.clone().recip() * (0.5 * outputs),
            noise: noise_slope * 0.5 + noise_of_gram,
        },
    )
}

/// `M⁻¹BM⁻¹`
fn congruent(inverse: &Tensor<2>, matrix: Tensor<2>) -> Tensor<2> {
    inverse
        .clone()
        .exact_matmul(matrix)
        .exact_matmul(inverse.clone())
}

/// The negative log density of the projected data, `−log N(S′ᵀŷ | 0, S′ᵀ(K + σ²I)S′)`, summed over
/// outputs, where the columns of S′ are an orthonormal basis of the span of S (J. Wenger et al.,
/// arXiv:2411.01036, eq. 9): `½[tᵀM⁻¹t + log|M| − log|G| + I·log 2π]`.
pub(super) fn projected_loss(terms: Terms) -> Result<Tensor<1>, NotPositiveDefinite> {
    let posterior = Posterior::new(&terms)?;
    let ([rows, _], [_, outputs]) = (terms.covariance.dims(), terms.residual.dims());
    let outputs = outputs as f64;
    let Posterior {
        inverse, weights, ..
    } = &posterior;
    let targets = terms.targets.clone().inner().cast(inverse.dtype());
    let normalizer = posterior.log_determinant() + rows as f64 * (2.0 * PI).ln();
    let value = (trace_of_product(targets, weights.clone()) + normalizer * outputs) * 0.5;
    let squares = weights.clone().exact_matmul(weights.clone().transpose());
    let slope = (inverse.clone() * outputs - squares) * 0.5;
    let (gram, noise) = posterior.of_gram(&slope, outputs);
    let slopes = Terms {
        covariance: terms.covariance.clone().inner().zeros_like(),
        residual: terms.residual.clone().inner().zeros_like(),
        prior: terms.prior.clone().inner().zeros_like(),
        projected: slope,
        gram,
        targets: weights.clone(),
        noise,
    };
    finish(terms, value, slopes)
}

/// Attaches the closed-form gradients to the value: adds `Σ slope·term`, which is linear in the
/// tracked terms, and subtracts the same number without gradients.
fn finish(terms: Terms, value: Tensor<1>, slopes: Terms) -> Result<Tensor<1>, NotPositiveDefinite> {
    let dtype = terms.covariance.dtype();
    let value = value.cast(dtype);
    let pairs = [
        (terms.covariance, slopes.covariance),
        (terms.projected, slopes.projected),
        (terms.gram, slopes.gram),
        (terms.targets, slopes.targets),
        (terms.residual, slopes.residual),
        (terms.prior.unsqueeze(), slopes.prior.unsqueeze()),
        (terms.noise.unsqueeze(), slopes.noise.unsqueeze()),
    ];
    let tracked = pairs.into_iter().filter(|(term, _)| term.is_autodiff());
    let sum = tracked
        .map(|(term, slope)| (term * slope.cast(dtype)).sum())
        .reduce(|sum, term| sum + term);
    Ok(match sum {
        None => value,
        Some(sum) => {
            let zero = sum.clone() - sum.inner();
            zero + value
        }
    })
}
