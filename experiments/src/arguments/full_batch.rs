//! The options that only full-batch models have.

use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{OptimizerName, PolicyName};

/// The options that only full-batch models have; an absent option has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Full batch")]
pub struct FullBatchOptions {
    /// Optimizer [default: l-bfgs; adam for cagp-cg and itergp]
    #[arg(long, value_name = "OPTIMIZER")]
    pub optimizer: Option<OptimizerName>,
    /// Policy that chooses the next action of itergp; cg gives cagp-cg
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<PolicyName>,
    /// Relative residual at which the iterations of cagp-cg, itergp and cggp stop [default: 1e-4]
    #[arg(long, value_name = "T")]
    pub tolerance: Option<f64>,
    /// Pivots of the preconditioner of cggp and of the policy preconditioned-cg [default: 8 times
    /// the square root of the number of rows, 256 for the policy; 0 for no preconditioner with
    /// cggp]
    #[arg(long, value_name = "R")]
    pub pivots: Option<usize>,
    /// Maximum number of iterations of a solve of cggp [default: 512]
    #[arg(long, value_name = "COUNT")]
    pub iterations: Option<usize>,
    /// Random vectors that estimate the log-determinant of cggp [default: 10]
    #[arg(long, value_name = "COUNT")]
    pub trace_probes: Option<usize>,
    /// Compute the predictive variances of cggp once, in this many directions; they are too large
    /// with too few directions and exact with one for each row [default: a solve for each
    /// prediction]
    #[arg(long, value_name = "R")]
    pub cached_variances: Option<usize>,
}
