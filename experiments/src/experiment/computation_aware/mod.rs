//! The experiments of J. Wenger, K. Wu, P. Hennig, J. R. Gardner, G. Pleiss and J. P. Cunningham,
//! *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
//! arXiv:2411.01036.

mod actions;
mod actions_report;
mod adam;
mod cells;
mod course;
mod course_report;
mod coverage;
mod hyperparameters;
mod inducing;
mod inducing_report;
mod loss;
mod loss_report;
mod method;
mod published;
mod runs;
mod scale;
mod scale_report;
mod sizes;
mod table;
mod toy;
mod toy_report;
mod uci;

pub(super) use actions::{ActionsOptions, actions};
pub(super) use course::{CourseOptions, course};
pub(super) use coverage::{CoverageOptions, coverage};
pub(super) use inducing::{InducingOptions, inducing};
pub(super) use loss::{LossOptions, loss};
pub(super) use scale::{ScaleOptions, scale};
pub(super) use toy::{ToyOptions, toy};
pub(super) use uci::{UciOptions, uci};
