//! Training on inputs that were measured with errors.

use std::ops::ControlFlow;

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::{ConditionError, RowColumns},
    likelihoods::TargetKind,
    ops::numbers,
};

use crate::{
    AnyModel, ModelConfig, Trained,
    training::{AnyTrainer, Model, Training, TrainingData},
};

/// The largest number of rounds of training with corrected noise.
const MOST_ROUNDS: usize = 8;

/// The noise has settled if it changes by less than this share of its sum.
const SETTLED: f64 = 0.01;

/// The number of rows whose slopes are computed together.
const ROWS_TOGETHER: usize = 1024;

/// Errors of the training inputs: the inputs are `x + ε` with independent `ε ~ N(0, diag s²)` and known standard
/// deviations s, on the scale of the model.
///
/// To first order, an error of the input is noise of the target, of variance `Σ_d (∂m/∂x_d)²·s_d²`, where m is the
/// posterior mean (A. McHutchon and C. Rasmussen, *Gaussian Process Training with Input Noise*, NIPS 2011, equation 6
/// with a diagonal covariance). Steep places then count less, and σ² is the noise of the targets alone. The slopes
/// depend on the fit: [`train`](Self::train) alternates.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{kernels::StationaryConfig, ops::numbers};
/// use burn_gp_models::{ExactConfig, InputErrors, training::{Model, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default().autodiff();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let model = ExactConfig::new(StationaryConfig::rbf()).init(&data)?;
/// let trained = model.trained(&data)?;
/// let errors = InputErrors::new(Tensor::from_data([[0.1]], (&device.inner(), DType::F64)));
/// let noise = numbers(errors.noise(&*trained, data.inputs)?);
/// // The slope of the sine is 1 at 0, and almost 0 at 1.5.
/// assert!(noise[0] > 0.003 && noise[6] < 0.001, "{noise:?}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InputErrors {
    /// s, `[N, D]`, or `[1, D]` for all rows.
    deviations: Tensor<2>,
    /// Whether the last column of the training targets has known noise of the rows.
    has_row_noise: bool,
}

/// The noise that errors of the inputs make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputNoise {
    /// The noise variances of the rows, `[N]`.
    pub variances: Vec<f64>,
    /// The number of times that the model was trained again.
    pub rounds: usize,
    /// Whether another round would change the noise by less than 1 %.
    pub has_settled: bool,
}

impl InputErrors {
    /// Errors with these standard deviations, which are not negative.
    ///
    /// # Shapes
    ///
    /// - `deviations`: `[N, D]`, or `[1, D]` if all rows have the same
    pub fn new(deviations: Tensor<2>) -> Self {
        Self {
            deviations: deviations.without_autodiff(),
            has_row_noise: false,
        }
    }

    /// Whether the model already trains with known noise of each row ([`RowColumns`]), to which that of the errors
    /// is added. By default it does not.
    pub fn besides_row_noise(mut self, has_row_noise: bool) -> Self {
        self.has_row_noise = has_row_noise;
        self
    }

    /// Whether no input has an error.
    fn are_zero(&self) -> bool {
        numbers(self.deviations.clone())
            .iter()
            .all(|&deviation| deviation == 0.0)
    }

    /// The slopes of the posterior mean, `∂m/∂x_d`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`
    /// - result: `[N, D]`
    ///
    /// # Errors
    ///
    /// When a value in the data that the model keeps is not finite, or a covariance matrix cannot be factored.
    pub fn slopes(model: &dyn Trained, inputs: Tensor<2>) -> Result<Tensor<2>, ConditionError> {
        let process = model.process()?;
        let inputs = inputs.without_autodiff();
        let [rows, _] = inputs.dims();
        let blocks = (0..rows).step_by(ROWS_TOGETHER).map(|start| {
            let length = ROWS_TOGETHER.min(rows - start);
            let own = inputs.clone().narrow(0, start, length);
            let x = Tensor::from_inner(own.clone()).require_grad();
            // The mean of a row depends on its own input alone.
            let means = process
                .components(x.clone())
                .into_iter()
                .map(|one| one.mean);
            let mean = Tensor::stack::<3>(means.collect(), 0).mean_dim(0);
            let gradients = mean.sum().backward();
            x.grad(&gradients).unwrap_or_else(|| own.zeros_like())
        });
        Ok(Tensor::cat(blocks.collect(), 0))
    }

    /// The noise variances that the errors make, `Σ_d (∂m/∂x_d)²·s_d²`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: of the training rows, `[N, D]`
    /// - result: `[N]`
    ///
    /// # Errors
    ///
    /// Same as [`slopes`](Self::slopes).
    pub fn noise(
        &self,
        model: &dyn Trained,
        inputs: Tensor<2>,
    ) -> Result<Tensor<1>, ConditionError> {
        let moved = Self::slopes(model, inputs)? * self.deviations.clone();
        Ok(moved.square().sum_dim(1).squeeze_dim(1))
    }

    /// Whether a model takes errors of its inputs: exact, collapsed (SGPR) and variational (SVGP) regression with normal
    /// noise, the last one also with [known noise](burn_gp_core::likelihoods::FixedNoise).
    pub fn suit(config: &ModelConfig) -> bool {
        config.takes_input_errors()
    }

    /// Trains again with the noise of the errors, and repeats this with the slopes of the new fit until the noise changes
    /// by less than 1 % in a round, at most eight times. Each round starts from the parameters of the last one. Without
    /// errors, the trainer comes back as it is.
    ///
    /// `trainer` has trained a model of `config`, which [takes errors](Self::suit), of one output without them. `run`
    /// trains in each round and may break off.
    ///
    /// # Errors
    ///
    /// When training fails, or a covariance matrix cannot be factored.
    pub fn train<E: From<ConditionError>>(
        &self,
        mut trainer: AnyTrainer<AnyModel>,
        (config, training): (&ModelConfig, &Training),
        mut run: impl FnMut(&mut AnyTrainer<AnyModel>) -> Result<ControlFlow<()>, E>,
    ) -> Result<(AnyTrainer<AnyModel>, InputNoise), E> {
        let data = trainer.data().clone();
        let mut noise = InputNoise {
            variances: vec![0.0; data.len()],
            ..InputNoise::default()
        };
        if self.are_zero() {
            noise.has_settled = true;
            return Ok((trainer, noise));
        }
        let has_known_noise = config.likelihood().target() == TargetKind::Measurements;
        let [_, columns] = data.targets.dims();
        let known = match has_known_noise {
            true => Some(1),
            false => self.has_row_noise.then_some(columns - 1),
        };
        loop {
            let trained = trainer.model().trained(trainer.data())?;
            let next = self.noise(&*trained, data.inputs.clone())?;
            let variances = numbers(next.clone());
            noise.has_settled = change(&noise.variances, &variances) <= SETTLED;
            if noise.has_settled || noise.rounds == MOST_ROUNDS {
                return Ok((trainer, noise));
            }
            let mut model = trainer.model().clone();
            let noisy = match known {
                Some(column) => with_more_noise(&data, next, column),
                None => {
                    model.use_row_columns(RowColumns {
                        noise: true,
                        ..RowColumns::default()
                    });
                    data.with_row_values(&variances)
                }
            };
            trainer = AnyTrainer::new(model, noisy, training.clone());
            noise.rounds += 1;
            noise.variances = variances;
            // There is nothing to train if all parameters are fixed.
            if !trainer.is_fixed() && run(&mut trainer)?.is_break() {
                return Ok((trainer, noise));
            }
        }
    }
}

/// The change of variances relative to their new sum.
fn change(old: &[f64], new: &[f64]) -> f64 {
    let changes = old.iter().zip(new).map(|(old, new)| (old - new).abs());
    let (change, sum) = (changes.sum::<f64>(), new.iter().sum::<f64>());
    match change == 0.0 {
        true => 0.0,
        false => change / sum,
    }
}

/// The data with more known noise, which is this column of the targets.
fn with_more_noise(data: &TrainingData, noise: Tensor<1>, column: usize) -> TrainingData {
    let targets = data.targets.clone().without_autodiff();
    let [rows, _] = targets.dims();
    let known = targets.clone().narrow(1, column, 1) + noise.unsqueeze_dim(1);
    TrainingData {
        inputs: data.inputs.clone().without_autodiff(),
        targets: targets.slice_assign([0..rows, column..column + 1], known),
    }
}
