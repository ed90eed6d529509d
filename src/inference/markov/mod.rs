//! Regression over time by state-space models.

mod density;
mod expected_density;
mod filter;
mod joint;
mod process;
mod sites;
mod timeline;
mod variational;

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{DType, Int, Tensor, TensorData},
};

pub use filter::MarkovFilter;
pub use process::MarkovProcess;
pub use variational::MarkovVariational;

use super::{
    ConditionError, check_rows, leave_one_out::LeaveOneOut, parts::parts, row_noise::NoisyRows,
    row_values::RowColumns,
};
use crate::{
    kernels::{Kernel, KernelModule, NoStateSpace, StateSpace},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{
        LinearSystem, NotPositiveDefinite, Smoothed, StateSpaceError, numbers,
        state_space_smoothing,
    },
    parameter::Priors,
    process::WithMean,
};
use density::log_density;
use timeline::{Timeline, TimelineCache};

/// Exact regression on one input, time, in linear time and memory: the same numbers as [`Exact`](super::Exact) for
/// kernels that are linear state-space models ([`Kernel::state_space`]), by the Kalman filter and a backward pass
/// (J. Hartikainen and S. Särkkä, *Kalman filtering and smoothing solutions to temporal Gaussian process regression
/// models*, 2010; P. de Jong, *Smoothing and interpolation with the state-space model*, 1989).
///
/// Rows may be in any order, and several at one time. Time grows with `N·s²·b` for s states in blocks of b. A regular
/// series, whose steps are equal up to rounding, computes the matrices of one step only. Times are data: the objective
/// has no gradient for them. Both passes are in double precision whatever the type of the tensors.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inference::Markov, kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean, ops::Stationary,
///     process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let place = (&Device::default(), DType::F64);
/// let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, place);
/// let model = Markov::new(kernel, ZeroMean::new(1), Gaussian::new(1e-4, place))?;
/// let times: Vec<f64> = (0..10_000).map(|row| f64::from(row) / 10.0).collect();
/// let x = Tensor::<2>::from_data(TensorData::new(times, [10_000, 1]), place);
/// let y = x.clone().sin();
/// let process = model.condition(x, y)?;
/// let mean: f64 = process.marginals(Tensor::full([1, 1], 2.05, place)).mean.into_scalar();
/// assert!((mean - 2.05f64.sin()).abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Markov<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
    #[module(skip)]
    known: TimelineCache,
}

parts!(Markov<K: KernelModule>);
parts!(rows Markov<K: KernelModule>);

/// Observed rows on a timeline.
struct Observed {
    rows: NoisyRows,
    /// y − m(t) in the order of the rows, `[N, P]`
    residual: Tensor<2>,
    timeline: Arc<Timeline>,
    /// The noise variance of all rows, `[1]`, or that of each in the order of time, `[N]`.
    noise: Tensor<1>,
}

impl<K: KernelModule> Markov<K> {
    /// Creates regression with the given prior and noise.
    ///
    /// # Errors
    ///
    /// [`NoStateSpace`] when the kernel is not a linear state-space model.
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
    ) -> Result<Self, NoStateSpace> {
        kernel.state_space()?;
        Ok(Self {
            kernel,
            mean: mean.into(),
            likelihood,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
            known: TimelineCache::default(),
        })
    }

    /// `Σ_p log N(y_p | m_p, K + σ²I)`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When the variance of a target given those before it is not positive or not finite. The batch member is the row.
    ///
    /// # Panics
    ///
    /// If there is more than one input.
    #[track_caller]
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let Observed {
            rows,
            residual,
            timeline,
            noise,
        } = self.observed(inputs, targets);
        let dtype = residual.dtype();
        let targets = in_order(residual, &timeline);
        let density = log_density(&form(&self.kernel), &timeline, noise, targets)
            .map_err(|error| failure(error, &timeline, dtype))?;
        Ok(rows.log_density(density, self.likelihood.noise()))
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or rounding or the parameters make a variance negative or infinite.
    ///
    /// # Panics
    ///
    /// If there is more than one input.
    #[track_caller]
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<MarkovProcess<K>>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let own = this.observed(inputs.inner(), targets.inner());
        let process = MarkovProcess::new(this.kernel, own.noise, own.residual, own.timeline)?;
        Ok(WithMean::new(process, this.mean))
    }

    /// The prediction of each target from all the others, in linear time.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// As [`full_objective`](Self::full_objective).
    ///
    /// # Panics
    ///
    /// If there is more than one input.
    #[track_caller]
    pub fn leave_one_out(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<LeaveOneOut, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let this = self.valid();
        let Observed {
            rows,
            residual,
            timeline,
            noise,
        } = this.observed(inputs.inner(), targets.inner());
        let ([count, outputs], device, dtype) =
            (residual.dims(), residual.device(), residual.dtype());
        let smoothed = smoothed(&this.kernel, noise, residual, &timeline)
            .map_err(|error| failure(error, &timeline, dtype))?;
        let place = (&device, dtype);
        let weights = timeline.in_rows(&smoothed.weights, outputs);
        let precisions = timeline.in_rows(&smoothed.precisions, 1);
        let weights = Tensor::from_data(TensorData::new(weights, [count, outputs]), place);
        let precisions = Tensor::from_data(TensorData::new(precisions, [count]), place);
        Ok(rows.leave_one_out(weights, precisions, None, this.likelihood.noise()))
    }

    /// The rows on their timeline.
    #[track_caller]
    fn observed(&self, inputs: Tensor<2>, targets: Tensor<2>) -> Observed {
        let timeline = self.timeline(&inputs);
        let rows = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = self.mean.residual(rows.targets.clone(), inputs); // [N, P]
        let noise = self.likelihood.noise();
        let (timeline, noise) = match rows.total(noise.clone()) {
            None => (timeline, noise),
            Some(total) => {
                let [count] = total.dims();
                let ordered = in_order(total.unsqueeze_dim(1), &timeline).reshape([count]);
                (Arc::new(timeline.with_separate_noise()), ordered)
            }
        };
        Observed {
            rows,
            residual,
            timeline,
            noise,
        }
    }

    #[track_caller]
    fn timeline(&self, inputs: &Tensor<2>) -> Arc<Timeline> {
        self.known.timeline(times(inputs), epsilon(inputs.dtype()))
    }
}

/// The time of each row.
#[track_caller]
fn times(inputs: &Tensor<2>) -> Vec<f64> {
    let [rows, dimensions] = inputs.dims();
    assert!(
        dimensions == 1,
        "Markov: inputs {:?}; expected [N, 1], one time for each row",
        [rows, dimensions]
    );
    numbers(inputs.clone().without_autodiff())
}

/// The relative rounding of a type.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}

/// The state-space form of a kernel that has one.
fn form(kernel: &dyn Kernel) -> StateSpace {
    match kernel.state_space() {
        Ok(form) => form,
        Err(error) => unreachable!("{error}, which Markov::new checks"),
    }
}

/// The model of the observations on a timeline with noise variances, `[1]`, or `[N]` in the order of time.
fn system(form: &StateSpace, timeline: &Timeline, noise: Tensor<1>) -> LinearSystem {
    let (device, dtype) = form.place();
    let place = (&device, dtype);
    let steps = Tensor::<1>::from_data(timeline.steps.as_slice(), place);
    let first = timeline.times.first().copied().unwrap_or(0.0);
    let row = form.row();
    let states = row.len();
    LinearSystem {
        blocks: form.blocks(),
        transitions: form.transitions(steps.clone()).unsqueeze(),
        process_noise: form.process_noise(steps).unsqueeze(),
        prior: form.prior(Tensor::full([1], first, place)),
        rows: Tensor::<1>::from_data(row.as_slice(), (&device.clone().without_autodiff(), dtype))
            .reshape([1, 1, states]),
        noise: noise.unsqueeze(),
    }
}

/// Values of rows, [N, P], in the order of time, as one series [1, N, P].
fn in_order(values: Tensor<2>, timeline: &Timeline) -> Tensor<3> {
    if timeline.is_in_order() {
        return values.unsqueeze();
    }
    let order: Vec<i64> = timeline.order.iter().map(|&row| row as i64).collect();
    let order = Tensor::<1, Int>::from_data(order.as_slice(), &values.device());
    values.select(0, order).unsqueeze()
}

/// Both passes over residuals, [N, P].
fn smoothed(
    kernel: &dyn Kernel,
    noise: Tensor<1>,
    residual: Tensor<2>,
    timeline: &Timeline,
) -> Result<Smoothed, StateSpaceError> {
    let system = system(&form(kernel), timeline, noise);
    let series = state_space_smoothing(&system, in_order(residual, timeline), &timeline.events)?;
    match series.into_iter().next() {
        Some(smoothed) => Ok(smoothed),
        None => unreachable!("there is one series"),
    }
}

/// The failure of an observation, with its row as the batch member.
fn failure(error: StateSpaceError, timeline: &Timeline, dtype: DType) -> NotPositiveDefinite {
    NotPositiveDefinite {
        batch: timeline.order[error.event],
        pivot: error.event,
        size: timeline.order.len(),
        jitter: 0.0,
        smallest_diagonal: error.variance,
        largest_diagonal: error.variance,
        dtype,
    }
}
