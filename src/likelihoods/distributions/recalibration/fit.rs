//! The map of the targets of rows that a model has not seen.

use rayon::prelude::*;

use super::{LARGEST_SCORE, Recalibration, RecalibrationError, score_of};
use crate::{likelihoods::PredictiveDistribution, ops::special::functions::normal_quantile};

/// The number of rows for two more knots. A number that is fitted to n rows costs about 1/(2n) nats a row.
const ROWS_OF_TWO_KNOTS: usize = 100;

/// The largest number of knots.
const MOST_KNOTS: usize = 9;

/// The smallest distance of two knots.
const SMALLEST_STEP: f64 = 1e-6;

/// The largest slope of a tail, and the inverse of the smallest.
const LARGEST_SLOPE: f64 = 1e3;

/// A distance from the last knot counts as at most this many times the median of the distances on its side. Of normal
/// scores, one in a thousand is farther.
const FARTHEST: f64 = 5.0;

/// The number of places that stand for a target if some targets have a positive probability.
const PLACES: usize = 8;

/// The largest number of times that values of knots are found again, and the change of the map after which they stay.
const MOST_ROUNDS: usize = 50;
const SETTLED: f64 = 1e-3;

impl Recalibration {
    /// The fewest rows: the smallest map has three numbers.
    pub const FEWEST_ROWS: usize = 20;

    /// Fits the map to the targets of rows that the model has not seen, and their predictive distributions. A target with
    /// a positive probability, such as a count, stands for all probabilities between `P(Y < y)` and `P(Y ≤ y)`
    /// (Czado, Gneiting and Held, *Predictive model assessment for count data*, 2009). First these are spread evenly; then
    /// the values of the knots are repeatedly found again with probabilities that are even between `R(P(Y < y))` and
    /// `R(P(Y ≤ y))`, until they agree with their map
    /// (Turnbull, *The empirical distribution function with arbitrarily grouped, censored and truncated data*, 1976).
    /// Without this, the map would be drawn toward the identity where single targets have large probabilities.
    ///
    /// # Errors
    ///
    /// If there are fewer than 20 rows, or a distribution function is NaN at its target.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn fit(
        distribution: &PredictiveDistribution,
        targets: &[f64],
    ) -> Result<Self, RecalibrationError> {
        distribution.check(targets);
        let rows = targets.len();
        if rows < Self::FEWEST_ROWS {
            return Err(RecalibrationError::TooFewRows { rows });
        }
        let places = targets.par_iter().enumerate();
        let places = places.map(|(row, &target)| distribution.place_of(row, target));
        let places: Vec<Place> = places.collect();
        match places.iter().position(Place::is_nan) {
            Some(row) => Err(RecalibrationError::NotANumber { row }),
            None => Ok(Self::of_places(&places)),
        }
    }

    /// The map of targets, one for each row.
    fn of_places(places: &[Place]) -> Self {
        let rows = places.len();
        let has_steps = places.iter().any(|place| matches!(place, Place::Step(..)));
        let each = if has_steps { PLACES } else { 1 };
        let scores = places.iter().flat_map(|place| place.scores(each));
        let mut map = Self::of_scores(rows, scores.collect());
        if !has_steps {
            return map;
        }
        for _ in 0..MOST_ROUNDS {
            let moved = map.moved(places);
            let change = (-6..=6).map(|half| 0.5 * f64::from(half));
            let change = change.map(|score| (moved.value(score) - map.value(score)).abs());
            let change = change.fold(0.0, f64::max);
            map = moved;
            if change < SETTLED {
                break;
            }
        }
        map
    }

    /// The map whose values at the knots are those of the targets if this map spreads them over their steps. Tails stay.
    fn moved(&self, places: &[Place]) -> Self {
        let rows = places.len() as f64;
        let mut knots: Vec<(f64, f64)> = Vec::with_capacity(self.knots.len());
        for &(score, _) in &self.knots {
            let below: f64 = places
                .iter()
                .map(|place| place.share_below(score, self))
                .sum();
            let value = normal_quantile((below + 0.5) / (rows + 1.0));
            if knots
                .last()
                .is_none_or(|last| value - last.1 > SMALLEST_STEP)
            {
                knots.push((score, value));
            }
        }
        Self {
            knots,
            ..self.clone()
        }
    }

    /// The map of the normal scores of targets, of which there may be several for each row.
    pub(super) fn of_scores(rows: usize, mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        let count = (1 + 2 * (rows / ROWS_OF_TWO_KNOTS)).min(MOST_KNOTS);
        let mut knots: Vec<(f64, f64)> = Vec::with_capacity(count);
        for knot in 1..=count {
            let p = knot as f64 / (count + 1) as f64;
            let place = (quantile_of(&scores, p), normal_quantile(p));
            if (knots.last()).is_none_or(|last| place.0 - last.0 > SMALLEST_STEP) {
                knots.push(place);
            }
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let below = scores.iter().map(|score| first.0 - score);
        let above = scores.iter().map(|score| score - last.0);
        let slopes = (
            slope_of_tail(-first.1, without_outliers(below)),
            slope_of_tail(last.1, without_outliers(above)),
        );
        Self {
            rows,
            knots,
            slopes,
        }
    }
}

/// The quantile of sorted numbers, whose k-th of n has the probability `k/(n + 1)`.
fn quantile_of(sorted: &[f64], p: f64) -> f64 {
    let place = (p * (sorted.len() + 1) as f64 - 1.0).clamp(0.0, (sorted.len() - 1) as f64);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - place.floor()) * (sorted[high] - sorted[low])
}

/// The positive distances, of which none counts as far more than the others: a single wild target would make all
/// predictions vague, and move their means.
fn without_outliers(distances: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    let mut positive: Vec<f64> = distances.filter(|distance| *distance > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    let middle = positive.get(positive.len() / 2).copied();
    let farthest = FARTHEST * middle.unwrap_or_default();
    positive
        .into_iter()
        .map(move |distance| distance.min(farthest))
}

/// The slope b with the largest `Σ_i [log b − ½(w + b·d_i)²]` over positive distances:
/// `b²·Σd² + b·w·Σd = n`. 1 if there are no distances.
fn slope_of_tail(value: f64, distances: impl Iterator<Item = f64>) -> f64 {
    let none = (0.0, 0.0, 0.0);
    let (count, sum, squares) = (distances.filter(|distance| *distance > 0.0)).fold(
        none,
        |(count, sum, squares), distance| {
            (count + 1.0, sum + distance, squares + distance * distance)
        },
    );
    if count == 0.0 {
        return 1.0;
    }
    let linear = value * sum;
    let root = (linear * linear + 4.0 * count * squares).sqrt();
    // Without cancellation: 2c/(b + √(b² + 4ac)).
    (2.0 * count / (linear + root)).clamp(LARGEST_SLOPE.recip(), LARGEST_SLOPE)
}

/// What a target says about the map.
enum Place {
    /// Its normal score.
    Score(f64),
    /// `P(Y < y)` and `P(Y ≤ y)` of a target with a positive probability.
    Step(f64, f64),
}

impl Place {
    fn is_nan(&self) -> bool {
        match self {
            Self::Score(score) => score.is_nan(),
            Self::Step(below, at) => (below + at).is_nan(),
        }
    }

    /// The probability that the target is at most the one with a normal score, if a map spreads it over its step.
    fn share_below(&self, score: f64, map: &Recalibration) -> f64 {
        match self {
            Self::Score(own) => f64::from(u8::from(*own <= score)),
            Self::Step(below, at) => {
                let [from, to] = [*below, *at].map(|p| map.probability(score_of(p)));
                let place = map.probability(score);
                match to > from {
                    true => ((place - from) / (to - from)).clamp(0.0, 1.0),
                    false => f64::from(u8::from(to <= place)),
                }
            }
        }
    }

    /// As many normal scores that stand for the target, evenly in probability over a step. Infinite ones are those of
    /// double precision.
    fn scores(&self, count: usize) -> Vec<f64> {
        let clamped = |score: f64| score.clamp(-LARGEST_SCORE, LARGEST_SCORE);
        match self {
            Self::Score(score) if score.is_infinite() => vec![clamped(*score); count],
            Self::Score(score) => vec![*score; count],
            Self::Step(below, at) => {
                let share = |place: usize| (place as f64 + 0.5) / count as f64;
                let places = (0..count).map(|place| below + share(place) * (at - below));
                places.map(|p| clamped(score_of(p))).collect()
            }
        }
    }
}

impl PredictiveDistribution {
    /// What a target says about a map of its distribution function.
    fn place_of(&self, index: usize, target: f64) -> Place {
        let own = self.within(index, target);
        match self.step_at(index, own, |target| self.model_cdf(index, target)) {
            None => Place::Score(self.normal_score(index, own)),
            Some((below, at)) => Place::Step(below, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of normal predictions whose standard deviation is half of the right one.
    fn map(rows: usize) -> Recalibration {
        let scores = (0..rows).map(|row| 2.0 * normal_quantile((row as f64 + 0.5) / rows as f64));
        Recalibration::of_scores(rows, scores.collect())
    }

    #[test]
    fn a_factor_of_the_deviation_is_found() {
        for (rows, knots) in [(20, 1), (99, 1), (100, 3), (250, 5), (5000, 9)] {
            let own = map(rows);
            assert_eq!(own.knots().len(), knots, "{rows}");
            for score in [-5.0, -1.3, 0.0, 0.4, 2.2, 6.0] {
                let error = (own.value(score) - 0.5 * score).abs();
                // The quantiles of n rows, and a tail of a few of them, of which the farthest count as nearer.
                let tolerance = (4.0 / rows as f64 + 0.004) * (1.0 + score.abs());
                assert!(error < tolerance, "{rows} rows, {score}: {error}");
            }
        }
    }

    #[test]
    fn the_slope_of_a_tail_has_the_highest_likelihood() {
        let distances = [0.1, 0.7, 0.3, 1.9, 0.02];
        for value in [0.0, 0.4, 1.3] {
            let likelihood = |slope: f64| -> f64 {
                let each = distances.iter();
                each.map(|d| slope.ln() - 0.5 * (value + slope * d).powi(2))
                    .sum()
            };
            let found = slope_of_tail(value, distances.into_iter().chain([-0.5, 0.0]));
            for factor in [0.99, 1.01] {
                assert!(likelihood(found) > likelihood(factor * found), "{value}");
            }
        }
        assert_eq!(slope_of_tail(1.0, [-1.0].into_iter()), 1.0);
    }

    /// One score in a hundred is forty standard deviations away.
    #[test]
    fn a_single_outlier_hardly_changes_the_map() {
        for rows in [50, 200] {
            let own = (0..rows).map(|row| normal_quantile((row as f64 + 0.5) / rows as f64));
            let mut scores: Vec<f64> = own.collect();
            let plain = Recalibration::of_scores(rows, scores.clone());
            scores[rows / 3] = 40.0;
            let with = Recalibration::of_scores(rows, scores);
            for score in [-2.0, -1.0, 0.0, 1.0, 2.0] {
                let change = (with.value(score) - plain.value(score)).abs();
                assert!(change < 0.5, "{rows} rows, {score}: {change}");
            }
        }
    }

    /// Targets of two values: `P(Y < 1)` is p in the predictions and √p in truth.
    #[test]
    fn steps_have_their_probabilities_after_the_map() {
        let rows = 900;
        let p = |row: usize| ((row % 30) as f64 + 0.5) / 30.0;
        let places: Vec<Place> = (0..rows)
            .map(|row| {
                let share = (row / 30) as f64 / 30.0;
                match share < p(row).sqrt() {
                    true => Place::Step(0.0, p(row)),
                    false => Place::Step(p(row), 1.0),
                }
            })
            .collect();
        let map = Recalibration::of_places(&places);
        for p in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let found = map.probability(normal_quantile(p));
            // Shares of thirtieths are rounded up, and nine knots do not follow the curve everywhere.
            assert!((found - p.sqrt()).abs() < 0.05, "{p}: {found}");
        }
    }

    #[test]
    fn equal_scores_are_one_knot() {
        let own = Recalibration::of_scores(300, vec![0.5; 300]);
        assert_eq!(own.knots().len(), 1);
        assert!(own.value(0.6) > own.value(0.5));
    }
}
