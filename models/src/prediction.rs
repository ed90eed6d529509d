//! Prediction in chunks.

use burn::tensor::{DType, Device, Tensor};
use burn_gp::{
    likelihoods::{Likelihood, Marginals},
    ops::NotPositiveDefinite,
    parameter::numbers,
    variational::{Joint, Process},
};
use rand::Rng;

use crate::training::matrix;

/// Inputs predicted together: memory grows with M times this.
const CHUNK: usize = 2048;

/// A posterior process with a likelihood, on a device without autodiff.
#[derive(Clone, Debug)]
pub struct Predictor<P, L> {
    process: P,
    likelihood: L,
    device: Device,
    dtype: DType,
}

/// Predictions of new targets and of the functions behind them, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// The means of the targets, one number an output; for labels without order the probabilities
    /// of all classes.
    pub mean: Vec<f64>,
    /// The variances of the targets, noise included, as many as means.
    pub variance: Vec<f64>,
    /// The probabilities of all classes; empty if the targets are no labels.
    pub probabilities: Vec<f64>,
    /// The means of the latent functions, one number a function.
    pub function_mean: Vec<f64>,
    /// The variances of the latent functions.
    pub function_variance: Vec<f64>,
}

impl<P: Process, L: Likelihood> Predictor<P, L> {
    /// Predicts with `process` and `likelihood` on `device` in `dtype`.
    pub fn new(process: P, likelihood: &L, device: &Device, dtype: DType) -> Self {
        Self {
            process,
            likelihood: likelihood.valid(),
            device: device.clone().inner(),
            dtype,
        }
    }

    /// The process.
    pub fn process(&self) -> &P {
        &self.process
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &L {
        &self.likelihood
    }

    /// Means and variances of the functions at `x`, chunk by chunk.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    pub fn marginals(&self, x: Tensor<2>) -> Marginals {
        let (means, variances) = (chunks(x.dims()[0]))
            .map(|(start, rows)| {
                let Marginals { mean, variance } =
                    self.process.marginals(x.clone().narrow(0, start, rows));
                (mean, variance)
            })
            .unzip();
        Marginals {
            mean: Tensor::cat(means, 0),
            variance: Tensor::cat(variances, 0),
        }
    }

    /// Means and full covariances of the function at `x`, `[N, D]`.
    pub fn joint(&self, x: Tensor<2>) -> Joint {
        self.process.joint(x)
    }

    /// `samples` draws of the function at `x`, `[N, D]`: `[S, P, N]`.
    ///
    /// # Errors
    ///
    /// When the covariance cannot be factored.
    pub fn sample(&self, x: Tensor<2>, samples: usize) -> Result<Tensor<3>, NotPositiveDefinite> {
        self.process.sample(x, samples)
    }

    /// `samples` draws of the targets at `x`, `[N, D]`: `[S, N, P]`. The functions are drawn
    /// jointly over the inputs, the targets from the likelihood.
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
        let functions = self.process.sample(x, samples)?; // [S, F, N]
        Ok(self.likelihood.sample(functions.swap_dims(1, 2), random))
    }

    /// Predictions at row-major host inputs with `columns` columns.
    pub fn predict(&self, inputs: &[f64], columns: usize) -> Predictions {
        let mut predictions = Predictions::default();
        for (start, rows) in chunks(inputs.len() / columns) {
            let inputs = &inputs[start * columns..(start + rows) * columns];
            let x = matrix(inputs, columns, &self.device, self.dtype);
            let function = self.process.marginals(x);
            let target = self.likelihood.predict(function.clone());
            let probabilities = self.likelihood.class_probabilities(function.clone());
            predictions.mean.extend(numbers(target.mean));
            predictions.variance.extend(numbers(target.variance));
            (predictions.probabilities).extend(probabilities.map(numbers).unwrap_or_default());
            predictions.function_mean.extend(numbers(function.mean));
            (predictions.function_variance).extend(numbers(function.variance));
        }
        predictions
    }

    /// `log p(y_n | x_n, data)` for every row of row-major host data: inputs with `columns` columns,
    /// and as many target columns as the likelihood takes.
    pub fn log_density(&self, inputs: &[f64], columns: usize, targets: &[f64]) -> Vec<f64> {
        let total = inputs.len() / columns;
        let mut densities = Vec::with_capacity(total);
        for (start, rows) in chunks(total) {
            let part = |values: &[f64]| {
                let width = values.len() / total;
                let own = &values[start * width..(start + rows) * width];
                matrix(own, width, &self.device, self.dtype)
            };
            let function = self.process.marginals(part(inputs));
            let density = (self.likelihood).log_predictive_density(part(targets), function);
            densities.extend(numbers(density));
        }
        densities
    }
}

/// The first row and the number of rows of every chunk.
fn chunks(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows)
        .step_by(CHUNK)
        .map(move |start| (start, CHUNK.min(rows - start)))
}
