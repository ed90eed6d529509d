//! Prediction intervals with a guarantee: jackknife+, CV+ and split conformal.
//!
//! An interval of level `1 − α` from n rows and a new row has its guarantee if the rows are exchangeable, whatever
//! their distribution and however wrong the model:
//!
//! | interval | rows | coverage, in the mean over data sets |
//! |---|---|---|
//! | [`split_quantile`] | n rows that the model has not seen | at least `1 − α` |
//! | [`jackknife_plus`] | n training rows, each predicted by a model of all others | at least `1 − 2α`, close to `1 − α` as a rule |
//! | [`jackknife_plus`] with folds (CV+) | n training rows in K folds, each predicted by a model without its fold | at least `1 − 2α − √(2/n)` |
//!
//! Barber, Candès, Ramdas and Tibshirani, *Predictive inference with the jackknife+*, Annals of Statistics 49, 2021
//! (arXiv 1905.02928), theorems 1 and 4; Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005,
//! for split conformal. Scores are residuals divided by predictive standard deviations, so that an interval is wider
//! where the model is less certain (Lei et al., *Distribution-free predictive inference for regression*, 2018,
//! section 5.2).
//!
//! ```
//! use burn_gp_models::conformal::{fewest_rows, score, split_quantile};
//!
//! // The targets, predicted means and standard deviations of nine rows that the model has not seen.
//! let targets = [0.3, -0.2, 1.1, 0.4, 0.0, -0.9, 0.5, 0.2, -0.4];
//! let scores: Vec<f64> = targets.iter().map(|&target| score(target, 0.1, 0.5)).collect();
//! let factor = split_quantile(&scores, 0.9);
//! assert!((factor - 2.0).abs() < 1e-12);
//! // A new target is in 0.1 ± 2·0.5 with a probability of at least 90 %.
//! assert_eq!(fewest_rows(0.9), 9);
//! ```

/// What rounding may add to a rank: `0.95·20` is 19, not 20, from above.
const ROUNDING: f64 = 1e-9;

/// `|y − μ|/s`, the score of a target with a predicted mean and standard deviation.
pub fn score(target: f64, mean: f64, deviation: f64) -> f64 {
    (target - mean).abs() / deviation
}

/// `⌈(1 − α)(n + 1)⌉`, the rank from below of the upper end of an interval of level `1 − α` from n rows.
fn rank(rows: usize, level: f64) -> usize {
    (level * (rows + 1) as f64 - ROUNDING).ceil() as usize
}

/// The fewest rows with a finite interval of this level `1 − α`: `⌈1/α⌉ − 1`.
pub fn fewest_rows(level: f64) -> usize {
    (1.0 / (1.0 - level) - ROUNDING).ceil() as usize - 1
}

/// The value of rank `rank` from below among `values`, counted from 1: −∞ for rank 0, ∞ for ranks above their number.
fn order_statistic(mut values: Vec<f64>, rank: usize) -> f64 {
    match rank {
        0 => f64::NEG_INFINITY,
        rank if rank > values.len() => f64::INFINITY,
        rank => {
            let (_, value, _) = values.select_nth_unstable_by(rank - 1, f64::total_cmp);
            *value
        }
    }
}

/// The split conformal factor of level `1 − α`: the `⌈(1 − α)(n + 1)⌉`-th smallest of the [scores](score) of n rows
/// that the model has not seen. A new target is in `μ ± factor·s` with a probability of at least `1 − α`. Infinite
/// with [too few rows](fewest_rows).
pub fn split_quantile(scores: &[f64], level: f64) -> f64 {
    order_statistic(scores.to_vec(), rank(scores.len(), level))
}

/// The jackknife+ interval of level `1 − α` of one new target:
/// the `⌊α(n + 1)⌋`-th smallest of `μ_−i(x) − R_i s_−i(x)` and the `⌈(1 − α)(n + 1)⌉`-th smallest of
/// `μ_−i(x) + R_i s_−i(x)`, where `μ_−i` and `s_−i` are the mean and the standard deviation of a model without row i,
/// and `R_i` is the [`score`] of row i by that model. With models without the fold of row i it is CV+. Its ends
/// are infinite with [too few rows](fewest_rows).
///
/// # Shapes
///
/// - `scores`, `means`, `deviations`: `[N]`
///
/// # Panics
///
/// If the numbers of scores, means and standard deviations differ.
#[track_caller]
pub fn jackknife_plus(scores: &[f64], means: &[f64], deviations: &[f64], level: f64) -> (f64, f64) {
    let rows = scores.len();
    assert!(
        means.len() == rows && deviations.len() == rows,
        "jackknife_plus: {rows} scores, {} means and {} standard deviations; expected [N] each",
        means.len(),
        deviations.len()
    );
    let ends = |sign: f64| {
        let each = scores.iter().zip(means).zip(deviations);
        each.map(move |((score, mean), deviation)| mean + sign * score * deviation)
            .collect()
    };
    // ⌊α(n + 1)⌋ = n + 1 − ⌈(1 − α)(n + 1)⌉
    let upper = rank(rows, level);
    (
        order_statistic(ends(-1.0), rows + 1 - upper.min(rows + 1)),
        order_statistic(ends(1.0), upper),
    )
}

/// The level above which the [split conformal](split_quantile) interval contains a target with this score: the share
/// of the n + 1 rows, itself included, with a smaller score.
pub fn split_level(scores: &[f64], score: f64) -> f64 {
    let smaller = scores.iter().filter(|&&own| own < score).count();
    smaller as f64 / (scores.len() + 1) as f64
}

/// The level above which the [jackknife+ interval](jackknife_plus) contains `target`.
///
/// # Shapes
///
/// - `scores`, `means`, `deviations`: `[N]`
pub fn jackknife_plus_level(scores: &[f64], means: &[f64], deviations: &[f64], target: f64) -> f64 {
    let rows = || scores.iter().zip(means).zip(deviations);
    let above = rows().filter(|((score, mean), deviation)| *mean - *score * *deviation > target);
    let below = rows().filter(|((score, mean), deviation)| *mean + *score * *deviation < target);
    above.count().max(below.count()) as f64 / (scores.len() + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten rows of exact regression, their residuals, and the predictions at a new input without each, in 50 digits
    /// from dense matrices.
    const RESIDUALS: [f64; 10] = [
        0.16309506602593918,
        0.04883222728012632,
        0.18269990702415517,
        0.12292006443135406,
        0.14968114886913308,
        0.06524583931871586,
        0.1767112303683211,
        0.07460998082743081,
        0.03391276911547106,
        0.25054217385396427,
    ];
    const VARIANCES: [f64; 10] = [
        0.25502140701574244,
        0.12372788796711735,
        0.08292827762148787,
        0.0648922839566886,
        0.08777119359508131,
        0.1139382056665703,
        0.16123429067099682,
        0.10854469536757527,
        0.12655510786456578,
        0.36396561071182043,
    ];
    const MEANS: [f64; 10] = [
        0.8135031495808908,
        0.8062899216947911,
        0.8298648280553643,
        0.8406505525766653,
        0.7620716061544535,
        0.8430617786060781,
        0.7984614725941092,
        0.8051891638761621,
        0.8090257830427487,
        0.8122570347060798,
    ];
    const LATENT: [f64; 10] = [
        0.023298256915520794,
        0.023158008798132096,
        0.02419565865142045,
        0.02758747836140441,
        0.031269026040705014,
        0.05592086699880285,
        0.023476505930295453,
        0.023160723600826546,
        0.023124397065959475,
        0.02311266294145914,
    ];
    const NOISE: f64 = 0.05;

    fn assert_near(found: (f64, f64), expected: [f64; 2]) {
        let [lower, upper] = expected;
        // A few roundings of numbers near one.
        assert!((found.0 - lower).abs() < 1e-14, "{found:?}, {expected:?}");
        assert!((found.1 - upper).abs() < 1e-14, "{found:?}, {expected:?}");
    }

    #[test]
    fn golden_intervals() {
        let same = [1.0; 10];
        let plain = jackknife_plus(&RESIDUALS, &MEANS, &same, 0.8);
        assert_near(plain, [0.6123904572853204, 1.0125647350795195]);
        let scores: Vec<f64> = (RESIDUALS.iter().zip(VARIANCES))
            .map(|(residual, variance)| score(*residual, 0.0, variance.sqrt()))
            .collect();
        let deviations = LATENT.map(|variance| (variance + NOISE).sqrt());
        let normalized = jackknife_plus(&scores, &MEANS, &deviations, 0.8);
        assert_near(normalized, [0.657051891178415, 0.9750576083697983]);
        let all = jackknife_plus(&RESIDUALS, &MEANS, &same, 0.95);
        assert_eq!(all, (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn ranks_at_whole_numbers() {
        // 0.95·20 = 19 and 0.9·10 = 9: with one row less, no row is far enough outside.
        assert_eq!(
            [fewest_rows(0.95), fewest_rows(0.9), fewest_rows(0.5)],
            [19, 9, 1]
        );
        for (level, rows) in [(0.95, 19), (0.9, 9), (0.99, 99), (0.8, 4)] {
            let scores: Vec<f64> = (1..=rows).map(f64::from).collect();
            assert_eq!(split_quantile(&scores, level), f64::from(rows), "{level}");
            assert_eq!(
                split_quantile(&scores[1..], level),
                f64::INFINITY,
                "{level}"
            );
            let (means, same) = (vec![0.0; scores.len()], vec![1.0; scores.len()]);
            let ends = jackknife_plus(&scores, &means, &same, level);
            assert_eq!(ends, (-f64::from(rows), f64::from(rows)), "{level}");
        }
        assert_eq!(split_quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(split_quantile(&[], 0.5), f64::INFINITY);
    }

    #[test]
    fn intervals_contain_a_target_from_its_level_on() {
        let deviations = LATENT.map(f64::sqrt);
        let ends = |level| jackknife_plus(&RESIDUALS, &MEANS, &deviations, level);
        for target in [0.7, 0.79, 0.8, 0.803, 0.81, 0.83, 0.95] {
            let level = jackknife_plus_level(&RESIDUALS, &MEANS, &deviations, target);
            let holds = |level| {
                let (lower, upper) = ends(level);
                lower <= target && target <= upper
            };
            assert!(holds(level + 1e-6), "{target} is outside at {level}");
            assert!(
                level == 0.0 || !holds(level - 1e-6),
                "{target} is inside at {level}"
            );
            let score = target - 0.7;
            let level = split_level(&RESIDUALS, score);
            assert!(
                score <= split_quantile(&RESIDUALS, level + 1e-6),
                "{target}"
            );
            assert!(
                level == 0.0 || score > split_quantile(&RESIDUALS, level - 1e-6),
                "{target}"
            );
        }
    }
}
