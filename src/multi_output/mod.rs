//! Models of several functions.
//!
//! | functions | prior | components |
//! |---|---|---|
//! | independent, with a shared kernel and shared inducing variables | `f_p ~ GP(0, k)` | any posterior with P outputs |
//! | independent, with separate kernels or inducing variables | `f_p ~ GP(0, k_p)` | [`SeparateKernels`] under any posterior |
//! | mixtures of Q latent functions | `f = W·g` | [`Coregionalized`] over any posterior |

mod any;
mod coregionalized;
mod mixture;
mod separate_kernels;
mod separate_posterior;
mod separate_process;

pub use any::{Functions, Kernels};
pub use coregionalized::{Coregionalized, first_mixing};
pub use mixture::Mixture;
pub(crate) use mixture::mix_draws;
pub use separate_kernels::SeparateKernels;
pub use separate_process::SeparateProcess;
