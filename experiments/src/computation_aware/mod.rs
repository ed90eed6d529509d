//! The experiments of J. Wenger, K. Wu, P. Hennig, J. R. Gardner, G. Pleiss and J. P. Cunningham,
//! *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
//! arXiv:2411.01036.

mod actions;
mod course;
mod coverage;
mod hyperparameters;
mod inducing;
mod loss;
mod models;
mod scale;
mod sizes;
mod toy;

use burn_gp_runs::study::{self, ChoiceOf, Study};

/// The study of Table 1, whose runs other experiments use.
const TABLE_1: &str = "cagp-uci";

/// The name of Table 1 on the command line.
#[derive(Clone, Debug, Default)]
pub struct Table1;

impl From<Table1> for &'static Study {
    fn from(_: Table1) -> Self {
        study::named(TABLE_1)
    }
}

/// Runs of Table 1.
type CellsOfTable1 = ChoiceOf<Table1>;
