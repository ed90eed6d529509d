//! Latent inputs and missing outputs of new rows.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    latent_inputs::{LatentInputs, LatentProcess},
    ops::{NotPositiveDefinite, numbers},
};

use super::{FIRST_DEVIATION, FittedGplvm, RowMoments};
use crate::{
    Error, Matrix,
    fit::Rows,
    training::{FullBatchTraining, Model, Objective, TrainingData, TrainingError, fit, matrix},
};

/// The settings by which the latent input of a row is found.
const TRAINING: FullBatchTraining = FullBatchTraining {
    iterations: 200,
    ..FullBatchTraining::L_BFGS
};

/// A new row with its trained latent input and the functions of its observed outputs, which are fixed.
#[derive(Module, Debug)]
struct NewRow {
    latent: LatentInputs,
    #[module(skip)]
    process: LatentProcess,
}

impl Model for NewRow {
    fn objective(
        &self,
        _inputs: Tensor<2>,
        outputs: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let (mean, variance) = (self.latent.mean(), self.latent.variance());
        Ok(Objective {
            fit: self.process.expected_log_density(mean, variance, outputs),
            kl: Some(self.latent.kl_from_prior()),
        })
    }

    fn needs_all_data(&self) -> bool {
        true
    }
}

impl FittedGplvm {
    /// The distributions of the latent inputs of new rows, with everything else fixed: each maximizes
    /// `Σ_p E[log N(y_p | f_p(x), σ²)] − KL[q(x) ‖ p(x)]` over its observed outputs. It starts at the training row with the
    /// nearest outputs. A row without observed outputs has the prior.
    ///
    /// The functions do not learn from new rows.
    ///
    /// # Shapes
    ///
    /// - `rows`: `[N*, P]`, NaN where an output is missing
    /// - result: `[N*, Q]`
    ///
    /// # Errors
    ///
    /// When there are no rows, an output is infinite, or their number of columns differs from the training rows.
    pub fn infer(&self, rows: impl Into<Matrix>) -> Result<RowMoments, Error> {
        let scaled = self.standardized(rows.into().read("outputs")?)?;
        let latent = scaled.values.chunks(scaled.columns).map(|row| {
            let latent = self.latent_of(row)?;
            Ok(RowMoments::of(latent.mean(), latent.deviation()))
        });
        joined(latent)
    }

    /// Rows with their missing outputs: the means and standard deviations of missing outputs given the observed ones, noise
    /// included, by the latent inputs of [`infer`](Self::infer). Observed outputs stay, with a standard deviation of zero.
    ///
    /// # Shapes
    ///
    /// - `rows`: `[N*, P]`, NaN where an output is missing
    /// - result: `[N*, P]`
    ///
    /// # Errors
    ///
    /// Same as [`infer`](Self::infer).
    pub fn impute(&self, rows: impl Into<Matrix>) -> Result<RowMoments, Error> {
        let rows = rows.into().read("outputs")?;
        let observed = rows.values.clone();
        let columns = rows.columns;
        let scaled = self.standardized(rows)?;
        let imputed =
            (scaled.values.chunks(columns).zip(observed.chunks(columns))).map(|(row, observed)| {
                let latent = self.latent_of(row)?;
                let moments = (self.process).expected_marginals(latent.mean(), latent.variance());
                let mut moments = self.of_outputs(moments);
                let known = observed.iter().enumerate().filter(|(_, y)| !y.is_nan());
                for (column, &y) in known {
                    (moments.means[0][column], moments.deviations[0][column]) = (y, 0.0);
                }
                Ok(moments)
            });
        joined(imputed)
    }

    /// The trained latent input of one standardized row, NaN where an output is missing.
    fn latent_of(&self, row: &[f64]) -> Result<LatentInputs, Error> {
        let (device, dtype) = self.place();
        let device = device.autodiff();
        let observed: Vec<usize> = (0..row.len())
            .filter(|&column| !row[column].is_nan())
            .collect();
        if observed.is_empty() {
            let dimensions = self.config.dimensions;
            let origin = Tensor::zeros([1, dimensions], (&device.inner(), dtype));
            return Ok(LatentInputs::new(origin, &vec![1.0; dimensions]));
        }
        let (mean, deviations) = self.nearest(row, &observed);
        let latent = matrix(&mean, mean.len(), &device, dtype);
        let model = NewRow {
            latent: LatentInputs::new(latent, &deviations),
            process: self.process.of_outputs(&observed),
        };
        let outputs: Vec<f64> = observed.iter().map(|&column| row[column]).collect();
        let data = TrainingData {
            inputs: Tensor::zeros([1, 1], (&device, dtype)),
            targets: matrix(&outputs, outputs.len(), &device, dtype),
        };
        let trainer = fit::<_, TrainingError>(model, data, &TRAINING.into(), &mut [])?;
        Ok(trainer.model().latent.valid())
    }

    /// The latent mean and standard deviations of the training row whose observed outputs are nearest.
    fn nearest(&self, row: &[f64], observed: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let outputs = numbers(self.kept.outputs.val());
        let distance = |known: &[f64]| {
            let each = observed
                .iter()
                .map(|&column| (known[column] - row[column]).powi(2));
            each.sum::<f64>()
        };
        let distances = outputs.chunks(row.len()).map(distance).enumerate();
        let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
        let nearest = nearest.map_or(0, |(row, _)| row);
        let latent = self.kept.model.latent();
        let own = |tensor: Tensor<2>| numbers(tensor.narrow(0, nearest, 1));
        let deviations = own(latent.deviation());
        let deviations = deviations.into_iter().map(first_deviation);
        (own(latent.mean()), deviations.collect())
    }

    /// Standardized rows, NaN where an output is missing.
    fn standardized(&self, rows: Rows) -> Result<Rows, Error> {
        let expected = self.process.outputs();
        if rows.columns != expected {
            return Err(Error::TargetColumns {
                found: rows.columns,
                expected: expected.to_string(),
            });
        }
        if let Some(index) = rows.values.iter().position(|y| y.is_infinite()) {
            return Err(Error::NotFinite {
                row: index / expected,
                column: index % expected,
                value: rows.values[index],
            });
        }
        Ok(Rows {
            values: self.scaling.apply_to_rows(&rows.values),
            ..rows
        })
    }
}

/// The first standard deviation of a new row, from that of a training row, which may be at its floor.
fn first_deviation(deviation: f64) -> f64 {
    match deviation.is_finite() {
        true => deviation.clamp(0.01, 10.0),
        false => FIRST_DEVIATION,
    }
}

/// The moments of single rows one below the other.
fn joined(rows: impl Iterator<Item = Result<RowMoments, Error>>) -> Result<RowMoments, Error> {
    let mut all = RowMoments::default();
    for row in rows {
        let RowMoments { means, deviations } = row?;
        all.means.extend(means);
        all.deviations.extend(deviations);
    }
    Ok(all)
}
