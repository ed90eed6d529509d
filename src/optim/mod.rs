//! Optimizers beyond those of burn: natural gradients for the Gaussians `q(u)` and for the
//! auxiliary matrix of inverse-free posteriors, and an Adam that makes one pass over a parameter
//! per step.
//!
//! [`NaturalGradient`] updates every
//! [`VariationalGaussian`](crate::process::VariationalGaussian) anywhere in a module and
//! removes its gradients from the container, so that the remaining gradients can go to any burn
//! optimizer. [`NaturalInversion`] needs no gradients; an
//! [`InverseFree`](crate::variational::InverseFree) posterior runs it after every step.

mod adam;
mod adam_moments;
mod covariance_step;
mod natural_gradient;
mod natural_inversion;
mod on_device;
mod step_sizes;
mod unread_inversion;
mod variance_gap;

pub use adam::Adam;
pub use adam_moments::AdamMoments;
pub use natural_gradient::{
    NaturalGradient, NaturalStep, NaturalStepError, UnreadNaturalStep, WarmUp,
};
pub use natural_inversion::{
    COLD_STEPS, Inversion, InversionReport, InversionStop, NaturalInversion, StoppingRule,
    newton_schulz_step, safe_start,
};
pub use step_sizes::StepSizes;
pub use variance_gap::VarianceGap;
