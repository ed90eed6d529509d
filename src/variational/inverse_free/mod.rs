//! R-SVGP: a posterior that trains without factorizations.

mod config;
mod posterior;
mod probes;
mod process;
mod relaxation;

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

pub use config::{AuxiliaryUpdate, InverseFreeConfig};
pub use probes::TraceProbes;
pub use process::InverseFreeProcess;
use relaxation::Relaxation;

use super::{FirstGaussians, PseudoObservations};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{add_diagonal, is_on_cpu, number},
    optim::{Inversion, InversionReport, NaturalInversion, StoppingRule, VarianceGap, safe_start},
    parameter::HostInteger,
};

/// The number of inversion steps after a step of training on a GPU. They take T from the residual
/// that a step leaves to the default tolerance; on the CPU, most updates need one or two.
const STEPS_UNREAD: usize = 4;

/// The number of inversion steps after the first step of training, when T may be far from the
/// inverse. The distance shrinks by a factor of about two per step, so that condition numbers up to
/// 10¹² are covered.
const FIRST_STEPS_UNREAD: usize = 48;

/// R-SVGP, the inverse-free sparse variational Gaussian process. The bound, its gradient and the
/// update of the auxiliary matrix use matrix products only (S. Cortinovis, L. Aitchison, S.
/// Eleftheriadis and M. van der Wilk, *Inverse-Free Sparse Variational Gaussian Processes*,
/// arXiv:2604.00697).
///
/// It is [`LSvgp`](super::LSvgp) with an auxiliary matrix `T = LLᵀ` in place of `K̃⁻¹`,
/// `K̃ = K_uu + S̃`, refined by one Newton–Schulz step, `P_R = 2T − TK̃T`:
/// `q(u) = N(K_uu·v, K_uu − K_uu·P_R·K_uu)` with `v = m̃` or `v = P_R·m̃`,
/// `μ = K_fu·v`, `σ² = k_ff − k_fuᵀP_R·k_fu`, and
/// `KL ≤ ½(vᵀK_uu·v − tr(P_R·K_uu) + tr(K̃T) − M − log|T| − log|S̃|)` (eqs. 4 and 7). The bound
/// holds for every positive-definite T. At `T = K̃⁻¹` it equals the bound of `LSvgp`, and so does
/// its gradient, although T is held constant.
///
/// [`after_step`](super::Posterior::after_step) updates T to the parameters that the optimizer has
/// just changed, by [`NaturalInversion`] from the previous T. A new posterior starts far from the
/// inverse, at [`safe_start`]. [`synchronize`](super::Posterior::synchronize) inverts from there; if it
/// was not called, the first `after_step` does. L and the number of updates are part of the record.
/// With [`TraceProbes`] the KL divergence is an unbiased estimate; prediction needs no traces.
///
/// With separate kernels, every function has its own S̃ and T.
#[derive(Module, Debug)]
pub struct InverseFree {
    inducing: AnyInducing,
    observations: PseudoObservations,
    /// L, [1, M, M] or [P, M, M]; it has gradients only if the optimizer trains it
    auxiliary: Param<Tensor<3>>,
    /// The number of updates so far.
    steps: HostInteger,
    #[module(skip)]
    update: AuxiliaryUpdate,
    #[module(skip)]
    probes: Option<TraceProbes>,
    #[module(skip)]
    reports: Vec<InversionReport>,
}

impl InverseFree {
    /// Creates a posterior from inducing variables, pseudo-observations of them, and lower
    /// triangles L: one that all functions share, `[1, M, M]`, or one per function, `[P, M, M]`.
    ///
    /// # Panics
    ///
    /// If the number of triangles differs from the number of S̃.
    #[track_caller]
    pub fn new(
        inducing: impl Into<AnyInducing>,
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
        let steps = HostInteger::new(0, &lower.device());
        Self {
            inducing: inducing.into(),
            observations,
            auxiliary: Param::from_tensor(lower),
            steps,
            update,
            probes: None,
            reports: Vec::new(),
        }
    }

    /// Estimates the traces in training.
    pub fn with_probes(mut self, probes: TraceProbes) -> Self {
        self.probes = Some(probes);
        self
    }

    /// The initial posterior for a configuration.
    pub(crate) fn at_start(
        inducing: AnyInducing,
        observations: PseudoObservations,
        (prior, first): (&Kernels, FirstGaussians),
        config: &InverseFreeConfig,
    ) -> Self {
        let lower = match (first, config.auxiliary) {
            (FirstGaussians::Prior, AuxiliaryUpdate::NaturalGradient(_)) => {
                let noisy = observations.added_to(inducing.kuu(prior));
                each_of(noisy.detach(), |matrix| safe_start(&matrix))
            }
            (FirstGaussians::Skeleton, AuxiliaryUpdate::NaturalGradient(_)) => {
                observations.identities()
            }
            (_, AuxiliaryUpdate::Optimizer { start }) => observations.identities() * start,
        };
        let posterior = Self::new(inducing, observations, lower, config.auxiliary);
        match config.probes {
            Some(probes) => posterior.with_probes(probes),
            None => posterior,
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

    /// The lower triangles L with `T = LLᵀ`, `[1, M, M]` or `[P, M, M]`.
    pub fn auxiliary(&self) -> Tensor<3> {
        self.auxiliary.val()
    }

    /// Reports on the last monitored update of each L; empty before the first one. On a GPU, the
    /// updates after training steps are not monitored.
    pub fn reports(&self) -> &[InversionReport] {
        &self.reports
    }

    fn is_trained_by_optimizer(&self) -> bool {
        matches!(self.update, AuxiliaryUpdate::Optimizer { .. })
    }

    /// The number of updates so far.
    fn updates_made(&self) -> u64 {
        self.steps.get().unsigned_abs()
    }

    /// L, detached unless the optimizer trains it.
    fn root(&self) -> Tensor<3> {
        let root = self.auxiliary.val();
        if self.is_trained_by_optimizer() {
            root.tril(0)
        } else {
            root.detach()
        }
    }

    /// Every `K̃` and L, under a prior without autodiff.
    fn inversions(&self, prior: &Kernels) -> Vec<(Tensor<2>, Tensor<2>)> {
        let kuu = self.inducing.valid().kuu(prior); // [B, M, M]
        let matrices = add_diagonal(kuu, self.observations.variances().without_autodiff());
        let starts = self.auxiliary.val().without_autodiff();
        let [groups, _, _] = matrices.dims();
        let member =
            |batch: &Tensor<3>, group| (batch.clone().narrow(0, group, 1)).squeeze_dim::<2>(0);
        let pairs = (0..groups).map(|group| (member(&matrices, group), member(&starts, group)));
        pairs.collect()
    }

    /// Updates every T to the current `K̃`, under a prior without autodiff.
    fn invert(&mut self, prior: &Kernels, inversion: NaturalInversion, rule: StoppingRule<'_>) {
        let results = (self.inversions(prior).into_iter())
            .map(|(matrix, start)| inversion.run_until(&matrix, start, rule));
        let (lowers, reports): (Vec<_>, Vec<_>) = results
            .map(|Inversion { lower, report }| (lower, report))
            .unzip();
        self.reports = reports;
        self.set_lowers(lowers);
    }

    /// Updates every T to the current `K̃` by a fixed number of steps, without waiting for the
    /// device.
    fn invert_unread(&mut self, prior: &Kernels, inversion: NaturalInversion, steps: usize) {
        let lowers = (self.inversions(prior).into_iter())
            .map(|(matrix, start)| inversion.run_unread(&matrix, start, steps));
        let lowers = lowers.collect();
        self.set_lowers(lowers);
    }

    /// Replaces the L of every T.
    fn set_lowers(&mut self, lowers: Vec<Tensor<2>>) {
        let lowers = match lowers.as_slice() {
            [one] => one.clone().unsqueeze(),
            _ => Tensor::stack::<3>(lowers, 0),
        };
        self.auxiliary = self.auxiliary.clone().map(|old| match old.is_autodiff() {
            true => Tensor::from_inner(lowers).set_require_grad(old.is_require_grad()),
            false => lowers,
        });
    }

    /// Updates T until the error of the variances at `x` costs a bound with Gaussian noise of
    /// variance `noise` at most `tolerance` nats ([`VarianceGap`]). All functions share a kernel.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    pub fn with_variance_gap(
        mut self,
        prior: &Kernels,
        x: Tensor<2>,
        noise: f64,
        tolerance: f64,
    ) -> Self {
        let AuxiliaryUpdate::NaturalGradient(inversion) = self.update else {
            return self;
        };
        let prior = prior.valid();
        let covariances = (self.inducing.valid()).kuf(&prior, x.without_autodiff());
        let floor = number(self.observations.variances().min());
        let gap = VarianceGap {
            covariances: covariances.squeeze_dim(0),
            floor,
            noise,
            tolerance,
        };
        let rule = StoppingRule::VarianceGap(&gap);
        self.invert(&prior, inversion.from_cold(), rule);
        self
    }

    /// Whether the parameter L is frozen.
    fn is_frozen(&self) -> bool {
        let lower = self.auxiliary.val();
        lower.is_autodiff() && !lower.is_require_grad()
    }

    /// The update after an optimizer step, under a prior without autodiff.
    fn update_auxiliary(&mut self, prior: &Kernels) {
        let inversion = match self.update {
            AuxiliaryUpdate::Optimizer { .. } => return,
            _ if self.is_frozen() => return,
            AuxiliaryUpdate::NaturalGradient(inversion) => inversion,
        };
        // The choice depends only on the record, so that a resumed run makes the same one.
        let (inversion, steps) = match self.updates_made() {
            0 => (inversion.from_cold(), FIRST_STEPS_UNREAD),
            _ => (inversion, STEPS_UNREAD),
        };
        if is_on_cpu(&self.auxiliary.val()) {
            return self.invert(prior, inversion, StoppingRule::Residual);
        }
        let steps = (inversion.step_sizes.growing() + steps).min(inversion.max_steps);
        self.invert_unread(prior, inversion, steps);
    }
}

/// Changes every matrix of a batch.
fn each_of(batch: Tensor<3>, change: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<3> {
    let [count, _, _] = batch.dims();
    let member = |index| batch.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
    Tensor::stack((0..count).map(|index| change(member(index))).collect(), 0)
}
