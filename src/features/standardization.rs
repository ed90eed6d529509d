//! Standardized inputs, with mean zero and variance one.

use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::ops::numbers;

/// `(x_d − μ_d)/s_d` for every input d, with constants μ and s that are not trained.
///
/// A network whose inputs fill only a small part of its input range starts almost constant, and is
/// slow to learn to distinguish them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standardization {
    /// μ, `[D]`
    pub means: Vec<f64>,
    /// s, `[D]`
    pub deviations: Vec<f64>,
}

impl Standardization {
    /// The means and standard deviations of points. The standard deviation of an input that is
    /// constant up to rounding is set to 1.
    ///
    /// # Shapes
    ///
    /// - `points`: `[N, D]`
    pub fn of(points: &Tensor<2>) -> Self {
        let [_, dimensions] = points.dims();
        Self::of_rows(&numbers(points.clone()), dimensions)
    }

    /// The means and standard deviations of points on the CPU, as in [`of`](Self::of).
    ///
    /// # Shapes
    ///
    /// - `values`: `[N, D]`, row-major; `dimensions`: D
    pub fn of_rows(values: &[f64], dimensions: usize) -> Self {
        let count = values.len() / dimensions.max(1);
        let mean_of = |d: usize, of: &dyn Fn(f64) -> f64| {
            let column = values.iter().skip(d).step_by(dimensions);
            column.map(|&x| of(x)).sum::<f64>() / count as f64
        };
        let means: Vec<f64> = (0..dimensions).map(|d| mean_of(d, &|x| x)).collect();
        let deviation = |(d, &mean): (usize, &f64)| {
            let column = || values.iter().skip(d).step_by(dimensions).copied();
            if is_constant(column()) {
                return 1.0;
            }
            let deviation = mean_of(d, &|x| (x - mean).powi(2)).sqrt();
            if deviation.is_normal() {
                return deviation;
            }
            // The squares overflow or underflow, so divide by the largest difference first.
            let largest = column().map(|x| (x - mean).abs()).fold(0.0, f64::max);
            largest * mean_of(d, &|x| ((x - mean) / largest).powi(2)).sqrt()
        };
        let deviations = means.iter().enumerate().map(deviation).collect();
        Self { means, deviations }
    }

    /// Standardizes points on the CPU, row-major.
    pub fn apply_to_rows(&self, values: &[f64]) -> Vec<f64> {
        let columns = self.means.iter().zip(&self.deviations).cycle();
        let values = values.iter().zip(columns);
        values
            .map(|(x, (mean, deviation))| (x - mean) / deviation)
            .collect()
    }

    /// Standardizes points.
    ///
    /// # Shapes
    ///
    /// - `x` and the result: `[N, D]`
    ///
    /// # Panics
    ///
    /// If the numbers of means and standard deviations differ from the number of inputs.
    #[track_caller]
    pub fn apply(&self, x: Tensor<2>) -> Tensor<2> {
        let [_, dimensions] = x.dims();
        let (means, deviations) = (self.means.len(), self.deviations.len());
        assert!(
            means == dimensions && deviations == dimensions,
            "{dimensions} inputs with {means} means and {deviations} standard deviations; expected \
             {dimensions} of each"
        );
        let row = |values: Vec<f64>| {
            let data = TensorData::new(values, [1, dimensions]).convert_dtype(x.dtype());
            Tensor::<2>::from_data(data, (&x.device(), x.dtype()))
        };
        let reciprocals = self.deviations.iter().map(|s| s.recip()).collect();
        let (means, reciprocals) = (row(self.means.clone()), row(reciprocals));
        (x - means) * reciprocals
    }
}

/// Differences below this fraction of the largest number are rounding errors, which must not be
/// scaled up.
const CONSTANT: f64 = 1e-12;

/// Whether all numbers are equal up to rounding.
fn is_constant(values: impl Iterator<Item = f64>) -> bool {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    high - low <= CONSTANT * high.abs().max(low.abs())
}
