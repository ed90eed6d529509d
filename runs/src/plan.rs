//! The model and the training that follow from the options and the data.
//!
//! [`check`] finds errors in the options and needs no data. [`resolve`] builds the plan. Both return the
//! options with defaults. The code that uses an option also fills in its default.

mod actions;
mod early_stopping;
mod fields;
mod full_batch;
mod held_out;
mod images;
mod inducing;
mod inducing_training;
mod layers;
mod mini_batch;
mod model;
mod natural_gradient;
mod networks;
mod parts;
mod posterior;
mod pseudo_observations;
mod schedule;
#[cfg(test)]
mod tests;
mod units;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    inference::RowColumns,
    likelihoods::{GaussianConfig, LikelihoodName},
};
use burn_gp_datasets::{DataSource, RowRole};
use burn_gp_models::{
    AnyModel, InitError, ModelConfig, VnngpConfig,
    training::{AnyTrainer, Training, TrainingData},
};

use full_batch::full_batch;
use mini_batch::mini_batch;

use crate::arguments::{DEFAULT_DATA, ModelChoice, RunOptions};
use crate::devices::ComputeTarget;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;

pub use early_stopping::EarlyStopping;
pub use parts::{kernel_of_data, parameters};
pub use units::long_periods;

/// A model with its training.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The model.
    pub model: ModelConfig,
    /// The training.
    pub training: Training,
}

impl Plan {
    /// A line about hyperparameters that come from a sample of the training rows, if they do.
    pub fn remark(&self, data: &PreparedData) -> Option<String> {
        let config: &VnngpConfig = self.model.downcast_ref()?;
        let rows = config.sample?.min(data.train.len());
        let by = match data.likelihood.is::<GaussianConfig>() {
            true => "vecchia",
            false => "vecchia-laplace",
        };
        Some(format!(
            "the kernel and the likelihood are trained by {by} on {rows} of the rows, and then stay as they are\n"
        ))
    }

    /// The training rows in the form that the model takes, without their weights and their known noise.
    pub fn training_data(
        &self,
        data: &PreparedData,
        (device, dtype): (&Device, DType),
    ) -> TrainingData {
        self.model.arranged(self.rows(data, (device, dtype)))
    }

    /// The training rows in their own order, without their weights and their known noise.
    fn rows(&self, data: &PreparedData, (device, dtype): (&Device, DType)) -> TrainingData {
        let inputs = data.train.inputs.values();
        let (targets, columns) = data.train.likelihood_targets();
        TrainingData::with_target_columns(inputs, &targets, columns, device, dtype)
    }

    /// The trainer of the plan before its first step.
    ///
    /// # Errors
    ///
    /// If the model cannot be made.
    pub fn trainer(
        &self,
        data: &PreparedData,
        (device, dtype): (&Device, DType),
    ) -> Result<AnyTrainer<AnyModel>, InitError> {
        let mut all = self.training_data(data, (device, dtype));
        let mut model = self.model.init(&all)?;
        if data.train.has_weights() || data.train.has_row_noise() {
            let rows = self.rows(data, (device, dtype));
            all = self.model.arranged(with_row_values(rows, data, &mut model));
        }
        Ok(match (&data.stream, &self.training) {
            (Some(rows), Training::MiniBatch(training)) => {
                AnyTrainer::on_blocks(model, all, rows.clone(), (**training).clone())
            }
            (_, training) => AnyTrainer::new(model, all, training.clone()),
        })
    }
}

/// The rows with their weights and their known noise, which the model is told of. [`check`] has refused models that do not
/// take them.
fn with_row_values(
    mut rows: TrainingData,
    data: &PreparedData,
    model: &mut AnyModel,
) -> TrainingData {
    let weights = data.train.attributes.numbers(RowRole::Weights);
    let noise = data.train.row_noise();
    for values in [weights, noise].into_iter().flatten() {
        rows = rows.with_row_values(values);
    }
    model.use_row_columns(RowColumns {
        weights: weights.is_some(),
        noise: noise.is_some(),
    });
    rows
}

/// Checks the options of a run on data from `source`. Fills in all defaults that do not depend on the data, and
/// removes options that the model does not use.
///
/// # Errors
///
/// If an option is out of range or conflicts with another.
pub fn check(options: &RunOptions, source: &DataSource) -> Result<RunOptions, OptionError> {
    if options.model == Some(ModelChoice::AUTO) {
        return Err(OptionError::AutomaticModel);
    }
    let likelihood = options.likelihood(source);
    parts::check_likelihood(options, likelihood)?;
    parts::check_mean(options)?;
    let mut checked = with_common_defaults(options, likelihood)?;
    checked.check_ranges()?;
    model::check(&mut checked)?;
    parts::mean(&mut checked, likelihood);
    parts::noise(&mut checked, likelihood);
    parts::with_limits(&mut checked, likelihood.config())?;
    held_out::check_length(options)?;
    if !checked.is_mini_batch() {
        full_batch(&mut checked)?;
    }
    held_out::check(options)?;
    Ok(checked.used())
}

/// The plan of a run on `data`, and the options with all defaults. `options` must come from [`check`].
///
/// # Errors
///
/// If there are too few training rows for the inducing points, too few inputs for the kernel, too few rows to
/// calibrate predictions on, or the likelihood does not support the number of classes.
pub fn resolve(
    options: &RunOptions,
    data: &PreparedData,
) -> Result<(RunOptions, Plan), OptionError> {
    data.check_classes()?;
    data.check_calibration(options)?;
    let mut resolved = with_common_defaults(options, data.likelihood)?;
    resolved.stream = data.stream.is_some().then_some(true);
    let model = model::model(&mut resolved, data)?;
    let training = match resolved.is_mini_batch() {
        true => {
            let training = mini_batch(&mut resolved)?;
            mini_batch::for_rows(training, &mut resolved, data.training_rows()).into()
        }
        false => full_batch(&mut resolved)?.into(),
    };
    let plan = fields::with_fields(Plan { model, training }, options.fields_of_plan())?;
    Ok((resolved.used(), plan))
}

/// The options with the defaults of options that all models have.
fn with_common_defaults(
    options: &RunOptions,
    likelihood: LikelihoodName,
) -> Result<RunOptions, OptionError> {
    let place = ComputeTarget::of(options)?;
    Ok(RunOptions {
        model: Some(options.model()),
        likelihood: Some(likelihood),
        data: (options.data.clone()).or_else(|| Some(DEFAULT_DATA.into())),
        test_fraction: (options.split.is_none()
            && options.test.is_none()
            && options.folds.is_none())
        .then(|| options.test_fraction()),
        input_scale: Some(options.input_scale()),
        seed: Some(options.seed()),
        dtype: Some(place.dtype),
        device: options.devices.is_none().then_some(place.device),
        ..options.clone()
    })
}
