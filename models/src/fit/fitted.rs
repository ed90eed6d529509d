//! A model after training.

use std::{fmt, fs, path::Path, sync::Arc};

use burn::tensor::{DType, Device, TensorCreationOptions};
use burn_gp_core::{likelihoods::Interval, parameter::Hyperparameter};

use super::{Error, FittedPredictions, Matrix, Scaling, matrix::Rows};
use crate::{
    AnyTrained, InputNoise, JackknifePlus, MODEL_FILE, ModelConfig, Predictor, SavedModel,
    SavedModelError, Summary, training::TrainingData,
};

/// A model after training, with the scaling of its data. It predicts in the units of the data, and
/// can be saved to a folder and loaded again.
///
/// ```
/// use burn::tensor::Device;
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
/// use burn_gp_models::{Fit, FitModel, Fitted, SvgpConfig};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 8.0).collect();
/// let counts: Vec<i64> = (0..40).map(|i| 2 + i % 5).collect();
/// let gp = SvgpConfig::new(StationaryConfig::rbf(), LikelihoodConfig::poisson())
///     .with_inducing(10)
///     .fit(&x, &counts, &Fit::adam(0.05).steps(20))?;
/// let folder = std::env::temp_dir().join("burn-gp-counts");
/// gp.save(&folder)?;
/// let again = Fitted::load(&folder, &Device::default())?;
/// assert_eq!(gp.predict(&x)?.predictions(), again.predict(&x)?.predictions());
/// # std::fs::remove_dir_all(folder).ok();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Fitted {
    pub(super) saved: SavedModel<Scaling>,
    pub(super) predictor: Arc<Predictor>,
    restart_losses: Vec<Option<f64>>,
    best_step: Option<usize>,
    input_noise: Option<InputNoise>,
}

impl fmt::Debug for Fitted {
    /// Without the data and the parameters.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fitted")
            .field("summary", &self.saved.summary)
            .field("scaling", &self.saved.context)
            .field("restart_losses", &self.restart_losses)
            .field("best_step", &self.best_step)
            .finish_non_exhaustive()
    }
}

impl Fitted {
    /// A model that was trained on the scaled `data`.
    pub(super) fn new(
        model: AnyTrained,
        config: ModelConfig,
        data: &TrainingData,
        scaling: Scaling,
    ) -> Result<Self, Error> {
        Self::of_saved(SavedModel {
            model,
            summary: Summary::new(config, data),
            context: scaling,
        })
    }

    fn of_saved(saved: SavedModel<Scaling>) -> Result<Self, Error> {
        let predictor = Arc::new(saved.model.predictor()?);
        Ok(Self {
            saved,
            predictor,
            restart_losses: Vec::new(),
            best_step: None,
            input_noise: None,
        })
    }

    /// The same with another model, of `rows` training rows, and its predictor.
    pub(super) fn with_model(&self, model: AnyTrained, rows: usize, predictor: Predictor) -> Self {
        let mut saved = SavedModel {
            model,
            ..self.saved.clone()
        };
        saved.summary.data_count = rows;
        Self {
            saved,
            predictor: Arc::new(predictor),
            input_noise: None,
            ..self.clone()
        }
    }

    /// With the losses of restarts, the step that early stopping chose, and the noise, on the scale of the model, that
    /// errors of the inputs make.
    pub(super) fn after(
        self,
        (restart_losses, best_step): (Vec<Option<f64>>, Option<usize>),
        input_noise: Option<InputNoise>,
    ) -> Self {
        let scale = (self.saved.context.targets.as_ref()).map_or(1.0, |own| own.deviations[0]);
        let input_noise = input_noise.map(|mut noise| {
            (noise.variances.iter_mut()).for_each(|variance| *variance *= scale * scale);
            noise
        });
        Self {
            restart_losses,
            best_step,
            input_noise,
            ..self
        }
    }

    /// The noise of the training rows that errors of the inputs make, in squared units of the targets, or of the
    /// [transformed](crate::Fit::transform_targets) targets. `None` without [`Fit::input_errors`](crate::Fit::input_errors),
    /// for a loaded model, and after rows were added or removed.
    pub fn input_noise(&self) -> Option<&InputNoise> {
        self.input_noise.as_ref()
    }

    /// The number of steps after which the model predicted the validation rows of
    /// [`Fit::early_stopping`](crate::Fit::early_stopping) best. `None` without early stopping and for a loaded model.
    pub fn best_step(&self) -> Option<usize> {
        self.best_step
    }

    /// The loss per row that training reached from each start of [`Fit::restarts`](crate::Fit::restarts), the
    /// configured initial values first; `None` where training failed. Empty without restarts and for a loaded
    /// model.
    pub fn restart_losses(&self) -> &[Option<f64>] {
        &self.restart_losses
    }

    /// Predictions at new inputs.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`
    ///
    /// # Errors
    ///
    /// When there are no inputs, an input is not finite, or their number of columns differs from
    /// the training inputs.
    pub fn predict(&self, inputs: impl Into<Matrix>) -> Result<FittedPredictions, Error> {
        let inputs = self.scaled(inputs.into())?;
        Ok(self.predicted(inputs, self.predictor.clone()))
    }

    /// Predictions at inputs that were measured with independent normal errors, or that are known by their
    /// distribution only: `E[p(y | x + ε)]` with `ε ~ N(0, diag s²)`, where s are the standard deviations of the inputs
    /// in their own units; see [`UncertainInputs`](burn_gp_core::process::UncertainInputs). The inputs of training
    /// count as exact, unless [`Fit::input_errors`](crate::Fit::input_errors) says otherwise.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new())?;
    /// // The input is 3, give or take 0.5: so is the sine, whose slope there is −1.
    /// let predicted = gp.predict_uncertain([3.0], [0.5])?;
    /// let deviation = predicted.predictions().variance[0].sqrt();
    /// assert!(0.4 < deviation && deviation < 0.55);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`, `deviations`: `[N, D]`
    ///
    /// # Errors
    ///
    /// As for [`predict`](Self::predict); when the shapes differ, and when a deviation is negative.
    pub fn predict_uncertain(
        &self,
        inputs: impl Into<Matrix>,
        deviations: impl Into<Matrix>,
    ) -> Result<FittedPredictions, Error> {
        let inputs = self.scaled(inputs.into())?;
        let deviations = read_inputs(deviations.into())?;
        if deviations.count != inputs.count {
            return Err(Error::Rows {
                inputs: inputs.count,
                targets: deviations.count,
            });
        }
        if deviations.columns != inputs.columns {
            return Err(Error::InputColumns {
                found: deviations.columns,
                expected: inputs.columns,
            });
        }
        if let Some(&value) = deviations.values.iter().find(|value| **value < 0.0) {
            return Err(Error::OutOfRange {
                name: "a standard deviation of an input",
                value,
                range: "not be negative",
            });
        }
        let scaled = self.saved.context.scaled_deviations(deviations.values);
        let columns = inputs.columns;
        let rows = (inputs.values.chunks(columns)).zip(scaled.chunks(columns));
        let both = Rows {
            values: rows.flat_map(|(x, s)| [x, s].concat()).collect(),
            columns: 2 * columns,
            ..inputs
        };
        Ok(self.predicted(both, Arc::new(self.predictor.with_uncertain_inputs())))
    }

    /// [Jackknife+ intervals](crate::conformal) of new targets: they contain a share of at least `2·level − 1` of new
    /// targets, and close to `level` as a rule, even if the noise model is wrong. The hyperparameters count as known. Ends of
    /// intervals of [transformed](crate::Fit::transform_targets) targets are mapped back, which changes no coverage.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// let y: Vec<f64> = x.iter().enumerate().map(|(row, x)| x.sin() + 0.1 * (row % 3) as f64).collect();
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new())?;
    /// let interval = gp.jackknife_plus([1.0, 2.5], 0.9)?;
    /// assert!(interval.lower[0] < 1f64.sin() + 0.1 && 1f64.sin() + 0.1 < interval.upper[0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`
    ///
    /// # Errors
    ///
    /// As for [`predict`](Self::predict); when the level is not between 0 and 1, and for other models than exact
    /// regression with one output.
    pub fn jackknife_plus(&self, inputs: impl Into<Matrix>, level: f64) -> Result<Interval, Error> {
        let inputs = self.scaled(inputs.into())?;
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::OutOfRange {
                name: "level",
                value: level,
                range: "lie strictly between 0 and 1",
            });
        }
        let jackknife =
            JackknifePlus::new(&*self.saved.model, None).ok_or(Error::NoJackknife)??;
        let interval = jackknife.intervals(&inputs.values, inputs.columns, level);
        Ok(self.saved.context.interval_in_units_of_data(interval))
    }

    /// Checked and scaled inputs.
    pub(super) fn scaled(&self, inputs: Matrix) -> Result<Rows, Error> {
        let rows = read_inputs(inputs)?;
        let expected = self.saved.summary.dimensions;
        if rows.columns != expected {
            return Err(Error::InputColumns {
                found: rows.columns,
                expected,
            });
        }
        Ok(Rows {
            values: self.saved.context.scaled_inputs(rows.values),
            ..rows
        })
    }

    /// Predictions at scaled inputs.
    pub(super) fn predicted(&self, inputs: Rows, predictor: Arc<Predictor>) -> FittedPredictions {
        let scaling = &self.saved.context;
        let predictions = predictor.predict_with(&inputs.values, inputs.columns, |_| ());
        FittedPredictions {
            predictions: scaling.in_units_of_data(predictions),
            inputs,
            predictor,
            scaling: scaling.clone(),
        }
    }

    /// Writes the model into a folder, which is created if it does not exist: `model.json` with the
    /// configuration and the scaling, `weights.bpk`, and `checksums.sha256`.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(|reason| SavedModelError::Write {
            path: folder.to_owned(),
            reason: reason.to_string(),
        })?;
        Ok(self.saved.save(folder)?)
    }

    /// Loads a model that [`save`](Self::save) wrote onto a device. `(&device, DType::F32)` also
    /// converts it to another floating-point type; by default, it keeps its own.
    ///
    /// # Errors
    ///
    /// When a file is missing, damaged or invalid, or a covariance matrix cannot be factored.
    pub fn load(
        folder: impl AsRef<Path>,
        place: impl Into<TensorCreationOptions>,
    ) -> Result<Self, Error> {
        let saved: SavedModel<Scaling> = SavedModel::load(folder.as_ref(), place)?;
        let (summary, scaling) = (&saved.summary, &saved.context);
        let scaled = (scaling.inputs.as_ref()).map_or(summary.dimensions, |own| own.means.len());
        let transformed = match scaling.target_transforms.len() {
            0 => summary.target_columns,
            some => some,
        };
        let numbers = [
            ("inputs that it scales", scaled, summary.dimensions),
            (
                "targets that it transforms",
                transformed,
                summary.target_columns,
            ),
        ];
        match numbers
            .iter()
            .find(|(_, found, expected)| found != expected)
        {
            None => Self::of_saved(saved),
            Some((what, found, expected)) => Err(SavedModelError::Read {
                path: folder.as_ref().join(MODEL_FILE),
                reason: format!("the number of {what} is {found}; the model has {expected}"),
            }
            .into()),
        }
    }

    /// The model itself, which takes scaled inputs and targets.
    pub fn model(&self) -> &AnyTrained {
        &self.saved.model
    }

    /// The configuration that the model was made from. If the number of inducing points depends on
    /// the data, it is the chosen number.
    pub fn config(&self) -> &ModelConfig {
        &self.saved.summary.config
    }

    /// The hyperparameters, in units of the scaled data.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.saved.model.hyperparameters()
    }

    /// The maps from the data to the model's inputs and targets.
    pub fn scaling(&self) -> &Scaling {
        &self.saved.context
    }

    /// The conditioned model, which takes scaled inputs and targets.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// The device and the floating-point type of the model.
    pub fn place(&self) -> (Device, DType) {
        (self.predictor.device().clone(), self.predictor.dtype())
    }
}

/// Reads inputs and checks that they are finite.
pub(super) fn read_inputs(inputs: Matrix) -> Result<Rows, Error> {
    let rows = inputs.read("inputs")?;
    match rows.values.iter().position(|value| !value.is_finite()) {
        None => Ok(rows),
        Some(index) => Err(Error::NotFinite {
            row: index / rows.columns,
            column: index % rows.columns,
            value: rows.values[index],
        }),
    }
}
