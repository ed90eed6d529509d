//! Distribution functions and quantiles of new targets.
//!
//! A [`TargetDistribution`] describes one target of a likelihood under Gaussian functions. A
//! [`PredictiveDistribution`] describes many targets, each a mixture for deep models. Both compute
//! on the host in double precision.

mod censored;
mod counts;
mod crps;
mod fractions;
mod heteroskedastic;
mod integrals;
mod intervals;
mod labels;
mod laplace;
mod moments;
mod monotone;
mod normal;
mod positive;
mod predictive;
mod quantile;
mod recalibrated;
mod recalibration;
mod student_t;
mod successes;
mod target;
mod transformed;
mod tweedie;

pub(super) use censored::CensoredTarget;
pub(super) use counts::{NegativeBinomialTarget, PoissonTarget, ZeroInflatedPoissonTarget};
pub(super) use fractions::BetaTarget;
pub(super) use heteroskedastic::HeteroskedasticTarget;
pub(super) use labels::OrdinalTarget;
pub(super) use laplace::AsymmetricLaplaceTarget;
pub(super) use monotone::expectation_of_decreasing;
pub(super) use normal::NormalTarget;
pub(super) use positive::{ExponentialTarget, GammaTarget, LogNormalTarget, WeibullTarget};
pub(super) use student_t::StudentTTarget;
pub(super) use successes::ShareTarget;
pub(super) use tweedie::TweedieTarget;

pub use intervals::Interval;
pub use predictive::PredictiveDistribution;
pub use recalibration::{Recalibration, RecalibrationError};
pub use target::{Support, TargetDistribution};
