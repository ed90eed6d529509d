//! The actions of computation-aware regression.

use burn_gp_core::inference::{ConjugateGradientsSettings, IterationRule};
use burn_gp_models::ActionsConfig;

use crate::arguments::{ActionRowsName, ActionStartName, PolicyName, RunOptions};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{MOST_SIZE, at_most_rows, from_one_to};

/// The rank of the preconditioner of the policy `preconditioned-cg`.
const POLICY_PIVOTS: usize = 256;

/// Checks the options of actions, and fills in defaults that do not depend on the data.
pub(super) fn check(resolved: &mut RunOptions) -> Result<(), OptionError> {
    let default = resolved.model_fields().count("actions.count");
    let count = resolved.actions.unwrap_or(default);
    config(resolved, count).map(drop)
}

/// The actions of the model.
pub(super) fn actions(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<ActionsConfig, OptionError> {
    let rows = data.train.len();
    let default = resolved.model_fields().count("actions.count");
    let requested = *(resolved.actions).get_or_insert(default.min(rows));
    at_most_rows("--actions", requested, rows)?;
    config(resolved, requested)
}

fn config(resolved: &mut RunOptions, actions: usize) -> Result<ActionsConfig, OptionError> {
    let (model, seed) = (resolved.model_fields(), resolved.seed());
    let default = ConjugateGradientsSettings::default().tolerance;
    let tolerance = *resolved.tolerance.get_or_insert(default);
    from_one_to(MOST_SIZE, "--pivots", resolved.pivots)?;
    let rank = *resolved.pivots.get_or_insert(POLICY_PIVOTS);
    if model.has("actions.start") {
        return Ok(trained(resolved, actions));
    }
    let policy = match model.has("actions.rule") {
        true => resolved.policy.ok_or(OptionError::NoPolicy)?,
        false => PolicyName::Cg,
    };
    Ok(ActionsConfig::Iterations {
        rule: match policy {
            PolicyName::Cg => IterationRule::Residuals,
            PolicyName::PreconditionedCg => IterationRule::PreconditionedResiduals { rank },
            PolicyName::Unit => IterationRule::UnitVectors,
            PolicyName::Random => IterationRule::RandomVectors,
            PolicyName::Eigenvectors => IterationRule::Eigenvectors,
        },
        count: actions,
        tolerance,
        seed,
    })
}

fn trained(resolved: &mut RunOptions, count: usize) -> ActionsConfig {
    let start = *(resolved.action_start).get_or_insert(ActionStartName::Normal);
    let rows = *resolved.action_rows.get_or_insert(ActionRowsName::Near);
    ActionsConfig::Blocks {
        count,
        at_most: false,
        start: start.into(),
        seed: resolved.seed(),
        rows: rows.into(),
    }
}
