//! The passes over all series on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    OUTCOME, Request, StateSpaceOps,
    backward::{Cotangents, backward},
    batch::Batch,
    forward::filter,
    series::{Failure, Series},
    smoothing::{Smoothed, smooth},
};
use crate::ops::cpu::{
    CpuMemory, in_parts, threads,
    vectorized::{self, Kernel},
    write,
};

/// Events times the entries of P from which series are distributed over threads.
const PARALLEL_FROM: usize = 1 << 13;

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

type Outcome = Result<(f64, Cotangents), Failure>;

/// The passes over each series.
fn passes(batch: &Batch<'_>) -> Vec<Outcome> {
    let states: usize = batch.request.blocks.iter().sum();
    let events = batch.request.events.len();
    let parts = threads::count_for(events * batch.series * states * states, PARALLEL_FROM);
    let mut all: Vec<Outcome> = (0..batch.series)
        .map(|_| Ok((0.0, Cotangents::default())))
        .collect();
    in_parts(&mut all, 1, parts, &|all, first| {
        for (index, outcome) in all.iter_mut().enumerate() {
            *outcome = vectorized::run(Pass {
                series: batch.member(first + index),
                wants_gradient: batch.request.wants_gradient,
                wants_rows: batch.request.wants_rows,
            });
        }
    });
    all
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
        let kept = filter::<S, C, FUSED>(&self.series, self.wants_gradient)?;
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
