//! Prediction in chunks.

use burn::tensor::{DType, Device, Tensor};
use burn_gp::{
    likelihoods::{Likelihood, Marginals},
    ops::NotPositiveDefinite,
    parameter::numbers,
    variational::{Joint, Process},
};

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

/// Predictions of new targets and of the function behind them, one number an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// The means of the targets.
    pub mean: Vec<f64>,
    /// The variances of the targets, noise included.
    pub variance: Vec<f64>,
    /// The means of the function.
    pub function_mean: Vec<f64>,
    /// The variances of the function.
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

    /// Means and variances of the function at `x`, chunk by chunk.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    pub fn marginals(&self, x: Tensor<2>) -> Marginals {
        let [rows, _] = x.dims();
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for start in (0..rows).step_by(CHUNK) {
            let chunk = x.clone().narrow(0, start, CHUNK.min(rows - start));
            let Marginals { mean, variance } = self.process.marginals(chunk);
            means.push(mean);
            variances.push(variance);
        }
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

    /// Predictions at row-major host inputs with `columns` columns, for one output.
    pub fn predict(&self, inputs: &[f64], columns: usize) -> Predictions {
        if inputs.is_empty() {
            return Predictions::default();
        }
        let function = self.marginals(matrix(inputs, columns, &self.device, self.dtype));
        let target = self.likelihood.predict(function.clone());
        Predictions {
            mean: numbers(target.mean),
            variance: numbers(target.variance),
            function_mean: numbers(function.mean),
            function_variance: numbers(function.variance),
        }
    }

    /// `log p(y_n | x_n, data)` for every row of host data, for one output.
    pub fn log_density(&self, inputs: &[f64], columns: usize, targets: &[f64]) -> Vec<f64> {
        if inputs.is_empty() {
            return Vec::new();
        }
        let function = self.marginals(matrix(inputs, columns, &self.device, self.dtype));
        let targets = matrix(targets, 1, &self.device, self.dtype);
        numbers(self.likelihood.log_predictive_density(targets, function))
    }
}
