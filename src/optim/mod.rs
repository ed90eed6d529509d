//! What burn's optimisers lack: natural gradients for the Gaussians `q(u)`, and an Adam that makes
//! one pass over a parameter a step.
//!
//! [`NaturalGradient`] updates every [`VariationalGaussian`](crate::variational::VariationalGaussian)
//! of a module, wherever it is in it, and takes its gradients out of the container, so that what is
//! left can go to any optimiser of burn's.

mod adam;
mod covariance_step;
mod natural_gradient;

pub use adam::Adam;
pub use natural_gradient::{NaturalGradient, NaturalStep, NaturalStepError, WarmUp};
