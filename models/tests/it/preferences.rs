//! Utilities from choices between two items.

use burn_gp_core::{
    kernels::{KernelConfig, PreferenceConfig, StationaryConfig},
    likelihoods::LikelihoodConfig,
    parameter::numbers,
};
use burn_gp_models::{Error, Fit, FitModel, Fitted, SvgpConfig};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const CHOICES: usize = 400;

/// The units of the two inputs of an item.
const UNITS: [f64; 2] = [1000.0, 0.01];

fn utility(item: [f64; 2]) -> f64 {
    let [x, y] = [item[0] / UNITS[0], item[1] / UNITS[1]];
    3.0 * (2.0 * x).sin() + y
}

fn item(random: &mut ChaCha8Rng, reach: f64) -> [f64; 2] {
    UNITS.map(|unit| unit * random.random_range(-reach..reach))
}

fn pair(a: [f64; 2], b: [f64; 2]) -> [f64; 4] {
    [a[0], a[1], b[0], b[1]]
}

/// Pairs of items, and whether the first is chosen: with a logistic probability of the difference of utilities. First
/// items are rarely far out, so that the columns of the two items have different standard deviations.
fn choices() -> (Vec<[f64; 4]>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(821);
    let mut one = || {
        let (a, b) = (item(&mut random, 0.7), item(&mut random, 1.4));
        let probability = 1.0 / (1.0 + (utility(b) - utility(a)).exp());
        (pair(a, b), usize::from(random.random_bool(probability)))
    };
    (0..CHOICES).map(|_| one()).unzip()
}

fn config() -> SvgpConfig {
    let base = StationaryConfig::rbf().into();
    let kernel = KernelConfig::from(PreferenceConfig { base });
    SvgpConfig::new(kernel, LikelihoodConfig::bernoulli()).with_inducing(40)
}

fn fitted() -> Fitted {
    let (pairs, chosen) = choices();
    let fit = Fit::adam(0.03).epochs(200).batch_size(100).seed(3);
    config().fit(pairs, chosen, &fit).expect("a model")
}

/// The probability that the first item is chosen.
fn probabilities(gp: &Fitted, pairs: Vec<[f64; 4]>) -> Vec<f64> {
    let predicted = gp.predict(pairs).expect("predictions");
    let both = numbers(predicted.probabilities().expect("probabilities").clone());
    both.chunks(2).map(|row| row[1]).collect()
}

/// Items of equal utility have a probability of one half, and an item that is better by 1 has 0.73. The probabilities of
/// 400 choices of a model with some 10 effective parameters have a standard error of about 0.08, so that pairs that
/// differ by 1 are in order, but for a few.
#[test]
fn choices_give_the_order_of_utilities() {
    let gp = fitted();
    let scaling = gp.scaling().inputs.clone().expect("standardized inputs");
    for statistics in [&scaling.means, &scaling.deviations] {
        assert_eq!(statistics[..2], statistics[2..]);
    }
    // The standard deviation of uniform numbers in ±0.7 and in ±1.4 together: √(1/6·(0.7² + 1.4²)) = 0.64.
    for (deviation, unit) in scaling.deviations.iter().zip(UNITS) {
        assert!(
            (deviation / unit - 0.64).abs() < 0.04,
            "{deviation} of {unit}"
        );
    }
    let mut random = ChaCha8Rng::seed_from_u64(822);
    let items: Vec<_> = (0..40).map(|_| item(&mut random, 1.0)).collect();
    let reference = [0.0, 0.0];
    let score = probabilities(&gp, items.iter().map(|&own| pair(own, reference)).collect());
    let (mut right, mut all) = (0, 0);
    for (a, first) in items.iter().zip(&score) {
        for (b, second) in items.iter().zip(&score) {
            if utility(*a) > utility(*b) + 1.0 {
                all += 1;
                right += usize::from(first > second);
            }
        }
    }
    assert!(all > 400 && right * 100 >= all * 97, "{right} of {all}");
}

/// Training on few rows for a moment does not lose the sign.
#[test]
fn probabilities_of_both_orders_add_up_to_one() {
    let (pairs, chosen) = choices();
    let fit = Fit::adam(0.03).epochs(3).batch_size(100).seed(3);
    let gp = config().fit(pairs.clone(), chosen, &fit).expect("a model");
    let other = pairs.iter().map(|&[a, b, c, d]| [c, d, a, b]).collect();
    let (ours, swapped) = (probabilities(&gp, pairs), probabilities(&gp, other));
    for (first, second) in ours.iter().zip(swapped) {
        // Only rounding of the normal distribution function in double precision.
        assert!((first + second - 1.0).abs() < 1e-6, "{first} + {second}");
    }
}

#[test]
fn half_an_item_is_refused() {
    let error = (config().fit(
        vec![[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]],
        vec![0, 1],
        &Fit::new(),
    ))
    .expect_err("three inputs");
    assert!(matches!(error, Error::Init(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "kernel: the preference kernel compares two items and takes an even number of inputs, those of the first item \
         and then those of the second, not 3"
    );
}
