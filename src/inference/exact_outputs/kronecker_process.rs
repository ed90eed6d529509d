//! The posterior of several outputs by the eigenvectors of the covariances of inputs and of outputs.

use burn::tensor::Tensor;

use super::kronecker::KroneckerTable;
use crate::{
    kernels::{AnyKernel, KernelModule},
    ops::{ExactMatmul, KroneckerSolution, NotPositiveDefinite, diagonals, kronecker_solution},
    parameter::both_tracked,
    process::{
        Joint, JointAcrossOutputs, Marginals, Process, draw_at_distinct, dummy_row_if_empty,
        nonnegative,
    },
};

/// P functions with `Cov[f_p(x), f_r(x′)] = Γ_pr·k(x, x′)` given a table with few holes.
///
/// With `t = U_xᵀk(X, x)`, the matrices of [`KroneckerSolution`], and `M = D^½U_Γ`,
///
/// - `μ_p(x) = Σ_i (αΓ)_ip·k(x_i, x)`
/// - `Cov[f_p(x), f_r(x′)] = Γ_pr·k(x, x′) − Σ_q M_pq·M_rq·Σ_i t_i·t′_i·(λ^Γ_q)²/H_iq + Σ_k b_kp·b′_kr`, where
///   `b_kp = Σ_i (A_kΓ)_ip·k(x_i, x)` is the information that hole k does not give.
#[derive(Clone, Debug)]
pub struct KroneckerProcess {
    kernel: AnyKernel,
    /// X, `[N, D]`
    inputs: Tensor<2>,
    /// Γ, `[P, P]`
    outputs: Tensor<2>,
    solution: KroneckerSolution,
}

impl KroneckerProcess {
    /// Conditions on a table.
    pub(super) fn new(
        kernel: AnyKernel,
        inputs: Tensor<2>,
        table: KroneckerTable,
    ) -> Result<Self, NotPositiveDefinite> {
        let outputs = table.outputs.clone();
        let solution = kronecker_solution(
            table.covariance,
            table.outputs,
            table.noise,
            table.residual,
            &table.holes,
        )?;
        Ok(Self {
            kernel,
            inputs,
            outputs,
            solution,
        })
    }

    /// P
    fn count(&self) -> usize {
        self.outputs.dims()[0]
    }

    /// `b_kp` at the rows of `k(x, X)`, `[n, N]`: `[n, h, P]`.
    fn returned(&self, cross: &Tensor<2>) -> Option<Tensor<3>> {
        let functions = self.solution.returned.clone()?;
        let ([rows, _], [_, columns], outputs) = (cross.dims(), functions.dims(), self.count());
        let values = cross.clone().exact_matmul(functions);
        Some(values.reshape([rows, columns / outputs, outputs]))
    }

    /// `Σ_q M_pq·M_rq·Σ_i t_i·t′_i·(λ^Γ_q)²/H_iq`, `[P, P, n, n]`, for t, `[n, N]`.
    fn removed(&self, projected: Tensor<2>) -> Tensor<4> {
        let ([rows, _], outputs) = (projected.dims(), self.count());
        let scales = self.solution.removed.clone().transpose().sqrt(); // [P, N]
        let (projected, scales) = both_tracked(projected, scales);
        let scaled = projected.unsqueeze::<3>() * scales.unsqueeze_dim::<3>(1); // [P, n, N]
        let grams = scaled.clone().exact_matmul(scaled.transpose()); // [P, n, n]
        let mixing = self.solution.mixing.clone();
        let pairs = mixing.clone().unsqueeze_dim::<3>(1) * mixing.unsqueeze_dim::<3>(0); // [P, P, P]
        let pairs = pairs.reshape([outputs * outputs, outputs]);
        let removed = pairs.exact_matmul(grams.reshape([outputs, rows * rows]));
        removed.reshape([outputs, outputs, rows, rows])
    }
}

impl Process for KroneckerProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let cross = self.kernel.covariance_at(x.clone(), self.inputs.clone()); // [n, N]
        let prior = self.kernel.diagonal_at(x).unsqueeze_dim::<2>(1); // [n, 1]
        let squares = (cross.clone().exact_matmul(self.solution.vectors.clone())).square(); // t∘t
        let mixing = self.solution.mixing.clone().square().transpose();
        let removed = self.solution.removed.clone().exact_matmul(mixing); // [N, P]
        let own = diagonals(self.outputs.clone()); // [1, P]
        let variance = prior.exact_matmul(own) - squares.exact_matmul(removed);
        let variance = match self.returned(&cross) {
            Some(returned) => variance + returned.square().sum_dim(1).squeeze_dim::<2>(1),
            None => variance,
        };
        Marginals {
            mean: cross.exact_matmul(self.solution.weights.clone()),
            variance: nonnegative(variance),
        }
    }

    /// The values of all holes are evaluated at each input, too.
    fn rows_per_input(&self) -> usize {
        let returned = self.solution.returned.as_ref();
        let columns = returned.map_or(0, |returned| returned.dims()[1]);
        1 + columns / self.inputs.dims()[0]
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        self.joint_across_outputs(x).of_each()
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let ([rows, _], count) = (x.dims(), self.count());
        if rows == 0 {
            let options = (&x.device(), x.dtype());
            return JointAcrossOutputs {
                mean: Tensor::zeros([0, count], options),
                covariance: Tensor::zeros([count, count, 0, 0], options),
            };
        }
        let cross = self.kernel.covariance_at(x.clone(), self.inputs.clone()); // [n, N]
        let prior = self.kernel.matrix_at(x);
        let (prior, outputs) = both_tracked(prior, self.outputs.clone());
        let prior = prior.reshape([1, 1, rows, rows]) * outputs.reshape([count, count, 1, 1]);
        let projected = cross.clone().exact_matmul(self.solution.vectors.clone());
        let covariance = prior - self.removed(projected);
        let covariance = match self.returned(&cross) {
            Some(returned) => {
                let [_, holes, _] = returned.dims();
                let returned = (returned.permute([2, 0, 1])).reshape([count * rows, holes]);
                let gram = returned.clone().exact_matmul(returned.transpose());
                let gram = gram.reshape([count, rows, count, rows]);
                covariance + gram.permute([0, 2, 1, 3])
            }
            None => covariance,
        };
        JointAcrossOutputs {
            mean: cross.exact_matmul(self.solution.weights.clone()),
            covariance,
        }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let ([rows, _], count) = (x.dims(), self.count());
        if rows == 0 || samples == 0 {
            let options = (&x.device(), x.dtype());
            return Ok(Tensor::zeros([samples, count, rows], options));
        }
        draw_at_distinct(x, |x| {
            let [rows, _] = x.dims();
            let JointAcrossOutputs { mean, covariance } = self.joint_across_outputs(x);
            // The values of all outputs, row by row, as those of one function.
            let entries = rows * count;
            let all = Joint {
                mean: mean.reshape([entries, 1]),
                covariance: (covariance.permute([2, 0, 3, 1])).reshape([1, entries, entries]),
            };
            let draws = all.draws(samples, seed)?; // [S, 1, n·P]
            Ok(draws.reshape([samples, rows, count]).swap_dims(1, 2))
        })
    }
}
