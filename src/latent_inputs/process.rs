//! The functions of a latent variable model, given its outputs.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use super::{
    BayesianGplvm,
    statistics::{Statistics, trace, whitened},
};
use crate::{
    inducing::InducingPoints,
    kernels::{ExpectedProducts, Kernels},
    ops::{CholeskyFactor, ExactMatmul},
    process::{ConditionedProcess, Marginals, Process, WhitenedCovariance},
};

/// The functions of a [`BayesianGplvm`] given its outputs, at the trained parameters, on the device without autodiff.
///
/// It predicts at given latent inputs, and at uncertain ones by the expected products of the kernel. The whitened
/// inducing variables are `L⁻¹u ~ N(b_p, B⁻¹)`.
#[derive(Clone, Debug)]
pub struct LatentProcess {
    process: ConditionedProcess,
    expected: ExpectedProducts,
    inducing: InducingPoints,
    factor: CholeskyFactor<2>,
    /// The factor of B.
    precision: CholeskyFactor<2>,
    /// b, [M, P]
    mean: Tensor<2>,
    /// σ², [1]
    noise: Tensor<1>,
}

impl LatentProcess {
    pub(super) fn new(
        model: BayesianGplvm,
        factor: CholeskyFactor<2>,
        mean: Tensor<2>,
        precision: CholeskyFactor<2>,
    ) -> Self {
        let (kernel, inducing) = (model.kernel().clone(), model.inducing().clone());
        Self {
            process: functions(kernel, &inducing, [&factor, &precision], &mean),
            expected: model.expected(),
            inducing,
            factor,
            precision,
            mean,
            noise: model.likelihood().noise(),
        }
    }

    /// The process at given inputs.
    pub fn process(&self) -> &ConditionedProcess {
        &self.process
    }

    /// The noise variance of outputs, σ², `[1]`.
    pub fn noise(&self) -> Tensor<1> {
        self.noise.clone()
    }

    /// How much the functions vary along each latent dimension, `[Q]`; see [`ExpectedProducts::relevances`].
    pub fn relevances(&self) -> Tensor<1> {
        self.expected.relevances(self.inducing.points().dims()[1])
    }

    /// The number of outputs, P.
    pub fn outputs(&self) -> usize {
        self.mean.dims()[1]
    }

    /// The means and variances of the functions at inputs, `[N, Q]`: `[N, P]` each.
    pub fn marginals(&self, inputs: Tensor<2>) -> Marginals {
        self.process.marginals(inputs)
    }

    /// The means and variances of the functions at uncertain inputs `x_n ~ N(μ_n, diag S_n)`:
    /// `E[f_p] = Ψ1_n·L⁻ᵀb_p` and `E[f_p²] = b_pᵀA_nb_p + Ψ0_n − tr A_n + tr(B⁻¹A_n)` with `A_n = L⁻¹Ψ2L⁻ᵀ` of row n
    /// alone. Their distribution is not normal. Time N·M³.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ), `variance` (S): `[N, Q]`
    /// - result: `[N, P]` each
    pub fn expected_marginals(&self, mean: Tensor<2>, variance: Tensor<2>) -> Marginals {
        let [rows, _] = mean.dims();
        let of_row = |row: usize| {
            let own = |tensor: &Tensor<2>| tensor.clone().narrow(0, row, 1);
            let statistics = self.statistics(own(&mean), own(&variance));
            let first =
                (statistics.covariances.clone().transpose()).exact_matmul(self.mean.clone()); // [1, P]
            let fitted = statistics.products.clone().exact_matmul(self.mean.clone()); // A_nb
            let second = (fitted * self.mean.clone()).sum_dim(0); // [1, P]
            let own = self.own_variance(&statistics).unsqueeze::<2>();
            let variance = second - first.clone().square() + own;
            (first, variance.clamp_min(0.0))
        };
        if rows == 0 {
            return self.marginals(mean);
        }
        let (means, variances) = (0..rows).map(of_row).unzip();
        Marginals {
            mean: Tensor::cat(means, 0),
            variance: Tensor::cat(variances, 0),
        }
    }

    /// The functions of some outputs, counted from zero.
    ///
    /// # Panics
    ///
    /// If there is no such output, or none is given.
    #[track_caller]
    pub fn of_outputs(&self, outputs: &[usize]) -> Self {
        let count = self.outputs();
        assert!(
            !outputs.is_empty() && outputs.iter().all(|&output| output < count),
            "LatentProcess: outputs {outputs:?} of {count}"
        );
        let own = outputs
            .iter()
            .map(|&output| self.mean.clone().narrow(1, output, 1));
        let mean = Tensor::cat(own.collect(), 1);
        let kernels = self.process.kernels().clone();
        let factors = [&self.factor, &self.precision];
        Self {
            process: functions(kernels, &self.inducing, factors, &mean),
            mean,
            ..self.clone()
        }
    }

    /// `Σ_np E[log N(y_np | f_p(x_n), σ²)]` over the functions and the uncertain inputs `x_n ~ N(μ_n, diag S_n)`. Less the
    /// divergence of the inputs from their prior, it is a lower bound of the log density of new rows, which training of
    /// the inputs maximizes. Gradients flow to μ and S.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ), `variance` (S): `[N, Q]`, `outputs` (Y): `[N, P]`
    /// - result: `[1]`
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn expected_log_density(
        &self,
        mean: Tensor<2>,
        variance: Tensor<2>,
        outputs: Tensor<2>,
    ) -> Tensor<1> {
        let ([rows, _], [found, columns]) = (mean.dims(), outputs.dims());
        assert!(
            rows == found && columns == self.outputs(),
            "LatentProcess: outputs {:?} for {rows} inputs; expected [{rows}, {}]",
            outputs.dims(),
            self.outputs()
        );
        let statistics = self.statistics(mean, variance);
        let squares = statistics.expected_squares(outputs, self.mean.clone());
        let own = self.own_variance(&statistics) * columns as f64;
        let normalizer = (self.noise.clone() * (2.0 * PI)).log() * (rows * columns) as f64;
        ((squares + own) / self.noise.clone() + normalizer) * -0.5
    }

    /// The variance of a function besides that of its mean: `Σ_n Ψ0_n − tr A + tr(B⁻¹A)`, [1].
    fn own_variance(&self, statistics: &Statistics) -> Tensor<1> {
        let uncertain = whitened(&self.precision, statistics.products.clone()); // R⁻¹AR⁻ᵀ, B = RRᵀ
        statistics.unexplained() + trace(uncertain)
    }

    fn statistics(&self, mean: Tensor<2>, variance: Tensor<2>) -> Statistics {
        let points = self.inducing.points();
        Statistics::new(&self.expected, (mean, variance), points, &self.factor)
    }
}

/// The functions at given inputs, from the factors of `K_uu` and B and the whitened mean, [M, P].
fn functions(
    kernels: impl Into<Kernels>,
    inducing: &InducingPoints,
    [factor, precision]: [&CholeskyFactor<2>; 2],
    mean: &Tensor<2>,
) -> ConditionedProcess {
    let spread = WhitenedCovariance::Precision(precision.clone());
    ConditionedProcess::new(
        kernels,
        inducing.clone(),
        factor.clone(),
        mean.clone().transpose(),
        spread,
    )
}
