//! Further rows for a model after training, and fewer.

use std::sync::Arc;

use burn_gp_core::ops::numbers;

use super::{Error, Fitted, FittedPredictions, Matrix, check_possible, matrix::Rows};
use crate::{Predictor, training::matrix};

impl Fitted {
    /// The model given further training rows, with the same hyperparameters, scaling and transformation of targets: nothing
    /// is trained. This model
    /// stays as it is.
    ///
    /// | model | equal to conditioning on all rows at these hyperparameters | time for n more rows |
    /// |---|---|---|
    /// | [`ExactConfig`](crate::ExactConfig) | yes | N²·n with one output |
    /// | [`VecchiaConfig`](crate::VecchiaConfig), [`VecchiaLaplaceConfig`](crate::VecchiaLaplaceConfig), [`VifConfig`](crate::VifConfig) | yes, with the new rows last in the order | that of conditioning, linear in all rows |
    /// | [`MarkovConfig`](crate::MarkovConfig), [`MarkovVariationalConfig`](crate::MarkovVariationalConfig) | yes, wherever in time the rows are | that of conditioning, linear in all rows |
    /// | [`ConjugateGradientsConfig`](crate::ConjugateGradientsConfig) | up to the tolerance of the solves | that of conditioning |
    /// | [`SgprConfig`](crate::SgprConfig) | yes, with the same inducing points | M³ + M²·n |
    /// | [`SvgpConfig`](crate::SvgpConfig) with Gaussian noise and a whitened posterior | if `q(u)` was optimal for the rows so far | M³ + M²·n |
    /// | [`DeepKernelConfig`](crate::DeepKernelConfig) of one of these | as that | as that |
    ///
    /// Inducing points do not move: rows far from all of them change little. Hyperparameters of the old rows may not suit
    /// the new ones, so train again now and then.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new())?;
    /// let before: f64 = gp.predict([6.5])?.standard_deviation().into_scalar();
    /// let gp = gp.condition_on_observations([6.0, 7.0], [6f64.sin(), 7f64.sin()])?;
    /// let after: f64 = gp.predict([6.5])?.standard_deviation().into_scalar();
    /// assert!(after < before);
    /// // A moving window: rows before 1.9 leave.
    /// let gp = gp.retain_observations(|x| x[0] >= 1.9)?;
    /// assert_eq!(gp.model().observations().map(|rows| rows.len()), Some(14));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, in the units of the data
    ///
    /// # Errors
    ///
    /// When there are no rows, the numbers of rows or columns do not match, an input is not finite, the likelihood does not
    /// accept a target or it has no transformed value, the model takes no further rows, or a covariance matrix cannot be factored.
    pub fn condition_on_observations(
        &self,
        inputs: impl Into<Matrix>,
        targets: impl Into<Matrix>,
    ) -> Result<Self, Error> {
        let (inputs, targets) = self.rows_of(inputs.into(), targets.into())?;
        let ((device, dtype), columns) = (self.place(), targets.columns);
        check_possible(self.config(), &targets.values, columns, (&device, dtype))?;
        let targets = (self.saved.context).scaled_targets(targets.values, columns)?;
        let x = matrix(&inputs.values, inputs.columns, &device, dtype);
        let y = matrix(&targets, columns, &device, dtype);
        let old = &self.saved.model;
        let model = old.condition_on_observations(x.clone(), y.clone());
        let model = model.ok_or(Error::NoFurtherData)??;
        let process = old.process_given(self.predictor.process(), x, y);
        let process = process.ok_or(Error::NoFurtherData)??;
        let predictor = Predictor::new(process, &model.likelihood(), &device, dtype);
        let rows = self.saved.summary.data_count + inputs.count;
        Ok(self.with_model(model, rows, predictor))
    }

    /// The model with only those training rows whose inputs `is_kept` accepts, with the same hyperparameters and scaling.
    /// The inputs are in the units of the data, up to rounding. This model stays as it is.
    ///
    /// See [`condition_on_observations`](Self::condition_on_observations) for an example.
    ///
    /// # Errors
    ///
    /// When no row would remain, rows cannot be removed from the model, or a covariance matrix cannot be factored.
    pub fn retain_observations(
        &self,
        mut is_kept: impl FnMut(&[f64]) -> bool,
    ) -> Result<Self, Error> {
        let model = &self.saved.model;
        let rows = model.observations().ok_or(Error::NoRows)?.inputs;
        let [count, columns] = rows.dims();
        let inputs = self.saved.context.inputs_in_units_of_data(numbers(rows));
        let each = inputs.chunks_exact(columns.max(1)).enumerate();
        let removed = each.filter(|(_, inputs)| !is_kept(inputs));
        let removed: Vec<usize> = removed.map(|(row, _)| row).collect();
        if removed.len() == count {
            return Err(Error::NoRowsLeft);
        }
        let model = model.without_observations(&removed).ok_or(Error::NoRows)?;
        let predictor = model.predictor()?;
        Ok(self.with_model(model, count - removed.len(), predictor))
    }

    /// Predictions at new inputs, some of whose outputs are known: those of a model that has the known targets as
    /// further training data, with the same hyperparameters and scaling. Known noise counts as in training.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let y: Vec<[f64; 2]> = x.iter().map(|x| [x.sin(), -x.sin()]).collect();
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new())?;
    /// // Far from the data, the second output follows the first.
    /// let given = gp.predict_given([40.0], [[0.9, f64::NAN]])?;
    /// let mean: Vec<f64> = given.mean().into_data().iter().collect();
    /// assert!(mean[1] < -0.5, "{mean:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `known`: `[N, P]`, NaN where a target is to be predicted
    ///
    /// # Errors
    ///
    /// As for [`predict`](Self::predict); when the numbers of rows or columns do not match, a known target is infinite or
    /// has no transformed value, or the model takes no further data.
    pub fn predict_given(
        &self,
        inputs: impl Into<Matrix>,
        known: impl Into<Matrix>,
    ) -> Result<FittedPredictions, Error> {
        let (inputs, known) = self.rows_of(inputs.into(), known.into())?;
        let columns = known.columns;
        let targets = (self.saved.context).scaled_targets(known.values, columns)?;
        // Rows without a known target add nothing.
        let rows = inputs.values.chunks_exact(inputs.columns);
        let rows = rows.zip(targets.chunks_exact(columns));
        let (x, y): (Vec<_>, Vec<_>) = (rows.into_iter())
            .filter(|(_, targets)| targets.iter().any(|target| !target.is_nan()))
            .unzip();
        if x.is_empty() {
            return Ok(self.predicted(inputs, self.predictor.clone()));
        }
        let (device, dtype) = self.place();
        let x = matrix(&x.concat(), inputs.columns, &device, dtype);
        let y = matrix(&y.concat(), columns, &device, dtype);
        let process = (self.saved.model).process_given(self.predictor.process(), x, y);
        let process = process.ok_or(Error::NoFurtherData)??;
        let likelihood = self.saved.model.likelihood();
        let predictor = Predictor::new(process, &likelihood, &device, dtype);
        Ok(self.predicted(inputs, Arc::new(predictor)))
    }

    /// Checked and scaled inputs, and as many targets in the units of the data.
    fn rows_of(&self, inputs: Matrix, targets: Matrix) -> Result<(Rows, Rows), Error> {
        let (inputs, targets) = (self.scaled(inputs)?, targets.read("targets")?);
        if targets.count != inputs.count {
            return Err(Error::Rows {
                inputs: inputs.count,
                targets: targets.count,
            });
        }
        let expected = self.saved.summary.target_columns;
        if targets.columns != expected {
            return Err(Error::TargetColumns {
                found: targets.columns,
                expected: expected.to_string(),
            });
        }
        Ok((inputs, targets))
    }
}
