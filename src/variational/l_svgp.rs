//! L-SVGP: a posterior given by the prior covariance and a diagonal matrix.

use burn::{
    module::Module,
    tensor::{DType, Tensor},
};

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyPosterior, Evaluation, MeanForm, Posterior, PosteriorDefinition, PosteriorInit,
    PseudoObservations, PseudoObservationsConfig, definition::exactly, expansion::expand,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky},
    process::{
        ConditionedProcess, Marginals, SamplePaths, WhitenedCovariance, column_sums_of_squares,
        nonnegative, of_each, prior_variances, product_of_each, right_hand_sides,
    },
    register,
};

/// L-SVGP: `q(u) = N(K_uu·v, (K_uu⁻¹ + S̃⁻¹)⁻¹)`, computed from a Cholesky factorization of
/// `K̃ = K_uu + S̃`, which needs no jitter.
///
/// `μ = K_fu·v`, `σ² = k_ff − k_fuᵀK̃⁻¹k_fu`, and
/// `KL = ½(vᵀK_uu·v − tr(K̃⁻¹K_uu) + log|K̃| − log|S̃|)` (S. Cortinovis, L. Aitchison, S.
/// Eleftheriadis and M. van der Wilk, *Inverse-Free Sparse Variational Gaussian Processes*,
/// arXiv:2604.00697, section 2), with v defined in [`PseudoObservations`].
/// [`InverseFree`](super::InverseFree) approximates it without a factorization.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::{Kernels, StationaryConfig},
///     ops::{NotPositiveDefinite, Stationary},
///     variational::{LSvgp, LSvgpConfig, MeanForm, Posterior, PseudoObservations},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let form: MeanForm = LSvgpConfig::default().observations.mean;
/// let mean = Tensor::zeros([1, 3], &device);
/// let observations = PseudoObservations::new(mean, &[1e4; 3], form);
/// let posterior = LSvgp::new(inducing(), observations);
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // Observations with this much noise carry no information.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct LSvgp {
    inducing: AnyInducing,
    observations: PseudoObservations,
}

/// Configuration of an [`LSvgp`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct LSvgpConfig {
    /// The pseudo-observations.
    pub observations: PseudoObservationsConfig,
}

register!(
    Posterior,
    "l-svgp",
    LSvgpConfig,
    "Pseudo-observations with Cholesky factors (L-SVGP), as in l-svgp"
);

impl PosteriorDefinition for LSvgpConfig {
    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let [inducing] = exactly(sets);
        let observations = start.observations(&self.observations, &inducing);
        Ok(LSvgp::new(inducing, observations).into())
    }

    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        self.observations.positive()
    }

    fn fix_precision(&mut self, precision: DType) {
        self.observations = self.observations.with_floor_of(precision);
    }
}

impl LSvgp {
    /// Creates a posterior from inducing variables and pseudo-observations of them.
    pub fn new(inducing: impl Into<AnyInducing>, observations: PseudoObservations) -> Self {
        Self {
            inducing: inducing.into(),
            observations,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The pseudo-observations `m̃` and `S̃`.
    pub fn observations(&self) -> &PseudoObservations {
        &self.observations
    }

    /// `K_uu` and the factor L of `K̃ = K_uu + S̃`, `[B, M, M]`.
    fn factored(
        &self,
        prior: &Kernels,
    ) -> Result<(Tensor<3>, CholeskyFactor<3>), NotPositiveDefinite> {
        let kuu = self.inducing.kuu(prior);
        let factor = cholesky(self.observations.added_to(kuu.clone()), Jitter::NONE)?;
        Ok((kuu, factor))
    }

    /// `L⁻¹m̃`, with the right-hand sides of a shared factor side by side.
    fn solved(&self, factor: &CholeskyFactor<3>) -> Tensor<3> {
        let [batch, _, _] = factor.triangle().dims();
        let columns = self.observations.mean().unsqueeze_dim(2); // [P, M, 1]
        factor.solve(right_hand_sides(columns, batch))
    }
}

impl Posterior for LSvgp {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let (kuu, factor) = self.factored(prior)?;
        let (mean, variances) = (self.observations.mean(), self.observations.variances());
        let ([outputs, size], [rows, _], [batch, _, _]) = (mean.dims(), x.dims(), kuu.dims());
        let weights = match self.observations.form() {
            MeanForm::Plain => mean, // v = m̃
            // v = K̃⁻¹m̃, [P, M]
            MeanForm::Preconditioned => {
                let solved = factor.solve_transposed(self.solved(&factor));
                of_each(solved, outputs).squeeze_dim(2)
            }
        };
        let features = factor.solve(self.inducing.kuf(prior, x.clone())); // L⁻¹K_uf, [B, M, N]
        // k_ff − k_fuᵀK̃⁻¹k_fu, [N, B]
        let variance = prior_variances(prior, x.clone()) - column_sums_of_squares(features);

        // vᵀK_uu·v
        let squares = (product_of_each(kuu.clone(), weights.clone()) * weights.clone()).sum();
        // tr(K̃⁻¹K_uu) = M − tr(K̃⁻¹S̃); the diagonal of K̃⁻¹ avoids cancellation.
        let identity = Tensor::<2>::eye(size, &kuu.device()).cast(kuu.dtype());
        let identity: Tensor<3> = identity.expand(kuu.dims());
        let inverse = column_sums_of_squares(factor.solve(identity)); // diag K̃⁻¹, [M, B]
        let noise = variances.clone().reshape([batch, size]).transpose();
        // −tr(K̃⁻¹K_uu) + log|K̃| − log|S̃|
        let covariance = (inverse * noise).sum() - (batch * size) as f64
            + factor.log_determinant().sum()
            - variances.log().sum();
        let shared = outputs as f64 / batch as f64;
        Ok(Evaluation {
            marginals: Marginals {
                mean: expand(prior, &self.inducing, weights, x), // K_fu·v
                variance: nonnegative(variance).expand([rows, outputs]),
            },
            kl: (squares + covariance * shared) * 0.5,
        })
    }

    /// The factor of `K̃` takes the place of the factor of `K_uu`; then `L⁻¹u` is known exactly. Its value
    /// is `L⁻¹K̃·v`, `[P, M]`.
    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let (_, factor) = this.factored(&prior)?;
        let [outputs, _] = this.observations.dims();
        let mean = match this.observations.form() {
            MeanForm::Plain => {
                product_of_each(factor.lower().transpose(), this.observations.mean())
            }
            MeanForm::Preconditioned => of_each(this.solved(&factor), outputs).squeeze_dim(2),
        };
        let spread = WhitenedCovariance::Known;
        let process = ConditionedProcess::new(prior, this.inducing, factor, mean, spread);
        Ok(Box::new(process))
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![&self.inducing]
    }
}
