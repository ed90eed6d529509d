//! The noise that repeated measurements show.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use burn_gp_core::{likelihoods::GaussianConfig, parameter::Hyperparameter};
use burn_gp_datasets::{Matrix, agreeing, counted};

use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::fitting::Session;
use crate::noise_for_signal::noise_variance;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::scores::four_decimals;

/// The normal quantile of the probability 0.999.
const QUANTILE: f64 = 3.090_232_306_167_813;

/// The fewest inputs with impossible repeats for which a model is refused.
const FEWEST_GROUPS: usize = 3;
/// The smallest share of repeated rows for which a model is refused.
const LEAST_REPEATED: f64 = 0.1;

/// The pure error of rows with equal inputs: how much their targets differ. A function has one value at an
/// input, so that all of this is noise (Draper and Smith, *Applied Regression Analysis*, 1998, section 2.1).
#[derive(Clone, Debug)]
struct PureError {
    /// The targets at each input that several rows have.
    groups: Vec<Moments>,
    /// N
    rows: usize,
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
        Self {
            groups: groups
                .into_values()
                .filter(|group| group.count > 1)
                .collect(),
            rows: targets.len(),
        }
    }

    /// `S = Σ_g Σ_i (y_gi − ȳ_g)²` over groups g of rows with equal inputs.
    fn squares(&self) -> f64 {
        self.groups.iter().map(|group| group.squares).sum()
    }

    /// `ν = Σ_g (n_g − 1)`, the number of rows with the inputs of an earlier row.
    fn degrees(&self) -> usize {
        self.groups.iter().map(Moments::degrees).sum()
    }

    /// `S/ν`, the estimate of the noise variance; zero without repeats.
    fn variance(&self) -> f64 {
        match self.degrees() {
            0 => 0.0,
            degrees => self.squares() / degrees as f64,
        }
    }

    /// The noise variance at which S is as large or larger with a probability of 0.001: `S/χ²` with the quantile
    /// χ² for ν degrees of freedom. Less noise cannot have made these targets. Zero without repeats, or if their
    /// targets are equal.
    fn least_variance(&self) -> f64 {
        match self.degrees() {
            0 => 0.0,
            degrees => self.squares() / chi_square_quantile(degrees),
        }
    }

    /// Whether a model with this noise variance follows the noise of repeats: at most of the repeated inputs, the
    /// targets differ more than they would with a probability of 0.001.
    ///
    /// Few repeats may be outliers, or lie where the noise is larger than elsewhere, and are no reason to refuse a
    /// model. With more of them, the evidence itself has its optimum at more noise: its factor
    /// `σ^(−ν)·exp(−S/(2σ²))` pulls the noise to `S/ν`, and the other rows at most to `S/N`.
    fn is_followed_by(&self, noise: f64) -> bool {
        let impossible = (self.groups.iter())
            .filter(|group| noise < group.squares / chi_square_quantile(group.degrees()))
            .count();
        let repeated: usize = self.groups.iter().map(|group| group.count).sum();
        impossible >= FEWEST_GROUPS
            && 2 * impossible > self.groups.len()
            && repeated as f64 >= LEAST_REPEATED * self.rows as f64
    }
}

/// The quantile of the chi-square distribution for the probability 0.999, `ν·(1 − 2/(9ν) + z·√(2/(9ν)))³`
/// (Wilson and Hilferty, *The Distribution of Chi-Square*, 1931). It is 3 % too large for ν = 1, and 0.6 % for
/// ν = 10.
fn chi_square_quantile(degrees: usize) -> f64 {
    let degrees = degrees as f64;
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
    fn degrees(&self) -> usize {
        self.count - 1
    }

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
    match ImpossibleNoise::of(hyperparameters, data) {
        Some(found) => Err(OptionError::ImpossibleNoise {
            noise: found.noise,
            rows: found.rows,
            deviation: found.deviation,
        }),
        None => Ok(()),
    }
}

/// A warning if training ended with less noise than the training rows with equal inputs show.
pub fn unlikely_noise(hyperparameters: &[Hyperparameter], data: &PreparedData) -> Option<String> {
    let found = ImpossibleNoise::of(hyperparameters, data)?;
    Some(format!(
        "{found}; train for more steps, or choose another likelihood"
    ))
}

/// Refuses a model that follows the noise of training rows with equal inputs: its intervals are far too narrow.
pub fn require_unfollowed_noise(
    session: &Session,
    data: &PreparedData,
    folder: &Path,
) -> Result<(), Failure> {
    let hyperparameters = session.kept_model().hyperparameters();
    match ImpossibleNoise::of(&hyperparameters, data).filter(|found| found.is_followed) {
        None => Ok(()),
        Some(noise) => Err(Failure::FollowedNoise {
            noise: noise.to_string(),
            steps: session.trainer.steps_made(),
            folder: folder.to_owned(),
        }),
    }
}

/// Normal noise that rows with equal inputs make impossible, in the units of the target.
#[derive(Clone, Copy, Debug)]
struct ImpossibleNoise {
    /// The standard deviation of the noise.
    noise: f64,
    /// The number of rows beyond the first of each input.
    rows: usize,
    /// The standard deviation of their targets.
    deviation: f64,
    /// Whether the model follows the noise of most of them.
    is_followed: bool,
}

impl ImpossibleNoise {
    fn of(hyperparameters: &[Hyperparameter], data: &PreparedData) -> Option<Self> {
        let is_in_memory = data.stream.is_none() && !data.train.has_weights();
        if !is_in_memory || !data.likelihood.is::<GaussianConfig>() {
            return None;
        }
        let noise = noise_variance(hyperparameters)?;
        let found = PureError::of(&data.train.inputs, &data.train.targets);
        let deviation = |variance: f64| variance.sqrt() * data.standardizer.target_scale;
        (noise < found.least_variance()).then(|| Self {
            noise: deviation(noise),
            rows: found.degrees(),
            deviation: deviation(found.variance()),
            is_followed: found.is_followed_by(noise),
        })
    }
}

impl fmt::Display for ImpossibleNoise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the noise standard deviation {} is too small: the targets of {} that {} the inputs of others differ \
             by a standard deviation of {}",
            four_decimals(self.noise),
            counted(self.rows, "row"),
            agreeing(self.rows, ["repeats", "repeat"]),
            four_decimals(self.deviation)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure_error(rows: &[(f64, f64)]) -> PureError {
        let (inputs, targets): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
        PureError::of(&Matrix::new(rows.len(), 1, inputs), &targets)
    }

    /// `count` inputs with two targets each that differ by 0.2, so that `S/ν` is 0.02, and `others` without a repeat.
    fn pairs(count: usize, others: usize) -> PureError {
        let input = |row: usize| if row < 2 * count { row / 2 } else { row };
        let rows: Vec<(f64, f64)> = (0..2 * count + others)
            .map(|row| (input(row) as f64, 0.2 * (row % 2) as f64))
            .collect();
        pure_error(&rows)
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
            (1, 10.828, 0.035),
            (10, 29.588, 0.007),
            (100, 149.449, 0.001),
        ] {
            let found = chi_square_quantile(degrees);
            assert!((found / quantile - 1.0).abs() < error, "{degrees}: {found}");
        }
    }

    #[test]
    fn most_repeats_tell_whether_their_noise_is_followed() {
        let found = pairs(20, 0);
        assert!((found.variance() - 0.02).abs() < 1e-12);
        // One pair is impossible below 0.02/10.8.
        assert!(found.is_followed_by(0.001) && !found.is_followed_by(0.003));
        // Two pairs may be outliers, and few pairs lie where there is more noise than elsewhere.
        assert!(!pairs(2, 0).is_followed_by(0.001));
        assert!(pairs(3, 50).is_followed_by(0.001) && !pairs(3, 60).is_followed_by(0.001));
        // One outlier among pairs that agree says nothing about the others.
        let mut rows: Vec<(f64, f64)> = (0..40).map(|row| (f64::from(row / 2), 0.0)).collect();
        rows[7].1 = 9.0;
        let found = pure_error(&rows);
        assert!(found.least_variance() > 0.1 && !found.is_followed_by(0.001));
    }
}
