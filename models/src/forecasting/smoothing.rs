//! The moments of the terms of a kernel over time, given observations.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    kernels::StateSpaceNumbers,
    ops::{Smoothed, StateSpaceError, state_space_smoothing},
};

use super::timeline::Timeline;

/// Both passes over observations and the times in question.
pub(super) struct Smoother {
    smoothed: Smoothed,
    timeline: Timeline,
    /// The first state of every block of each term.
    firsts: Vec<Vec<usize>>,
    /// s
    states: usize,
    /// C
    covariates: usize,
    /// The event of each time in question.
    places: Vec<usize>,
    noise: f64,
}

/// Times with their covariates, `[T, C]`.
pub(super) struct Times {
    pub(super) times: Vec<f64>,
    pub(super) covariates: Vec<f64>,
}

impl Times {
    /// C
    fn columns(&self) -> usize {
        self.covariates
            .len()
            .checked_div(self.times.len())
            .unwrap_or(0)
    }

    fn row(&self, index: usize) -> &[f64] {
        let columns = self.columns();
        &self.covariates[index * columns..][..columns]
    }
}

/// A row of the observations, or of the times in question.
#[derive(Clone, Copy)]
enum Row {
    Question(usize),
    Observation(usize),
}

impl Smoother {
    /// Smooths observations: times and values. The terms of the model and the noise variance may depend on whether all
    /// steps are whole.
    pub(super) fn new(
        model: impl FnOnce(bool) -> (Vec<StateSpaceNumbers>, f64),
        observed: &Times,
        values: &[f64],
        questions: &Times,
    ) -> Result<Self, StateSpaceError> {
        let rows = rows_in_order(&observed.times, &questions.times);
        let covariates = rows.iter().flat_map(|(_, row)| match *row {
            Row::Question(index) => questions.row(index),
            Row::Observation(index) => observed.row(index),
        });
        let covariates = covariates.copied().collect();
        let times: Vec<f64> = rows.iter().map(|(time, _)| *time).collect();
        let is_observed = |index: usize| matches!(rows[index].1, Row::Observation(_));
        let timeline = Timeline::new(&times, is_observed, covariates);
        let (terms, noise) = model(timeline.has_whole_steps());
        let system = timeline.system(&terms, noise);
        let mut places = vec![0; questions.times.len()];
        let mut targets = vec![0.0; rows.len()];
        for (place, (_, row)) in rows.iter().enumerate() {
            match *row {
                Row::Question(index) => places[index] = place,
                Row::Observation(index) => targets[place] = values[index],
            }
        }
        let place = (&system.prior.device(), system.prior.dtype());
        let targets = Tensor::<3>::from_data(TensorData::new(targets, [1, rows.len(), 1]), place);
        let series = state_space_smoothing(&system, targets, timeline.events())?;
        let Some(smoothed) = series.into_iter().next() else {
            unreachable!("there is one series")
        };
        Ok(Self {
            smoothed,
            timeline,
            firsts: first_states(&terms),
            states: system.blocks.iter().sum(),
            covariates: observed.columns(),
            places,
            noise,
        })
    }

    /// The variance of the noise.
    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    /// The number of terms, covariates included.
    pub(super) fn terms(&self) -> usize {
        self.firsts.len() + self.covariates
    }

    /// The mean and the variance of the sum of the chosen terms, the last of which are those of covariates, at each time in
    /// question, given all observations. With the moments m, P of the state given the observations before the time, and
    /// r, N of the backward pass, they are `hᵀ(m + Pr)` and `hᵀ(P − PNP)h` for a row h that is one at the first state of
    /// each block of these terms, and the covariate at the state of a coefficient (P. de Jong, *Smoothing and
    /// interpolation with the state-space model*, 1989).
    pub(super) fn moments(&self, chosen: &[bool]) -> Vec<[f64; 2]> {
        let (of_kernel, of_covariates) = chosen.split_at(self.firsts.len());
        let firsts = self
            .firsts
            .iter()
            .zip(of_kernel)
            .filter(|(_, chosen)| **chosen);
        let ones: Vec<(usize, f64)> = (firsts.flat_map(|(firsts, _)| firsts))
            .map(|&first| (first, 1.0))
            .collect();
        let states = self.states;
        let square = states * states;
        let coefficients = states - self.covariates;
        let one = |&place: &usize| {
            let values = self.timeline.covariates_of(place).iter().zip(of_covariates);
            let values = values.enumerate().filter(|(_, (_, chosen))| **chosen);
            let values = values.map(|(index, (&value, _))| (coefficients + index, value));
            let h: Vec<(usize, f64)> = ones.iter().copied().chain(values).collect();
            let mean = &self.smoothed.means[place * states..][..states];
            let vector = &self.smoothed.vectors[place * states..][..states];
            let covariance = &self.smoothed.covariances[place * square..][..square];
            let matrix = &self.smoothed.matrices[place * square..][..square];
            let mut w = vec![0.0; states]; // Ph
            for &(state, factor) in &h {
                let row = &covariance[state * states..][..states];
                w.iter_mut().zip(row).for_each(|(w, p)| *w += factor * p);
            }
            let along = |x: &[f64]| {
                h.iter()
                    .map(|&(state, factor)| factor * x[state])
                    .sum::<f64>()
            };
            let rows = matrix.chunks_exact(states).zip(&w);
            let reduced: f64 = rows.map(|(row, own)| own * dot(row, &w)).sum(); // hᵀPNPh
            [
                along(mean) + dot(vector, &w),
                (along(&w) - reduced).max(0.0),
            ]
        };
        self.places.iter().map(one).collect()
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The first state of every block of each term.
fn first_states(terms: &[StateSpaceNumbers]) -> Vec<Vec<usize>> {
    let mut next = 0;
    let of_term = |term: &StateSpaceNumbers| {
        let blocks = term.blocks().into_iter();
        let first = |size: usize| {
            next += size;
            next - size
        };
        blocks.map(first).collect()
    };
    terms.iter().map(of_term).collect()
}

/// Times in order, each with its row; at one time, questions come first.
fn rows_in_order(observed: &[f64], questions: &[f64]) -> Vec<(f64, Row)> {
    let asked = questions.iter().enumerate();
    let asked = asked.map(|(index, &time)| (time, Row::Question(index)));
    let known = observed.iter().enumerate();
    let known = known.map(|(index, &time)| (time, Row::Observation(index)));
    let mut all: Vec<(f64, Row)> = asked.chain(known).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

#[cfg(test)]
mod tests {
    use burn::module::Module;
    use burn::tensor::{DType, Device};
    use burn_gp_core::{
        kernels::{Kernel, KernelModule},
        ops::numbers,
        process::Process,
    };

    use super::*;
    use crate::{
        AnyMarkov,
        forecasting::{Season, Structure, Trend, timeline::COEFFICIENT_VARIANCE},
        parts::terms,
        training::TrainingData,
    };

    /// The terms of the kernel of a model, and its noise variance.
    fn terms_of(model: &AnyMarkov) -> (Vec<StateSpaceNumbers>, f64) {
        let kernels = terms(model.kernel()).into_iter();
        let terms = kernels.map(|kernel| kernel.state_space().unwrap().numbers());
        (terms.collect(), numbers(model.likelihood().noise())[0])
    }

    /// Uneven times, two of them equal.
    const TIMES: [f64; 9] = [-14.0, -12.5, -9.0, -9.0, -7.0, -4.25, -3.0, -1.0, 0.0];
    const VALUES: [f64; 9] = [0.3, -0.4, 1.2, 0.9, -0.2, -1.4, 0.1, 0.8, -0.6];
    /// Before, between, at and after the observations.
    const QUESTIONS: [f64; 6] = [2.0, -15.0, -9.0, -5.0, 0.0, 7.5];

    /// The moments are those of the exact process of the same model, which conditions by other formulas.
    #[test]
    fn moments_are_those_of_the_process() {
        let structure = Structure {
            trend: Trend::Slope,
            seasons: vec![Season::of_steps(4.0)],
            has_memory: true,
        };
        let data = TrainingData::new(&TIMES, &VALUES, &Device::default(), DType::F64);
        let model = structure.config(15.0).init(&data).unwrap();
        let [observed, questions] = [&TIMES[..], &QUESTIONS[..]].map(|times| Times {
            times: times.to_vec(),
            covariates: vec![],
        });
        let terms = |_| terms_of(&model);
        let smoother = Smoother::new(terms, &observed, &VALUES, &questions).unwrap();
        let process = model
            .condition(data.inputs.clone(), data.targets.clone())
            .unwrap();
        let x = TrainingData::new(&QUESTIONS, &QUESTIONS, &Device::default(), DType::F64).inputs;
        let marginals = process.marginals(x);
        let expected = numbers(marginals.mean)
            .into_iter()
            .zip(numbers(marginals.variance));
        let count = smoother.terms();
        let found = smoother.moments(&vec![true; count]);
        for ([mean, variance], (expected_mean, expected_variance)) in found.iter().zip(expected) {
            assert!(
                (mean - expected_mean).abs() < 1e-9,
                "{mean} {expected_mean}"
            );
            // Variances are differences of prior variances of up to a thousand.
            assert!(
                (variance - expected_variance).abs() < 1e-9,
                "{variance} {expected_variance}"
            );
        }
        // The means of the terms add up.
        let of_term = |term: usize| {
            let chosen: Vec<bool> = (0..count).map(|own| own == term).collect();
            smoother.moments(&chosen)
        };
        let terms: Vec<_> = (0..count).map(of_term).collect();
        for (question, [mean, _]) in found.iter().enumerate() {
            let sum: f64 = terms.iter().map(|term| term[question][0]).sum();
            assert!((sum - mean).abs() < 1e-10);
        }
    }

    /// Covariates are a linear kernel over them: the moments and the log density are those of a Gaussian with the
    /// covariance `K + λZZᵀ + σ²I`, by dense elimination.
    #[test]
    fn covariates_are_a_linear_kernel() {
        let structure = Structure {
            trend: Trend::Level,
            seasons: vec![],
            has_memory: true,
        };
        let data = TrainingData::new(&TIMES, &VALUES, &Device::default(), DType::F64);
        let model = structure.config(15.0).init(&data).unwrap().valid();
        let z = |time: &f64| [(0.7 * time).sin(), f64::from(u8::from(*time == -9.0))];
        let [observed, questions] = [&TIMES[..], &QUESTIONS[..]].map(|times| Times {
            times: times.to_vec(),
            covariates: times.iter().flat_map(z).collect(),
        });
        let all = [&TIMES[..], &QUESTIONS[..]].concat();
        let x = TrainingData::new(&all, &all, &Device::default(), DType::F64).inputs;
        let kernel = numbers(model.kernel().covariance_at(x.clone(), x));
        let noise = numbers(model.likelihood().noise())[0];
        let (n, size) = (TIMES.len(), all.len());
        let coefficients = |a: usize, b: usize| -> f64 {
            z(&all[a])
                .iter()
                .zip(z(&all[b]))
                .map(|(a, b)| COEFFICIENT_VARIANCE * a * b)
                .sum()
        };
        let full = |a: usize, b: usize| kernel[a * size + b] + coefficients(a, b);
        let own = |a: usize, b: usize| full(a, b) + if a == b { noise } else { 0.0 };
        let (weights, log_density) = solved(n, &own, &VALUES);
        let terms = |_| terms_of(&model);
        let smoother = Smoother::new(terms, &observed, &VALUES, &questions).unwrap();
        let found = smoother.moments(&vec![true; smoother.terms()]);
        let of_covariates: Vec<bool> = (0..smoother.terms())
            .map(|term| term + 2 >= smoother.terms())
            .collect();
        let shares = smoother.moments(&of_covariates);
        for (question, ([mean, variance], [share, _])) in found.iter().zip(&shares).enumerate() {
            let cross: Vec<f64> = (0..n).map(|row| full(n + question, row)).collect();
            let (gain, _) = solved(n, &own, &cross);
            let dense = dot(&cross, &weights);
            let prior = full(n + question, n + question);
            assert!((mean - dense).abs() < 1e-9, "{mean} {dense}");
            // Prior variances are up to a hundred.
            assert!((variance - (prior - dot(&gain, &cross))).abs() < 1e-9);
            let part: f64 = (0..n)
                .map(|row| coefficients(n + question, row) * weights[row])
                .sum();
            assert!((share - part).abs() < 1e-9, "{share} {part}");
        }
        let timeline = Timeline::new(&observed.times, |_| true, observed.covariates.clone());
        let (terms, noise) = terms_of(&model);
        let value = timeline.log_density(&terms, noise, &VALUES).unwrap();
        assert!(
            (value - log_density).abs() < 1e-9 * log_density.abs(),
            "{value} {log_density}"
        );
    }

    /// C⁻¹y by elimination, and the log density of y under N(0, C).
    fn solved(n: usize, c: &dyn Fn(usize, usize) -> f64, y: &[f64]) -> (Vec<f64>, f64) {
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|row| {
                (0..n)
                    .map(|column| c(row, column))
                    .chain([y[row]])
                    .collect()
            })
            .collect();
        let mut log_determinant = 0.0;
        for pivot in 0..n {
            log_determinant += rows[pivot][pivot].ln();
            let own = rows[pivot].clone();
            for row in &mut rows[pivot + 1..] {
                let factor = row[pivot] / own[pivot];
                row.iter_mut().zip(&own).for_each(|(x, p)| *x -= factor * p);
            }
        }
        let mut x = vec![0.0; n];
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n)
                .map(|column| rows[row][column] * x[column])
                .sum();
            x[row] = (rows[row][n] - known) / rows[row][row];
        }
        let square: f64 = y.iter().zip(&x).map(|(y, x)| y * x).sum();
        let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
        let density = -0.5 * (square + log_determinant + constant);
        (x, density)
    }
}
