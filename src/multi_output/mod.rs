//! Models of several functions that are not independent with one prior.
//!
//! | functions | prior | pieces |
//! |---|---|---|
//! | independent, one kernel and one set of inducing variables | `f_p ~ GP(0, k)` | any posterior with P outputs |
//! | mixtures of Q latent functions | `f = W·g` | [`Coregionalised`] over any posterior |

mod coregionalised;
mod mixture;

pub use coregionalised::{Coregionalised, first_mixing};
pub use mixture::Mixture;
pub(crate) use mixture::mix_draws;
