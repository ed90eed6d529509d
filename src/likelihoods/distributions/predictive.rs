//! The predictive distributions of many targets.

use std::sync::Arc;

use burn_gp_transforms::Transform;
use rayon::prelude::*;

use super::{NormalTarget, Recalibration, TargetDistribution};
use crate::{parameter::numbers, process::Marginals};

/// The minimum number of targets per parallel task.
const TARGETS_AT_ONCE: usize = 16;

/// The distributions of new targets, row-major, `[N, P]`. Each is an equally weighted mixture over
/// S components, in which the latent functions are Gaussian. A single process has one component; a
/// deep model has one for every draw of the hidden layers.
///
/// ```
/// use burn_gp_core::{likelihoods::LikelihoodConfig, process::Marginals};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::default();
/// let functions = Marginals {
///     mean: Tensor::from_data([[0.0], [3.0]], &device),
///     variance: Tensor::from_data([[0.2], [0.1]], &device),
/// };
/// // Only labels without an order have no distribution function.
/// let counts = LikelihoodConfig::poisson().init(&device).predictive_distribution(&[functions]);
/// let interval = counts.map(|counts| counts.interval(0.95));
/// let ends = interval.map(|interval| (interval.lower[0], interval.upper[0]));
/// assert_eq!(ends, Some((0.0, 4.0)));
/// ```
#[derive(Clone, Debug)]
pub struct PredictiveDistribution {
    /// One for every target, or one for all.
    targets: Vec<Arc<dyn TargetDistribution>>,
    /// S
    components: usize,
    /// L, the number of functions per output.
    latents: usize,
    /// Moments of the functions, `[N, P, S, L]`.
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// The shift and scale of each output, `[P]`; empty if targets are not rescaled.
    units: Vec<Unit>,
    /// The transformation g of each output, `[P]`, if what has units are the transformed targets `g(y)`; else empty.
    pub(super) transforms: Vec<Transform>,
    /// The map of the distribution functions, if there is one.
    pub(super) recalibration: Option<Arc<Recalibration>>,
}

/// `y = shift + scale·z` for the target z of the likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub shift: f64,
    pub scale: f64,
}

/// Distributions are equal if their likelihood, parameters and function moments are equal.
impl PartialEq for PredictiveDistribution {
    fn eq(&self, other: &Self) -> bool {
        // Debug output shows numbers exactly.
        (self.components, self.latents) == (other.components, other.latents)
            && (&self.mean, &self.variance) == (&other.mean, &other.variance)
            && (&self.units, &self.transforms) == (&other.units, &other.transforms)
            && self.recalibration == other.recalibration
            && format!("{:?}", self.targets) == format!("{:?}", other.targets)
    }
}

impl PredictiveDistribution {
    /// Creates the mixtures of `target` over S components, which are marginals of the functions,
    /// `[N, F]`.
    ///
    /// # Panics
    ///
    /// If there are no components, if they differ in shape, or if F is not a multiple of `latents`.
    #[track_caller]
    pub fn new(
        target: Arc<dyn TargetDistribution>,
        latents: usize,
        components: &[Marginals],
    ) -> Self {
        let shape = components.first().map(|own| own.mean.dims());
        let Some([rows, functions]) = shape else {
            panic!("a predictive distribution needs at least one component");
        };
        for own in components {
            let shapes = [own.mean.dims(), own.variance.dims()];
            assert!(
                shapes == [[rows, functions]; 2],
                "a component with means and variances of shapes {shapes:?}; expected {:?} for both",
                [rows, functions]
            );
        }
        assert!(
            latents > 0 && functions.is_multiple_of(latents),
            "{functions} functions; the likelihood takes {latents} for each output"
        );
        let outputs = functions / latents;
        let means: Vec<Vec<f64>> = (components.iter())
            .map(|own| numbers(own.mean.clone()))
            .collect();
        let variances: Vec<Vec<f64>> = (components.iter())
            .map(|own| numbers(own.variance.clone()))
            .collect();
        let arranged = |values: &[Vec<f64>]| {
            let mut arranged = Vec::with_capacity(values.len() * rows * functions);
            for index in 0..rows * outputs {
                let (row, output) = (index / outputs, index % outputs);
                for own in values {
                    let own = &own[row * functions..][..functions];
                    arranged.extend((0..latents).map(|latent| own[latent * outputs + output]));
                }
            }
            arranged
        };
        Self {
            targets: vec![target],
            components: components.len(),
            latents,
            mean: arranged(&means),
            variance: arranged(&variances),
            units: Vec::new(),
            transforms: Vec::new(),
            recalibration: None,
        }
    }

    /// Normal distributions with the given means and variances, one of each per target.
    ///
    /// # Panics
    ///
    /// If their numbers differ.
    #[track_caller]
    pub fn of_normals(means: Vec<f64>, variances: Vec<f64>) -> Self {
        assert!(
            means.len() == variances.len(),
            "{} means and {} variances",
            means.len(),
            variances.len()
        );
        Self {
            targets: vec![Arc::new(NormalTarget { noise: 0.0 })],
            components: 1,
            latents: 1,
            mean: means,
            variance: variances,
            units: Vec::new(),
            transforms: Vec::new(),
            recalibration: None,
        }
    }

    /// The number of targets, N·P.
    pub fn len(&self) -> usize {
        self.mean.len() / (self.components * self.latents)
    }

    /// Whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// Appends the targets of `other`, which are further rows of the same model.
    ///
    /// # Panics
    ///
    /// If the number of components or functions, the units, the transformations or the recalibrations differ.
    #[track_caller]
    pub fn append(&mut self, other: Self) {
        let (own, added) = (
            (self.components, self.latents),
            (other.components, other.latents),
        );
        assert!(
            own == added,
            "cannot append targets with {added:?} components and functions to targets with {own:?}"
        );
        assert!(
            self.units == other.units,
            "cannot append targets in units {:?} to targets in units {:?}",
            other.units,
            self.units
        );
        assert!(
            self.transforms == other.transforms && self.recalibration == other.recalibration,
            "cannot append targets with another transformation or recalibration"
        );
        let [own, added] = [&self.targets, &other.targets].map(|all| format!("{all:?}"));
        if self.targets.len() > 1 || own != added {
            self.targets = [self.target_of_each(), other.target_of_each()].concat();
        }
        self.mean.extend(other.mean);
        self.variance.extend(other.variance);
    }

    /// Adds independent Gaussian noise with `[N, P]` variances to the targets, for measurements
    /// whose noise the likelihood does not know.
    ///
    /// # Panics
    ///
    /// If the number of variances differs from the number of targets, or if targets are not on the
    /// real line or are transformed.
    #[track_caller]
    pub fn with_noise(mut self, variances: &[f64]) -> Self {
        self.require_untransformed("noise");
        let support = self.target_of(0).support();
        assert!(
            support == super::Support::Reals && variances.len() == self.len(),
            "{} noise variances for {} targets on {support:?}",
            variances.len(),
            self.len()
        );
        let each = self.components * self.latents;
        for (index, noise) in variances.iter().enumerate() {
            let square = self.unit(index).map_or(1.0, |unit| unit.scale.powi(2));
            // The first function of an output is its mean.
            let own = self.variance[index * each..][..each].iter_mut();
            for variance in own.step_by(self.latents) {
                *variance += noise / square;
            }
        }
        self
    }

    /// The distributions of the numbers of successes among so many trials, one number for each target, if targets are
    /// the share of successes ([`Binomial`](crate::likelihoods::Binomial),
    /// [`BetaBinomial`](crate::likelihoods::BetaBinomial)).
    ///
    /// # Panics
    ///
    /// If the numbers of trials and targets differ, or targets are no such share.
    #[track_caller]
    pub fn with_trials(self, trials: &[f64]) -> Self {
        self.check(trials);
        let each = trials.iter().enumerate();
        let targets = each.map(|(index, &trials)| self.target_of(index).of_trials(trials));
        let Some(targets) = targets.collect::<Option<Vec<_>>>() else {
            panic!(
                "{} numbers of trials for targets that are no share of successes",
                trials.len()
            );
        };
        match self.is_empty() {
            true => self,
            false => Self { targets, ..self },
        }
    }

    /// The distribution of a target, given its functions.
    pub(super) fn target_of(&self, index: usize) -> &dyn TargetDistribution {
        &*self.targets[index % self.targets.len()]
    }

    /// The distribution of every target, given its functions.
    fn target_of_each(&self) -> Vec<Arc<dyn TargetDistribution>> {
        let targets = self.targets.iter().cycle();
        targets.take(self.len()).cloned().collect()
    }

    /// The distributions of `shift + scale·y`, which convert standardized targets to the units of
    /// the data. There is one shift and one scale for each output.
    ///
    /// # Panics
    ///
    /// If the numbers of shifts and scales differ or do not divide the number of targets, a scale
    /// is not positive, or targets are not on the real line or are transformed.
    #[track_caller]
    pub fn in_units(mut self, shifts: &[f64], scales: &[f64]) -> Self {
        self.require_untransformed("other units");
        let support = self.target_of(0).support();
        assert!(
            support.is_on_real_line()
                && shifts.len() == scales.len()
                && self.len().is_multiple_of(shifts.len().max(1))
                && scales.iter().all(|scale| *scale > 0.0),
            "{} shifts and scales {scales:?} for {} targets on {support:?}",
            shifts.len(),
            self.len()
        );
        let units = shifts.iter().zip(scales).enumerate();
        let units = units.map(|(output, (shift, scale))| {
            let (own, factor) =
                (self.unit(output)).map_or((0.0, 1.0), |own| (own.shift, own.scale));
            Unit {
                shift: shift + scale * own,
                scale: scale * factor,
            }
        });
        self.units = units.collect();
        self
    }

    /// The shift and scale of a target.
    pub(super) fn unit(&self, index: usize) -> Option<Unit> {
        let outputs = self.units.len();
        (outputs > 0).then(|| self.units[index % outputs])
    }

    /// The distributions of the first function of every output, without noise; if targets are transformed, of `g⁻¹` of it.
    pub fn of_function(&self) -> Self {
        let first = |values: &[f64]| values.iter().copied().step_by(self.latents).collect();
        Self {
            targets: vec![Arc::new(NormalTarget { noise: 0.0 })],
            components: self.components,
            latents: 1,
            mean: first(&self.mean),
            variance: first(&self.variance),
            units: self.units.clone(),
            transforms: self.transforms.clone(),
            recalibration: None,
        }
    }

    /// The means and variances of a target's functions under each component.
    fn components_of(&self, index: usize) -> impl Iterator<Item = (&[f64], &[f64])> {
        let each = self.components * self.latents;
        let own = index * each..(index + 1) * each;
        let means = self.mean[own.clone()].chunks_exact(self.latents);
        means.zip(self.variance[own].chunks_exact(self.latents))
    }

    /// A target of the likelihood, before rescaling and transformation. −∞ for a number below all possible targets.
    pub(super) fn within(&self, index: usize, target: f64) -> f64 {
        let own = self.transform_of(index);
        let target = own.map_or(target, |own| own.apply_or_limit(target));
        let unit = self.unit(index);
        unit.map_or(target, |unit| (target - unit.shift) / unit.scale)
    }

    pub(super) fn cdf_of(&self, index: usize, target: f64) -> f64 {
        match self.within(index, target) {
            f64::NEG_INFINITY => 0.0,
            own => self.cdf_within(index, own),
        }
    }

    /// `P(y ≤ t)` of one target of the likelihood, before rescaling.
    pub(super) fn cdf_within(&self, index: usize, target: f64) -> f64 {
        match &self.recalibration {
            None => self.model_cdf(index, target),
            Some(own) => own.probability(self.normal_score(index, target)),
        }
    }

    /// The same without recalibration.
    pub(super) fn model_cdf(&self, index: usize, target: f64) -> f64 {
        let terms = (self.components_of(index))
            .map(|(mean, variance)| self.target_of(index).cdf(target, mean, variance));
        terms.sum::<f64>() / self.components as f64
    }

    /// The mean and variance of a target that is normal, without recalibration.
    pub(super) fn normal_of(&self, index: usize) -> Option<(f64, f64)> {
        let (mean, variance) = self.components_of(index).next()?;
        (self.components == 1).then_some(())?;
        Some((mean[0], self.target_of(index).normal_variance(variance)?))
    }

    /// The means and variances of a target's components, if all are normal.
    pub(super) fn normals_of(&self, index: usize) -> Option<Vec<(f64, f64)>> {
        let normal = |(mean, variance): (&[f64], &[f64])| {
            Some((mean[0], self.target_of(index).normal_variance(variance)?))
        };
        self.components_of(index).map(normal).collect()
    }

    /// The locations and scales of a target's components.
    pub(super) fn places_of(&self, index: usize) -> Vec<(f64, f64)> {
        let each = self.components_of(index);
        let target = self.target_of(index);
        let places = each.map(|(mean, variance)| target.location_and_scale(mean, variance));
        places.collect()
    }

    /// The lowest and highest location of a target's components, and their largest scale.
    pub(super) fn range_within(&self, index: usize) -> (f64, f64, f64) {
        let none = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        (self.places_of(index).into_iter()).fold(none, |(low, high, widest), (location, scale)| {
            // `min` and `max` would ignore NaN.
            let number = location + scale;
            if number.is_nan() {
                return (f64::NAN, f64::NAN, f64::NAN);
            }
            (low.min(location), high.max(location), widest.max(scale))
        })
    }

    /// Computes a value for every target, in parallel.
    pub(super) fn each(&self, number: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        (0..self.len())
            .into_par_iter()
            .with_min_len(TARGETS_AT_ONCE)
            .map(number)
            .collect()
    }

    #[track_caller]
    pub(super) fn check(&self, targets: &[f64]) {
        assert!(
            targets.len() == self.len(),
            "{} targets for {} distributions",
            targets.len(),
            self.len()
        );
    }

    /// The distribution functions at the targets, `P(y ≤ t)`, one value per target, accurate to
    /// about 1e-12.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn cdf(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        self.each(|index| self.cdf_of(index, targets[index]))
    }
}
