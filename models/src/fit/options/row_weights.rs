//! Weights of the training rows.

use super::{CountedRows, Error, Fit, Matrix, unused};
use crate::{ModelConfig, fit::fitted::read_inputs, training::TrainingData};

impl Fit {
    /// Sets weights of the training rows, one for each: a row of weight two counts as two equal rows, and a row of weight
    /// zero is left out. Standardization and [early stopping](Self::early_stopping) do not use other weights, nor do
    /// predictions.
    ///
    /// Models whose [`takes_row_columns`](crate::ModelDefinition::takes_row_columns) has weights take them: variational ones,
    /// and regression of one output with normal noise ([`RowColumns`](burn_gp_core::inference::RowColumns)).
    ///
    /// ```
    /// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
    /// use burn_gp_models::{Fit, FitModel, SvgpConfig};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// let mut y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// (y[10], y[20]) = (40.0, -40.0);
    /// let mut weights = vec![1.0; 30];
    /// (weights[10], weights[20]) = (0.0, 0.0);
    /// let config = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default()).with_inducing(10);
    /// let gp = config.fit(&x, &y, &Fit::adam(0.1).steps(300).row_weights(weights))?;
    /// let predicted = gp.predict([x[10]])?.predictions().mean[0];
    /// assert!((predicted - x[10].sin()).abs() < 0.5, "{predicted}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `weights`: N numbers that are not negative
    pub fn row_weights(mut self, weights: impl Into<Matrix>) -> Self {
        self.row_weights = Some(weights.into());
        self
    }

    /// The weights as they are given.
    ///
    /// # Errors
    ///
    /// When one is not finite.
    pub(in crate::fit) fn given_weights(&self) -> Result<Option<Vec<f64>>, Error> {
        let given = self.row_weights.clone().map(read_inputs).transpose()?;
        Ok(given.map(|given| given.values))
    }

    /// The weights of the `rows` of `data`, if there are any.
    ///
    /// # Errors
    ///
    /// When the model does not take them, there is not one for each row, or they are not all finite numbers that are not
    /// negative, with one that is positive.
    pub(in crate::fit) fn weights_of_rows(
        &self,
        config: &ModelConfig,
        (data, rows): (&TrainingData, &CountedRows),
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(given) = self.given_weights()? else {
            return Ok(None);
        };
        let [_, columns] = data.targets.dims();
        let has_outputs = columns > 1 && config.takes_missing_targets();
        if !config.takes_row_columns().weights || has_outputs {
            return unused(
                "row_weights",
                "only variational models (SVGP, SVDBK, SVDKL, deep GPs) and regression of one output with normal noise \
                 (exact, SGPR, conjugate gradients, computation-aware, Vecchia, Markov, DBK) take weights of rows",
            );
        }
        if self.restarts > 0 {
            return unused("restarts", "they compare losses without weights of rows");
        }
        if given.len() != rows.all {
            return Err(Error::RowWeights {
                found: given.len(),
                rows: rows.all,
            });
        }
        let out_of_range = |value, range| {
            let name = "a weight of a row";
            Err(Error::OutOfRange { name, value, range })
        };
        if let Some(&value) = given.iter().find(|value| **value < 0.0) {
            return out_of_range(value, "not be negative");
        }
        if given.iter().all(|&value| value == 0.0) {
            return out_of_range(0.0, "be positive for at least one row");
        }
        Ok(Some(rows.select(given)))
    }
}
