//! Variational posteriors `q(u)` and the processes they define.
//!
//! A [`Posterior`] owns its inducing variables and its distribution over them. Training calls
//! [`evaluate`](Posterior::evaluate), which computes the marginals of `q(f)` and the KL divergence
//! from the prior with a single factorization. After training, [`condition`](Posterior::condition)
//! returns an owned [`Process`] for prediction.
//!
//! # Several functions
//!
//! | functions | prior | components |
//! |---|---|---|
//! | independent, one kernel and one set of inducing variables | `f_p ~ GP(0, k)` | any posterior with P outputs |
//! | independent, each with its own kernel or inducing variables | `f_p ~ GP(0, k_p)` | [`SeparateKernels`](crate::kernels::SeparateKernels) under any posterior |
//! | mixtures of Q latent functions | `f = W·g` | [`Coregionalized`] over any posterior |

mod any;
mod column_sampling;
mod coregionalized;
mod custom;
mod decoupled;
mod definition;
mod expansion;
mod function_matrices;
mod functions;
mod inducing_gaussians;
mod inducing_sets;
mod inverse_free;
mod l_svgp;
mod one_gaussian;
mod orthogonal;
mod orthogonal_factor;
mod prior_covariances;
mod pseudo_observations;
mod root_bound;
mod scaled_deviations;
mod separate;
mod unwhitened;
mod weight_space;
mod whitened;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

pub use any::{AnyPosterior, PosteriorConfig, PosteriorName};
use column_sampling::ColumnSampling;
pub use coregionalized::{CoregionalizationConfig, Coregionalized, first_mixing};
pub use custom::{
    CustomPosterior, CustomPosteriorConfig, PosteriorDefinition, PosteriorRegistration,
};
pub use decoupled::{OrthogonallyDecoupled, OrthogonallyDecoupledConfig};
pub use definition::FirstGaussians;
pub use expansion::Expansion;
pub(crate) use function_matrices::FunctionMatrices;
pub use functions::Functions;
pub use inducing_gaussians::{Coordinates, InducingGaussians};
pub(crate) use inducing_gaussians::{conditions, evaluate, prior_gaussian};
pub use inducing_sets::InducingSets;
pub use inverse_free::{
    AuxiliaryUpdate, InverseFree, InverseFreeConfig, InverseFreeProcess, TraceProbes,
};
pub use l_svgp::{LSvgp, LSvgpConfig};
pub use orthogonal::{InducingSet, Orthogonal, OrthogonalConfig};
pub(crate) use prior_covariances::PriorCovariances;
pub use pseudo_observations::{MeanForm, PseudoObservations, PseudoObservationsConfig};
pub use root_bound::RootBound;
pub use scaled_deviations::with_scaled_deviations;
pub use unwhitened::{Unwhitened, UnwhitenedConfig};
pub use weight_space::WeightSpace;
pub use whitened::{Whitened, WhitenedConfig};

use crate::{
    kernels::FunctionPrior,
    ops::NotPositiveDefinite,
    process::{Marginals, Process},
};

/// The result of [`Posterior::evaluate`].
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The marginals of `q(f)` at the inputs, each `[N, P]`.
    pub marginals: Marginals,
    /// `KL[q(u) ‖ p(u)]`, summed over outputs, `[1]`.
    pub kl: Tensor<1>,
}

/// A variational posterior over P independent functions with zero prior mean.
///
/// The trait is generic over the prior: a kernel that all functions share, or
/// [`SeparateKernels`](crate::kernels::SeparateKernels).
pub trait Posterior<K: FunctionPrior>: Module + ModuleDisplay {
    /// The process returned by [`condition`](Self::condition).
    type Process: Process;

    /// The marginals of `q(f)` at `x`, `[N, D]`, and the KL divergence from the prior.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite>;

    /// The process conditioned on `q(u)`, with everything that does not depend on new inputs
    /// precomputed. It lives on the device without autodiff and shares nothing with `self`.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite>;

    /// Updates the state that the posterior keeps between optimizer steps. Training loops call it
    /// after every step; most posteriors have no such state.
    fn after_step(self, _kernel: &K) -> Self {
        self
    }

    /// Recomputes the state that the posterior keeps between optimizer steps. Call it before the
    /// first step and after changing parameters from outside; most posteriors have no such state.
    fn synchronized(self, _kernel: &K) -> Self {
        self
    }
}
