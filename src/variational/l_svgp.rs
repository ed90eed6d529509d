//! L-SVGP: a posterior given by the prior covariance and a diagonal matrix.

use burn::{module::Module, tensor::Tensor};

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    Evaluation, FunctionMatrices, InducingSets, MeanForm, Posterior, PriorCovariances,
    PseudoObservations, PseudoObservationsConfig,
    definition::{ConfigBuild, PosteriorInit, exactly},
    expansion::{expand, weighted},
};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, SeparateKernels},
    ops::{CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky},
    process::{
        ConditionedProcess, Marginals, SeparateProcess, VariationalGaussian, WhitenedCovariance,
        nonnegative,
    },
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
///     kernels::StationaryConfig,
///     ops::{NotPositiveDefinite, Stationary},
///     variational::{LSvgp, LSvgpConfig, MeanForm, Posterior, PseudoObservations},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let kernel = StationaryConfig::new(Stationary::Matern52).init(1, &device);
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let form: MeanForm = LSvgpConfig::default().observations.mean;
/// let mean = Tensor::zeros([1, 3], &device);
/// let observations = PseudoObservations::new(mean, &[1e4; 3], form);
/// let posterior = LSvgp::new(inducing(), observations);
/// let evaluation = posterior.evaluate(&kernel, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // Observations with this much noise carry no information.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct LSvgp<I: Module> {
    inducing: I,
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

impl ConfigBuild for LSvgpConfig {
    type Posterior<I: Module> = LSvgp<I>;

    #[track_caller]
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &PosteriorInit<'_, impl PriorCovariances<I, D>>,
    ) -> Result<LSvgp<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let [inducing] = exactly(sets);
        let observations = start.observations(&self.observations, &inducing);
        Ok(LSvgp::new(inducing, observations))
    }
}

impl<I: Module> InducingSets for LSvgp<I> {
    type Inducing = I;

    fn inducing(&self) -> Vec<&I> {
        vec![&self.inducing]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        Vec::new()
    }
}

impl<I: Module> LSvgp<I> {
    /// Creates a posterior from inducing variables and pseudo-observations of them.
    pub fn new(inducing: I, observations: PseudoObservations) -> Self {
        Self {
            inducing,
            observations,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The pseudo-observations `m̃` and `S̃`.
    pub fn observations(&self) -> &PseudoObservations {
        &self.observations
    }

    /// `K_uu` and the factor of `K̃`.
    fn factored<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
    ) -> Result<(Tensor<D>, CholeskyFactor<D>), NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let kuu = prior.kuu(&self.inducing);
        let factor = cholesky(self.observations.added_to(kuu.clone()), Jitter::NONE)?;
        Ok((kuu, factor))
    }

    fn evaluate_under<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let (kuu, factor) = self.factored(prior)?;
        let (mean, variances) = (self.observations.mean(), self.observations.variances());
        let ([outputs, size], [rows, _]) = (mean.dims(), x.dims());
        let weights = match self.observations.form() {
            MeanForm::Plain => mean,
            MeanForm::Preconditioned => {
                let columns = Tensor::<D>::right_hand_sides(mean.unsqueeze_dim(2));
                let solved = factor.solve_transposed(factor.solve(columns));
                solved.of_each(outputs).squeeze_dim(2)
            }
        };
        let features = factor.solve(prior.kuf(&self.inducing, x.clone()));
        let variance = prior.variances(x.clone()) - features.squared_norms();

        let squares = (weighted(kuu.clone(), weights.clone()) * weights.clone()).sum();
        // tr(K̃⁻¹K_uu) = M − tr(K̃⁻¹S̃); the diagonal of K̃⁻¹ avoids cancellation.
        let identity = Tensor::<2>::eye(size, &kuu.device()).cast(kuu.dtype());
        let identity: Tensor<D> = identity.expand(kuu.dims());
        let inverse = factor.solve(identity).squared_norms(); // diag K̃⁻¹, [M, 1] or [M, P]
        let [_, groups] = inverse.dims();
        let noise = variances.clone().reshape([groups, size]).transpose();
        let covariance = (inverse * noise).sum() - (groups * size) as f64
            + factor.log_determinant().sum()
            - variances.log().sum();
        let shared = outputs as f64 / groups as f64;
        Ok(Evaluation {
            marginals: Marginals {
                mean: expand(prior, &self.inducing, weights, x),
                variance: nonnegative(variance).expand([rows, outputs]),
            },
            kl: (squares + covariance * shared) * 0.5,
        })
    }

    /// The factor of `K̃`, and the whitened mean `L⁻¹K̃·v`, `[P, M]`.
    fn conditions<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
    ) -> Result<(CholeskyFactor<D>, Tensor<2>), NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let (_, factor) = self.factored(prior)?;
        let mean = self.observations.mean();
        let [outputs, _] = mean.dims();
        let columns = Tensor::<D>::right_hand_sides(mean.unsqueeze_dim(2));
        let whitened = match self.observations.form() {
            MeanForm::Plain => factor.lower().transpose().exact_matmul(columns),
            MeanForm::Preconditioned => factor.solve(columns),
        };
        Ok((factor, whitened.of_each(outputs).squeeze_dim(2)))
    }
}

impl<K: KernelModule, I: InducingVariables<K>> Posterior<K> for LSvgp<I> {
    type Process = ConditionedProcess<K, I>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        self.evaluate_under::<2>(kernel, x)
    }

    /// The factor of `K̃` takes the place of the factor of `K_uu`; then `L⁻¹u` is known exactly.
    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernel) = (self.valid(), kernel.valid());
        let (factor, mean) = this.conditions::<2>(&kernel)?;
        let (inducing, spread) = (this.inducing, WhitenedCovariance::Known);
        Ok(ConditionedProcess::new(
            kernel, inducing, factor, mean, spread,
        ))
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> Posterior<SeparateKernels<K>> for LSvgp<I> {
    type Process = SeparateProcess<K, I>;

    fn evaluate(
        &self,
        kernels: &SeparateKernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        self.evaluate_under::<3>(kernels, x)
    }

    fn condition(
        &self,
        kernels: &SeparateKernels<K>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernels) = (self.valid(), kernels.valid());
        let (factor, mean) = this.conditions::<3>(&kernels)?;
        let scale = factor.lower().zeros_like();
        Ok(SeparateProcess::new(
            kernels,
            this.inducing,
            factor,
            mean,
            scale,
        ))
    }
}
