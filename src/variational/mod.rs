//! Variational posteriors `q(u)` and the processes they define.
//!
//! A [`Posterior`] owns its inducing variables and its distribution over them. Training calls
//! [`evaluate`](Posterior::evaluate), which computes the marginals of `q(f)` and the KL divergence
//! from the prior with a single factorization. After training, [`condition`](Posterior::condition)
//! returns an owned [`Process`](crate::process::Process) for prediction.
//!
//! # Several functions
//!
//! | functions | prior | components |
//! |---|---|---|
//! | independent, one kernel and one set of inducing variables | `f_p ~ GP(0, k)` | any posterior with P outputs |
//! | independent, each with its own kernel or inducing variables | `f_p ~ GP(0, k_p)` | [`Kernels::separate`](crate::kernels::Kernels::separate) under any posterior |
//! | mixtures of Q latent functions | `f = W·g` | [`Coregionalized`] over any posterior |

mod column_sampling;
mod coregionalized;
mod definition;
mod expansion;
mod inducing_gaussians;
mod inverse_free;
mod l_svgp;
mod odvgp;
mod orthogonal_factor;
mod posterior;
mod pseudo_observations;
mod root_bound;
mod scaled_deviations;
mod solve_gp;
mod unwhitened;
mod weight_space;
mod whitened;

use burn::tensor::Tensor;

use column_sampling::ColumnSampling;
pub use coregionalized::{CoregionalizationConfig, Coregionalized, first_mixing};
pub use definition::{
    FirstGaussians, PosteriorConfig, PosteriorDefinition, PosteriorInit, PosteriorName,
};
pub use expansion::Expansion;
pub(crate) use inducing_gaussians::prior_gaussian;
pub use inducing_gaussians::{InducingGaussians, Parameterization};
pub use inverse_free::{
    AuxiliaryUpdate, InverseFree, InverseFreeConfig, InverseFreeProcess, TraceProbes,
};
pub use l_svgp::{LSvgp, LSvgpConfig};
pub use odvgp::{OrthogonallyDecoupled, OrthogonallyDecoupledConfig};
pub use posterior::{AnyPosterior, Posterior};
pub use pseudo_observations::{MeanForm, PseudoObservations, PseudoObservationsConfig};
pub use root_bound::RootBound;
pub use scaled_deviations::with_scaled_deviations;
pub use solve_gp::{InducingSet, SolveGp, SolveGpConfig, UnwhitenedSolveGpConfig};
pub use unwhitened::{Unwhitened, UnwhitenedConfig};
pub use weight_space::WeightSpace;
pub use whitened::{Whitened, WhitenedConfig};

use crate::process::Marginals;

/// The result of [`Posterior::evaluate`].
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The marginals of `q(f)` at the inputs, each `[N, P]`.
    pub marginals: Marginals,
    /// `KL[q(u) ‖ p(u)]`, summed over outputs, `[1]`.
    pub kl: Tensor<1>,
}
