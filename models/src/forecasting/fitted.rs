//! A structure that is fitted to a series.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    ops::number,
    parameter::{Hyperparameter, ParameterConfig, Parameters},
};

use super::{
    Forecast, ForecastError, Series, Structure, Transform, smoothing::Smoother, structure::Role,
};
use crate::{
    AnyMarkov,
    training::{FullBatchTraining, Training, TrainingData, TrainingError, fit},
};

/// A model needs this many values.
pub const FEWEST_VALUES: usize = 5;

/// The most iterations of L-BFGS.
const ITERATIONS: usize = 60;
/// Values to start from are at least this part of a bound away from it.
const INSIDE: f64 = 1e-3;
/// Training stops when iterations improve the objective by less than this many nats.
const NATS: f64 = 0.02;

/// A structure with the values of its parameters, conditioned on a series.
#[derive(Debug)]
pub struct FittedSeries {
    structure: Structure,
    series: Series,
    scaling: Scaling,
    model: AnyMarkov,
    log_density: f64,
    trained: usize,
}

/// A part of a series: its mean and standard deviation at times, before the transformation of the values is inverted.
/// The means of all parts add up to that of the series; the deviations do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// What it is: a trend, a season or short memory, in words.
    pub name: String,
    /// The means, `[T]`.
    pub means: Vec<f64>,
    /// The standard deviations, `[T]`.
    pub deviations: Vec<f64>,
}

/// How values become those that the model sees: transformed, then with mean zero and variance one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scaling {
    transform: Transform,
    shift: f64,
    scale: f64,
}

impl Scaling {
    fn of(series: &Series, transform: Transform) -> Result<Self, ForecastError> {
        if series.len() < FEWEST_VALUES {
            return Err(ForecastError::TooShort {
                found: series.len(),
                needed: FEWEST_VALUES,
            });
        }
        if series.is_constant() {
            let value = series.values()[0];
            return Err(ForecastError::Constant { value });
        }
        transform.check(series)?;
        let values: Vec<f64> = (series.values().iter())
            .map(|value| transform.apply(*value))
            .collect();
        let count = values.len() as f64;
        let shift = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - shift).powi(2)).sum();
        Ok(Self {
            transform,
            shift,
            scale: (squares / count).sqrt(),
        })
    }

    fn apply(&self, series: &Series) -> Vec<f64> {
        let scaled = |value: &f64| (self.transform.apply(*value) - self.shift) / self.scale;
        series.values().iter().map(scaled).collect()
    }

    /// The log density of the values, from that of the scaled ones.
    fn log_density(&self, scaled: f64, series: &Series) -> f64 {
        let slopes = self.transform.log_slopes(series.values());
        scaled - series.len() as f64 * self.scale.ln() + slopes
    }
}

impl FittedSeries {
    /// Trains the parameters of a structure by their posterior mode, from values of parameters if given.
    ///
    /// # Errors
    ///
    /// When the series is too short or constant, has no logarithm, or training fails.
    pub fn new(
        structure: &Structure,
        series: &Series,
        transform: Transform,
        start: Option<&Self>,
    ) -> Result<Self, ForecastError> {
        let scaling = Scaling::of(series, transform)?;
        let mut config = structure.config(series.span());
        if let Some(start) = start.filter(|start| start.structure == *structure) {
            start.keep_values(&mut config.parameters);
        }
        let data = training_data(series, &scaling);
        let model = config.init(&data)?;
        let training = FullBatchTraining {
            iterations: ITERATIONS,
            nats: NATS,
            ..FullBatchTraining::L_BFGS
        };
        let trainer =
            fit::<_, TrainingError>(model, data, &Training::FullBatch(training), &mut [])?;
        let model = trainer.model().clone();
        let trained = config.parameters.priors.0.len();
        Self::conditioned(structure, series, (scaling, model, trained))
    }

    /// The same parameters, given other values of the series.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub fn given(&self, series: &Series) -> Result<Self, ForecastError> {
        let parts = (self.scaling, self.model.clone(), self.trained);
        Self::conditioned(&self.structure, series, parts)
    }

    fn conditioned(
        structure: &Structure,
        series: &Series,
        (scaling, model, trained): (Scaling, AnyMarkov, usize),
    ) -> Result<Self, ForecastError> {
        let data = training_data(series, &scaling);
        let (inputs, targets) = (data.inputs.inner(), data.targets.inner());
        let model = model.valid();
        let value = model.full_objective(inputs, targets).map(number);
        let scaled = value.map_err(|error| ForecastError::Condition(error.into()))?;
        Ok(Self {
            log_density: scaling.log_density(scaled, series),
            structure: structure.clone(),
            series: series.clone(),
            scaling,
            model,
            trained,
        })
    }

    /// Starts from the values of this model, the fixed ones included.
    fn keep_values(&self, parameters: &mut ParameterConfig) {
        for (path, values) in &mut parameters.values {
            let Ok(own) = self.model.parameter(path) else {
                continue;
            };
            let (least, most) = parameters
                .bounds
                .get(path)
                .copied()
                .unwrap_or_default()
                .ends();
            // A value at a bound has no gradient.
            let inside = |value: f64| value.clamp(least * (1.0 + INSIDE), most * (1.0 - INSIDE));
            *values = own.into_iter().map(inside).collect();
        }
    }

    /// The structure.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The series.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// The transformation of the values.
    pub fn transform(&self) -> Transform {
        self.scaling.transform
    }

    /// The log density of the values, in the units of the series.
    pub fn log_density(&self) -> f64 {
        self.log_density
    }

    /// The Bayesian information criterion, `−2ℓ + p·log n` for p trained parameters; smaller is better.
    pub fn criterion(&self) -> f64 {
        -2.0 * self.log_density + self.trained as f64 * (self.series.len() as f64).ln()
    }

    /// The number of trained parameters.
    pub fn trained_parameters(&self) -> usize {
        self.trained
    }

    /// The parameters, for standardized values and times in steps.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        burn_gp_core::parameter::hyperparameters(&self.model)
    }

    /// The distributions of values at times, in steps: of the past without the observed ones' own noise, of the future
    /// given all values.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub fn forecast(&self, times: &[f64]) -> Result<Forecast, ForecastError> {
        let smoother = self.smoother(times)?;
        let noise = smoother.noise();
        let Scaling {
            shift,
            scale,
            transform,
        } = self.scaling;
        let moments = smoother.moments(smoother.all_terms());
        let (means, deviations) = moments
            .into_iter()
            .map(|[mean, variance]| (shift + scale * mean, scale * (variance + noise).sqrt()))
            .unzip();
        Ok(Forecast {
            times: times.to_vec(),
            means,
            deviations,
            transform,
        })
    }

    /// The parts of the series at times, in steps, given all values: the trend, with the mean of the series, each season,
    /// and short memory. They are in the units of the transformed values.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub fn components(&self, times: &[f64]) -> Result<Vec<Component>, ForecastError> {
        let smoother = self.smoother(times)?;
        let roles = self.structure.roles();
        let Scaling { shift, scale, .. } = self.scaling;
        let mut distinct = roles.clone();
        distinct.dedup();
        let component = |(index, role): (usize, Role)| {
            let own = roles.iter().map(|other| *other == role).collect();
            let shift = if index == 0 { shift } else { 0.0 };
            let moments = smoother.moments(own);
            let (means, deviations) = moments
                .into_iter()
                .map(|[mean, variance]| (shift + scale * mean, scale * variance.sqrt()))
                .unzip();
            Component {
                name: self.structure.name_of(role),
                means,
                deviations,
            }
        };
        Ok(distinct.into_iter().enumerate().map(component).collect())
    }

    fn smoother(&self, times: &[f64]) -> Result<Smoother, ForecastError> {
        let end = self.series.last_time();
        let relative = |times: &[f64]| times.iter().map(|time| time - end).collect::<Vec<f64>>();
        let observed = (
            relative(self.series.times()),
            self.scaling.apply(&self.series),
        );
        Ok(Smoother::new(&self.model, observed, &relative(times))?)
    }
}

/// Times that end at zero, and scaled values.
fn training_data(series: &Series, scaling: &Scaling) -> TrainingData {
    let end = series.last_time();
    let times: Vec<f64> = series.times().iter().map(|time| time - end).collect();
    TrainingData::new(
        &times,
        &scaling.apply(series),
        &Device::default(),
        DType::F64,
    )
}
