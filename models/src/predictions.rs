//! The predictions of new rows.

use burn_gp_core::{
    likelihoods::{Interval, PredictiveDistribution},
    transforms::Transform,
};

/// Predictions of new targets and of the latent functions, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// The predictive means of the targets, one per output. For unordered labels, the probabilities
    /// of all classes.
    pub mean: Vec<f64>,
    /// The predictive variances of the targets, including noise, in the same layout as the means.
    pub variance: Vec<f64>,
    /// The probabilities of all classes; empty if the targets are not labels.
    pub probabilities: Vec<f64>,
    /// The means of the latent functions, one per function.
    pub function_mean: Vec<f64>,
    /// The variances of the latent functions.
    pub function_variance: Vec<f64>,
    /// The predictive distributions of the targets, which are mixtures for deep models. `None` if
    /// the targets are unordered labels or there are no rows.
    pub distribution: Option<PredictiveDistribution>,
}

impl Predictions {
    /// The quantiles of probability `p` of the targets, one per output. `None` if the targets are
    /// unordered labels or there are no rows.
    ///
    /// # Panics
    ///
    /// Unless `0 < p < 1`.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Option<Vec<f64>> {
        Some(self.distribution.as_ref()?.quantile(p))
    }

    /// Central intervals that contain the targets with probability `level`, as in
    /// [`PredictiveDistribution::interval`]. `None` if there are no quantiles.
    ///
    /// # Panics
    ///
    /// Unless `0 < level < 1`.
    #[track_caller]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        Some(self.distribution.as_ref()?.interval(level))
    }

    /// Predictions of `shift + scale·y`, which converts predictions of standardized targets to the
    /// units of the data. There is one shift and one scale for each output. The first latent function
    /// of each output is converted, too; others, such as log noises, are not.
    ///
    /// # Panics
    ///
    /// If the numbers of shifts and scales differ, the number of targets is not a multiple of them,
    /// or the targets are not real-valued or are transformed.
    #[track_caller]
    pub fn in_units(mut self, shifts: &[f64], scales: &[f64]) -> Self {
        let outputs = shifts.len();
        let rows = self.mean.len() / outputs.max(1);
        assert!(
            outputs == scales.len() && rows * outputs == self.mean.len(),
            "{outputs} shifts and {} scales for {} targets",
            scales.len(),
            self.mean.len()
        );
        let map = |values: &mut [f64], by: &dyn Fn(f64, usize) -> f64| {
            let columns = values.len() / rows.max(1);
            for (index, value) in values.iter_mut().enumerate() {
                let column = index % columns;
                if column < outputs {
                    *value = by(*value, column);
                }
            }
        };
        let mean = |value: f64, output: usize| shifts[output] + scales[output] * value;
        let variance = |value: f64, output: usize| scales[output].powi(2) * value;
        map(&mut self.mean, &mean);
        map(&mut self.function_mean, &mean);
        map(&mut self.variance, &variance);
        map(&mut self.function_variance, &variance);
        let distribution = self.distribution.take();
        self.distribution = distribution.map(|own| own.in_units(shifts, scales));
        self
    }

    /// Predictions of targets y whose transformed values `g(y)` these predict, with one transformation g for each output,
    /// which converts predictions of transformed targets to the units of the data: quantiles are `g⁻¹(q(p))`, and means and
    /// variances those of y ([`PredictiveDistribution::moments`]). The latent functions stay those of the transformed targets.
    ///
    /// # Panics
    ///
    /// If the number of targets is not a multiple of that of transformations, or the targets have no distribution, are not
    /// real-valued or are transformed already.
    #[track_caller]
    pub fn transformed(mut self, transforms: &[Transform]) -> Self {
        assert!(
            self.distribution.is_some() || self.mean.is_empty(),
            "{} transformations of targets without a distribution",
            transforms.len()
        );
        self.distribution = (self.distribution).map(|own| own.transformed(transforms));
        if let Some(own) = &self.distribution {
            (self.mean, self.variance) = own.moments();
        }
        self
    }

    /// Predictions of the number of successes among so many trials, one number for each target, if targets are the
    /// share of successes ([`Binomial`](burn_gp_core::likelihoods::Binomial),
    /// [`BetaBinomial`](burn_gp_core::likelihoods::BetaBinomial)). With the mean m and the variance v of the share, they
    /// have the mean `n·m` and the variance `n·m·(1 − m) + n·(n − 1)·v`.
    ///
    /// # Panics
    ///
    /// If the numbers of trials and targets differ, or targets are no such share.
    #[track_caller]
    pub fn with_trials(mut self, trials: &[f64]) -> Self {
        assert!(
            trials.len() == self.variance.len(),
            "{} numbers of trials for {} targets",
            trials.len(),
            self.variance.len()
        );
        let moments = self.mean.iter_mut().zip(&mut self.variance);
        for ((mean, variance), count) in moments.zip(trials) {
            let of_each = *mean * (1.0 - *mean);
            *variance = count * of_each + count * (count - 1.0) * *variance;
            *mean *= count;
        }
        let counts = (self.distribution).map(|distribution| distribution.with_trials(trials));
        self.distribution = counts;
        self.with_moments_after_recalibration()
    }

    /// Predictions of measurements with known noise variances, one per target, which are not part
    /// of the likelihood ([`FixedNoise`](burn_gp_core::likelihoods::FixedNoise)).
    ///
    /// # Panics
    ///
    /// If the numbers of variances and targets differ, or the targets are not real-valued or are transformed.
    #[track_caller]
    pub fn with_noise(mut self, variances: &[f64]) -> Self {
        assert!(
            variances.len() == self.variance.len(),
            "{} noise variances for {} targets",
            variances.len(),
            self.variance.len()
        );
        for (variance, noise) in self.variance.iter_mut().zip(variances) {
            *variance += noise;
        }
        let noisy = (self.distribution).map(|distribution| distribution.with_noise(variances));
        self.distribution = noisy;
        self.with_moments_after_recalibration()
    }

    /// With the means and variances of the distributions, if they are recalibrated.
    fn with_moments_after_recalibration(mut self) -> Self {
        let distribution = self.distribution.as_ref();
        if let Some(own) = distribution.filter(|own| own.is_recalibrated()) {
            (self.mean, self.variance) = own.moments();
        }
        self
    }
}
