//! The beta-binomial likelihood.

use core::f64::consts::PI;
use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    bernoulli_logit::logistic,
    distributions::ShareTarget,
    likelihood::{draw, of_all_outputs, of_output},
    one_parameter::one_parameter,
    poisson::log_factorial_beyond_powers,
    successes::{Outcomes, description, log_one_plus},
};
use crate::{
    ops::{sigmoid, softplus, stirling_remainder},
    parameter::{Fraction, defaults},
    register,
};

/// Parameters of the beta distribution are at least this.
const SMALLEST_PARAMETER: f64 = 1e-30;

/// `log(1 + x)` is computed from its parts below this x, where digits of `1 + x` would be lost.
const LOG_OF_RATIO: f64 = -0.5;

/// Number of bisection steps in the search for the peak of the density.
const HALVINGS: usize = 12;

/// The number of successes y among n trials that share a probability of their own, which has a beta distribution with
/// mean `m = 1/(1 + e^{−f})`: counts that vary more than a [`Binomial`](super::Binomial) distribution allows. With the
/// trained dispersion ρ between 0 and 1, the correlation of two trials, and `s = 1/ρ − 1`,
/// `p(y | n, f) = n!/(y!·(n − y)!)·B(y + s·m, n − y + s·(1 − m))/B(s·m, s·(1 − m))` with the beta function B. The
/// variance is `n·m·(1 − m)·(1 + (n − 1)·ρ)`
/// (J. Skellam, *A probability distribution derived from the binomial distribution*, 1948).
///
/// The targets are the successes of all outputs, followed by their numbers of trials: `[N, 2P]`. The likelihood does
/// not know the trials of a new point, so [`predict`](Likelihood::predict) and [`sample`](Likelihood::sample) describe
/// the share of successes in many trials, a beta variable.
/// [`PredictiveDistribution::with_trials`](super::PredictiveDistribution::with_trials) describes numbers of successes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{BetaBinomial, BetaBinomialConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: BetaBinomial = BetaBinomialConfig { dispersion: 1.0 / 3.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[1.0, 4.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // With a uniform probability, the five possible counts are equally likely.
/// assert!((density - 0.2_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct BetaBinomial {
    dispersion: Fraction,
}

defaults! {
    /// Configuration of a [`BetaBinomial`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct BetaBinomialConfig {
        /// The initial value of the dispersion ρ.
        pub dispersion: f64 = 0.1,
    }
}

register!(
    Likelihood,
    "beta-binomial",
    BetaBinomialConfig,
    "Numbers of successes that vary more than a binomial distribution allows"
);

one_parameter!(BetaBinomialConfig, Successes => BetaBinomial {
    /// The dispersion ρ, `[1]`, or `[P]` if each output has its own.
    dispersion: Fraction
});

/// `log x! − x·log x + x` for positive x.
fn beyond_powers<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    stirling_remainder(x.clone()) + (x * (2.0 * PI)).log() * 0.5
}

/// One outcome, successes or failures.
struct Outcome {
    /// How often it occurred, y, `[1, N, P]`.
    count: Tensor<3>,
    /// One if that is above zero.
    occurred: Tensor<3>,
    /// `log y! − y·log y + y`
    beyond_powers: Tensor<3>,
    /// Its log probability `log m`, `[S, N, P]`.
    log_mean: Tensor<3>,
    /// The parameter `a = s·m` of its probability.
    parameter: Tensor<3>,
    /// `y − n·m`
    excess: Tensor<3>,
}

/// What both outcomes share, `[1, N, P]` and `[1, 1, P]`.
struct Common {
    /// n
    trials: Tensor<3>,
    /// s
    precision: Tensor<3>,
}

impl Outcome {
    /// With `e = y − n·m` and the pooled probability `q = (y + a)/(n + s)`, the terms of this outcome:
    /// `−y·log(y/(n·q)) − a·log(m/q) + h(y + a) − h(y) − h(a) + log a − log(y + a)` with `h(x) = log x! − x·log x + x`.
    /// The ratios are `1 + s·e/(n·(y + a))` and `1 − e/(y + a)`.
    fn log_density(&self, common: &Common) -> Tensor<3> {
        let total = self.parameter.clone() + self.count.clone();
        let both = common.trials.clone() + common.precision.clone();
        let log_total = total.clone().log();
        let relative = self.excess.clone() / total.clone();
        let scale = common.precision.clone() / common.trials.clone();
        let of_count = log_of_ratio(
            relative.clone() * scale,
            self.count.clone().clamp_min(1.0).log() - common.trials.clone().log()
                + both.clone().log()
                - log_total.clone(),
        );
        let of_mean = log_of_ratio(
            relative.neg(),
            self.log_mean.clone() + both.log() - log_total.clone(),
        );
        let log_parameter = self.log_mean.clone() + common.precision.clone().log();
        let more = beyond_powers(total)
            - beyond_powers(self.parameter.clone())
            - self.beyond_powers.clone()
            + log_parameter
            - log_total;
        more * self.occurred.clone()
            - of_count * self.count.clone()
            - of_mean * self.parameter.clone()
    }
}

/// `log(1 + x)`, which equals `far`.
fn log_of_ratio(x: Tensor<3>, far: Tensor<3>) -> Tensor<3> {
    let is_far = x.clone().lower_elem(LOG_OF_RATIO);
    log_one_plus(x.clamp_min(LOG_OF_RATIO)).mask_where(is_far, far)
}

impl BetaBinomial {
    /// `s = 1/ρ − 1`, `[1]` or `[P]`.
    fn precision(&self) -> Tensor<1> {
        self.dispersion().recip() - 1.0
    }

    /// Successes and failures.
    fn outcomes(&self, outcomes: Outcomes, function: Tensor<3>, common: &Common) -> [Outcome; 2] {
        let [log_mean, log_rest] =
            [function.clone().neg(), function].map(|odds| softplus(odds).neg());
        let excess_of = |count: &Tensor<2>, log_mean: &Tensor<3>| {
            count.clone().unsqueeze::<3>() - log_mean.clone().exp() * common.trials.clone()
        };
        // Computed from the smaller of the two probabilities, which has more digits.
        let is_likely = log_mean.clone().greater_elem(0.5f64.ln());
        let excess = excess_of(&outcomes.successes, &log_mean)
            .mask_where(is_likely, excess_of(&outcomes.failures, &log_rest).neg());
        let of = |count: Tensor<2>, log_mean: Tensor<3>, excess: Tensor<3>| Outcome {
            occurred: count.clone().clamp_max(1.0).unsqueeze(),
            beyond_powers: log_factorial_beyond_powers(count.clone()).unsqueeze(),
            count: count.unsqueeze(),
            parameter: (log_mean.clone().exp() * common.precision.clone())
                .clamp_min(SMALLEST_PARAMETER),
            log_mean,
            excess,
        };
        [
            of(outcomes.successes, log_mean, excess.clone()),
            of(outcomes.failures, log_rest, excess.neg()),
        ]
    }
}

impl Likelihood for BetaBinomial {
    fn description(&self) -> LikelihoodDescription {
        description("beta-binomial")
    }

    /// The terms of both outcomes (see `Outcome::log_density`), and `h(n) − h(n + s) + h(s) + log(n + s) − log s`. The
    /// log-gamma functions have large parts that cancel; this form omits them.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let outcomes = Outcomes::of(targets);
        let common = Common {
            trials: outcomes.trials.clone().unsqueeze(),
            precision: self.precision().unsqueeze(),
        };
        let Common { trials, precision } = &common;
        let both = trials.clone() + precision.clone();
        let constant = beyond_powers(trials.clone()) - beyond_powers(both.clone())
            + beyond_powers(precision.clone())
            + both.log()
            - precision.clone().log();
        let [successes, failures] = self.outcomes(outcomes, function, &common);
        successes.log_density(&common) + failures.log_density(&common) + constant
    }

    /// The derivative has the sign of `ψ(y + a) − ψ(a) − ψ(n − y + b) + ψ(b)` with `a = s·m`, `b = s·(1 − m)`. It
    /// vanishes between 0 and the log odds of the outcomes, where bisection finds it, with `log(x + ½) − 1/x` for the
    /// digamma function.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let precision = self.precision().detach().unsqueeze::<2>();
        let (successes, failures) = Outcomes::of(targets.clone()).not_zero();
        let digamma = |x: Tensor<2>| (x.clone() + 0.5).log() - x.recip();
        let parameter =
            |f: Tensor<2>| (sigmoid(f) * precision.clone()).clamp_min(SMALLEST_PARAMETER);
        let rise = |count: &Tensor<2>, parameter: Tensor<2>| {
            digamma(count.clone() + parameter.clone()) - digamma(parameter)
        };
        let log_odds = successes.clone().log() - failures.clone().log();
        let (mut center, mut step) = (log_odds.clone() * 0.5, log_odds.abs() * 0.25);
        for _ in 0..HALVINGS {
            let slope = rise(&successes, parameter(center.clone()))
                - rise(&failures, parameter(center.clone().neg()));
            center = center + slope.sign() * step.clone();
            step = step * 0.5;
        }
        // −d²/df² with 1/x + 1/x² for the trigamma function.
        let information = |count: &Tensor<2>, f: Tensor<2>| {
            let parameter = parameter(f.clone());
            let share = count.clone() / (count.clone() + parameter.clone());
            let own = share.clone() * parameter + share.clone() * (share.neg() + 2.0);
            own * sigmoid(f.neg()).square()
        };
        let both =
            information(&successes, center.clone()) + information(&failures, center.clone().neg());
        Some(QuadratureCenter {
            center,
            width: both.sqrt().recip(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = sigmoid(function.clone());
        let variance = mean.clone() * sigmoid(function.neg());
        (mean, variance * self.dispersion().unsqueeze::<3>())
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let dispersion = self.dispersion.to_vec();
        draw(function, 1, |f, output| {
            let precision = of_output(&dispersion, output).recip() - 1.0;
            let mean = logistic(f[0]);
            let values = rand_distr::Beta::new(precision * mean, precision * logistic(-f[0]));
            values.map_or(mean, |values| values.sample(random))
        })
    }

    /// The distribution of the share of successes, as in [`predict`](Self::predict).
    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let dispersion = of_all_outputs(&self.dispersion.to_vec())?;
        Some(Arc::new(ShareTarget { dispersion }))
    }
}
