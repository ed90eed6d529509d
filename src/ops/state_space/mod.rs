//! The Gaussian log density of linear state-space models.

mod backward;
mod batch;
mod blocks;
mod cpu;
mod forward;
mod lanes;
mod series;
mod smoothing;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::{DType, Tensor, TensorData},
};

use super::{declaration::operations, is_on_cpu, numbers};
use batch::Batch;

pub use backward::Cotangents as StateSpaceCotangents;
pub use series::{Event, Series as LinearSeries, StateMoments};
pub use smoothing::Smoothed;

/// What is computed besides the log density, for which blocks and events.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub blocks: &'a [usize],
    pub events: &'a [Event],
    pub wants_gradient: bool,
    pub wants_rows: bool,
}

operations! {
    /// Backend implementation of the log density.
    trait StateSpaceOps on cpu without autodiff {
        /// The log density, and whether it failed with the series, the event and the variance, [1, 5]; and the
        /// derivatives with respect to all tensors one after the other, if wanted. All are in double precision.
        fn state_space(transitions, process_noise, prior, rows, noise, targets; request: Request<'_>)
            -> (FloatTensor<Self>, FloatTensor<Self>);
    }
}

/// A linear state-space model: `x_k = A x_{k−1} + N(0, Q)`, `y_k = hᵀx_k + N(0, r)`, where the first state is
/// `N(0, P0)`. A, Q and P0 are block-diagonal, with blocks of `b` rows packed one after the other. The leading axis is
/// L, the number of series, or one if all series share the tensor.
#[derive(Clone, Debug)]
pub struct LinearSystem {
    /// The size b of each block. The number of states is s = Σb.
    pub blocks: Vec<usize>,
    /// A of each of U distinct steps, `[L, U, Σb²]`.
    pub transitions: Tensor<3>,
    /// Q of each distinct step, `[L, U, Σb²]`.
    pub process_noise: Tensor<3>,
    /// P0, `[L, Σb²]`
    pub prior: Tensor<2>,
    /// h: one for each output, or one for each event; `[L, O, s]`.
    pub rows: Tensor<3>,
    /// r, `[L, R]`
    pub noise: Tensor<2>,
}

/// An observation whose variance, given those before it, is not positive or not finite.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "observation {event} of series {series} has the variance {variance:e} given those before it; check the \
     hyperparameters and the noise"
)]
pub struct StateSpaceError {
    /// The series, counted from zero.
    pub series: usize,
    /// The event, counted from zero.
    pub event: usize,
    /// The variance.
    pub variance: f64,
}

/// The sum over series and columns of `log N(y | 0, C)`, where C is the covariance of the observations of a
/// [`LinearSystem`], in time linear in the number of events.
///
/// It is computed by the Kalman filter with one observation at a time, and Joseph's form of the covariance. The
/// derivatives follow from one backward pass of P. de Jong's recursions (*Smoothing and interpolation with the
/// state-space model*, 1989), which are the score (S. Koopman and N. Shephard, *Exact score for time series models in
/// state space form*, 1992). Both passes are in double precision whatever the type of the tensors, on the CPU
/// whatever their device. A series with one block of one to three states and one column stays in registers. Several
/// series run on several threads, and sixteen of them at once, one in each lane of the vector registers, if they share
/// their events. The filter keeps its moments at every 256th event and computes the others again.
///
/// A noise variance may be negative, as that of a factor `exp(−(y − f)²/2r)` in the place of a likelihood that is not
/// log-concave, if the variance d given the observations before is negative, too. The density then has |d| and |r|.
///
/// A missing observation, and one at the time of the event before, cost nothing: its [`Event`] says so. Series of
/// different lengths end with missing observations at their last time. Columns of targets share A, Q, P0, h and r.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::ops::{Event, LinearSystem, state_space_log_density};
///
/// # fn main() -> Result<(), burn_gp_core::ops::StateSpaceError> {
/// // Three values of a process with correlation ½ between neighbors, variance 2, and noise of variance 1.
/// let place = (&Device::default(), DType::F64);
/// let system = LinearSystem {
///     blocks: vec![1],
///     transitions: Tensor::full([1, 1, 1], 0.5, place),
///     process_noise: Tensor::full([1, 1, 1], 1.5, place),
///     prior: Tensor::full([1, 1], 2.0, place),
///     rows: Tensor::ones([1, 1, 1], place),
///     noise: Tensor::ones([1, 1], place),
/// };
/// let first = Event { step: None, row: 0, noise: 0, is_observed: true };
/// let next = Event { step: Some(0), ..first };
/// let targets = Tensor::<3>::zeros([1, 3, 1], place);
/// let value: f64 = state_space_log_density(system, targets, &[first, next, next])?.into_scalar();
/// // The covariance [[3, 1, ½], [1, 3, 1], [½, 1, 3]] has the determinant 21.25.
/// let expected = -0.5 * (21.25f64.ln() + 3.0 * (2.0 * std::f64::consts::PI).ln());
/// assert!((value - expected).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
///
/// - `targets` (y): `[L, n, C]`
/// - `events`: n for each series, or n that all series share
/// - result: `[1]`
///
/// # Errors
///
/// [`StateSpaceError`] when a variance is not positive or not finite.
///
/// # Panics
///
/// If shapes or indices do not match.
#[track_caller]
pub fn state_space_log_density(
    system: LinearSystem,
    targets: Tensor<3>,
    events: &[Event],
) -> Result<Tensor<1>, StateSpaceError> {
    system.check(&targets, events);
    let dtype = targets.dtype();
    let tensors = system.flat(targets);
    let wants_gradient = tensors.iter().any(|tensor| tensor.values.is_autodiff());
    let request = Request {
        blocks: &system.blocks,
        events,
        wants_gradient,
        wants_rows: system.rows.is_autodiff(),
    };
    let (outcome, slopes) = evaluated(&tensors, request);
    let outcome_values = numbers(outcome.clone());
    check_outcome(&outcome_values)?;
    let value = outcome.narrow(1, 0, 1).reshape([1]);
    if !wants_gradient {
        return Ok(value.cast(dtype));
    }
    // The value, and terms of value zero with these derivatives.
    let mut surrogate = value.clone().autodiff();
    let mut first = 0;
    for Flat { values, .. } in tensors {
        let [count] = values.dims();
        if values.is_autodiff() && count > 0 {
            let slope = slopes.clone().narrow(1, first, count).reshape([count]);
            let change = (values * slope.autodiff()).sum();
            surrogate = surrogate + (change.clone() - change.detach());
        }
        first += count;
    }
    Ok(surrogate.cast(dtype))
}

/// A tensor with its values in a row, in double precision where that is cheap.
struct Flat {
    values: Tensor<1>,
    shape: [usize; 3],
}

impl LinearSystem {
    /// All tensors, with the targets last.
    fn flat(&self, targets: Tensor<3>) -> [Flat; 6] {
        let flat = |tensor: Tensor<3>| {
            let shape = tensor.dims();
            let values = match shape.contains(&0) {
                true => Tensor::zeros([0], (&tensor.device(), tensor.dtype())),
                false => tensor.reshape([shape.iter().product::<usize>()]),
            };
            let values = match is_on_cpu(&values) {
                true => values.cast(DType::F64),
                false => values,
            };
            Flat { values, shape }
        };
        [
            flat(self.transitions.clone()),
            flat(self.process_noise.clone()),
            flat(self.prior.clone().unsqueeze_dim(1)),
            flat(self.rows.clone()),
            flat(self.noise.clone().unsqueeze_dim(1)),
            flat(targets),
        ]
    }

    #[track_caller]
    fn check(&self, targets: &Tensor<3>, events: &[Event]) {
        let [series, count, columns] = targets.dims();
        let states: usize = self.blocks.iter().sum();
        let packed: usize = self.blocks.iter().map(|size| size * size).sum();
        let (transitions, process) = (self.transitions.dims(), self.process_noise.dims());
        let (prior, rows, noise) = (self.prior.dims(), self.rows.dims(), self.noise.dims());
        let leading = [transitions[0], process[0], prior[0], rows[0], noise[0]];
        assert!(
            leading.iter().all(|&size| size == series || size == 1)
                && transitions[1] == process[1]
                && [transitions[2], process[2], prior[1]] == [packed; 3]
                && rows[2] == states
                && columns > 0
                && (events.len() == count || events.len() == series * count),
            "state_space_log_density: blocks {:?}, transitions {transitions:?}, process noise {process:?}, prior \
             {prior:?}, rows {rows:?}, noise {noise:?}, targets {:?}, {} events; expected [L, U, Σb²], [L, U, Σb²], \
             [L, Σb²], [L, O, s], [L, R], [L, n, C] and n events for each series, or n for all",
            self.blocks,
            targets.dims(),
            events.len()
        );
        let fits = |event: &Event| {
            (event.step).is_none_or(|step| (step as usize) < transitions[1])
                && (event.row as usize) < rows[1]
                && (event.noise as usize) < noise[1]
        };
        let misfit = events.iter().find(|event| !fits(event));
        assert!(
            misfit.is_none(),
            "state_space_log_density: {misfit:?} among {} steps, {} rows and {} noise variances",
            transitions[1],
            rows[1],
            noise[1]
        );
    }
}

/// The outcome, [1, 5], and the derivatives.
fn evaluated(tensors: &[Flat; 6], request: Request<'_>) -> (Tensor<2>, Tensor<2>) {
    let plain = tensors
        .each_ref()
        .map(|flat| flat.values.clone().without_autodiff());
    let [targets_series, _, columns] = tensors[5].shape;
    let is_empty = tensors.iter().any(|flat| flat.shape.contains(&0));
    if is_on_cpu(&plain[5]) && !is_empty {
        let mut shaped = plain
            .into_iter()
            .zip(tensors)
            .map(|(values, flat)| values.reshape(flat.shape).into_dispatch());
        let mut next = || match shaped.next() {
            Some(tensor) => tensor,
            None => unreachable!("there are six tensors"),
        };
        let [a, q, p, h, r, y] = [(); 6].map(|()| next());
        let (outcome, slopes) = <Dispatch as Dispatched>::state_space(a, q, p, h, r, y, request);
        return (
            Tensor::<2>::from_dispatch(outcome),
            Tensor::<2>::from_dispatch(slopes),
        );
    }
    // Values of other devices are read, and the results are written there.
    let (device, dtype) = (plain[5].device(), plain[5].dtype());
    let values = plain.map(numbers);
    let batch = Batch {
        values: values.each_ref().map(Vec::as_slice),
        members: tensors.each_ref().map(|flat| flat.shape[0].max(1)),
        series: targets_series,
        columns,
        request,
    };
    let (outcome, slopes) = cpu::outcome(&batch);
    let written = |values: Vec<f64>| {
        let shape = [1, values.len()];
        Tensor::<2>::from_data(TensorData::new(values, shape), (&device, dtype))
    };
    (written(outcome.to_vec()), written(slopes))
}

/// Reports the observation that failed first.
fn check_outcome(values: &[f64]) -> Result<(), StateSpaceError> {
    match values {
        &[_, failed, series, event, variance] if failed != 0.0 => Err(StateSpaceError {
            series: series as usize,
            event: event as usize,
            variance,
        }),
        _ => Ok(()),
    }
}

/// The number of values of the log density and of a failure.
const OUTCOME: usize = 5;

/// The moments at all events given all observations, of each series, and what predictions need. It has no gradient.
///
/// # Shapes
///
/// - `targets`: `[L, n, C]`
///
/// # Errors
///
/// [`StateSpaceError`] when a variance is not positive or not finite.
///
/// # Panics
///
/// If shapes or indices do not match.
#[track_caller]
pub fn state_space_smoothing(
    system: &LinearSystem,
    targets: Tensor<3>,
    events: &[Event],
) -> Result<Vec<Smoothed>, StateSpaceError> {
    let [series, ..] = targets.dims();
    with_batch(system, targets, events, |batch| {
        let smoothed =
            |index| cpu::smoothed(batch.member(index)).map_err(|failure| failed(index, failure));
        (0..series).map(smoothed).collect()
    })
}

/// The moments of the state after the last event of one series, and the log density of the observations given those
/// before the first, by the filter alone. It starts at the moments before the first event: those of the prior if there
/// are none. New observations of a long series cost nothing for those before.
///
/// # Shapes
///
/// - `targets`: `[1, n, C]`
///
/// # Errors
///
/// [`StateSpaceError`] when a variance is not positive or not finite.
///
/// # Panics
///
/// If shapes or indices do not match.
#[track_caller]
pub fn state_space_filtering(
    system: &LinearSystem,
    first: Option<StateMoments>,
    targets: Tensor<3>,
    events: &[Event],
) -> Result<(StateMoments, f64), StateSpaceError> {
    let [series, _, columns] = targets.dims();
    let states: usize = system.blocks.iter().sum();
    let sizes = (first.as_ref()).map(|first| (first.mean.len(), first.covariance.len()));
    assert!(
        series == 1 && sizes.is_none_or(|sizes| sizes == (states * columns, states * states)),
        "state_space_filtering: {series} series, first moments of the sizes {sizes:?}; expected one series and \
         moments of {states} states and {columns} columns"
    );
    with_batch(system, targets, events, |batch| {
        let series = batch.member(0);
        let first = first.unwrap_or_else(|| series.first());
        cpu::filtered(series, first).map_err(|failure| failed(0, failure))
    })
}

/// The log density of one series in plain numbers, the sum over columns of `log N(y | 0, C)`, and its derivatives if they
/// are wanted: those of [`state_space_log_density`], without tensors. Those with respect to rows h are left out.
///
/// ```
/// use burn_gp_core::ops::{Event, LinearSeries, state_space_score};
///
/// # fn main() -> Result<(), burn_gp_core::ops::StateSpaceError> {
/// // Two values of variance 2 + 1 with the covariance 1.
/// let first = Event { step: None, row: 0, noise: 0, is_observed: true };
/// let next = Event { step: Some(0), ..first };
/// let series = LinearSeries {
///     blocks: &[1],
///     transitions: &[0.5],
///     process_noise: &[1.5],
///     prior: &[2.0],
///     rows: &[1.0],
///     noise: &[1.0],
///     targets: &[0.0, 0.0],
///     columns: 1,
///     events: &[first, next],
/// };
/// let (log_density, slopes) = state_space_score(series, true)?;
/// let expected = -0.5 * (8f64.ln() + 2.0 * (2.0 * std::f64::consts::PI).ln());
/// assert!((log_density - expected).abs() < 1e-12);
/// // −½·∂log(d² − 1)/∂r at d = 2 + r = 3.
/// assert!((slopes.noise[0] + 3.0 / 8.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`StateSpaceError`] when a variance is not positive or not finite.
///
/// # Panics
///
/// If sizes or indices do not match.
#[track_caller]
pub fn state_space_score(
    series: LinearSeries<'_>,
    wants_gradient: bool,
) -> Result<(f64, StateSpaceCotangents), StateSpaceError> {
    series.check();
    cpu::scored(series, wants_gradient).map_err(|failure| failed(0, failure))
}

fn failed(series: usize, failure: series::Failure) -> StateSpaceError {
    StateSpaceError {
        series,
        event: failure.event,
        variance: failure.variance,
    }
}

/// Calls `pass` with the values of all tensors.
#[track_caller]
fn with_batch<R>(
    system: &LinearSystem,
    targets: Tensor<3>,
    events: &[Event],
    pass: impl FnOnce(&Batch<'_>) -> R,
) -> R {
    system.check(&targets, events);
    let [series, _, columns] = targets.dims();
    let tensors = system.flat(targets);
    let values = (tensors.each_ref()).map(|flat| numbers(flat.values.clone().without_autodiff()));
    pass(&Batch {
        values: values.each_ref().map(Vec::as_slice),
        members: tensors.each_ref().map(|flat| flat.shape[0].max(1)),
        series,
        columns,
        request: Request {
            blocks: &system.blocks,
            events,
            wants_gradient: false,
            wants_rows: false,
        },
    })
}
