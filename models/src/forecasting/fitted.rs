//! A structure that is fitted to a series.

use core::fmt::{self, Display, Formatter};
use std::collections::BTreeMap;

use burn::tensor::{DType, Device};
use burn_gp_core::parameter::ParameterConfig;

use serde::{Deserialize, Serialize};

use super::{
    Companion, Forecast, ForecastError, Series, Structure, Transform,
    covariates::CovariateScales,
    posterior::{LogPosterior, Values, terms_at},
    smoothing::{Smoother, Times},
    structure::Role,
    timeline::Timeline,
};
use crate::{AnyMarkov, training::TrainingData};

/// A model needs this many values.
pub const FEWEST_VALUES: usize = 5;

/// A structure with the values of its parameters, conditioned on a series.
#[derive(Debug)]
pub struct FittedSeries {
    structure: Structure,
    series: Series,
    scaling: Scaling,
    parameters: Values,
    log_density: f64,
    trained: usize,
    companion: Option<Companion>,
}

/// More covariates than these are counted rather than named.
const MOST_NAMED: usize = 3;

/// The structure in words, with the transformation and the companion.
impl Display for FittedSeries {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let of_log = match self.transform() {
            Transform::None => "",
            Transform::Log => " of the logarithm",
        };
        let covariates = self.series.covariates();
        let names: String = match covariates.len() {
            0..=MOST_NAMED => (covariates.iter())
                .map(|covariate| format!(" + {}", covariate.name()))
                .collect(),
            count => format!(" + {count} covariates"),
        };
        let structure = format!("{}{names}{of_log}", self.structure);
        match self.companion {
            Some(companion) => formatter.write_str(&companion.words(&structure)),
            None => formatter.write_str(&structure),
        }
    }
}

/// A part of a series: its mean and standard deviation at times, before the transformation of the values is inverted.
/// The means of all parts add up to that of the series; the deviations do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// What it is: a trend, a season or short memory, in words, or the name of a covariate.
    pub name: String,
    /// The means, `[T]`.
    pub means: Vec<f64>,
    /// The standard deviations, `[T]`.
    pub deviations: Vec<f64>,
}

/// How values become those that the model sees: transformed, then with mean zero and variance one. Covariates have their
/// own scales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scaling {
    transform: Transform,
    shift: f64,
    scale: f64,
    covariates: CovariateScales,
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
            covariates: CovariateScales::of(series.covariates(), series.times())?,
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
    /// Trains the parameters of a structure by their posterior mode, from values of parameters if given. A companion of
    /// that start stays.
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
        let mut config = structure.config(series.span()).parameters;
        if let Some(start) = start.filter(|start| start.structure == *structure) {
            start.keep_values(&mut config);
        }
        let timeline = timeline(series, &scaling)?;
        let targets = scaling.apply(series);
        let parameters = LogPosterior::new(structure, &config, &timeline, &targets).maximum()?;
        let trained = config.priors.0.len();
        let fitted = Self::conditioned(structure, series, (scaling, parameters, trained))?;
        Ok(fitted.with_companion(start.and_then(|start| start.companion)))
    }

    /// The same fit, whose forecasts are averages with those of a baseline, if given.
    pub fn with_companion(self, companion: Option<Companion>) -> Self {
        Self { companion, ..self }
    }

    /// How much of forecasts is that of a baseline.
    pub fn companion(&self) -> Option<Companion> {
        self.companion
    }

    /// The same parameters, given other values of the series.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub fn given(&self, series: &Series) -> Result<Self, ForecastError> {
        let parts = (self.scaling.clone(), self.parameters.clone(), self.trained);
        let fitted = Self::conditioned(&self.structure, series, parts)?;
        Ok(fitted.with_companion(self.companion))
    }

    fn conditioned(
        structure: &Structure,
        series: &Series,
        (scaling, parameters, trained): (Scaling, Values, usize),
    ) -> Result<Self, ForecastError> {
        let timeline = timeline(series, &scaling)?;
        let (terms, noise) = terms_at(structure, &parameters, timeline.has_whole_steps());
        let scaled = timeline.log_density(&terms, noise, &scaling.apply(series))?;
        Ok(Self {
            log_density: scaling.log_density(scaled, series),
            structure: structure.clone(),
            series: series.clone(),
            scaling,
            parameters,
            trained,
            companion: None,
        })
    }

    /// Starts from the values of this fit, the fixed ones included.
    fn keep_values(&self, config: &mut ParameterConfig) {
        for (path, values) in &mut config.values {
            if let Some(own) = self.parameters.get(path) {
                values.clone_from(own);
            }
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

    /// The values of the parameters of the [model](Self::model), by their paths, for standardized values and times in
    /// steps.
    pub fn parameters(&self) -> &BTreeMap<String, Vec<f64>> {
        &self.parameters
    }

    /// Regression over time with the kernel and the parameters of the fit, without covariates, for standardized values
    /// and times in steps that end at zero.
    ///
    /// # Errors
    ///
    /// When a value of a parameter is impossible.
    pub fn model(&self) -> Result<AnyMarkov, ForecastError> {
        model(
            &self.structure,
            &self.parameters,
            &self.series,
            &self.scaling,
        )
    }

    /// The distributions of values at times in increasing order, in steps: of the past without the observed ones' own
    /// noise, of the future given all values, averaged with a baseline's if there is a companion.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub fn forecast(&self, times: &[f64]) -> Result<Forecast, ForecastError> {
        let smoother = self.smoother(times)?;
        let noise = smoother.noise();
        let (shift, scale) = (self.scaling.shift, self.scaling.scale);
        let transform = self.scaling.transform;
        let moments = smoother.moments(&vec![true; smoother.terms()]);
        let (means, deviations) = moments
            .into_iter()
            .map(|[mean, variance]| (shift + scale * mean, scale * (variance + noise).sqrt()))
            .unzip();
        let mut forecast = Forecast {
            times: times.to_vec(),
            means,
            deviations,
            transform,
        };
        if let Some(companion) = self.companion {
            companion.average(&mut forecast, &self.series);
        }
        Ok(forecast)
    }

    /// The parts of the series at times, in steps, given all values: the trend, with the mean of the series, each season,
    /// short memory, and each covariate relative to its mean. They are in the units of the transformed values.
    ///
    /// # Errors
    ///
    /// When the filter fails, or a covariate has no value at a time.
    pub fn components(&self, times: &[f64]) -> Result<Vec<Component>, ForecastError> {
        let smoother = self.smoother(times)?;
        let (shift, scale) = (self.scaling.shift, self.scaling.scale);
        let component = |(index, (name, own)): (usize, (String, Vec<bool>))| {
            let shift = if index == 0 { shift } else { 0.0 };
            let moments = smoother.moments(&own);
            let (means, deviations) = moments
                .into_iter()
                .map(|[mean, variance]| (shift + scale * mean, scale * variance.sqrt()))
                .unzip();
            Component {
                name,
                means,
                deviations,
            }
        };
        let parts = self.parts().into_iter().enumerate();
        Ok(parts.map(component).collect())
    }

    /// The name of each part, and which terms belong to it.
    fn parts(&self) -> Vec<(String, Vec<bool>)> {
        let roles = self.structure.roles();
        let covariates = self.series.covariates();
        let count = roles.len() + covariates.len();
        let mut distinct: Vec<Role> = roles.clone();
        distinct.dedup();
        let of_kernel = distinct.into_iter().map(|role| {
            let own = (0..count).map(|term| roles.get(term) == Some(&role));
            (self.structure.name_of(role), own.collect())
        });
        let of_covariates = covariates.iter().enumerate().map(|(index, covariate)| {
            let own = (0..count).map(|term| term == roles.len() + index);
            (covariate.name().to_owned(), own.collect())
        });
        of_kernel.chain(of_covariates).collect()
    }

    fn smoother(&self, times: &[f64]) -> Result<Smoother, ForecastError> {
        let end = self.series.last_time();
        let at = |times: &[f64]| -> Result<Times, ForecastError> {
            Ok(Times {
                times: times.iter().map(|time| time - end).collect(),
                covariates: (self.scaling.covariates).rows(self.series.covariates(), times)?,
            })
        };
        let values = self.scaling.apply(&self.series);
        let (observed, questions) = (at(self.series.times())?, at(times)?);
        let terms = |at_whole_steps| terms_at(&self.structure, &self.parameters, at_whole_steps);
        Ok(Smoother::new(terms, &observed, &values, &questions)?)
    }

    /// Everything but the series, as data.
    pub(super) fn state(&self) -> FittedState {
        FittedState {
            structure: self.structure.clone(),
            scaling: self.scaling.clone(),
            parameters: self.parameters.clone(),
            companion: self.companion,
        }
    }

    /// The fit of a state, given a series.
    ///
    /// # Errors
    ///
    /// When parameters are unknown or impossible, or the filter fails.
    pub(super) fn of_state(state: &FittedState, series: &Series) -> Result<Self, ForecastError> {
        // A model refuses unknown parameters and impossible values.
        model(&state.structure, &state.parameters, series, &state.scaling)?;
        let config = state.structure.config(series.span()).parameters;
        let mut parameters = config.values;
        parameters.extend(state.parameters.clone());
        let parts = (state.scaling.clone(), parameters, config.priors.0.len());
        let fitted = Self::conditioned(&state.structure, series, parts)?;
        Ok(fitted.with_companion(state.companion))
    }
}

/// A fitted structure without its series, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FittedState {
    structure: Structure,
    scaling: Scaling,
    /// The values of all parameters by their paths.
    parameters: Values,
    companion: Option<Companion>,
}

/// The model of a structure with values of its parameters.
fn model(
    structure: &Structure,
    parameters: &Values,
    series: &Series,
    scaling: &Scaling,
) -> Result<AnyMarkov, ForecastError> {
    let mut config = structure.config(series.span());
    config.parameters = ParameterConfig {
        values: parameters.clone(),
        ..ParameterConfig::default()
    };
    Ok(config.init(&training_data(series, scaling))?)
}

/// The times of a series, which end at zero, with scaled covariates.
fn timeline(series: &Series, scaling: &Scaling) -> Result<Timeline, ForecastError> {
    let end = series.last_time();
    let times: Vec<f64> = series.times().iter().map(|time| time - end).collect();
    let covariates = (scaling.covariates).rows(series.covariates(), series.times())?;
    Ok(Timeline::new(&times, |_| true, covariates))
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
