//! The binomial likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution, TargetKind,
    bernoulli_logit::logistic,
    distributions::ShareTarget,
    likelihood::draw,
    poisson::log_factorial_beyond_powers,
    successes::{Outcomes, description, log_one_plus},
};
use crate::{
    ops::{exp_minus_one, sigmoid, softplus},
    register,
};

/// `log(1 + x)` is computed from its parts below this x, where digits of `1 + x` would be lost.
const LOG_OF_SUM: f64 = -0.5;

/// Up to this distance between log odds, `e^d` is a moderate number in single precision.
const NEAR: f64 = 30.0;

/// The number of successes y among n independent trials with probability `m = 1/(1 + e^{−f})`:
/// `p(y | n, f) = n!/(y!·(n − y)!)·m^y·(1 − m)^{n−y}`.
///
/// The targets are the successes of all outputs, followed by their numbers of trials: `[N, 2P]`. The likelihood does
/// not know the trials of a new point, so [`predict`](Likelihood::predict) and [`sample`](Likelihood::sample) describe
/// the share of successes m. [`PredictiveDistribution::with_trials`](super::PredictiveDistribution::with_trials)
/// describes numbers of successes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Binomial, Likelihood};
///
/// let device = Device::default();
/// let likelihood = Binomial::default();
/// let (y, f) = (Tensor::<2>::from_data([[1.0, 4.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // One head of four coins has probability 4/16.
/// assert!((density - 0.25_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct Binomial {}

/// Configuration of a [`Binomial`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{BinomialConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(BinomialConfig {}), LikelihoodConfig::binomial());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinomialConfig {}

register!(
    Likelihood,
    "binomial",
    BinomialConfig,
    "Numbers of successes among the trials of --trials"
);

impl LikelihoodDefinition for BinomialConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        Binomial {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Successes
    }
}

impl LikelihoodConfig {
    /// A [`Binomial`] likelihood.
    pub fn binomial() -> Self {
        BinomialConfig {}.into()
    }
}

/// `n·KL(y/n ‖ m)`, `[S, N, P]`, from `[N, P]` and `[S, N, P]`. With the log odds ratio `d = f − log y/(n − y)` and
/// the share r of the outcomes that get less likely as d moves away from zero, failures for `d > 0`, it is
/// `n·(r·|d| + log(1 + r·(e^{−|d|} − 1)))`, and with the share s of the others `n·(log(1 + s·(e^{|d|} − 1)) − s·|d|)`.
/// The terms of the first are small if few outcomes are of the first kind, those of the second if few are of the
/// second. Without successes or failures it is `n·log(1 + e^{±f})`.
fn divergence(outcomes: &Outcomes, function: Tensor<3>) -> Tensor<3> {
    let (successes, failures) = outcomes.not_zero();
    let total = successes.clone() + failures.clone();
    let log_odds = successes.clone().log() - failures.clone().log();
    let ratio = function.clone() - log_odds.unsqueeze::<3>();
    let shape = ratio.dims();
    let share = |part: Tensor<2>| (part / total.clone()).unsqueeze::<3>().expand(shape);
    let (success, failure) = (share(successes), share(failures));
    let is_above = ratio.clone().greater_elem(0.0);
    let less = success
        .clone()
        .mask_where(is_above.clone(), failure.clone());
    let more = failure.mask_where(is_above, success);
    let distance = ratio.abs();
    let change = exp_minus_one(distance.clone().neg()) * less.clone();
    let is_far = change.clone().lower_elem(LOG_OF_SUM);
    let far = (more.clone() + less.clone() * distance.clone().neg().exp()).log();
    let log = log_one_plus(change.clamp_min(LOG_OF_SUM)).mask_where(is_far, far);
    let near = distance.clone().clamp_max(NEAR);
    let rare = log_one_plus(exp_minus_one(near.clone()) * more.clone()) - near * more.clone();
    let is_rare = more
        .lower(less.clone())
        .bool_and(distance.clone().lower_elem(NEAR));
    let both = (distance * less + log).mask_where(is_rare, rare);
    let is_missing = |part: &Tensor<2>| part.clone().lower_elem(0.5).unsqueeze::<3>().expand(shape);
    let each = both
        .mask_where(is_missing(&outcomes.successes), softplus(function.clone()))
        .mask_where(is_missing(&outcomes.failures), softplus(function.neg()));
    each * outcomes.trials.clone().unsqueeze::<3>()
}

/// `log n!/(y!·(n − y)!) + y·log(y/n) + (n − y)·log(1 − y/n)`, `[N, P]`: the largest log density.
fn largest_log_density(outcomes: &Outcomes) -> Tensor<2> {
    log_factorial_beyond_powers(outcomes.trials.clone())
        - log_factorial_beyond_powers(outcomes.successes.clone())
        - log_factorial_beyond_powers(outcomes.failures.clone())
}

impl Likelihood for Binomial {
    fn description(&self) -> LikelihoodDescription {
        description("binomial")
    }

    /// The largest log density for any f, at `m = y/n`, less `n·KL(y/n ‖ m)`. The logarithms of factorials and of
    /// powers have large parts that cancel; this form omits them.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let outcomes = Outcomes::of(targets);
        let largest = largest_log_density(&outcomes).unsqueeze::<3>();
        largest - divergence(&outcomes, function)
    }

    /// At the log odds of the successes, over a distance of `√(1/y + 1/(n − y))`.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let (successes, failures) = Outcomes::of(targets.clone()).not_zero();
        let width = (successes.clone().recip() + failures.clone().recip()).sqrt();
        Some(QuadratureCenter {
            center: successes.log() - failures.log(),
            width: width.clamp_max(1.0),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = function.zeros_like();
        (sigmoid(function), variance)
    }

    fn sample(&self, function: Tensor<3>, _random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| logistic(f[0]))
    }

    /// The distribution of the share of successes, as in [`predict`](Self::predict).
    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(ShareTarget { dispersion: 0.0 }))
    }
}
