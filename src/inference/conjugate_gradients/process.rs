//! The posterior of regression by conjugate gradients.

use burn::tensor::Tensor;

use super::solve::{Operator, Stop, solve};
use crate::{
    inference::{
        Regression,
        computation_aware::{Preconditioner, symmetric},
    },
    kernels::{KernelModule, covariance_product, rough_matrix_product},
    ops::{
        ExactMatmul, Jitter, NotPositiveDefinite, add_diagonal, add_to_diagonal, cholesky, number,
    },
    process::{Joint, Marginals, Process, dummy_row_if_empty, nonnegative},
};

/// `K̂ = K + σ²I` at the data, with its preconditioner.
#[derive(Clone, Debug)]
pub(super) struct System<K> {
    pub kernel: K,
    /// [N, D]
    pub inputs: Tensor<2>,
    /// σ², [1, 1], or that of each row, [N, 1].
    pub noise: Tensor<2>,
    pub preconditioner: Option<Preconditioner>,
    /// Whether iterations multiply by covariances in single precision where that is possible.
    pub is_rough: bool,
}

impl<K> System<K> {
    /// `log|P|`
    pub fn log_determinant(&self) -> f64 {
        self.preconditioner
            .as_ref()
            .map_or(0.0, Preconditioner::log_determinant)
    }
}

impl<K: KernelModule> System<K> {
    /// `D = S·(SᵀK̂S)^{-½}`, [N, R], so that `DDᵀ ≈ K̂⁻¹`, where S spans the covariances of all
    /// inputs with R pivots. The resulting variance is that of computation-aware regression with
    /// the actions S. With as many pivots as inputs, S is the identity and the variance is exact.
    pub fn directions(
        &self,
        residual: &Tensor<2>,
        rank: usize,
    ) -> Result<Tensor<2>, NotPositiveDefinite> {
        let noise: Tensor<1> = self.noise.clone().squeeze_dim(1);
        let [rows, _] = self.inputs.dims();
        // Sᵀ, [R, N], and the factor of SᵀK̂S
        let (basis, factor) = if rank < rows {
            let problem = Regression {
                kernel: &self.kernel,
                noise: &noise,
                inputs: &self.inputs,
                residual,
            };
            let basis = Preconditioner::new(&problem, rank)?.whitened_features();
            let products = self.product(basis.clone().transpose());
            let inner = symmetric(basis.clone().exact_matmul(products));
            let jitter = Jitter::for_precision(basis.dtype());
            (basis, cholesky(inner, jitter)?)
        } else {
            let covariances = self.kernel.matrix_at(self.inputs.clone());
            let one = noise.ones_like().narrow(0, 0, 1);
            let identity = add_to_diagonal(covariances.zeros_like(), one);
            let all = match noise.dims() {
                [1] => add_to_diagonal(covariances, noise),
                _ => add_diagonal(covariances, noise),
            };
            (identity, cholesky(all, Jitter::NONE)?)
        };
        Ok(factor.solve(basis).transpose())
    }
}

impl<K: KernelModule> Operator for System<K> {
    fn product(&self, columns: Tensor<2>) -> Tensor<2> {
        let covariances =
            covariance_product(&self.kernel, self.inputs.clone(), None, columns.clone());
        covariances + columns * self.noise.clone()
    }

    fn rough_product(&self, columns: Tensor<2>) -> Option<Tensor<2>> {
        let inputs = self.inputs.clone();
        let covariances = rough_matrix_product(&self.kernel, inputs, columns.clone())?;
        Some(covariances + columns * self.noise.clone())
    }

    fn roughness_bound(&self) -> Option<f64> {
        self.is_rough.then(|| number(self.noise.clone().min()))
    }

    fn precondition(&self, columns: Tensor<2>) -> Tensor<2> {
        match &self.preconditioner {
            Some(preconditioner) => preconditioner.solve(columns),
            None => columns,
        }
    }
}

/// The process with mean `μ(x) = k(x, X)v` and covariance `k(x, x′) − k(x, X)K̂⁻¹k(X, x′)`.
#[derive(Clone, Debug)]
pub struct ConjugateGradientsProcess<K> {
    system: System<K>,
    /// v, [N, P]
    weights: Tensor<2>,
    /// D, [N, R], with `DDᵀ ≈ K̂⁻¹`, which never exceeds `K̂⁻¹`.
    directions: Option<Tensor<2>>,
    /// Without `directions`, every prediction solves for `K̂⁻¹k(X, x)` until this criterion is met.
    stop: Stop,
}

impl<K: KernelModule> ConjugateGradientsProcess<K> {
    pub(super) fn new(
        system: System<K>,
        weights: Tensor<2>,
        directions: Option<Tensor<2>>,
        stop: Stop,
    ) -> Self {
        Self {
            system,
            weights,
            directions,
            stop,
        }
    }

    /// v, `[N, P]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.clone()
    }

    /// `k(X, x)`, [N, N′], and the means at x, [N′, P].
    fn predict(&self, x: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let covariance = (self.system.kernel).covariance_at(self.system.inputs.clone(), x);
        let mean = covariance
            .clone()
            .transpose()
            .exact_matmul(self.weights.clone());
        (covariance, mean)
    }

    /// A and B, [_, N′], with `AᵀB = k(x, X)K̂⁻¹k(X, x)`, from `k(X, x)`, [N, N′].
    fn factors(&self, covariance: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        match &self.directions {
            Some(directions) => {
                let seen = directions.clone().transpose().exact_matmul(covariance); // [R, N′]
                (seen.clone(), seen)
            }
            None => {
                if !covariance.is_autodiff() {
                    let solved = solve(&self.system, covariance.clone(), self.stop).solution;
                    return (covariance, solved);
                }
                // The gradient of kᵀK̂⁻¹k is 2·K̂⁻¹k, so the iteration needs no graph: k is doubled,
                // and one constant k is subtracted.
                let constant = covariance.clone().inner();
                let solved = solve(&self.system, constant.clone(), self.stop).solution;
                (covariance * 2.0 - constant, solved)
            }
        }
    }
}

impl<K: KernelModule> Process for ConjugateGradientsProcess<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let prior = self.system.kernel.diagonal_at(x.clone()); // [N′]
        let (covariance, mean) = self.predict(x);
        let (left, right) = self.factors(covariance);
        let known = (left * right).sum_dim(0).squeeze_dim::<1>(0);
        let variance = nonnegative((prior - known).unsqueeze_dim::<2>(1));
        let shape = mean.dims();
        Marginals {
            mean,
            variance: variance.expand(shape),
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let prior = self.system.kernel.matrix_at(x.clone());
        let (covariance, mean) = self.predict(x);
        let (left, right) = self.factors(covariance);
        // Make the matrix exactly symmetric, which inexact solves do not.
        let known = symmetric(left.transpose().exact_matmul(right));
        let [_, outputs] = mean.dims();
        Joint {
            mean,
            covariance: (prior - known).unsqueeze::<3>().repeat_dim(0, outputs),
        }
    }
}
