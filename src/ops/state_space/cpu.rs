//! The passes over all series on the CPU.

use core::marker::PhantomData;

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    OUTCOME, Request, StateSpaceOps,
    backward::{Cotangents, backward},
    batch::Batch,
    forward::filter,
    lanes,
    series::{Failure, Series, StateMoments},
    smoothing::{Smoothed, smooth},
};
use crate::ops::cpu::{
    CpuMemory, Lanes, WIDTH, in_parts, threads,
    vectorized::{self, Kernel},
    write,
};

/// Events times the entries of P from which series are distributed over threads.
const PARALLEL_FROM: usize = 1 << 13;

/// Series from which they are put into lanes.
const LANES_FROM: usize = 4;

impl<B: CpuMemory> StateSpaceOps for B {
    fn state_space(
        transitions: FloatTensor<B>,
        process_noise: FloatTensor<B>,
        prior: FloatTensor<B>,
        rows: FloatTensor<B>,
        noise: FloatTensor<B>,
        targets: FloatTensor<B>,
        request: Request<'_>,
    ) -> (FloatTensor<B>, FloatTensor<B>) {
        let tensors = [
            &transitions,
            &process_noise,
            &prior,
            &rows,
            &noise,
            &targets,
        ];
        let [series, _, columns] = [0, 1, 2].map(|axis| targets.shape()[axis]);
        let device = targets.device();
        let values = tensors.map(|tensor| B::read::<f64>(tensor));
        let batch = Batch {
            values: values.each_ref().map(|values| &**values),
            members: tensors.map(|tensor| tensor.shape()[0]),
            series,
            columns,
            request,
        };
        let (outcome, slopes) = outcome(&batch);
        let width = slopes.len();
        (
            write::<B, f64>(outcome.to_vec(), [1, OUTCOME], &device),
            write::<B, f64>(slopes, [1, width], &device),
        )
    }
}

/// The log density and the first failure, and all derivatives one after the other if they are wanted.
pub fn outcome(batch: &Batch<'_>) -> ([f64; OUTCOME], Vec<f64>) {
    let passes = passes(batch);
    let mut density = 0.0;
    for (index, pass) in passes.iter().enumerate() {
        match pass {
            Ok((value, _)) => density += value,
            Err(Failure { event, variance }) => {
                return (
                    [0.0, 1.0, index as f64, *event as f64, *variance],
                    vec![0.0],
                );
            }
        }
    }
    let slopes = match batch.request.wants_gradient {
        true => batch.joined(passes.iter().flatten().map(|(_, slopes)| slopes)),
        false => vec![0.0],
    };
    ([density, 0.0, 0.0, 0.0, 0.0], slopes)
}

pub type Outcome = Result<(f64, Cotangents), Failure>;

/// The passes over each series.
fn passes(batch: &Batch<'_>) -> Vec<Outcome> {
    let states: usize = batch.request.blocks.iter().sum();
    let events = batch.request.events.len();
    let parts = threads::count_for(events * batch.series * states * states, PARALLEL_FROM);
    let mut all: Vec<Outcome> = (0..batch.series)
        .map(|_| Ok((0.0, Cotangents::default())))
        .collect();
    let width = if fits_lanes(batch) { WIDTH } else { 1 };
    in_parts(&mut all, width, parts, &|all, first| {
        for (group, outcomes) in all.chunks_mut(width).enumerate() {
            let first = (first + group) * width;
            let members: Vec<_> = (0..outcomes.len())
                .map(|index| batch.member(first + index))
                .collect();
            pass_over(&members, &batch.request, outcomes);
        }
    });
    all
}

/// Whether the series have the same events and a form that lanes take.
fn fits_lanes(batch: &Batch<'_>) -> bool {
    let Request {
        blocks,
        events,
        wants_rows,
        ..
    } = batch.request;
    let values = batch.values[5].len();
    let shares_events = events.len() * batch.series == values && batch.columns == 1;
    batch.series >= LANES_FROM && shares_events && matches!(blocks, [1..=3]) && !wants_rows
}

/// The passes over a few series, in lanes if there are several. A series with a failure, and one with negative noise,
/// takes the others in its lanes with it to passes one by one.
fn pass_over(members: &[Series<'_>], request: &Request<'_>, outcomes: &mut [Outcome]) {
    let wants_gradient = request.wants_gradient;
    let in_lanes = match members.len() {
        0..LANES_FROM => None,
        _ => vectorized::run(LanePass::<Lanes<f64>>::new(members, wants_gradient)),
    };
    if let Some(found) = in_lanes {
        for (outcome, found) in outcomes.iter_mut().zip(found) {
            *outcome = Ok(found);
        }
        return;
    }
    for (outcome, &series) in outcomes.iter_mut().zip(members) {
        *outcome = alone(series, wants_gradient, request.wants_rows);
    }
}

/// The passes over one series: in registers if it has few states and there is no failure.
fn alone(series: Series<'_>, wants_gradient: bool, wants_rows: bool) -> Outcome {
    let few = [series];
    let found = match wants_rows {
        false => vectorized::run(LanePass::<f64>::new(&few, wants_gradient)),
        true => None,
    };
    match found.and_then(|mut found| found.pop()) {
        Some(found) => Ok(found),
        None => vectorized::run(Pass {
            series,
            wants_gradient,
            wants_rows,
        }),
    }
}

/// The log density of one series, and its derivatives if they are wanted, except those with respect to rows.
pub fn scored(series: Series<'_>, wants_gradient: bool) -> Outcome {
    alone(series, wants_gradient, false)
}

/// The passes over series of few states, one in each lane of V. None for other series, and after a failure.
struct LanePass<'a, V> {
    members: &'a [Series<'a>],
    wants_gradient: bool,
    value: PhantomData<V>,
}

impl<'a, V> LanePass<'a, V> {
    fn new(members: &'a [Series<'a>], wants_gradient: bool) -> Self {
        Self {
            members,
            wants_gradient,
            value: PhantomData,
        }
    }
}

impl<V: lanes::Value> Kernel for LanePass<'_, V> {
    type Output = Option<Vec<(f64, Cotangents)>>;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> Self::Output {
        let first = &self.members[0];
        match (first.blocks, first.columns) {
            ([1], 1) => lanes::passes::<V, 1, FUSED>(self.members, self.wants_gradient),
            ([2], 1) => lanes::passes::<V, 2, FUSED>(self.members, self.wants_gradient),
            ([3], 1) => lanes::passes::<V, 3, FUSED>(self.members, self.wants_gradient),
            _ => None,
        }
    }
}

/// The passes over one series.
struct Pass<'a> {
    series: Series<'a>,
    wants_gradient: bool,
    wants_rows: bool,
}

impl Pass<'_> {
    #[inline(always)]
    fn of_size<const S: usize, const C: usize, const FUSED: bool>(&self) -> Outcome {
        let kept = filter::<S, C, FUSED>(&self.series, self.series.first(), self.wants_gradient)?;
        let cotangents = match self.wants_gradient {
            true => backward::<S, C, FUSED>(&self.series, &kept, self.wants_rows),
            false => Cotangents::default(),
        };
        Ok((kept.log_density, cotangents))
    }
}

impl Kernel for Pass<'_> {
    type Output = Outcome;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> Outcome {
        match (self.series.blocks, self.series.columns) {
            ([1], 1) => self.of_size::<1, 1, FUSED>(),
            ([2], 1) => self.of_size::<2, 1, FUSED>(),
            ([3], 1) => self.of_size::<3, 1, FUSED>(),
            _ => self.of_size::<0, 0, FUSED>(),
        }
    }
}

/// Smoothing of one series.
struct Smoothing<'a>(Series<'a>);

impl Kernel for Smoothing<'_> {
    type Output = Result<Smoothed, Failure>;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> Self::Output {
        smooth::<FUSED>(&self.0)
    }
}

/// Smooths one series.
pub fn smoothed(series: Series<'_>) -> Result<Smoothed, Failure> {
    vectorized::run(Smoothing(series))
}

/// The filter over one series from given moments.
struct Filtering<'a>(Series<'a>, StateMoments);

impl Kernel for Filtering<'_> {
    type Output = Result<(StateMoments, f64), Failure>;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> Self::Output {
        let kept = filter::<0, 0, FUSED>(&self.0, self.1, false)?;
        Ok((kept.last, kept.log_density))
    }
}

/// The moments after the last event of a series, and the log density, from moments before the first event.
pub fn filtered(series: Series<'_>, first: StateMoments) -> Result<(StateMoments, f64), Failure> {
    vectorized::run(Filtering(series, first))
}
