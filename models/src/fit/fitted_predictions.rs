//! Predictions of a fitted model.

use std::{fmt, sync::Arc};

use burn::tensor::{Int, Tensor, TensorData};
use burn_gp_core::{
    features::Standardization,
    likelihoods::{ImpossibleTarget, Interval},
    ops::numbers,
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{Error, Matrix, Scaling, matrix::Rows};
use crate::{Predictions, Predictor, training::matrix};

/// The predictions of a [`Fitted`](super::Fitted) model at N inputs, in the units of the data. Tensors
/// have the device and the type of the model, without autodiff; [`predictions`](Self::predictions) has the
/// same values on the CPU in double precision.
///
/// P is the number of outputs. For unordered labels, the values describe indicators of the C classes,
/// whose means are the class probabilities: `[N, P]` becomes `[N, C·P]`, class by class.
///
/// ```
/// use burn_gp_core::kernels::StationaryConfig;
/// use burn_gp_models::{ExactConfig, Fit, FitModel};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let x: Vec<f64> = (0..30).map(|i| f64::from(i) / 5.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| 100.0 + x.sin()).collect();
/// let gp = ExactConfig::new(StationaryConfig::matern52()).fit(&x, &y, &Fit::new())?;
/// let predicted = gp.predict([1.0, 2.0, 3.0])?;
/// assert_eq!(predicted.mean().dims(), [3, 1]);
/// let (lower, upper) = predicted.interval(0.95)?;
/// assert_eq!((lower.dims(), upper.dims()), ([3, 1], [3, 1]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FittedPredictions {
    pub(super) predictions: Predictions,
    /// The scaled inputs.
    pub(super) inputs: Rows,
    pub(super) predictor: Arc<Predictor>,
    pub(super) scaling: Scaling,
}

/// One line for each input: the mean and the standard deviation of a new target, or the most likely
/// class and its probability.
impl fmt::Display for FittedPredictions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let predictions = &self.predictions;
        for row in 0..self.inputs.count {
            let of_row = |values: &[f64]| {
                let columns = values.len() / self.inputs.count;
                values[row * columns..(row + 1) * columns].to_vec()
            };
            let texts = if predictions.probabilities.is_empty() {
                let moments = of_row(&predictions.mean).into_iter();
                let moments = moments.zip(of_row(&predictions.variance));
                moments
                    .map(|(mean, variance)| with_deviation(mean, variance.sqrt()))
                    .collect()
            } else {
                likeliest(&of_row(&predictions.probabilities), self.outputs())
            };
            let end = if row > 0 { "\n" } else { "" };
            write!(formatter, "{end}{}", texts.join(", "))?;
        }
        Ok(())
    }
}

/// `mean ± deviation`, to the second significant digit of the standard deviation.
fn with_deviation(mean: f64, deviation: f64) -> String {
    let magnitude = deviation.log10().floor();
    if !(-6.0..6.0).contains(&magnitude) {
        return format!("{mean:.4e} ± {deviation:.1e}");
    }
    let digits = (1.0 - magnitude).max(0.0) as usize;
    format!("{mean:.digits$} ± {deviation:.digits$}")
}

/// The most likely class and its probability for each of the outputs, given the probabilities of a
/// row, class by class.
fn likeliest(of_row: &[f64], outputs: usize) -> Vec<String> {
    let best = |output: usize| {
        let probabilities = of_row.iter().skip(output).step_by(outputs).enumerate();
        probabilities.max_by(|a, b| a.1.total_cmp(b.1))
    };
    let text = |(class, probability)| format!("class {class} with probability {probability:.3}");
    (0..outputs).filter_map(best).map(text).collect()
}

impl FittedPredictions {
    /// The number of inputs, N.
    pub fn len(&self) -> usize {
        self.inputs.count
    }

    /// Whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.inputs.count == 0
    }

    /// The same values on the CPU.
    pub fn predictions(&self) -> &Predictions {
        &self.predictions
    }

    /// Row-major values as a tensor, `[N, …]`.
    fn tensor(&self, values: &[f64]) -> Tensor<2> {
        let columns = values.len() / self.inputs.count;
        matrix(
            values,
            columns,
            self.predictor.device(),
            self.predictor.dtype(),
        )
    }

    /// The means of new targets, `[N, P]`.
    pub fn mean(&self) -> Tensor<2> {
        self.tensor(&self.predictions.mean)
    }

    /// The variances of new targets, noise included, `[N, P]`.
    pub fn variance(&self) -> Tensor<2> {
        self.tensor(&self.predictions.variance)
    }

    /// The standard deviations of new targets, noise included, `[N, P]`.
    pub fn standard_deviation(&self) -> Tensor<2> {
        let variances = self.predictions.variance.iter();
        self.tensor(
            &variances
                .map(|variance| variance.sqrt())
                .collect::<Vec<_>>(),
        )
    }

    /// The means of the F latent functions, `[N, F]`. Where targets are scaled, the first function of
    /// each output is in their units, or in those of the [transformed](crate::Fit::transform_targets) targets.
    pub fn function_mean(&self) -> Tensor<2> {
        self.tensor(&self.predictions.function_mean)
    }

    /// The variances of the F latent functions, `[N, F]`.
    pub fn function_variance(&self) -> Tensor<2> {
        self.tensor(&self.predictions.function_variance)
    }

    /// The quantiles of new targets at probability `p`, `[N, P]`: the smallest numbers with
    /// `P(y ≤ t) ≥ p`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless `0 < p < 1`, and [`Error::NoQuantiles`] if targets are unordered
    /// labels.
    pub fn quantile(&self, p: f64) -> Result<Tensor<2>, Error> {
        check_probability("the probability of a quantile", p)?;
        let quantiles = self.predictions.quantile(p).ok_or(Error::NoQuantiles)?;
        Ok(self.tensor(&quantiles))
    }

    /// The lower and upper ends of central intervals that contain new targets with probability
    /// `level`, `[N, P]` each. The ends are quantiles.
    ///
    /// # Errors
    ///
    /// As for [`quantile`](Self::quantile).
    pub fn interval(&self, level: f64) -> Result<(Tensor<2>, Tensor<2>), Error> {
        check_probability("the confidence level of an interval", level)?;
        let interval = self.predictions.interval(level).ok_or(Error::NoQuantiles)?;
        let Interval { lower, upper } = interval;
        Ok((self.tensor(&lower), self.tensor(&upper)))
    }

    /// The probabilities of the C classes, `[N, C·P]`, class by class. `None` if the targets are not
    /// labels.
    pub fn probabilities(&self) -> Option<Tensor<2>> {
        let probabilities = &self.predictions.probabilities;
        (!probabilities.is_empty()).then(|| self.tensor(probabilities))
    }

    /// The labels with the largest probabilities, `[N, P]`. `None` if the targets are not labels.
    pub fn labels(&self) -> Option<Tensor<2, Int>> {
        let classes = self.predictor.likelihood().description().classes?;
        let probabilities = self.probabilities()?;
        let [rows, columns] = probabilities.dims();
        let by_class = probabilities.reshape([rows, classes, columns / classes]);
        Some(by_class.argmax(1).squeeze_dim(1))
    }

    /// `log p(y_n | x_n, data)` of targets at these inputs, `[N]`, in the units of the data: with
    /// scaled targets `log p(z_n) − Σ_p log s_p`, and with [transformed](crate::Fit::transform_targets) ones
    /// `log p(z_n) + Σ_p (log g_p′(y_np) − log s_p)`. It computes the predictions again.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]` as in training
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, a target has no transformed value, or the number of rows differs from
    /// the inputs or the number of columns from training.
    pub fn log_density(&self, targets: impl Into<Matrix>) -> Result<Tensor<1>, Error> {
        let targets = targets.into().read("targets")?;
        if targets.count != self.inputs.count {
            return Err(Error::Rows {
                inputs: self.inputs.count,
                targets: targets.count,
            });
        }
        let likelihood = self.predictor.likelihood().description();
        let expected = likelihood.columns * self.outputs();
        if targets.columns != expected {
            return Err(Error::TargetColumns {
                found: targets.columns,
                expected: expected.to_string(),
            });
        }
        let scaled = (self.scaling).scaled_targets(targets.values.clone(), expected)?;
        let checked = likelihood.check_targets_in(self.predictor.dtype(), &scaled, expected);
        checked.map_err(|impossible| ImpossibleTarget {
            value: targets.values[impossible.row * expected + impossible.column],
            ..impossible
        })?;
        let (inputs, columns) = (&self.inputs.values, self.inputs.columns);
        let mut densities = self.predictor.log_density(inputs, columns, &scaled)?;
        let jacobian = self.scaling.log_jacobian(&targets.values, expected);
        for (density, own) in densities.iter_mut().zip(jacobian) {
            *density += own;
        }
        Ok(self.tensor(&densities).squeeze_dim(1))
    }

    /// The number of outputs, P.
    fn outputs(&self) -> usize {
        let functions = self.predictions.function_mean.len() / self.inputs.count;
        functions / self.predictor.likelihood().description().latents
    }

    /// `count` draws of new targets, `[S, N, P]`. The functions are drawn jointly over the inputs;
    /// noise is added to each target. The same seed gives the same draws.
    ///
    /// # Errors
    ///
    /// When the covariance of the functions cannot be factored.
    pub fn samples(&self, count: usize, seed: u64) -> Result<Tensor<3>, Error> {
        let (inputs, columns) = (&self.inputs.values, self.inputs.columns);
        let x = self.predictor.inputs(inputs, columns);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let draws = self.predictor.sample_targets(x, count, &mut random)?;
        let draws = match &self.scaling.targets {
            None => draws,
            Some(targets) => self.rescaled(draws, targets),
        };
        if self.scaling.target_transforms.is_empty() {
            return Ok(draws);
        }
        let (shape, device, dtype) = (draws.dims(), draws.device(), draws.dtype());
        let inverted = TensorData::new(self.scaling.inverted(numbers(draws)), shape);
        Ok(Tensor::from_data(inverted, (&device, dtype)))
    }

    /// Standardized draws `[S, N, P]` of targets, or of transformed ones, in their units.
    fn rescaled(&self, draws: Tensor<3>, targets: &Standardization) -> Tensor<3> {
        let row = |values: &[f64]| {
            let columns = values.len();
            matrix(
                values,
                columns,
                self.predictor.device(),
                self.predictor.dtype(),
            )
            .unsqueeze::<3>()
        };
        draws * row(&targets.deviations) + row(&targets.means)
    }
}

fn check_probability(name: &'static str, value: f64) -> Result<(), Error> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(Error::OutOfRange {
            name,
            value,
            range: "lie between 0 and 1",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_with_the_second_digit_of_their_deviation() {
        for (mean, deviation, text) in [
            (0.597_809, 0.006_64, "0.5978 ± 0.0066"),
            (-1_234.6, 12.3, "-1235 ± 12"),
            (3.0, 0.0, "3.0000e0 ± 0.0e0"),
        ] {
            assert_eq!(with_deviation(mean, deviation), text);
        }
    }

    #[test]
    fn each_output_has_its_most_likely_class() {
        let of_row = [0.1, 0.6, 0.2, 0.3, 0.7, 0.1];
        let expected = [
            "class 2 with probability 0.700",
            "class 0 with probability 0.600",
        ];
        assert_eq!(likeliest(&of_row, 2), expected);
    }
}
