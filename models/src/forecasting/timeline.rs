//! The state-space model of a kernel over time and of covariates, at observations and other times.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    kernels::{AnyKernel, Kernel, StateSpace},
    ops::{Event, LinearSystem},
};

use crate::parts::terms;

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

    /// The sum of all terms and of covariates times their coefficients, which are states that never change.
    pub(super) fn system(&self, forms: &[StateSpace], noise: Tensor<1>) -> LinearSystem {
        let (device, dtype) = forms[0].place();
        let place = (&device, dtype);
        let steps = Tensor::<1>::from_data(self.steps.as_slice(), place);
        let constants =
            |rows: usize, value: f64| Tensor::<2>::full([rows, self.columns], value, place);
        let joined = |of: &dyn Fn(&StateSpace) -> Tensor<2>, constants: Tensor<2>| {
            let mut parts: Vec<_> = forms.iter().map(of).collect();
            if self.columns > 0 {
                parts.push(constants);
            }
            Tensor::cat(parts, 1)
        };
        let counts = self.steps.len();
        let own: Vec<f64> = forms.iter().flat_map(StateSpace::row).collect();
        let mut blocks: Vec<usize> = forms.iter().flat_map(StateSpace::blocks).collect();
        blocks.extend(vec![1; self.columns]);
        let rows = match self.columns {
            0 => own.clone(),
            _ => (0..self.events.len())
                .flat_map(|event| own.iter().chain(self.covariates_of(event)).copied())
                .collect(),
        };
        let states = own.len() + self.columns;
        let rows = TensorData::new(rows.clone(), [1, rows.len() / states, states]);
        LinearSystem {
            blocks,
            transitions: joined(
                &|form| form.transitions(steps.clone()),
                constants(counts, 1.0),
            )
            .unsqueeze(),
            process_noise: joined(
                &|form| form.process_noise(steps.clone()),
                constants(counts, 0.0),
            )
            .unsqueeze(),
            prior: joined(
                &|form| form.prior(Tensor::full([1], self.first, place)),
                constants(1, COEFFICIENT_VARIANCE),
            ),
            rows: Tensor::from_data(rows, (&device.clone().without_autodiff(), dtype)),
            noise: noise.unsqueeze(),
        }
    }
}

/// The state-space forms of the terms of a kernel that has one.
pub(super) fn forms(kernel: &AnyKernel) -> Vec<StateSpace> {
    let form = |kernel: &AnyKernel| match kernel.state_space() {
        Ok(form) => form,
        Err(error) => unreachable!("{error}, which the configuration checks"),
    };
    terms(kernel).into_iter().map(form).collect()
}
