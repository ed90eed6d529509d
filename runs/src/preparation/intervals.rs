//! Targets that are intervals.

use burn_gp_core::likelihoods::middle_of_interval;
use burn_gp_datasets::{Companion, Dataset, Standardizer};

/// The intervals that hold targets: lower and upper limits, `[N]`, infinite where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// In the units of the data; NaN where the target is missing.
    pub observed: Vec<[f64; 2]>,
    /// Standardized.
    pub standardized: Vec<[f64; 2]>,
}

impl Intervals {
    /// The intervals between these limits.
    pub fn new(lower: &[f64], upper: &[f64], standardizer: &Standardizer) -> Self {
        let pairs = |lower: &[f64], upper: &[f64]| -> Vec<[f64; 2]> {
            let limits = lower.iter().zip(upper);
            limits.map(|(&lower, &upper)| [lower, upper]).collect()
        };
        let [low, high] = [lower, upper].map(|limits| standardizer.transform_targets(limits));
        Self {
            observed: pairs(lower, upper),
            standardized: pairs(&low, &high),
        }
    }

    /// The intervals of the rows at these positions.
    pub fn select(&self, places: &[usize]) -> Self {
        let own = |limits: &[[f64; 2]]| places.iter().map(|&place| limits[place]).collect();
        Self {
            observed: own(&self.observed),
            standardized: own(&self.standardized),
        }
    }

    /// The targets that are known exactly, and NaN for others, in the units of the data.
    pub fn exact(&self) -> Vec<f64> {
        let exact = |&[lower, upper]: &[f64; 2]| if lower == upper { lower } else { f64::NAN };
        self.observed.iter().map(exact).collect()
    }

    /// The middles of the intervals, in the units of the data.
    pub fn middles(&self) -> Vec<f64> {
        let limits = self.observed.iter();
        limits
            .map(|&[lower, upper]| middle_of_interval(lower, upper))
            .collect()
    }
}

/// Data with the middle of each interval as its target, which standardization follows.
pub fn with_middles(data: &Dataset) -> Dataset {
    let mut middles = data.clone();
    if let Some(upper) = data.attributes.numbers(Companion::Upper) {
        for (target, upper) in middles.targets.iter_mut().zip(upper) {
            *target = middle_of_interval(*target, *upper);
        }
    }
    middles
}
