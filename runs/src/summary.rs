//! Summary statistics.

use serde::{Deserialize, Serialize};

/// The mean and the standard error of a score over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard error `s/√n`, where s is the sample standard deviation; `None` for a single
    /// run.
    pub standard_error: Option<f64>,
    /// The number of runs, n.
    pub runs: usize,
}

impl Summary {
    /// The summary of the values; `None` without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error =
            (runs > 1).then(|| (squares / (runs as f64 - 1.0) / runs as f64).sqrt());
        (runs > 0).then_some(Self {
            mean,
            standard_error,
            runs,
        })
    }

    /// The sample standard deviation, which some papers print; `None` for a single run.
    pub fn deviation(&self) -> Option<f64> {
        let runs = self.runs as f64;
        self.standard_error.map(|error| error * runs.sqrt())
    }
}

/// The pointwise mean of curves, as long as the shortest curve.
pub fn mean_curve(curves: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let count = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |point: usize, of: fn(&(f64, f64)) -> f64| {
        let sum: f64 = curves.iter().map(|curve| of(&curve[point])).sum();
        sum / curves.len() as f64
    };
    let points = (0..count).map(|point| (mean(point, |at| at.0), mean(point, |at| at.1)));
    points.collect()
}

/// The median, or the larger of the two middle values; NaN if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{Summary, mean_curve, median};

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, -1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 4.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn means_end_with_the_shortest_curve() {
        let curves = [vec![(0.0, 1.0), (2.0, 4.0)], vec![(1.0, 2.0)]];
        assert_eq!(mean_curve(&curves), [(0.5, 1.5)]);
        assert!(mean_curve(&[]).is_empty());
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        // The differences from the mean are −3, −1, 1, 3, so the sample variance is 20/3 and the standard error
        // √(20/3/4).
        let summary = Summary::of([1.0, 3.0, 5.0, 7.0]).unwrap();
        assert_eq!((summary.mean, summary.runs), (4.0, 4));
        let error = summary.standard_error.unwrap();
        assert!((error - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((summary.deviation().unwrap() - (20.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Summary::of([2.0]).unwrap().standard_error, None);
        assert_eq!(Summary::of([]), None);
    }
}
