//! Initial values of periods and frequencies that the options leave out.

use burn::tensor::{DType, Device};
use burn_gp_models::training::Training;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::parameter_options::ValuesOption;
use crate::plan::resolve;
use crate::preparation::PreparedData;

/// For exact and collapsed sparse regression, adds initial values from the periodogram of the training rows for
/// periods and frequencies that the options do not set.
///
/// # Errors
///
/// If the options cannot be resolved.
pub fn with_first_periods(
    options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<RunOptions, OptionError> {
    let (_, plan) = resolve(&options, data)?;
    let first = match &plan.training {
        Training::FullBatch(training) if training.iterations > 0 => {
            (plan.model).best_first_periods(&plan.training_data(data, place))
        }
        _ => return Ok(options),
    };
    if first.is_empty() {
        return Ok(options);
    }
    let found = first
        .into_iter()
        .map(|(path, values)| ValuesOption::rounded(path, values));
    Ok(RunOptions {
        set: Some(found.chain(options.set.iter().flatten().cloned()).collect()),
        ..options
    })
}
