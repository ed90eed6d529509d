//! From tensors to a trained model in one call: checks, scaling, training, prediction and files.

#[cfg(feature = "arrays")]
mod arrays;
mod each;
mod error;
mod fitted;
mod fitted_predictions;
mod matrix;
mod observations;
mod offsets;
mod options;
mod row_values;
mod scaling;

use std::{cell::Cell, ops::ControlFlow};

use burn::tensor::{DType, Device};
use burn_gp_core::{
    features::Standardization,
    likelihoods::{AnyLikelihood, TargetKind},
};

pub use each::fit_each;
pub use error::Error;
pub use fitted::Fitted;
pub use fitted_predictions::FittedPredictions;
pub(crate) use matrix::Rows;
pub use matrix::{Matrix, Number};
use offsets::Offsets;
pub use options::Fit;
use row_values::{CountedRows, RowValues};
pub use scaling::Scaling;
use scaling::{of_targets, transforms_of_targets};

use crate::{
    AnyModel, ModelConfig, Restarts,
    caught::without_panic,
    impossible_code,
    training::{
        AnyTrainer, HeldOutRows, StepReport, Trainer, Training, TrainingData, TrainingError,
        Validation,
    },
};
use fitted::read_inputs;

/// Trains any configuration in one call.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::SoftmaxConfig};
/// use burn_gp_models::{Fit, FitModel, SvgpConfig};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let x: Vec<[f64; 2]> = (0..60).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
/// let labels: Vec<usize> = (0..60).map(|i| (i % 10) / 4).collect();
/// let gp = SvgpConfig::new(StationaryConfig::matern52(), SoftmaxConfig::new(3))
///     .with_inducing(20)
///     .fit(&x, &labels, &Fit::adam(0.05).epochs(40))?;
/// let predicted = gp.predict([[0.0, 2.5], [9.0, 2.5]])?;
/// assert_eq!(predicted.probabilities().map(|p| p.dims()), Some([2, 3]));
/// # Ok(())
/// # }
/// ```
pub trait FitModel: Clone + Into<ModelConfig> {
    /// Trains a model of this configuration.
    ///
    /// Inputs and real-valued targets are standardized with the statistics of these data, targets after their
    /// [transformation](Fit::transform_targets) if there is one; predictions come back in the units of the data. If all targets are equal, or there is only one, they do not
    /// determine the scale of the function. The scale is then their absolute value, or one if they are
    /// zero, and the uncertainty of predictions is of that size.
    ///
    /// Where the model takes several outputs with missing targets, such as [`ExactConfig`](crate::ExactConfig), a
    /// target that is NaN is missing. Each output is standardized by its own known targets.
    ///
    /// Input columns that the kernel reads as codes of levels, such as those of
    /// [`IndexConfig`](burn_gp_core::kernels::IndexConfig), are not standardized.
    ///
    /// Kernels and Gaussian noise get weak priors (`add_default_priors` of [`ModelDefinition`](crate::ModelDefinition)) unless
    /// [`Fit::default_priors`] turns them off. Initial values, bounds and priors of the
    /// configuration are therefore in standardized units, unless [`Fit::scale_inputs`] and
    /// [`Fit::scale_targets`] turn scaling off.
    ///
    /// Exact and collapsed sparse regression start periods and frequencies at peaks of the periodogram
    /// of the targets, unless the configuration has other values than its defaults; see
    /// [`first_periods`](crate::first_periods).
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`
    /// - `targets`: `[N, T]`, as many columns as the likelihood takes
    ///
    /// # Errors
    ///
    /// When inputs and targets do not match each other, the likelihood or the model; when a value
    /// of the configuration or an option is invalid; and when training fails.
    fn fit(
        &self,
        inputs: impl Into<Matrix>,
        targets: impl Into<Matrix>,
        fit: &Fit,
    ) -> Result<Fitted, Error> {
        let watch = |_| ControlFlow::Continue(());
        train(
            self.clone().into(),
            inputs.into(),
            targets.into(),
            fit,
            watch,
        )
    }

    /// As [`fit`](Self::fit), but calls `watch` after every step. Training ends early on
    /// [`ControlFlow::Break`].
    ///
    /// # Errors
    ///
    /// Same as [`fit`](Self::fit).
    fn fit_with(
        &self,
        inputs: impl Into<Matrix>,
        targets: impl Into<Matrix>,
        fit: &Fit,
        watch: impl FnMut(StepReport) -> ControlFlow<()>,
    ) -> Result<Fitted, Error> {
        train(
            self.clone().into(),
            inputs.into(),
            targets.into(),
            fit,
            watch,
        )
    }
}

impl<C: Clone + Into<ModelConfig>> FitModel for C {}

fn train(
    mut config: ModelConfig,
    inputs: Matrix,
    targets: Matrix,
    fit: &Fit,
    mut watch: impl FnMut(StepReport) -> ControlFlow<()>,
) -> Result<Fitted, Error> {
    let (data, scaling, rows) = prepared(&config, inputs, targets, fit)?;
    if let (Some(likelihood), Some(units)) = (config.likelihood_mut(), &scaling.targets) {
        likelihood.set_units(&units.means, &units.deviations);
    }
    let training = fit.training(config.default_training(), config.has_draws(), data.len())?;
    let values = RowValues::of(fit, &config, (&data, &rows), &scaling)?;
    let with_values = values.beside(&data).map(|all| config.arranged(all));
    let data = config.arranged(data);
    let errors = fit.errors_of_inputs(&config, (&data, &rows), &scaling)?;
    let errors = errors.map(|own| own.besides_row_noise(values.columns().noise));
    let (config, mut model, restarts) = initialized(config, &data, &scaling, (fit, &training))?;
    if !values.columns().is_empty() {
        model.use_row_columns(values.columns());
    }
    let training_data = with_values.unwrap_or_else(|| data.clone());
    let mut trainer = AnyTrainer::new(model, training_data.clone(), training.clone());
    let rows = held_out_rows(fit, &scaling, &data)?;
    let mut validation = rows.map(|(rows, patience)| {
        Validation::new(rows, training_data, trainer.steps_per_epoch(), patience)
    });
    let is_stopped = Cell::new(false);
    let mut watching = |_: &dyn Trainer<Model = _>, report| {
        let flow = watch(report);
        is_stopped.set(flow.is_break());
        Ok::<_, TrainingError>(flow)
    };
    // A model without anything to train is only conditioned.
    if !trainer.is_fixed() {
        match &mut validation {
            Some(validation) => trainer.run(&mut [&mut watching, validation])?,
            None => trainer.run(&mut [&mut watching])?,
        }
    }
    let mut input_noise = None;
    if let Some(errors) = errors.filter(|_| !is_stopped.get()) {
        let (last, noise) = errors.train(trainer, (&config, &training), |trainer| {
            trainer.run(&mut [&mut watching])?;
            Ok::<_, Error>(match is_stopped.get() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        (trainer, input_noise) = (last, Some(noise));
    }
    let best = validation.and_then(|own| Some((own.best?, own.progress.best_step)));
    let (model, best_step) = best.unzip();
    let trained = (model.as_ref())
        .unwrap_or(trainer.model())
        .trained(trainer.data())?;
    let fitted = Fitted::new(trained, config, &data, scaling)?;
    Ok(fitted.after((restarts.losses, best_step), input_noise))
}

/// The configuration with its priors and the initial values from which training reaches the smallest loss, and the model.
fn initialized(
    mut config: ModelConfig,
    data: &TrainingData,
    scaling: &Scaling,
    (fit, training): (&Fit, &Training),
) -> Result<(ModelConfig, AnyModel, Restarts), Error> {
    if let Training::FullBatch(training) = training
        && training.iterations > 0
    {
        config.set_first_periods(data);
    }
    let with_priors = || {
        config.resolve(data);
        fit.with_priors(config, scaling, data)
    };
    let mut config = without_panic(with_priors).map_err(Error::Config)?;
    let init = |config: &ModelConfig| without_panic(|| config.init(data)).map_err(Error::Config);
    let mut model = init(&config)??;
    let mut restarts = fit.best_start(&mut config, data, training)?;
    if let Some(parameters) = config.parameters()
        && !restarts.best.is_empty()
    {
        (parameters.values).extend(std::mem::take(&mut restarts.best));
        model = init(&config)??;
    }
    Ok((config, model, restarts))
}

/// The scaled validation rows and the patience of early stopping, if there is any.
fn held_out_rows(
    fit: &Fit,
    scaling: &Scaling,
    data: &TrainingData,
) -> Result<Option<(HeldOutRows, usize)>, Error> {
    let Some(stopping) = fit.validation_rows() else {
        return Ok(None);
    };
    let (inputs, targets) = (
        read_inputs(stopping.inputs.clone())?,
        stopping.targets.clone().read("targets")?,
    );
    let ([_, dimensions], [_, columns]) = (data.inputs.dims(), data.targets.dims());
    if inputs.count != targets.count {
        return Err(Error::Rows {
            inputs: inputs.count,
            targets: targets.count,
        });
    }
    if inputs.columns != dimensions {
        return Err(Error::InputColumns {
            found: inputs.columns,
            expected: dimensions,
        });
    }
    if targets.columns != columns {
        return Err(Error::TargetColumns {
            found: targets.columns,
            expected: columns.to_string(),
        });
    }
    let rows = HeldOutRows {
        inputs: scaling.scaled_inputs(inputs.values),
        columns: dimensions,
        targets: scaling.scaled_targets(targets.values, columns)?,
    };
    Ok(Some((rows, stopping.patience)))
}

/// The checked and scaled data.
fn prepared(
    config: &ModelConfig,
    inputs: Matrix,
    targets: Matrix,
    fit: &Fit,
) -> Result<(TrainingData, Scaling, CountedRows), Error> {
    let (mut inputs, mut targets) = (read_inputs(inputs)?, targets.read("targets")?);
    if inputs.count != targets.count {
        return Err(Error::Rows {
            inputs: inputs.count,
            targets: targets.count,
        });
    }
    let rows = CountedRows::of(inputs.count, fit.given_weights()?.as_deref());
    inputs.select(&rows);
    targets.select(&rows);
    if let Some(impossible) =
        (config.kernel()).and_then(|kernel| impossible_code(kernel, &inputs.values, inputs.columns))
    {
        return Err(impossible.into());
    }
    let offsets = Offsets::of(config, inputs.columns)?;
    let (device, dtype) = fit.place(&inputs);
    let columns = targets.columns;
    let likelihood = checked_likelihood(config, &targets.values, columns, (&device, dtype))?;
    let outputs = likelihood.description().outputs(columns);
    let kind = config.likelihood().target();
    let transforms = match fit.target_transform(kind, &likelihood)? {
        None => Vec::new(),
        Some(own) => transforms_of_targets(own, &targets.values, outputs)?,
    };
    let mut scaling = Scaling {
        target_transforms: transforms,
        has_intervals: kind == TargetKind::Intervals,
        ..Scaling::default()
    };
    let targets = scaling.transformed(targets.values, columns)?;
    let may = kind.is_any_number();
    let scales_inputs = fit.scales_inputs(config.has_images());
    scaling.targets = (offsets.scale_targets(fit, may, (outputs, scales_inputs))?)
        .then(|| of_targets(&targets, columns, (outputs, kind)));
    let statistics = scaling.targets.as_ref();
    scaling.inputs = scales_inputs.then(|| of_inputs(config, &inputs, &offsets, statistics));
    let data = TrainingData::with_target_columns(
        &scaling.scaled_inputs(inputs.values),
        &scaling.standardized(targets, columns),
        columns,
        &device,
        dtype,
    );
    Ok((data, scaling, rows))
}

/// The statistics of the inputs, whose codes and offsets keep their units. Inputs that are the same quantity of two
/// things share theirs.
fn of_inputs(
    config: &ModelConfig,
    inputs: &Rows,
    offsets: &Offsets,
    targets: Option<&Standardization>,
) -> Standardization {
    let mut own = Standardization::of_rows(&inputs.values, inputs.columns);
    let columns: Vec<usize> = (0..inputs.columns).collect();
    let (equal, codes) = (config.kernel()).map_or_else(Default::default, |kernel| {
        (
            kernel.equal_columns(&columns),
            kernel.code_columns(&columns),
        )
    });
    for group in equal {
        let rows = inputs.values.chunks_exact(inputs.columns);
        let values: Vec<f64> = rows
            .flat_map(|row| group.iter().map(|&column| row[column]))
            .collect();
        let shared = Standardization::of_rows(&values, 1);
        for column in group {
            own.means[column] = shared.means[0];
            own.deviations[column] = shared.deviations[0];
        }
    }
    for code in codes {
        (own.means[code], own.deviations[code]) = (0.0, 1.0);
    }
    offsets.rescale(&mut own, targets);
    own
}

/// The likelihood, which takes the targets.
fn checked_likelihood(
    config: &ModelConfig,
    targets: &[f64],
    columns: usize,
    (device, dtype): (&Device, DType),
) -> Result<AnyLikelihood, Error> {
    let likelihood = config.likelihood();
    likelihood.check().map_err(crate::InitError::from)?;
    let likelihood = likelihood.init((device, dtype));
    let each = likelihood.description().columns;
    let expected = match config.takes_one_output() {
        true => each.to_string(),
        false => format!("a multiple of {each}"),
    };
    if !columns.is_multiple_of(each) || (config.takes_one_output() && columns != each) {
        return Err(Error::TargetColumns {
            found: columns,
            expected,
        });
    }
    if columns > 1 && config.takes_missing_targets() {
        let is_missing =
            |column| (targets.iter().skip(column).step_by(columns)).all(|y| y.is_nan());
        if let Some(column) = (0..columns).find(|&column| is_missing(column)) {
            return Err(Error::NoTargets { column });
        }
    }
    check_possible(config, targets, columns, (device, dtype))?;
    Ok(likelihood)
}

/// Checks that the likelihood accepts all targets that are not missing, in the units of the data.
fn check_possible(
    config: &ModelConfig,
    targets: &[f64],
    columns: usize,
    (device, dtype): (&Device, DType),
) -> Result<(), Error> {
    let mut likelihood = config.likelihood();
    likelihood.set_units(&[], &[]);
    let likelihood = likelihood.init((device, dtype)).description();
    if columns > 1 && config.takes_missing_targets() {
        let known = targets.iter().map(|y| if y.is_nan() { 0.0 } else { *y });
        likelihood.check_targets_in(dtype, &known.collect::<Vec<_>>(), columns)?;
    } else {
        likelihood.check_targets_in(dtype, targets, columns)?;
    }
    Ok(())
}
