//! The combinations of rows of computation-aware regression.

use burn_gp::inference::{ActionStart, IterationRule};
use burn_gp_models::{ActionRows, ActionsConfig};

use crate::arguments::{ActionRowsName, ActionStartName, PolicyName};
use crate::preparation::PreparedData;
use crate::settings::{ActionChoice, ActionSettings, SettingError, enough_rows};

/// Combinations of rows unless told otherwise.
const DEFAULT_ACTIONS: usize = 256;

/// The combinations of rows; their number is written into `settings`.
pub(super) fn actions(
    settings: &mut ActionSettings,
    data: &PreparedData,
    seed: u64,
) -> Result<ActionsConfig, SettingError> {
    let rows = data.train.len();
    let requested = *settings.count.get_or_insert(DEFAULT_ACTIONS.min(rows));
    enough_rows(requested, rows)?;
    let iterations = |rule, tolerance| ActionsConfig::Iterations {
        rule,
        count: requested,
        tolerance,
        seed,
    };
    Ok(match settings.choice {
        ActionChoice::Trained { start, rows } => ActionsConfig::Blocks {
            count: requested,
            start: match start {
                ActionStartName::Normal => ActionStart::Normal,
                ActionStartName::Targets => ActionStart::Targets,
                ActionStartName::Eigenvectors => ActionStart::Eigenvectors,
            },
            seed,
            rows: match rows {
                ActionRowsName::Near => ActionRows::Near,
                ActionRowsName::Given => ActionRows::Given,
            },
        },
        ActionChoice::ConjugateGradients { tolerance } => {
            iterations(IterationRule::Residuals, tolerance)
        }
        ActionChoice::Policy {
            policy,
            rank,
            tolerance,
        } => iterations(rule(policy, rank), tolerance),
    })
}

fn rule(policy: PolicyName, rank: usize) -> IterationRule {
    match policy {
        PolicyName::Cg => IterationRule::Residuals,
        PolicyName::PreconditionedCg => IterationRule::PreconditionedResiduals { rank },
        PolicyName::Unit => IterationRule::UnitVectors,
        PolicyName::Random => IterationRule::RandomVectors,
        PolicyName::Eigenvectors => IterationRule::Eigenvectors,
    }
}
