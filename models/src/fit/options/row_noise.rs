//! Known noise of the training rows.

use burn_gp_core::{likelihoods::TargetKind, transforms::TransformName};

use super::{CountedRows, Error, Fit, Matrix, Scaling, unused};
use crate::{ModelConfig, fit::fitted::read_inputs, training::TrainingData};

impl Fit {
    /// Sets a known noise variance `v_n` of each training row, in squared units of the targets, such as the square of the
    /// standard error of a measurement. The noise of row n is then `σ² + v_n`, where σ² is trained: rows with much noise
    /// count less. Predictions of new targets have the noise σ². Standardization and
    /// [early stopping](Self::early_stopping) do not use the known noise.
    ///
    /// For regression of one output with normal noise whose
    /// [`takes_row_columns`](crate::ModelDefinition::takes_row_columns) has noise. If all noise is known, use
    /// [`FixedNoise`](burn_gp_core::likelihoods::FixedNoise); it takes the variances as a second column of the targets, and
    /// new rows have theirs, too.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// let mut y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// // Two instruments failed, and the operator knows it.
    /// (y[10], y[20]) = (3.0, -3.0);
    /// let mut variances = vec![0.0; 30];
    /// (variances[10], variances[20]) = (100.0, 100.0);
    /// let config = ExactConfig::new(StationaryConfig::rbf());
    /// let gp = config.fit(&x, &y, &Fit::new().row_noise(variances))?;
    /// let predicted = gp.predict([x[10]])?.predictions().mean[0];
    /// assert!((predicted - x[10].sin()).abs() < 0.2, "{predicted}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `variances`: N numbers that are not negative
    pub fn row_noise(mut self, variances: impl Into<Matrix>) -> Self {
        self.row_noise = Some(variances.into());
        self
    }

    /// The noise variances of the `rows` of scaled `data`, on the scale of the model, if there are any.
    ///
    /// # Errors
    ///
    /// When the model does not take them, there is not one for each row, or one is negative or not finite.
    pub(in crate::fit) fn noise_of_rows(
        &self,
        config: &ModelConfig,
        (data, rows): (&TrainingData, &CountedRows),
        scaling: &Scaling,
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(variances) = &self.row_noise else {
            return Ok(None);
        };
        let [_, columns] = data.targets.dims();
        if config.likelihood().target() == TargetKind::Measurements {
            return unused(
                "row_noise",
                "the second column of the targets is their known noise; add it there",
            );
        }
        if !config.takes_row_columns().noise || columns != 1 {
            return unused(
                "row_noise",
                "only regression of one output with normal noise takes noise of each row: exact, SGPR, SVGP, conjugate \
                 gradients, computation-aware, Vecchia, Markov, deep GPs, and those of networks",
            );
        }
        if let Some(transform) = self
            .transform_targets
            .filter(|own| *own != TransformName::None)
        {
            let reason = "the known noise of a target is not known noise of its transformed value";
            return Err(Error::TransformOption { transform, reason });
        }
        if self.restarts > 0 {
            return unused("restarts", "they compare losses without noise of rows");
        }
        let given = read_inputs(variances.clone())?;
        if given.values.len() != rows.all {
            return Err(Error::RowNoise {
                found: given.values.len(),
                rows: rows.all,
            });
        }
        if let Some(&value) = given.values.iter().find(|value| **value < 0.0) {
            return Err(Error::OutOfRange {
                name: "a noise variance of a row",
                value,
                range: "not be negative",
            });
        }
        let scale = (scaling.targets.as_ref()).map_or(1.0, |own| own.deviations[0]);
        let own = rows.select(given.values).into_iter();
        Ok(Some(own.map(|variance| variance / scale / scale).collect()))
    }
}
