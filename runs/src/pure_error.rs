//! The noise that repeated measurements show.

use std::collections::HashMap;

use burn_gp_core::{likelihoods::GaussianConfig, parameter::Hyperparameter};
use burn_gp_datasets::{Matrix, agreeing, counted};

use crate::arguments::RunOptions;
use crate::noise_for_signal::noise_variance;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::scores::four_decimals;

/// The normal quantile of the probability 0.999.
const QUANTILE: f64 = 3.090_232_306_167_813;

/// The pure error of rows with equal inputs: how much their targets differ. A function has one value at an
/// input, so that all of this is noise (Draper and Smith, *Applied Regression Analysis*, 1998, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq)]
struct PureError {
    /// `S = Σ_g Σ_i (y_gi − ȳ_g)²` over groups g of rows with equal inputs.
    squares: f64,
    /// `ν = Σ_g (n_g − 1)`
    degrees: usize,
}

impl PureError {
    /// The pure error of `targets`, `[N]`, at `inputs`, `[N, D]`.
    fn of(inputs: &Matrix, targets: &[f64]) -> Self {
        let mut groups: HashMap<Vec<u64>, Moments> = HashMap::new();
        for (row, &target) in targets.iter().enumerate() {
            // Adding zero turns −0 into +0.
            let inputs = inputs.row(row).iter();
            let key = inputs.map(|value| (value + 0.0).to_bits()).collect();
            groups.entry(key).or_default().push(target);
        }
        let moments = groups.values();
        Self {
            squares: moments.clone().map(|group| group.squares).sum(),
            degrees: moments.map(|group| group.count - 1).sum(),
        }
    }

    /// ν, the number of rows with the inputs of an earlier row.
    fn degrees(&self) -> usize {
        self.degrees
    }

    /// `S/ν`, the estimate of the noise variance; zero without repeats.
    fn variance(&self) -> f64 {
        match self.degrees {
            0 => 0.0,
            degrees => self.squares / degrees as f64,
        }
    }

    /// The noise variance at which S is as large or larger with a probability of 0.001: `S/χ²` with the quantile
    /// χ² for ν degrees of freedom. Less noise cannot have made these targets. Zero without repeats, or if their
    /// targets are equal.
    fn least_variance(&self) -> f64 {
        match self.degrees {
            0 => 0.0,
            degrees => self.squares / chi_square_quantile(degrees as f64),
        }
    }
}

/// The quantile of the chi-square distribution for the probability 0.999, `ν·(1 − 2/(9ν) + z·√(2/(9ν)))³`
/// (Wilson and Hilferty, *The Distribution of Chi-Square*, 1931). It is 3 % too large for ν = 1, and 0.6 % for
/// ν = 10.
fn chi_square_quantile(degrees: f64) -> f64 {
    let ninth = 2.0 / (9.0 * degrees);
    degrees * (1.0 - ninth + QUANTILE * ninth.sqrt()).powi(3)
}

/// The number of targets, their mean, and the sum of their squared deviations from it, by the updates of
/// Welford (Technometrics 4, 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: usize,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }
}

/// The paths by which normal noise is fixed.
const FIXED: [&str; 2] = ["likelihood", "likelihood.noise"];

/// Fails if the noise is fixed at a value that the training rows with equal inputs make impossible.
/// `hyperparameters` are those of the model before its first step.
///
/// # Errors
///
/// [`OptionError::ImpossibleNoise`].
pub fn require_possible_noise(
    options: &RunOptions,
    hyperparameters: &[Hyperparameter],
    data: &PreparedData,
) -> Result<(), OptionError> {
    let mut fixed = options.fix.iter().flatten();
    if !fixed.any(|path| FIXED.contains(&path.as_str())) {
        return Ok(());
    }
    match impossible_noise(hyperparameters, data) {
        Some((noise, rows, deviation)) => Err(OptionError::ImpossibleNoise {
            noise,
            rows,
            deviation,
        }),
        None => Ok(()),
    }
}

/// A warning if training ended with less noise than the training rows with equal inputs show.
pub fn unlikely_noise(hyperparameters: &[Hyperparameter], data: &PreparedData) -> Option<String> {
    let (noise, rows, deviation) = impossible_noise(hyperparameters, data)?;
    Some(format!(
        "the noise standard deviation {} is too small: the targets of {} that {} the inputs of \
         others differ by a standard deviation of {}; train for more steps, or choose another likelihood",
        four_decimals(noise),
        counted(rows, "row"),
        agreeing(rows, ["repeats", "repeat"]),
        four_decimals(deviation)
    ))
}

/// The standard deviation of normal noise if rows with equal inputs make it impossible, the number of such rows
/// beyond the first of each input, and the standard deviation of their targets, in the units of the target.
fn impossible_noise(
    hyperparameters: &[Hyperparameter],
    data: &PreparedData,
) -> Option<(f64, usize, f64)> {
    let is_in_memory = data.stream.is_none() && data.train.attributes.weights.is_none();
    if !is_in_memory || !data.likelihood.is::<GaussianConfig>() {
        return None;
    }
    let noise = noise_variance(hyperparameters)?;
    let found = PureError::of(&data.train.inputs, &data.train.targets);
    let scale = data.standardizer.target_scale;
    (noise < found.least_variance()).then(|| {
        let deviation = |variance: f64| variance.sqrt() * scale;
        (
            deviation(noise),
            found.degrees(),
            deviation(found.variance()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure_error(rows: &[(f64, f64)]) -> PureError {
        let (inputs, targets): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
        PureError::of(&Matrix::new(rows.len(), 1, inputs), &targets)
    }

    #[test]
    fn differences_at_equal_inputs_are_noise() {
        let rows = [(0.0, 1.0), (2.0, 7.0), (-0.0, 3.0), (2.0, 7.0), (1.0, 9.0)];
        let found = pure_error(&rows);
        assert_eq!((found.degrees(), found.variance()), (2, 1.0));
        // Rows that are not repeated, and copies, say nothing.
        assert_eq!(pure_error(&rows[..2]).least_variance(), 0.0);
        assert_eq!(pure_error(&[(1.0, 0.1), (1.0, 0.1)]).least_variance(), 0.0);
    }

    /// Quantiles from tables: 10.828, 29.588, 149.449.
    #[test]
    fn quantiles_are_those_of_the_chi_square_distribution() {
        for (degrees, quantile, error) in [
            (1.0, 10.828, 0.035),
            (10.0, 29.588, 0.007),
            (100.0, 149.449, 0.001),
        ] {
            let found = chi_square_quantile(degrees);
            assert!((found / quantile - 1.0).abs() < error, "{degrees}: {found}");
        }
    }
}
