//! Initial values of periods and frequencies.
//!
//! The evidence of a periodic kernel has many optima, one of which explains everything as noise. An
//! optimizer finds the right one only if the initial period is within a fraction
//! `1/(cycles in the data)` of the true one. The periodogram of the targets has peaks at such
//! periods.

mod periodogram;

use std::collections::BTreeMap;

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    kernels::{
        CosineConfig, DampedOscillatorConfig, KernelConfig, PeriodicConfig, SpectralMixtureConfig,
    },
    ops::numbers,
    parameter::ParameterConfig,
};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::index};

use crate::{
    ExactConfig, ModelDefinition, SgprConfig,
    training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData},
};
use periodogram::{Wave, strongest_waves};

/// Initial values of parameters, by their paths.
pub type FirstValues = BTreeMap<String, Vec<f64>>;

/// The most rows of a periodogram, and of the trainings that are compared.
const MOST_ROWS: usize = 1000;
const ROWS_COMPARED: usize = 300;
/// L-BFGS iterations before starts are compared, and the tolerance at which they stop.
const ITERATIONS: usize = 30;
const TOLERANCE: f64 = 1e-5;
/// The most waves of an input that periods are taken from.
const MOST_WAVES: usize = 6;
/// The most assignments of these periods to the parts of a kernel.
const MOST_ASSIGNMENTS: usize = 3;
/// Multiples of a period that are tried: a wave may be a harmonic of the signal.
const MULTIPLES: [f64; 2] = [2.0, 3.0];
/// The relative distance from a whole number within which a frequency ratio counts as whole.
const HARMONIC: f64 = 0.03;
/// The period along an input without waves, in ranges of the input: functions hardly vary with it.
const WITHOUT_WAVES: f64 = 10.0;

/// Candidate initial values for the periods and frequencies of a kernel, to be compared by the
/// objective that training reaches from each. They come from periodograms of the targets along one
/// input at a time. The points may have any spacing.
///
/// Periodic, cosine, damped oscillator and spectral mixture kernels have such parameters. Parameters that `parameters`
/// sets or freezes, or whose configuration is not the default, keep the user's values. The result is
/// empty if no others are left, or if there are no waves in the targets.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::{KernelConfig, StationaryConfig}, parameter::ParameterConfig};
/// use burn_gp_models::{first_periods, training::TrainingData};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let y: Vec<f64> = x.iter().map(|x| (std::f64::consts::TAU * x / 12.0).sin()).collect();
/// let data = TrainingData::new(&x, &y, &Device::default(), DType::F32);
/// let kernel = KernelConfig::from(StationaryConfig::rbf()).periodic(1.0);
/// let first = first_periods(&kernel, &ParameterConfig::default(), &data);
/// assert!((first[0]["kernel.period"][0] - 12.0).abs() < 0.1);
/// ```
pub fn first_periods(
    kernel: &KernelConfig,
    parameters: &ParameterConfig,
    data: &TrainingData,
) -> Vec<FirstValues> {
    let [_, dimensions] = data.inputs.dims();
    let columns: Vec<usize> = (0..dimensions).collect();
    let mut parts = Vec::new();
    collect(kernel, "kernel", &columns, &mut parts);
    parts.retain(|part| part.is_free(parameters));
    if parts.is_empty() {
        return Vec::new();
    }
    let spectra = Spectra::new(&parts, &some_rows(data, MOST_ROWS));
    if spectra.is_empty() {
        return Vec::new();
    }
    let shifts = (0..MOST_ASSIGNMENTS).map(|shift| (shift, 1.0));
    let multiples = MULTIPLES.map(|multiple| (0, multiple));
    let mut found = Vec::new();
    for (shift, multiple) in shifts.chain(multiples) {
        let mut values = FirstValues::new();
        for (place, part) in parts.iter().enumerate() {
            part.add_values(&spectra, place + shift, multiple, &mut values);
        }
        if !found.contains(&values) {
            found.push(values);
        }
    }
    found
}

impl dyn ModelDefinition {
    /// The initial values of periods and frequencies from which exact regression on these data, or
    /// on some of them, reaches the best objective in a few iterations; see [`first_periods`]. Empty
    /// for models other than exact and collapsed sparse regression, for several outputs, and if no candidate
    /// beats the configured values.
    pub fn best_first_periods(&self, data: &TrainingData) -> FirstValues {
        if data.targets.dims()[1] > 1 {
            return FirstValues::new();
        }
        let any = self.as_any();
        let exact = match (
            any.downcast_ref::<ExactConfig>(),
            any.downcast_ref::<SgprConfig>(),
        ) {
            (Some(config), _) => config.clone(),
            (_, Some(config)) => ExactConfig {
                kernel: config.kernel.clone(),
                mean: config.mean.clone(),
                likelihood: config.likelihood.clone(),
                parameters: without_inducing(&config.parameters),
                ..ExactConfig::default()
            },
            _ => return FirstValues::new(),
        };
        let starts = first_periods(&exact.kernel, &exact.parameters, data);
        if starts.is_empty() {
            return FirstValues::new();
        }
        let few = some_rows(data, ROWS_COMPARED);
        let all = core::iter::once(FirstValues::new()).chain(starts);
        let tried = all.filter_map(|first| Some((loss_after(&exact, &first, &few)?, first)));
        let best = tried.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(FirstValues::new, |(_, first)| first)
    }

    /// Sets the initial values to those of `best_first_periods`.
    pub fn set_first_periods(&mut self, data: &TrainingData) {
        let first = self.best_first_periods(data);
        if let Some(parameters) = self.parameters() {
            parameters.values.extend(first);
        }
    }
}

/// The loss after a few iterations from the initial values `first`; `None` if training fails.
fn loss_after(config: &ExactConfig, first: &FirstValues, data: &TrainingData) -> Option<f64> {
    let mut config = config.clone();
    config.parameters.values.extend(first.clone());
    let training = FullBatchTraining {
        iterations: ITERATIONS,
        tolerance: TOLERANCE,
        ..FullBatchTraining::default()
    };
    let mut trainer = FullBatchTrainer::new(config.init(data).ok()?, data.clone(), training);
    while !trainer.is_finished() {
        trainer.step().ok()?;
    }
    trainer.loss().ok().filter(|loss| loss.is_finite())
}

/// The parameter settings that also apply to exact regression.
fn without_inducing(parameters: &ParameterConfig) -> ParameterConfig {
    let mut own = parameters.clone();
    let is_kept = |path: &str| path != "inducing" && !path.starts_with("inducing.");
    own.values.retain(|path, _| is_kept(path));
    own.bounds.retain(|path, _| is_kept(path));
    own.priors.0.retain(|path, _| is_kept(path));
    own.frozen.retain(|path| is_kept(path));
    own
}

/// A random subset of at most `most` rows. A regular subset would alias high frequencies to low
/// ones.
fn some_rows(data: &TrainingData, most: usize) -> TrainingData {
    let count = data.len();
    if count <= most {
        return data.clone();
    }
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut rows: Vec<i64> = (index::sample(&mut random, count, most).iter())
        .map(|row| row as i64)
        .collect();
    rows.sort_unstable();
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &data.inputs.device());
    data.reordered(&rows)
}

/// A kernel with periods or frequencies.
struct Part {
    path: String,
    /// The inputs that it takes.
    columns: Vec<usize>,
    form: Form,
}

enum Form {
    /// A period for each input, or one for all.
    Periods { by_input: bool },
    /// Components with a frequency and a lengthscale for each input.
    Mixture { components: usize },
}

/// Adds the parts of a kernel whose configuration does not set their periods or frequencies.
fn collect(kernel: &KernelConfig, path: &str, columns: &[usize], parts: &mut Vec<Part>) {
    if let Some(form) = Form::of(kernel) {
        parts.push(Part {
            path: path.to_owned(),
            columns: columns.to_vec(),
            form,
        });
    }
    for part in kernel.parts() {
        if let Some(columns) = part.inputs.columns(columns) {
            collect(
                part.kernel,
                &format!("{path}.{}", part.name),
                &columns,
                parts,
            );
        }
    }
}

impl Form {
    fn of(kernel: &KernelConfig) -> Option<Self> {
        let periodic = kernel.downcast_ref::<PeriodicConfig>();
        let cosine = kernel.downcast_ref::<CosineConfig>();
        let oscillator = kernel.downcast_ref::<DampedOscillatorConfig>();
        let given = (periodic.map(|own| (own.ard, own.period, PeriodicConfig::default().period)))
            .or(cosine.map(|own| (own.ard, own.period, CosineConfig::default().period)))
            .or(oscillator.map(|own| {
                (
                    own.ard,
                    own.period,
                    DampedOscillatorConfig::default().period,
                )
            }));
        if let Some((by_input, period, default)) = given {
            return (period == default).then_some(Self::Periods { by_input });
        }
        let config = kernel.downcast_ref::<SpectralMixtureConfig>()?;
        let components = config.components;
        let default = SpectralMixtureConfig {
            components,
            ..SpectralMixtureConfig::default()
        };
        (*config == default).then_some(Self::Mixture { components })
    }
}

impl Part {
    /// Whether the user has neither set nor frozen the parameters.
    fn is_free(&self, parameters: &ParameterConfig) -> bool {
        let within = format!("{}.", self.path);
        let is_set = match self.form {
            Form::Periods { .. } => parameters.values.contains_key(&format!("{within}period")),
            Form::Mixture { .. } => parameters
                .values
                .keys()
                .any(|path| path.starts_with(&within)),
        };
        let is_frozen = parameters.frozen.iter().any(|path| {
            *path == self.path
                || path.starts_with(&within)
                || self.path.starts_with(&format!("{path}."))
        });
        !is_set && !is_frozen
    }

    /// Adds values with the wave of number `place` of each input, its period times `multiple`.
    fn add_values(&self, spectra: &Spectra, place: usize, multiple: f64, values: &mut FirstValues) {
        match self.form {
            Form::Periods { by_input } => {
                let period = |&column: &usize| spectra.period(column, place);
                let periods: Vec<f64> = match by_input {
                    true => self.columns.iter().map(period).collect(),
                    false => vec![period(&spectra.strongest(&self.columns))],
                };
                let periods = periods.into_iter().map(|period| period * multiple);
                values.insert(format!("{}.period", self.path), periods.collect());
            }
            Form::Mixture { components } => self.add_components(spectra, components, values),
        }
    }

    /// Adds a component for each of the strongest waves, along its input. Further components are not
    /// changed.
    fn add_components(&self, spectra: &Spectra, components: usize, values: &mut FirstValues) {
        let waves = spectra.of_inputs(&self.columns).into_iter();
        for (component, (column, wave)) in waves.take(components).enumerate() {
            let own = |own: f64, other: f64| {
                let columns = self.columns.iter();
                columns
                    .map(|&other_column| match other_column == column {
                        true => own,
                        false => other * spectra.range(other_column),
                    })
                    .collect::<Vec<f64>>()
            };
            let mut add = |field: &str, numbers: Vec<f64>| {
                let path = format!("{}.components.{component}.{field}", self.path);
                values.insert(path, numbers);
            };
            add("frequency", own(wave.frequency, 0.0));
            add("lengthscale", own(spectra.range(column), WITHOUT_WAVES));
            add("variance", vec![wave.variance]);
        }
    }
}

/// The waves of the targets along inputs.
struct Spectra {
    /// The range of each input and the waves along it, the strongest first.
    columns: BTreeMap<usize, (f64, Vec<Wave>)>,
}

impl Spectra {
    fn new(parts: &[Part], data: &TrainingData) -> Self {
        let [rows, dimensions] = data.inputs.dims();
        let inputs = numbers(data.inputs.clone());
        let targets = numbers(data.targets.clone().narrow(1, 0, 1));
        let all = parts.iter().flat_map(|part| part.columns.iter().copied());
        let spectrum = |column: usize| {
            let x: Vec<f64> = (0..rows)
                .map(|row| inputs[row * dimensions + column])
                .collect();
            let ends = (x.iter()).fold((f64::INFINITY, f64::NEG_INFINITY), |ends, x| {
                (ends.0.min(*x), ends.1.max(*x))
            });
            let range = (ends.1 - ends.0).max(f64::MIN_POSITIVE.sqrt());
            (column, (range, strongest_waves(&x, &targets, MOST_WAVES)))
        };
        Self {
            columns: all.map(spectrum).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.columns.values().all(|(_, waves)| waves.is_empty())
    }

    fn range(&self, column: usize) -> f64 {
        self.columns.get(&column).map_or(1.0, |(range, _)| *range)
    }

    fn waves(&self, column: usize) -> &[Wave] {
        self.columns.get(&column).map_or(&[], |(_, waves)| waves)
    }

    /// The period of the wave of number `place` among those that are not harmonics of stronger
    /// ones. If there are fewer waves, counting starts again from the first.
    fn period(&self, column: usize, place: usize) -> f64 {
        let mut fundamental: Vec<f64> = Vec::new();
        for wave in self.waves(column) {
            let is_harmonic = fundamental.iter().any(|frequency| {
                let ratio = wave.frequency / frequency;
                ratio > 1.5 && (ratio - ratio.round()).abs() < HARMONIC * ratio
            });
            if !is_harmonic {
                fundamental.push(wave.frequency);
            }
        }
        match fundamental.len() {
            0 => WITHOUT_WAVES * self.range(column),
            count => fundamental[place % count].recip(),
        }
    }

    /// The waves along several inputs, each with its input, the strongest first.
    fn of_inputs(&self, columns: &[usize]) -> Vec<(usize, Wave)> {
        let waves = |&column: &usize| self.waves(column).iter().map(move |wave| (column, *wave));
        let mut all: Vec<_> = columns.iter().flat_map(waves).collect();
        all.sort_by(|a, b| b.1.variance.total_cmp(&a.1.variance));
        all
    }

    /// The input with the strongest wave.
    fn strongest(&self, columns: &[usize]) -> usize {
        let strongest = self.of_inputs(columns).first().map(|(column, _)| *column);
        strongest.or(columns.first().copied()).unwrap_or_default()
    }
}
