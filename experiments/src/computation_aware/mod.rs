//! The experiments of J. Wenger, K. Wu, P. Hennig, J. R. Gardner, G. Pleiss and J. P. Cunningham,
//! *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
//! arXiv:2411.01036.

mod actions;
mod actions_report;
mod course;
mod course_report;
mod coverage;
mod hyperparameters;
mod inducing;
mod inducing_report;
mod loss;
mod loss_report;
mod models;
mod scale;
mod scale_report;
mod sizes;
mod toy;
mod toy_report;

use burn_gp_runs::study::{self, ChoiceOf, KnownStudy, Study};

pub(super) use actions::{ActionsOptions, actions};
pub(super) use course::{CourseOptions, course};
pub(super) use coverage::{CoverageOptions, coverage};
pub(super) use inducing::{InducingOptions, inducing};
pub(super) use loss::{LossOptions, loss};
pub(super) use scale::{ScaleOptions, scale};
pub(super) use toy::{ToyOptions, toy};

/// The study of Table 1, whose runs other experiments use.
const TABLE_1: &str = "cagp-uci";

/// The name of Table 1 on the command line.
#[derive(Clone, Debug)]
pub struct Table1;

impl KnownStudy for Table1 {
    fn study() -> &'static Study {
        study::named(TABLE_1)
    }
}

/// Runs of Table 1.
type CellsOfTable1 = ChoiceOf<Table1>;
