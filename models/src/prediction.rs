//! Prediction in chunks.

mod calibrated;

use std::{iter::repeat_n, sync::Arc};

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    likelihoods::AnyLikelihood,
    metrics::mixture_log_density,
    ops::NotPositiveDefinite,
    parameter::numbers,
    process::{AnyProcess, Marginals, UncertainInputs},
};
use rand::Rng;

use crate::{Calibration, PredictionError, Predictions, chunks::inputs_at_once, data::matrix};

/// The number of inputs that stand for one that is uncertain.
const INPUTS_OF_AN_UNCERTAIN_ONE: usize = 32;

/// A posterior over functions with a likelihood, on a device without autodiff. The posterior is a
/// process or the layers of a deep model, whose predictions are mixtures over draws of the hidden
/// layers.
pub struct Predictor {
    process: Arc<dyn AnyProcess + Send + Sync>,
    likelihood: AnyLikelihood,
    device: Device,
    dtype: DType,
    calibration: Option<Arc<Calibration>>,
}

impl Predictor {
    /// Predicts with `process` and `likelihood` on `device` in `dtype`.
    pub fn new(
        process: Box<dyn AnyProcess + Send + Sync>,
        likelihood: &AnyLikelihood,
        device: &Device,
        dtype: DType,
    ) -> Self {
        Self {
            process: process.into(),
            likelihood: likelihood.valid(),
            device: device.clone().inner(),
            dtype,
            calibration: None,
        }
    }

    /// The same predictions at inputs that are known up to normal errors: the columns of inputs are then the values
    /// followed by their standard deviations, as in [`UncertainInputs`].
    pub fn with_uncertain_inputs(&self) -> Self {
        let process = UncertainInputs::new(self.process.clone(), INPUTS_OF_AN_UNCERTAIN_ONE);
        Self {
            process: Arc::new(process),
            likelihood: self.likelihood.clone(),
            device: self.device.clone(),
            dtype: self.dtype,
            calibration: self.calibration.clone(),
        }
    }

    /// The process.
    pub fn process(&self) -> &(dyn AnyProcess + Send + Sync) {
        self.process.as_ref()
    }

    /// Row-major host inputs with `columns` columns as a tensor for the process, `[N, D]`.
    ///
    /// # Panics
    ///
    /// If the inputs cannot be divided into rows of `columns`.
    #[track_caller]
    pub fn inputs(&self, inputs: &[f64], columns: usize) -> Tensor<2> {
        rows_of(inputs, columns);
        matrix(inputs, columns, &self.device, self.dtype)
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &AnyLikelihood {
        &self.likelihood
    }

    /// The number of functions, F, at inputs like `x`, `[N, D]`.
    fn functions(&self, x: &Tensor<2>) -> usize {
        let [_, dimensions] = x.dims();
        let one = Tensor::zeros([1, dimensions], (&x.device(), x.dtype()));
        let components = self.process.components(one);
        components.first().map_or(0, |own| own.mean.dims()[1])
    }

    /// The device, without autodiff.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The floating-point type of the computations.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The first row and the number of rows of each chunk.
    fn chunks(&self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let most = inputs_at_once(self.process.rows_per_input()).max(self.process.joint_inputs());
        (0..rows)
            .step_by(most)
            .map(move |start| (start, most.min(rows - start)))
    }

    /// Some of row-major host values with `columns` columns, given by the first row and the number of rows.
    fn rows(&self, values: &[f64], columns: usize, (first, rows): (usize, usize)) -> Tensor<2> {
        let own = &values[first * columns..(first + rows) * columns];
        matrix(own, columns, &self.device, self.dtype)
    }

    /// Means and variances of the functions at `x`, computed in chunks.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    pub fn marginals(&self, x: Tensor<2>) -> Marginals {
        if x.dims()[0] == 0 {
            let none = Tensor::zeros([0, self.functions(&x)], (&x.device(), x.dtype()));
            return Marginals {
                mean: none.clone(),
                variance: none,
            };
        }
        let (means, variances) = (self.chunks(x.dims()[0]))
            .map(|(start, rows)| {
                let Marginals { mean, variance } =
                    mixture(self.process.components(x.clone().narrow(0, start, rows)));
                (mean, variance)
            })
            .unzip();
        Marginals {
            mean: Tensor::cat(means, 0),
            variance: Tensor::cat(variances, 0),
        }
    }

    /// `samples` draws of the functions at `x`, `[N, D]`: `[S, F, N]`. The same seed gives the same
    /// draws.
    ///
    /// # Errors
    ///
    /// When the covariance cannot be factored.
    pub fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let [rows, _] = x.dims();
        if rows == 0 || samples == 0 {
            let shape = [samples, self.functions(&x), rows];
            return Ok(Tensor::zeros(shape, (&x.device(), x.dtype())));
        }
        self.process.draws(x, samples, seed)
    }

    /// `samples` draws of the targets at `x`, `[N, D]`: `[S, N, P]`. The functions are drawn
    /// jointly over the inputs, and the targets from the likelihood given the functions.
    ///
    /// # Errors
    ///
    /// When the covariance cannot be factored.
    pub fn sample_targets<R: Rng>(
        &self,
        x: Tensor<2>,
        samples: usize,
        random: &mut R,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let [rows, _] = x.dims();
        if rows == 0 || samples == 0 {
            let outputs = self.functions(&x) / self.likelihood.description().latents;
            return Ok(Tensor::zeros(
                [samples, rows, outputs],
                (&x.device(), x.dtype()),
            ));
        }
        let functions = self.process.draws(x.clone(), samples, random.next_u64())?; // [S, F, N]
        let draws = self.likelihood.sample(functions.swap_dims(1, 2), random);
        match &self.calibration {
            None => Ok(draws),
            Some(own) => Ok(self.calibrated_draws(own, x, draws, random)),
        }
    }

    /// Predictions at row-major host inputs with `columns` columns. If the process [predicts rows
    /// together](burn_gp_core::process::Process::joint_inputs), rows of a chunk depend slightly on each other.
    ///
    /// # Panics
    ///
    /// If the inputs cannot be divided into rows of `columns`, or the number of columns differs from
    /// the training inputs.
    #[track_caller]
    pub fn predict(&self, inputs: &[f64], columns: usize) -> Predictions {
        self.predict_with(inputs, columns, |_| ())
    }

    /// Same as [`predict`](Self::predict), but calls `watch` with the number of finished rows
    /// before each chunk of inputs.
    ///
    /// # Panics
    ///
    /// Same as [`predict`](Self::predict).
    #[track_caller]
    pub fn predict_with(
        &self,
        inputs: &[f64],
        columns: usize,
        mut watch: impl FnMut(usize),
    ) -> Predictions {
        let mut predictions = Predictions::default();
        for (start, rows) in self.chunks(rows_of(inputs, columns)) {
            watch(start);
            let x = self.rows(inputs, columns, (start, rows));
            self.describe(self.process.components(x), &mut predictions);
        }
        match &self.calibration {
            None => predictions,
            Some(own) => own.apply(predictions),
        }
    }

    /// Adds the predictions for the functions `components`.
    fn describe(&self, components: Vec<Marginals>, predictions: &mut Predictions) {
        let each = || components.iter().cloned();
        let target = mixture(
            each()
                .map(|function| self.likelihood.predict(function))
                .collect(),
        );
        let probabilities = (each())
            .filter_map(|function| self.likelihood.class_probabilities(function))
            .reduce(|sum, other| sum + other);
        let share = (components.len() as f64).recip();
        let distribution = self.likelihood.predictive_distribution(&components);
        match (&mut predictions.distribution, distribution) {
            (Some(all), Some(own)) => all.append(own),
            (all, own) => *all = own,
        }
        let function = mixture(components);
        predictions.mean.extend(numbers(target.mean));
        predictions.variance.extend(numbers(target.variance));
        (predictions.probabilities).extend(
            probabilities
                .map(|sum| numbers(sum * share))
                .unwrap_or_default(),
        );
        predictions.function_mean.extend(numbers(function.mean));
        (predictions.function_variance).extend(numbers(function.variance));
    }

    /// `log p(y_n | x_n, data)` for every row of row-major host data. With S components it is the
    /// logarithm of their mean density. The inputs have `columns` columns, and the targets have as
    /// many as the likelihood needs.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target.
    ///
    /// # Panics
    ///
    /// If the inputs cannot be divided into rows like the training inputs, or the number of targets
    /// does not match the number of rows.
    #[track_caller]
    pub fn log_density(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
    ) -> Result<Vec<f64>, PredictionError> {
        let densities = self.log_densities(inputs, columns, targets)?;
        Ok((densities.iter())
            .map(|each| mixture_log_density(each))
            .collect())
    }

    /// `log p(y_n | f_s)` for every row of row-major host data and each of its S components. The
    /// arguments are those of [`log_density`](Self::log_density).
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target.
    ///
    /// # Panics
    ///
    /// Same as [`log_density`](Self::log_density).
    #[track_caller]
    pub fn log_densities(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
    ) -> Result<Vec<Vec<f64>>, PredictionError> {
        if self.calibration.is_some() {
            return Ok(self.score(inputs, columns, targets)?.1);
        }
        let width = self.checked_width(inputs, columns, targets)?;
        let mut densities = Vec::new();
        for (start, rows) in self.chunks(rows_of(inputs, columns)) {
            let x = self.rows(inputs, columns, (start, rows));
            let targets = self.rows(targets, width, (start, rows));
            densities.extend(self.densities(targets, self.process.components(x)));
        }
        Ok(densities)
    }

    /// The number of targets per row, after checking that the likelihood accepts them, rounded to this predictor's
    /// precision.
    #[track_caller]
    fn checked_width(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
    ) -> Result<usize, PredictionError> {
        let width = targets_a_row(inputs, columns, targets);
        if !targets.is_empty() {
            let likelihood = self.likelihood.description();
            likelihood.check_targets_in(self.dtype, targets, width)?;
        }
        Ok(width)
    }

    /// [`predict`](Self::predict) and [`log_densities`](Self::log_densities) together, with a
    /// single pass over the inputs.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target.
    ///
    /// # Panics
    ///
    /// Same as [`log_density`](Self::log_density).
    #[track_caller]
    pub fn score(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
    ) -> Result<(Predictions, Vec<Vec<f64>>), PredictionError> {
        self.score_with(inputs, columns, targets, |_| ())
    }

    /// Same as [`score`](Self::score), but calls `watch` with the number of finished rows before
    /// each chunk of inputs.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target.
    pub fn score_with(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
        watch: impl FnMut(usize),
    ) -> Result<(Predictions, Vec<Vec<f64>>), PredictionError> {
        self.scored(inputs, columns, (targets, None), watch)
    }

    /// Same as [`score_with`](Self::score_with), for targets with known noise besides that of the likelihood: its
    /// variances, one for each row, are part of predictions and densities.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target.
    ///
    /// # Panics
    ///
    /// Same as [`score_with`](Self::score_with), or if the numbers of variances and rows differ, or targets are not
    /// real-valued.
    #[track_caller]
    pub fn score_with_row_noise(
        &self,
        inputs: &[f64],
        columns: usize,
        (targets, variances): (&[f64], &[f64]),
        watch: impl FnMut(usize),
    ) -> Result<(Predictions, Vec<Vec<f64>>), PredictionError> {
        let rows = rows_of(inputs, columns);
        assert!(
            variances.len() == rows,
            "{} noise variances for {rows} rows",
            variances.len()
        );
        self.scored(inputs, columns, (targets, Some(variances)), watch)
    }

    /// Predictions and log densities of targets, whose rows may have known noise variances.
    #[track_caller]
    fn scored(
        &self,
        inputs: &[f64],
        columns: usize,
        (targets, noise): (&[f64], Option<&[f64]>),
        mut watch: impl FnMut(usize),
    ) -> Result<(Predictions, Vec<Vec<f64>>), PredictionError> {
        let width = self.checked_width(inputs, columns, targets)?;
        let (mut predictions, mut densities) = (Predictions::default(), Vec::new());
        for (start, rows) in self.chunks(rows_of(inputs, columns)) {
            watch(start);
            let x = self.rows(inputs, columns, (start, rows));
            let targets = self.rows(targets, width, (start, rows));
            let mut components = self.process.components(x);
            self.describe(components.clone(), &mut predictions);
            if let Some(noise) = noise {
                // y = f + ε + ε_n, where both kinds of noise are normal.
                let own = self.rows(noise, 1, (start, rows)); // [N, 1]
                for component in &mut components {
                    component.variance = component.variance.clone() + own.clone();
                }
            }
            densities.extend(self.densities(targets, components));
        }
        if let Some(noise) = noise.filter(|noise| !noise.is_empty()) {
            let outputs = predictions.variance.len() / noise.len();
            let each = noise.iter().flat_map(|&own| repeat_n(own, outputs));
            predictions = predictions.with_noise(&each.collect::<Vec<_>>());
        }
        Ok(match &self.calibration {
            None => (predictions, densities),
            Some(own) => calibrated::scored(own, predictions, densities, targets),
        })
    }

    /// `log p(y_n | f_s)` for every row of `targets`, `[N, T]`, for the functions `components`.
    fn densities(&self, targets: Tensor<2>, components: Vec<Marginals>) -> Vec<Vec<f64>> {
        let [rows, _] = targets.dims();
        let each: Vec<Vec<f64>> = (components.into_iter())
            .map(|function| {
                numbers((self.likelihood).log_predictive_density(targets.clone(), function))
            })
            .collect();
        (0..rows)
            .map(|row| each.iter().map(|own| own[row]).collect())
            .collect()
    }
}

/// The number of rows of row-major values with `columns` columns.
#[track_caller]
fn rows_of(values: &[f64], columns: usize) -> usize {
    assert!(
        columns > 0 && values.len().is_multiple_of(columns),
        "{} inputs cannot be divided into rows of {columns}",
        values.len()
    );
    values.len() / columns
}

/// The number of targets per row of row-major inputs.
#[track_caller]
fn targets_a_row(inputs: &[f64], columns: usize, targets: &[f64]) -> usize {
    let (rows, count) = (rows_of(inputs, columns), targets.len());
    let width = count / rows.max(1);
    assert!(
        width * rows == count,
        "{count} targets for {rows} rows of {columns} inputs; expected the same number for every row"
    );
    width
}

/// The mean and variance of a mixture with equal weights. A process always has at least one
/// component.
#[track_caller]
fn mixture(components: Vec<Marginals>) -> Marginals {
    match Marginals::of_mixture(components) {
        Some(moments) => moments,
        None => panic!("Predictor: the process has no components"),
    }
}
