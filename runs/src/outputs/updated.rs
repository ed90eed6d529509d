//! What `update` does with a model of several outputs.

use std::path::Path;

use burn::tensor::DType;
use burn_gp_datasets::{DataSource, counted};
use burn_gp_models::Fitted;

use super::files::OutputsContext;
use super::new_rows::OutputRows;
use super::trained::lines_of_scores;
use super::{NAME, failure};
use crate::arguments::DeviceName;
use crate::checksums::seal;
use crate::devices;
use crate::failure::Failure;
use crate::output::OutputFolder;
use crate::standard_output::print;

/// The rows to add and to remove.
pub struct ChangedRows<'a> {
    /// The folder of the model.
    pub model_dir: &'a Path,
    /// The rows to add.
    pub added: Option<DataSource>,
    /// The column and the value before which rows are removed, and the option as typed.
    pub remove_before: Option<(&'a str, &'a str, &'a str)>,
    /// Whether the first line is a header, if the user says so.
    pub header: Option<bool>,
    /// The device.
    pub device: Option<&'a DeviceName>,
}

/// Runs `burn-gp update` on a model of several outputs, and writes the updated model to `folder`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn update(
    changed: &ChangedRows<'_>,
    context: &OutputsContext,
    folder: &OutputFolder,
) -> Result<(), Failure> {
    let name = match changed.device {
        Some(device) => device.clone(),
        None => devices::default_device()?,
    };
    let device = devices::open(&name, DType::F32)?;
    let mut model = Fitted::load(changed.model_dir, &device).map_err(failure)?;
    let limit = (changed.remove_before)
        .map(|(column, value, option)| limit(column, value, option, context))
        .transpose()?;
    let before = rows_of(&model);
    let mut text = String::new();
    if let Some(source) = &changed.added {
        let rows = OutputRows::read(source, context, changed.header)?;
        rows.require_targets("update", context)?;
        rows.require_known(context)?;
        text += &scores_before(&rows, &model, context)?;
        let targets = rows.known(context.outputs.len());
        let updated = model.condition_on_observations(&rows.inputs, targets);
        model = updated.map_err(failure)?;
    }
    let all = rows_of(&model);
    if let Some(limit) = limit {
        model = limit.applied(&model, before)?;
    }
    let after = rows_of(&model);
    text += &format!(
        "{NAME} of {}: {} before, {} added, {} removed, {after} after; the hyperparameters and the \
         standardization are those of training\n",
        counted(context.outputs.len(), "output"),
        counted(before, "row"),
        all - before,
        all - after
    );
    let context = OutputsContext {
        n_train: after,
        ..context.clone()
    };
    folder.finish(|next| {
        model.save(next).map_err(failure)?;
        context.write(next)?;
        seal(next).map_err(Failure::writing(next))
    })?;
    print(&text)
}

/// The number of rows of the model.
fn rows_of(model: &Fitted) -> usize {
    let rows = model.model().observations();
    rows.map_or(0, |rows| rows.len())
}

/// How well the model predicts the known targets of new rows.
fn scores_before(
    rows: &OutputRows,
    model: &Fitted,
    context: &OutputsContext,
) -> Result<String, Failure> {
    let predicted = model.predict(&rows.inputs).map_err(failure)?;
    let lines = lines_of_scores(&context.outputs, &rows.targets, predicted.predictions());
    Ok(lines
        .into_iter()
        .map(|line| format!("before the update, {line}\n"))
        .collect())
}

/// A value of an input before which rows are removed.
struct Limit<'a> {
    input: usize,
    value: f64,
    option: &'a str,
}

fn limit<'a>(
    column: &str,
    value: &str,
    option: &'a str,
    context: &OutputsContext,
) -> Result<Limit<'a>, Failure> {
    let found = context.schemas[0].ordered_input(column, value);
    let (input, value) =
        found.map_err(|error| Failure::Arguments(format!("--remove-before {option}: {error}")))?;
    Ok(Limit {
        input,
        value,
        option,
    })
}

impl Limit<'_> {
    /// The model without the rows before the limit among its first ones; rows after these were added and stay.
    fn applied(&self, model: &Fitted, first: usize) -> Result<Fitted, Failure> {
        // Rows come back from the scale of the model, so that one with just this value may be a rounding away.
        let precision = match model.predictor().dtype() {
            DType::F64 => f64::EPSILON,
            _ => f64::from(f32::EPSILON),
        };
        let scale = (model.scaling().inputs.as_ref()).map_or(1.0, |own| {
            own.means[self.input].abs() + own.deviations[self.input]
        });
        let least = self.value - 8.0 * precision * (scale + self.value.abs());
        let mut row = 0;
        let kept = model.retain_observations(|inputs| {
            row += 1;
            row > first || inputs[self.input] >= least
        });
        kept.map_err(|error| match error {
            burn_gp_models::Error::NoRowsLeft => Failure::Arguments(format!(
                "--remove-before {} would remove all {}; choose an earlier value",
                self.option,
                counted(first, "row")
            )),
            error => failure(error),
        })
    }
}
