//! R-SVGP: a posterior that trains without a factorization.

mod config;
mod posterior;
mod probes;
mod process;
mod relaxation;

use burn::{
    module::{Module, Param, ParamId},
    tensor::{Int, Tensor},
};

pub use config::{AuxiliaryUpdate, InverseFreeConfig};
pub use probes::TraceProbes;
pub use process::InverseFreeProcess;
use relaxation::Relaxation;

use super::{FunctionMatrices, PriorCovariances, PseudoObservations};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    ops::add_diagonal,
    optim::{Inversion, InversionReport, NaturalInversion, StoppingRule, VarianceGap, safe_start},
};

/// R-SVGP, the inverse-free sparse variational Gaussian process: the bound, its gradient and the
/// update of what it keeps are matrix products alone (S. Cortinovis, L. Aitchison, S. Eleftheriadis
/// and M. van der Wilk, *Inverse-Free Sparse Variational Gaussian Processes*, arXiv:2604.00697).
///
/// It is [`LSvgp`](super::LSvgp) with an auxiliary `T = LLᵀ` in the place of `K̃⁻¹`,
/// `K̃ = K_uu + S̃`, and one Newton–Schulz step from it, `P_R = 2T − TK̃T`:
/// `q(u) = N(K_uu·v, K_uu − K_uu·P_R·K_uu)` with `v = m̃` or `v = P_R·m̃`,
/// `μ = K_fu·v`, `σ² = k_ff − k_fuᵀP_R·k_fu`, and
/// `KL ≤ ½(vᵀK_uu·v − tr(P_R·K_uu) + tr(K̃T) − M − log|T| − log|S̃|)` (eqs. 4 and 7). That is a bound
/// for every positive-definite T, equal to that of `LSvgp` at `T = K̃⁻¹`, where their gradients agree
/// as well although T is held constant.
///
/// [`after_step`](super::Posterior::after_step) brings T up to date with the parameters that the
/// optimizer has just changed, by [`NaturalInversion`] from the T before. A new posterior starts far
/// from the inverse, at [`safe_start`]: [`refreshed`](super::Posterior::refreshed) inverts from
/// there, and so does the first `after_step` if it was not called. L and the number of updates are
/// part of the record. With [`TraceProbes`] the divergence is an unbiased estimate; prediction needs
/// no traces.
///
/// Under kernels of their own every function has an S̃ and a T.
#[derive(Module, Debug)]
pub struct InverseFree<I: Module> {
    inducing: I,
    observations: PseudoObservations,
    /// L, [1, M, M] or [P, M, M]; trained by none but the optimizer's update
    auxiliary: Param<Tensor<3>>,
    /// The updates made, `[1]`.
    steps: Param<Tensor<1, Int>>,
    #[module(skip)]
    update: AuxiliaryUpdate,
    #[module(skip)]
    probes: Option<TraceProbes>,
    #[module(skip)]
    reports: Vec<InversionReport>,
}

impl<I: Module> InverseFree<I> {
    /// A posterior with the given inducing variables, pseudo-observations of them, and lower
    /// triangles L, `[1, M, M]`, or one for each function, `[P, M, M]`.
    ///
    /// # Panics
    ///
    /// If there is another number of triangles than of S̃.
    #[track_caller]
    pub fn new(
        inducing: I,
        observations: PseudoObservations,
        lower: Tensor<3>,
        update: AuxiliaryUpdate,
    ) -> Self {
        let ([groups, rows, columns], [_, size]) = (lower.dims(), observations.dims());
        let [variances] = observations.variances().dims();
        assert!(
            rows == size && columns == size && groups * size == variances,
            "InverseFree: triangles [{groups}, {rows}, {columns}] for {size} inducing variables \
             and {variances} variances; expected a triangle [M, M] for M variances"
        );
        let steps = Tensor::zeros([1], &lower.device());
        let trained = matches!(update, AuxiliaryUpdate::Optimizer { .. });
        Self {
            inducing,
            observations,
            auxiliary: Param::from_tensor(lower).set_require_grad(trained),
            steps: Param::initialized(ParamId::new(), steps),
            update,
            probes: None,
            reports: Vec::new(),
        }
    }

    /// The same with estimated traces in training.
    pub fn with_probes(mut self, probes: TraceProbes) -> Self {
        self.probes = Some(probes);
        self
    }

    /// The posterior of a configuration at its start, for `outputs` functions.
    pub(crate) fn at_start<const D: usize>(
        inducing: I,
        observations: PseudoObservations,
        prior: &impl PriorCovariances<I, D>,
        config: &InverseFreeConfig,
    ) -> Self
    where
        Tensor<D>: FunctionMatrices,
    {
        let noisy = observations.added_to(prior.kuu(&inducing));
        let matrices = as_batch(noisy.detach());
        let [groups, _, _] = matrices.dims();
        let starts = (0..groups).map(|group| {
            let matrix = matrices.clone().narrow(0, group, 1).squeeze_dim::<2>(0);
            match config.auxiliary {
                AuxiliaryUpdate::NaturalGradient(_) => safe_start(&matrix),
                AuxiliaryUpdate::Optimizer { start } => {
                    let [size, _] = matrix.dims();
                    Tensor::<2>::eye(size, &matrix.device()).cast(matrix.dtype()) * start
                }
            }
        });
        let lower = Tensor::stack::<3>(starts.collect(), 0);
        let posterior = Self::new(inducing, observations, lower, config.auxiliary);
        match config.probes {
            Some(probes) => posterior.with_probes(probes),
            None => posterior,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// `m̃` and `S̃`.
    pub fn observations(&self) -> &PseudoObservations {
        &self.observations
    }

    /// The lower triangles L with `T = LLᵀ`, `[1, M, M]` or `[P, M, M]`.
    pub fn auxiliary(&self) -> Tensor<3> {
        self.auxiliary.val()
    }

    /// What the last update of each L did; none before the first.
    pub fn reports(&self) -> &[InversionReport] {
        &self.reports
    }

    fn is_trained_by_optimizer(&self) -> bool {
        matches!(self.update, AuxiliaryUpdate::Optimizer { .. })
    }

    /// How many updates were made.
    fn updates_made(&self) -> u64 {
        self.steps.val().into_scalar::<i64>().unsigned_abs()
    }

    /// L, which is constant unless the optimizer trains it.
    fn root(&self) -> Tensor<3> {
        let root = self.auxiliary.val();
        if self.is_trained_by_optimizer() {
            root.tril(0)
        } else {
            root.detach()
        }
    }

    /// `K̃` under a prior without autodiff, `[1, M, M]` or `[P, M, M]`.
    fn noisy_covariances<const D: usize>(&self, prior: &impl PriorCovariances<I, D>) -> Tensor<3>
    where
        Tensor<D>: FunctionMatrices,
    {
        let kuu = as_batch(prior.kuu(&self.inducing.valid()));
        add_diagonal(kuu, self.observations.variances().without_autodiff())
    }

    /// The posterior with every T brought up to date with `K̃`, under a prior without autodiff.
    fn inverted<const D: usize>(
        mut self,
        prior: &impl PriorCovariances<I, D>,
        inversion: NaturalInversion,
        rule: StoppingRule<'_>,
    ) -> Self
    where
        Tensor<D>: FunctionMatrices,
    {
        let matrices = self.noisy_covariances(prior);
        let starts = self.auxiliary.val().without_autodiff();
        let [groups, _, _] = matrices.dims();
        let member =
            |batch: &Tensor<3>, group| (batch.clone().narrow(0, group, 1)).squeeze_dim::<2>(0);
        let results = (0..groups).map(|group| {
            let (matrix, start) = (member(&matrices, group), member(&starts, group));
            inversion.run_until(&matrix, start, rule)
        });
        let (lowers, reports): (Vec<_>, Vec<_>) = results
            .map(|Inversion { lower, report }| (lower, report))
            .unzip();
        self.reports = reports;
        let lowers = match lowers.as_slice() {
            [one] => one.clone().unsqueeze(),
            _ => Tensor::stack::<3>(lowers, 0),
        };
        self.auxiliary = self.auxiliary.map(|old| {
            if old.is_autodiff() {
                Tensor::from_inner(lowers)
            } else {
                lowers
            }
        });
        self.auxiliary = self.auxiliary.set_require_grad(false);
        self
    }

    /// The posterior with T brought up to date until its variances at `x` cost a bound with
    /// Gaussian noise of variance `noise` no more than `tolerance` nats ([`VarianceGap`]).
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    pub fn with_variance_gap<K: Kernel>(
        self,
        kernel: &K,
        x: Tensor<2>,
        noise: f64,
        tolerance: f64,
    ) -> Self
    where
        I: InducingVariables<K>,
    {
        let AuxiliaryUpdate::NaturalGradient(inversion) = self.update else {
            return self;
        };
        let kernel = kernel.valid();
        let covariances = (self.inducing.valid()).kuf(&kernel, x.without_autodiff());
        let floor = self.observations.variances().min().into_scalar();
        let gap = VarianceGap {
            covariances,
            floor,
            noise,
            tolerance,
        };
        let rule = StoppingRule::VarianceGap(&gap);
        self.inverted::<2>(&kernel, inversion.from_cold(), rule)
    }

    fn counted(mut self) -> Self {
        self.steps = self.steps.map(|steps| steps + 1);
        self
    }

    /// After a step of the optimizer.
    pub(crate) fn stepped<const D: usize>(self, prior: &impl PriorCovariances<I, D>) -> Self
    where
        Tensor<D>: FunctionMatrices,
    {
        let inversion = match self.update {
            AuxiliaryUpdate::Optimizer { .. } => return self.counted(),
            AuxiliaryUpdate::NaturalGradient(inversion) => inversion,
        };
        // Decided by what is in the record alone, so that a resumed run does the same.
        let inversion = match self.updates_made() {
            0 => inversion.from_cold(),
            _ => inversion,
        };
        (self.inverted(prior, inversion, StoppingRule::Residual)).counted()
    }

    /// Before the first step, or after the parameters were set from outside.
    pub(crate) fn restarted<const D: usize>(self, prior: &impl PriorCovariances<I, D>) -> Self
    where
        Tensor<D>: FunctionMatrices,
    {
        match self.update {
            AuxiliaryUpdate::Optimizer { .. } => self,
            AuxiliaryUpdate::NaturalGradient(inversion) => {
                self.inverted(prior, inversion.from_cold(), StoppingRule::Residual)
            }
        }
    }
}

/// One matrix for all functions, or one each, as a batch.
fn as_batch<const D: usize>(matrices: Tensor<D>) -> Tensor<3> {
    let dims = matrices.dims();
    let count = dims[..D - 2].iter().product::<usize>();
    matrices.reshape([count, dims[D - 2], dims[D - 1]])
}
