//! The options of the models on all rows alone.

use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{OptimizerName, PolicyName};

/// What only models on all rows have; what is absent has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Full batch")]
pub struct AllRowsOptions {
    /// Optimizer [default: l-bfgs; adam for cagp-cg and itergp]
    #[arg(long, value_name = "OPTIMIZER")]
    pub optimizer: Option<OptimizerName>,
    /// How itergp chooses the next combination of rows; with cg it is cagp-cg
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<PolicyName>,
    /// Iterations of cagp-cg, itergp and cggp end where the residual is this part of the targets
    /// [default: 1e-4]
    #[arg(long, value_name = "T")]
    pub tolerance: Option<f64>,
    /// Pivots of the preconditioner of cggp and of the policy preconditioned-cg [default: 8 times the
    /// root of the rows, 256 for the policy; 0 for none with cggp]
    #[arg(long, value_name = "R")]
    pub pivots: Option<usize>,
    /// Iterations of a solve of cggp, at most [default: 512]
    #[arg(long, value_name = "COUNT")]
    pub iterations: Option<usize>,
    /// Random vectors that estimate the log-determinant of cggp [default: 10]
    #[arg(long, value_name = "COUNT")]
    pub trace_probes: Option<usize>,
    /// Make the variances of predictions of cggp once, in as many directions; they are too large where
    /// these are too few, and exact where they are as many as rows [default: a solve for each
    /// prediction]
    #[arg(long, value_name = "R")]
    pub cached_variances: Option<usize>,
}
