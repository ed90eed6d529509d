//! Errors of the training inputs.

use burn_gp_core::likelihoods::TargetKind;

use super::{CountedRows, Error, Fit, Matrix, Scaling, unused};
use crate::{
    InputErrors, ModelConfig,
    fit::fitted::read_inputs,
    training::{TrainingData, matrix},
};

impl Fit {
    /// Sets the standard deviations of the errors of the training inputs, in the units of the inputs: the inputs are
    /// `x + ε` with independent `ε ~ N(0, diag s²)`. An error of an input is noise of the target where the function is
    /// steep, of variance `Σ_d (∂m/∂x_d)²·s_d²` ([`InputErrors`]); training repeats with it until it settles, at most eight
    /// times. The trained noise is then that of the targets alone, and predictions are those at exact inputs.
    /// [`Fitted::input_noise`](crate::Fitted::input_noise) has the noise of each row.
    ///
    /// For exact, collapsed (SGPR) and variational (SVGP) regression of one output with normal noise, for the last one also
    /// besides [known noise](burn_gp_core::likelihoods::FixedNoise) of the targets. Errors must be small compared with
    /// lengthscales, because the function counts as linear over them.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..40).map(|row| f64::from(row) / 8.0).collect();
    /// // The inputs were off by ±0.05.
    /// let off = |row: usize| if row % 2 == 0 { 0.05 } else { -0.05 };
    /// let y: Vec<f64> = x.iter().enumerate().map(|(row, x)| (2.0 * (x + off(row))).sin()).collect();
    /// let config = ExactConfig::new(StationaryConfig::rbf());
    /// let gp = config.fit(&x, &y, &Fit::new().input_errors([0.05]))?;
    /// let noise = gp.input_noise().expect("inputs with errors");
    /// // The slope is 2 at 0, and 0 at π/4.
    /// assert!(noise.variances[0] > 10.0 * noise.variances[6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `deviations`: one for each input, D numbers or `[1, D]`, or `[N, D]` for each row
    pub fn input_errors(mut self, deviations: impl Into<Matrix>) -> Self {
        self.input_errors = Some(deviations.into());
        self
    }

    /// The errors of the inputs of the `rows` of scaled `data`, if there are any.
    ///
    /// # Errors
    ///
    /// When the model does not take them, their shape does not match, or a standard deviation is negative or not finite.
    pub(in crate::fit) fn errors_of_inputs(
        &self,
        config: &ModelConfig,
        (data, rows): (&TrainingData, &CountedRows),
        scaling: &Scaling,
    ) -> Result<Option<InputErrors>, Error> {
        let Some(deviations) = &self.input_errors else {
            return Ok(None);
        };
        let [_, columns] = data.targets.dims();
        let own = match config.likelihood().target() {
            TargetKind::Measurements => 2,
            _ => 1,
        };
        if !InputErrors::suit(config) || columns != own {
            return unused(
                "input_errors",
                "only exact, collapsed (SGPR) and variational (SVGP) regression of one output with normal noise takes \
                 noise of each row",
            );
        }
        if self.early_stopping.is_some() {
            return unused(
                "early_stopping",
                "training repeats with the noise of the errors of inputs; set the number of steps",
            );
        }
        let [_, dimensions] = data.inputs.dims();
        let given = read_inputs(deviations.clone())?;
        let is_for_all =
            given.count * given.columns == dimensions && (given.count == 1 || given.columns == 1);
        if !is_for_all && (given.count, given.columns) != (rows.all, dimensions) {
            return Err(Error::InputErrorShape {
                found: [given.count, given.columns],
                rows: rows.all,
                dimensions,
            });
        }
        if let Some(&value) = given.values.iter().find(|value| **value < 0.0) {
            return Err(Error::OutOfRange {
                name: "a standard deviation of an input",
                value,
                range: "not be negative",
            });
        }
        let inputs: Vec<usize> = (0..dimensions).collect();
        let codes = (config.kernel()).map_or_else(Vec::new, |kernel| kernel.code_columns(&inputs));
        let has_error = |code: &usize| {
            let own = given.values.iter().skip(*code).step_by(dimensions);
            own.into_iter().any(|deviation| *deviation > 0.0)
        };
        if codes.iter().any(has_error) {
            return unused(
                "input_errors",
                "codes of levels have no errors; set their standard deviation to zero",
            );
        }
        let given = match is_for_all {
            true => given.values,
            false => rows.select(given.values),
        };
        let scaled = scaling.scaled_deviations(given);
        let (device, dtype) = (data.inputs.device(), data.inputs.dtype());
        let deviations = matrix(&scaled, dimensions, &device, dtype);
        Ok(Some(InputErrors::new(deviations)))
    }
}
