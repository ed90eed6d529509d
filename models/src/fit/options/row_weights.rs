//! Weights of the training rows.

use super::{Error, Fit, Matrix, unused};
use crate::{ModelConfig, fit::fitted::read_inputs};

impl Fit {
    /// Sets weights of the training rows, one for each: a row of weight two counts as two equal rows, and a row of weight
    /// zero not at all. Standardization and [early stopping](Self::early_stopping) do not use them, nor do predictions.
    ///
    /// Models whose [`takes_row_weights`](crate::ModelDefinition::takes_row_weights) is true have them: variational ones.
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

    /// The weights of the `rows` training rows, if there are any.
    ///
    /// # Errors
    ///
    /// When the model does not take them, there is not one for each row, or they are not all finite numbers that are not
    /// negative, with one that is positive.
    pub(in crate::fit) fn weights_of_rows(
        &self,
        config: &ModelConfig,
        rows: usize,
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(weights) = &self.row_weights else {
            return Ok(None);
        };
        if !config.takes_row_weights() {
            return unused(
                "row_weights",
                "only variational models (SVGP, SVDBK, SVDKL, deep GPs) take weights of rows",
            );
        }
        if self.restarts > 0 {
            return unused("restarts", "they compare losses without weights of rows");
        }
        let given = read_inputs(weights.clone())?;
        if given.values.len() != rows {
            return Err(Error::RowWeights {
                found: given.values.len(),
                rows,
            });
        }
        let out_of_range = |value, range| {
            let name = "a weight of a row";
            Err(Error::OutOfRange { name, value, range })
        };
        if let Some(&value) = given.values.iter().find(|value| **value < 0.0) {
            return out_of_range(value, "not be negative");
        }
        if given.values.iter().all(|&value| value == 0.0) {
            return out_of_range(0.0, "be positive for at least one row");
        }
        Ok(Some(given.values))
    }
}
