//! Exponential smoothing: level, trend and season that each follow the errors of the forecasts one step ahead.

use super::nelder_mead::minimum;

/// Seasons of more steps are left out: each step is a parameter.
pub(super) const LONGEST_SEASON: usize = 24;
/// The range of the damping of a trend.
const DAMPING: [f64; 2] = [0.8, 0.98];
/// The first step of the search, in logits.
const SEARCH_STEP: f64 = 1.0;
/// The ridge of least squares, as a part of the largest diagonal entry.
const RIDGE: f64 = 1e-10;

/// What a model has besides a level.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    has_trend: bool,
    is_damped: bool,
    /// m, or one without a season.
    season: usize,
}

impl Form {
    /// The number of states: the level, the slope, and all steps of a season but one.
    fn states(&self) -> usize {
        1 + usize::from(self.has_trend) + self.season - 1
    }

    /// The number of known values that the model needs.
    fn fewest_values(&self) -> usize {
        self.parameters() + 2
    }

    /// The number of weights and states, and one for the variance.
    fn parameters(&self) -> usize {
        self.weights() + self.states() + 1
    }

    /// The number of weights: α, β, γ and φ.
    fn weights(&self) -> usize {
        1 + usize::from(self.has_trend) + usize::from(self.season > 1) + usize::from(self.is_damped)
    }

    /// The weights at logits: `0 < β < α < 1` and `0 < γ < 1 − α`.
    fn at(&self, logits: &[f64]) -> Weights {
        let mut shares = logits.iter().map(|logit| 1.0 / (1.0 + (-logit).exp()));
        let mut next = |is_used: bool| if is_used { shares.next() } else { None };
        let level = next(true).unwrap_or_default();
        let slope = next(self.has_trend).map_or(0.0, |share| level * share);
        let season = next(self.season > 1).map_or(0.0, |share| (1.0 - level) * share);
        let damping = next(self.is_damped);
        Weights {
            level,
            slope,
            season,
            damping: damping.map_or(1.0, |share| DAMPING[0] + (DAMPING[1] - DAMPING[0]) * share),
        }
    }
}

/// α, β, γ and φ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weights {
    level: f64,
    slope: f64,
    season: f64,
    damping: f64,
}

/// The level, the slope, and the season with the next step first.
#[derive(Clone, Debug)]
struct State {
    level: f64,
    slope: f64,
    season: Vec<f64>,
    next: usize,
}

impl State {
    /// The state of these numbers: the steps of a season add up to zero.
    fn new(form: Form, numbers: &[f64]) -> Self {
        let first = 1 + usize::from(form.has_trend);
        let mut season = numbers[first..].to_vec();
        season.push(-season.iter().sum::<f64>());
        Self {
            level: numbers[0],
            slope: if form.has_trend { numbers[1] } else { 0.0 },
            season,
            next: 0,
        }
    }

    /// Goes one step ahead, and returns the error of its forecast, `y − (l + φb + s)`; zero if the value is missing.
    fn step(&mut self, weights: &Weights, value: Option<f64>) -> f64 {
        let ahead = self.level + weights.damping * self.slope;
        let season = &mut self.season[self.next];
        let error = value.map_or(0.0, |value| value - ahead - *season);
        self.level = ahead + weights.level * error;
        self.slope = weights.damping * self.slope + weights.slope * error;
        *season += weights.season * error;
        self.next = (self.next + 1) % self.season.len();
        error
    }
}

/// A series with values at all steps, some of them missing.
#[derive(Debug)]
struct Observed<'a>(&'a [Option<f64>]);

impl Observed<'_> {
    /// The errors of forecasts one step ahead from a first state; of values that are all zero if not those of the series.
    fn errors(&self, weights: &Weights, mut state: State, has_values: bool) -> Vec<f64> {
        let value = |value: f64| if has_values { value } else { 0.0 };
        let errors = self.0.iter().map(|own| state.step(weights, own.map(value)));
        errors.collect()
    }

    /// The first state with the least squared errors, which are linear in it, and the sum of squares.
    fn first_state(&self, form: Form, weights: &Weights) -> (Vec<f64>, f64) {
        let states = form.states();
        let mut zero = vec![0.0; states];
        let own = self.errors(weights, State::new(form, &zero), true);
        let columns: Vec<Vec<f64>> = (0..states)
            .map(|place| {
                zero[place] = 1.0;
                let column = self.errors(weights, State::new(form, &zero), false);
                zero[place] = 0.0;
                column
            })
            .collect();
        let state = least_squares(&columns, &own);
        let mut squares = 0.0;
        for (row, error) in own.iter().enumerate() {
            let change = columns
                .iter()
                .zip(&state)
                .map(|(column, x)| column[row] * x);
            squares += (error + change.sum::<f64>()).powi(2);
        }
        (state, squares)
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The x with the least `‖b + Ax‖²` for columns of A, by the normal equations and a Cholesky factor.
fn least_squares(columns: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let size = columns.len();
    let mut factor = vec![vec![0.0; size]; size];
    let diagonal = columns.iter().map(|column| dot(column, column));
    let ridge = RIDGE * diagonal.fold(f64::MIN_POSITIVE, f64::max);
    let mut x: Vec<f64> = columns.iter().map(|column| -dot(column, b)).collect();
    for row in 0..size {
        for column in 0..=row {
            let known = dot(&factor[row][..column], &factor[column][..column]);
            let rest = dot(&columns[row], &columns[column]) - known;
            factor[row][column] = match row == column {
                true => (rest + ridge).max(ridge).sqrt(),
                false => rest / factor[column][column],
            };
        }
        let known = dot(&factor[row][..row], &x[..row]);
        x[row] = (x[row] - known) / factor[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size)
            .map(|below| factor[below][row] * x[below])
            .sum();
        x[row] = (x[row] - known) / factor[row][row];
    }
    x
}

/// Exponential smoothing with additive errors, after the last value of a series.
#[derive(Debug)]
pub(super) struct ExponentialSmoothing {
    form: Form,
    weights: Weights,
    state: State,
    variance: f64,
    /// The corrected information criterion of Akaike; smaller is better.
    pub(super) criterion: f64,
}

impl ExponentialSmoothing {
    /// The model of values at all steps with the best corrected information criterion of Akaike among those with and
    /// without a trend, a damped trend and a season, each with the weights and first states of the least squared errors.
    /// `None` if there are too few values.
    pub(super) fn of(values: &[Option<f64>], season: usize) -> Option<Self> {
        let seasons = match season {
            2..=LONGEST_SEASON => vec![season, 1],
            _ => vec![1],
        };
        let trends = [(false, false), (true, false), (true, true)];
        let forms = seasons.iter().flat_map(|&season| {
            trends.map(|(has_trend, is_damped)| Form {
                has_trend,
                is_damped,
                season,
            })
        });
        let models = forms.filter_map(|form| Self::fitted(values, form));
        models.min_by(|a, b| a.criterion.total_cmp(&b.criterion))
    }

    /// Whether there are values enough for a level alone, and so a model.
    pub(super) fn has_form(values: &[Option<f64>]) -> bool {
        let level = Form {
            has_trend: false,
            is_damped: false,
            season: 1,
        };
        values.iter().flatten().count() >= level.fewest_values()
    }

    fn fitted(values: &[Option<f64>], form: Form) -> Option<Self> {
        let count = values.iter().flatten().count();
        let observed = Observed(values);
        if count < form.fewest_values() {
            return None;
        }
        let squares_at = |logits: &[f64]| observed.first_state(form, &form.at(logits)).1;
        // Level quickly, slope and season slowly.
        let mut start = vec![-0.5];
        start.resize(form.weights(), -2.0);
        let logits = minimum(&start, SEARCH_STEP, squares_at);
        let weights = form.at(&logits);
        let (first, squares) = observed.first_state(form, &weights);
        let mut state = State::new(form, &first);
        for value in values {
            state.step(&weights, *value);
        }
        let (count, k) = (count as f64, form.parameters() as f64);
        // n·log(SSE/n) + 2k + 2k(k + 1)/(n − k − 1)
        let correction = 2.0 * k * (k + 1.0) / (count - k - 1.0);
        Some(Self {
            form,
            weights,
            state,
            variance: squares / (count - k + 1.0),
            criterion: count * (squares / count).max(f64::MIN_POSITIVE).ln() + 2.0 * k + correction,
        })
    }

    /// The means and the standard deviations of 1 to `horizon` steps ahead. The variance is
    /// `σ²(1 + Σ_{j<h} c_j²)`, `c_j = α + β(φ + … + φʲ) + γ[m divides j]` (R. Hyndman, A. Koehler, J. Ord and R. Snyder,
    /// *Forecasting with Exponential Smoothing*, 2008, table 6.1).
    pub(super) fn ahead(&self, horizon: usize) -> Vec<[f64; 2]> {
        let Weights {
            level,
            slope,
            season,
            damping,
        } = self.weights;
        let mut state = self.state.clone();
        let (mut sum, mut damped, mut power) = (1.0, 0.0, 1.0);
        let mut all = Vec::with_capacity(horizon);
        for step in 1..=horizon {
            let next = state.season[state.next];
            state.step(&self.weights, None);
            all.push([state.level + next, (self.variance * sum).sqrt()]);
            power *= damping;
            damped += power;
            let repeats = self.form.season > 1 && step % self.form.season == 0;
            let factor = level + slope * damped + if repeats { season } else { 0.0 };
            sum += factor * factor;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squared errors by the recursions of the model in matrix form, as in the book of Hyndman and others.
    fn squares(values: &[f64], first: &[f64], [alpha, beta, gamma, phi]: [f64; 4]) -> f64 {
        let mut x = first.to_vec(); // level, slope, seasons from the oldest
        let mut sum = 0.0;
        for y in values {
            let error = y - (x[0] + phi * x[1] + x[2]);
            sum += error * error;
            let season = x.remove(2) + gamma * error;
            x.push(season);
            (x[0], x[1]) = (x[0] + phi * x[1] + alpha * error, phi * x[1] + beta * error);
        }
        sum
    }

    fn quarters() -> Vec<f64> {
        let value = |t: usize| {
            3.0 + 0.2 * t as f64 + [2.0, -1.0, 0.5, -1.5][t % 4] + ((t * t * 7) % 11) as f64 / 20.0
        };
        (0..32).map(value).collect()
    }

    /// No other first state and no other weights near the optimum have smaller errors.
    #[test]
    fn weights_and_first_states_have_the_least_errors() {
        let values = quarters();
        let observed: Vec<_> = values.iter().copied().map(Some).collect();
        let form = Form {
            has_trend: true,
            is_damped: true,
            season: 4,
        };
        let weights = form.at(&[-0.3, -1.0, -1.5, 0.5]);
        let all = [
            weights.level,
            weights.slope,
            weights.season,
            weights.damping,
        ];
        let (state, least) = Observed(&observed).first_state(form, &weights);
        let full = |state: &[f64]| {
            let mut full = state.to_vec();
            full.push(-state[2..].iter().sum::<f64>());
            full
        };
        let own = squares(&values, &full(&state), all);
        assert!((own - least).abs() < 1e-9 * least, "{own} {least}");
        for place in 0..state.len() {
            for step in [-0.01, 0.01] {
                let mut other = state.clone();
                other[place] += step;
                assert!(squares(&values, &full(&other), all) > least, "{place}");
            }
        }
    }

    /// A line with a season has no errors, and goes on.
    #[test]
    fn a_line_with_a_season_goes_on_across_missing_values() {
        let value = |t: usize| 10.0 + 0.5 * t as f64 + [3.0, 0.0, -3.0][t % 3];
        let mut values: Vec<_> = (0..30).map(|t| Some(value(t))).collect();
        values[13] = None;
        values[20] = None;
        let model = ExponentialSmoothing::of(&values, 3).unwrap();
        for (step, [mean, deviation]) in model.ahead(7).into_iter().enumerate() {
            assert!((mean - value(30 + step)).abs() < 1e-3, "{step}: {mean}");
            assert!(deviation < 1e-2);
        }
    }

    /// The variance of a level alone is `σ²(1 + (h − 1)α²)`.
    #[test]
    fn the_variance_of_a_level_grows_by_its_weight() {
        let values: Vec<_> = (0..40).map(|t| Some(((t * t * 13) % 17) as f64)).collect();
        let form = Form {
            has_trend: false,
            is_damped: false,
            season: 1,
        };
        let model = ExponentialSmoothing::fitted(&values, form).unwrap();
        let weight = model.weights.level;
        let ahead = model.ahead(9);
        for (step, [mean, deviation]) in ahead.iter().enumerate() {
            let variance = model.variance * (1.0 + step as f64 * weight * weight);
            assert!((deviation * deviation - variance).abs() < 1e-12 * variance);
            assert_eq!(*mean, ahead[0][0]);
        }
    }

    #[test]
    fn few_values_have_no_model() {
        assert!(ExponentialSmoothing::of(&[Some(1.0), Some(2.0), None, Some(4.0)], 1).is_none());
    }
}
