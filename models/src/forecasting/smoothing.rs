//! The moments of the terms of a kernel over time, given observations.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    kernels::{AnyKernel, Kernel, StateSpace, Structure},
    ops::{Event, LinearSystem, Smoothed, StateSpaceError, numbers, state_space_smoothing},
};

use crate::AnyMarkov;

/// Both passes over observations and the times in question.
pub(super) struct Smoother {
    smoothed: Smoothed,
    /// The first state of every block of each term.
    firsts: Vec<Vec<usize>>,
    /// s
    states: usize,
    /// The event of each time in question.
    places: Vec<usize>,
    noise: f64,
}

/// A time with an observation, or one in question.
#[derive(Clone, Copy)]
struct Moment {
    time: f64,
    observed: Option<f64>,
    question: Option<usize>,
}

impl Smoother {
    /// Smooths observations: times and values. The kernel must have a state-space form.
    pub(super) fn new(
        model: &AnyMarkov,
        (times, values): (Vec<f64>, Vec<f64>),
        questions: &[f64],
    ) -> Result<Self, StateSpaceError> {
        let terms = terms(model.kernel());
        let forms: Vec<StateSpace> = terms.into_iter().map(form).collect();
        let moments = moments_in_order(&times, &values, questions);
        let noise = model.likelihood().noise();
        let (events, steps) = events(&moments);
        let system = system(&forms, &steps, moments[0].time, noise.clone());
        let targets = moments.iter().map(|moment| moment.observed.unwrap_or(0.0));
        let targets = TensorData::new(targets.collect::<Vec<f64>>(), [1, moments.len(), 1]);
        let place = (&system.prior.device(), system.prior.dtype());
        let targets = Tensor::<3>::from_data(targets, place);
        let mut places = vec![0; questions.len()];
        for (index, moment) in moments.iter().enumerate() {
            if let Some(question) = moment.question {
                places[question] = index;
            }
        }
        let series = state_space_smoothing(&system, targets, &events)?;
        let Some(smoothed) = series.into_iter().next() else {
            unreachable!("there is one series")
        };
        Ok(Self {
            smoothed,
            firsts: first_states(&forms),
            states: system.blocks.iter().sum(),
            places,
            noise: numbers(noise)[0],
        })
    }

    /// The variance of the noise.
    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    /// All terms.
    pub(super) fn all_terms(&self) -> Vec<bool> {
        vec![true; self.firsts.len()]
    }

    /// The mean and the variance of the sum of the chosen terms at each time in question, given all observations. With
    /// the moments m, P of the state given the observations before the time, and r, N of the backward pass, they are
    /// `hᵀ(m + Pr)` and `hᵀ(P − PNP)h` for a row h that is one at the first state of each block of these terms (P. de
    /// Jong, *Smoothing and interpolation with the state-space model*, 1989).
    pub(super) fn moments(&self, chosen: Vec<bool>) -> Vec<[f64; 2]> {
        let firsts = self.firsts.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        let firsts: Vec<usize> = firsts.flat_map(|(firsts, _)| firsts.clone()).collect();
        let states = self.states;
        let square = states * states;
        let one = |&place: &usize| {
            let mean = &self.smoothed.means[place * states..][..states];
            let vector = &self.smoothed.vectors[place * states..][..states];
            let covariance = &self.smoothed.covariances[place * square..][..square];
            let matrix = &self.smoothed.matrices[place * square..][..square];
            let mut w = vec![0.0; states]; // Ph
            for &first in &firsts {
                let row = &covariance[first * states..][..states];
                w.iter_mut().zip(row).for_each(|(w, p)| *w += p);
            }
            let prior: f64 = firsts.iter().map(|&first| mean[first]).sum();
            let variance: f64 = firsts.iter().map(|&first| w[first]).sum();
            let rows = matrix.chunks_exact(states).zip(&w);
            let reduced: f64 = rows.map(|(row, own)| own * dot(row, &w)).sum(); // hᵀPNPh
            [prior + dot(vector, &w), (variance - reduced).max(0.0)]
        };
        self.places.iter().map(one).collect()
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The terms of a sum, from first to last.
fn terms(kernel: &AnyKernel) -> Vec<&AnyKernel> {
    match kernel.structure() {
        Structure::Sum(first, second) => [terms(first), terms(second)].concat(),
        _ => vec![kernel],
    }
}

fn form(kernel: &AnyKernel) -> StateSpace {
    match kernel.state_space() {
        Ok(form) => form,
        Err(error) => unreachable!("{error}, which Markov::new checks"),
    }
}

/// The first state of every block of each term.
fn first_states(forms: &[StateSpace]) -> Vec<Vec<usize>> {
    let mut next = 0;
    let of_term = |form: &StateSpace| {
        let blocks = form.blocks().into_iter();
        let first = |size: usize| {
            next += size;
            next - size
        };
        blocks.map(first).collect()
    };
    forms.iter().map(of_term).collect()
}

/// Observations and questions in the order of time; at one time, questions come first.
fn moments_in_order(times: &[f64], values: &[f64], questions: &[f64]) -> Vec<Moment> {
    let asked = questions.iter().enumerate().map(|(index, &time)| Moment {
        time,
        observed: None,
        question: Some(index),
    });
    let observed = times.iter().zip(values).map(|(&time, &value)| Moment {
        time,
        observed: Some(value),
        question: None,
    });
    let mut all: Vec<Moment> = asked.chain(observed).collect();
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    all
}

/// The events, and the distinct steps between them; one at least.
fn events(moments: &[Moment]) -> (Vec<Event>, Vec<f64>) {
    let mut steps: Vec<f64> = (moments.windows(2))
        .map(|pair| pair[1].time - pair[0].time)
        .filter(|step| *step > 0.0)
        .collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let step_before = |index: usize| {
        let step = moments[index].time - moments[index.checked_sub(1)?].time;
        let place = steps.partition_point(|own| *own < step);
        (step > 0.0).then_some(place as u32)
    };
    let event = |index: usize| Event {
        step: step_before(index),
        row: 0,
        noise: 0,
        is_observed: moments[index].observed.is_some(),
    };
    let events = (0..moments.len()).map(event).collect();
    if steps.is_empty() {
        steps.push(1.0);
    }
    (events, steps)
}

/// The sum of all terms, with the noise variance, `[1]`.
fn system(forms: &[StateSpace], steps: &[f64], first: f64, noise: Tensor<1>) -> LinearSystem {
    let (device, dtype) = forms[0].place();
    let place = (&device, dtype);
    let steps = Tensor::<1>::from_data(steps, place);
    let joined = |of: &dyn Fn(&StateSpace) -> Tensor<2>| {
        Tensor::cat(forms.iter().map(of).collect::<Vec<_>>(), 1)
    };
    let row: Vec<f64> = forms.iter().flat_map(StateSpace::row).collect();
    let states = row.len();
    LinearSystem {
        blocks: forms.iter().flat_map(StateSpace::blocks).collect(),
        transitions: joined(&|form| form.transitions(steps.clone())).unsqueeze(),
        process_noise: joined(&|form| form.process_noise(steps.clone())).unsqueeze(),
        prior: joined(&|form| form.prior(Tensor::full([1], first, place))),
        rows: Tensor::<1>::from_data(row.as_slice(), place).reshape([1, 1, states]),
        noise: noise.unsqueeze(),
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};
    use burn_gp_core::{ops::numbers, process::Process};

    use super::*;
    use crate::{
        forecasting::{Season, Structure, Trend},
        training::TrainingData,
    };

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
        let smoother =
            Smoother::new(&model, (TIMES.to_vec(), VALUES.to_vec()), &QUESTIONS).unwrap();
        let process = model
            .condition(data.inputs.clone(), data.targets.clone())
            .unwrap();
        let x = TrainingData::new(&QUESTIONS, &QUESTIONS, &Device::default(), DType::F64).inputs;
        let marginals = process.marginals(x);
        let expected = numbers(marginals.mean)
            .into_iter()
            .zip(numbers(marginals.variance));
        let found = smoother.moments(smoother.all_terms());
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
        let count = smoother.all_terms().len();
        let of_term = |term: usize| smoother.moments((0..count).map(|own| own == term).collect());
        let terms: Vec<_> = (0..count).map(of_term).collect();
        for (question, [mean, _]) in found.iter().enumerate() {
            let sum: f64 = terms.iter().map(|term| term[question][0]).sum();
            assert!((sum - mean).abs() < 1e-10);
        }
    }
}
