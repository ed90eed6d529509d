//! `--restarts`: training from several initial values of the hyperparameters.

use burn::tensor::{DType, Device};
use burn_gp_models::{FirstValues, restarts};

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::parameter_options::ValuesOption;
use crate::plan::resolve;
use crate::preparation::PreparedData;
use crate::progress::RowProgress;

/// Trains from the initial values of the options and from random ones, if `--restarts` asks for it. Returns the
/// options with the initial values that reached the smallest loss, from which training then starts, and a line about
/// the losses.
///
/// # Errors
///
/// If the options cannot be resolved, or rows have weights or known noise, or are read during training.
pub fn with_restarts(
    options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
    quiet: bool,
) -> Result<(RunOptions, String), OptionError> {
    let Some(count) = options.restarts else {
        return Ok((options, String::new()));
    };
    let with = |option| Err(OptionError::RestartsWith(option));
    if data.train.has_weights() {
        return with("--weights");
    }
    if data.train.has_row_noise() {
        return with("--noise-column");
    }
    if data.stream.is_some() {
        return with("--stream");
    }
    let (_, plan) = resolve(&options, data)?;
    let rows = plan.training_data(data, place);
    let mut progress = RowProgress::new("start", count + 1, quiet);
    let mut begun = 0;
    let watch = || {
        progress.update(begun);
        begun += 1;
    };
    let seed = options.seed();
    let found = restarts(&plan.model, &rows, &plan.training, (count, seed), watch);
    drop(progress);
    let line = match quiet {
        true => String::new(),
        false => summary(&found.losses),
    };
    Ok((starting_from(options, found.best), line))
}

/// The options with these initial values. Without `restarts`, so that a run from its configuration file
/// trains once, from the same values.
fn starting_from(options: RunOptions, best: FirstValues) -> RunOptions {
    let is_kept = |option: &ValuesOption| !best.contains_key(&option.path);
    let given = options.set.into_iter().flatten().filter(is_kept);
    let mut set: Vec<_> = given.collect();
    set.extend((best.into_iter()).map(|(path, values)| ValuesOption::rounded(path, values)));
    RunOptions {
        set: (!set.is_empty()).then_some(set),
        restarts: None,
        ..options
    }
}

/// One line about the losses.
fn summary(losses: &[Option<f64>]) -> String {
    let text = |loss: &Option<f64>| match loss {
        Some(loss) => format!("{loss:.4}"),
        None => "failed".to_owned(),
    };
    let texts: Vec<String> = losses.iter().map(text).collect();
    let (configured, random) = texts.split_at(1);
    format!(
        "restarts    loss per row: {} from the configured start, {} from random starts; training begins at \
         the best\n\n",
        configured.concat(),
        random.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_all_losses() {
        assert_eq!(
            summary(&[Some(1.25), None, Some(0.5)]),
            "restarts    loss per row: 1.2500 from the configured start, failed, 0.5000 from random starts; \
             training begins at the best\n\n"
        );
    }
}
