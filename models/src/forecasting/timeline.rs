//! The state-space model of a kernel over time and of covariates, at observations and other times.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    kernels::{StateSpaceMatrices, StateSpaceNumbers},
    ops::{Event, LinearSeries, LinearSystem, StateSpaceError, state_space_score},
};

/// The prior variance of a coefficient, of standardized values by standardized covariates. An event may change a value
/// by some standard deviations.
pub(super) const COEFFICIENT_VARIANCE: f64 = 1.0;

/// Times in order, some with an observation, and the covariates of each.
#[derive(Debug)]
pub(super) struct Timeline {
    first: f64,
    events: Vec<Event>,
    /// The distinct steps between times; one at least.
    steps: Vec<f64>,
    /// `[T, C]`
    covariates: Vec<f64>,
    /// C
    columns: usize,
}

impl Timeline {
    /// Times in increasing order, whether each has an observation, and the covariates, `[T, C]`.
    pub(super) fn new(
        times: &[f64],
        is_observed: impl Fn(usize) -> bool,
        covariates: Vec<f64>,
    ) -> Self {
        let mut steps: Vec<f64> = (times.windows(2))
            .map(|pair| pair[1] - pair[0])
            .filter(|step| *step > 0.0)
            .collect();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        let columns = covariates.len() / times.len();
        let step_before = |index: usize| {
            let step = times[index] - times[index.checked_sub(1)?];
            let place = steps.partition_point(|own| *own < step);
            (step > 0.0).then_some(place as u32)
        };
        let event = |index: usize| Event {
            step: step_before(index),
            row: if columns > 0 { index as u32 } else { 0 },
            noise: 0,
            is_observed: is_observed(index),
        };
        let events = (0..times.len()).map(event).collect();
        if steps.is_empty() {
            steps.push(1.0);
        }
        Self {
            first: times[0],
            events,
            steps,
            covariates,
            columns,
        }
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The covariates of an event, `[C]`.
    pub(super) fn covariates_of(&self, event: usize) -> &[f64] {
        &self.covariates[event * self.columns..][..self.columns]
    }

    /// Whether all steps are whole.
    pub(super) fn has_whole_steps(&self) -> bool {
        self.steps.iter().all(|step| step.fract() == 0.0)
    }

    /// The sum of all terms and of covariates times their coefficients, which are states that never change.
    fn model(&self, terms: &[StateSpaceNumbers]) -> StateSpaceNumbers {
        let coefficients =
            (0..self.columns).map(|_| StateSpaceNumbers::constant(COEFFICIENT_VARIANCE));
        let all = terms.iter().cloned().chain(coefficients);
        match all.reduce(StateSpaceNumbers::plus) {
            Some(model) => model,
            None => unreachable!("a structure has a trend"),
        }
    }

    /// h of all events, or of each if there are covariates, `[O, s]`.
    fn rows(&self, terms: &[StateSpaceNumbers]) -> Vec<f64> {
        let own: Vec<f64> = terms.iter().flat_map(StateSpaceNumbers::row).collect();
        if self.columns == 0 {
            return own;
        }
        let of_event = |event| own.iter().chain(self.covariates_of(event)).copied();
        (0..self.events.len()).flat_map(of_event).collect()
    }

    /// The model with its matrices as tensors.
    pub(super) fn system(&self, terms: &[StateSpaceNumbers], noise: f64) -> LinearSystem {
        let model = self.model(terms);
        let (blocks, matrices) = (model.blocks(), model.matrices(&self.steps, self.first));
        let states: usize = blocks.iter().sum();
        let rows = self.rows(terms);
        let place = (&Device::default().without_autodiff(), DType::F64);
        let (steps, packed) = (self.steps.len(), matrices.prior.len());
        let of_steps = |values| {
            let data = TensorData::new(values, [1, steps, packed]);
            Tensor::<3>::from_data(data, place)
        };
        LinearSystem {
            blocks,
            transitions: of_steps(matrices.transitions),
            process_noise: of_steps(matrices.process_noise),
            prior: Tensor::from_data(TensorData::new(matrices.prior, [1, packed]), place),
            rows: Tensor::from_data(
                TensorData::new(rows.clone(), [1, rows.len() / states, states]),
                place,
            ),
            noise: Tensor::full([1, 1], noise, place),
        }
    }

    /// The log density of the values of all events, those of missing ones not counted, without derivatives.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub(super) fn log_density(
        &self,
        terms: &[StateSpaceNumbers],
        noise: f64,
        targets: &[f64],
    ) -> Result<f64, StateSpaceError> {
        Ok(self.pass(terms, noise, targets, false)?.log_density)
    }

    /// The log density of the values of all events, and its derivatives.
    ///
    /// # Errors
    ///
    /// When the filter fails.
    pub(super) fn score(
        &self,
        terms: &[StateSpaceNumbers],
        noise: f64,
        targets: &[f64],
    ) -> Result<Score, StateSpaceError> {
        self.pass(terms, noise, targets, true)
    }

    fn pass(
        &self,
        terms: &[StateSpaceNumbers],
        noise: f64,
        targets: &[f64],
        wants_slopes: bool,
    ) -> Result<Score, StateSpaceError> {
        let model = self.model(terms);
        let matrices = model.matrices(&self.steps, self.first);
        let series = LinearSeries {
            blocks: &model.blocks(),
            transitions: &matrices.transitions,
            process_noise: &matrices.process_noise,
            prior: &matrices.prior,
            rows: &self.rows(terms),
            noise: &[noise],
            targets,
            columns: 1,
            events: &self.events,
        };
        let (log_density, slopes) = state_space_score(series, wants_slopes)?;
        if !wants_slopes {
            return Ok(Score {
                log_density,
                ..Score::default()
            });
        }
        let of_matrices = StateSpaceMatrices {
            transitions: slopes.transitions,
            process_noise: slopes.process_noise,
            prior: slopes.prior,
        };
        Ok(Score {
            log_density,
            parameters: model.slopes(&self.steps, self.first, &of_matrices),
            noise: slopes.noise[0],
        })
    }
}

/// A log density with its derivatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    pub(super) log_density: f64,
    /// With respect to the parameters of the blocks of all terms; those of covariates are last.
    pub(super) parameters: Vec<f64>,
    /// With respect to the noise variance.
    pub(super) noise: f64,
}
