//! The options of the models on all rows alone.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{OptimizerName, PolicyName};

/// What only models on all rows have; what is absent has its default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllRowsOptions {
    /// Optimizer [default: l-bfgs; adam for cagp-cg and itergp]
    #[arg(long, value_name = "OPTIMIZER", help_heading = "Models on all rows")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<OptimizerName>,
    /// How itergp chooses the next combination of rows; with cg it is cagp-cg
    #[arg(long, value_name = "POLICY", help_heading = "Models on all rows")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyName>,
    /// Iterations of cagp-cg, itergp and cggp end where the residual is this part of the targets
    /// [default: 1e-4]
    #[arg(
        long,
        value_name = "T",
        allow_negative_numbers = true,
        help_heading = "Models on all rows"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Pivots of the preconditioner of cggp and of the policy preconditioned-cg [default: 8 times the
    /// root of the rows, 256 for the policy; 0 for none with cggp]
    #[arg(
        long,
        value_name = "R",
        allow_negative_numbers = true,
        help_heading = "Models on all rows"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pivots: Option<usize>,
    /// Iterations of a solve of cggp, at most [default: 512]
    #[arg(
        long,
        value_name = "COUNT",
        allow_negative_numbers = true,
        help_heading = "Models on all rows"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Random vectors that estimate the log-determinant of cggp [default: 10]
    #[arg(
        long,
        value_name = "COUNT",
        allow_negative_numbers = true,
        help_heading = "Models on all rows"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_probes: Option<usize>,
    /// Make the variances of predictions of cggp once, in as many directions; they are too large where
    /// these are too few, and exact where they are as many as rows [default: a solve for each
    /// prediction]
    #[arg(
        long,
        value_name = "R",
        allow_negative_numbers = true,
        help_heading = "Models on all rows"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_variances: Option<usize>,
}

impl AllRowsOptions {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These options, completed by those of `earlier`.
    pub fn over(self, earlier: Self) -> Self {
        Self {
            optimizer: self.optimizer.or(earlier.optimizer),
            policy: self.policy.or(earlier.policy),
            tolerance: self.tolerance.or(earlier.tolerance),
            pivots: self.pivots.or(earlier.pivots),
            iterations: self.iterations.or(earlier.iterations),
            trace_probes: self.trace_probes.or(earlier.trace_probes),
            cached_variances: self.cached_variances.or(earlier.cached_variances),
        }
    }
}
