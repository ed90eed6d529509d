//! The posterior of regression over time.

use std::sync::Arc;

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::{ConditionError, failure, form, joint::joint, smoothed, timeline::Timeline, times};
use crate::{
    kernels::{KernelModule, StateSpace},
    ops::{Smoothed, numbers},
    parameter::tracked_like,
    process::{Joint, Marginals, Process, dummy_row_if_empty, nonnegative},
};

/// Entries of covariances of the state that are gathered at once.
const ENTRIES: usize = 1 << 22;

/// The process at any time: between observations, before and after them.
///
/// With m⁺, P⁺ after the last observation until the time, `P = AP⁺Aᵀ + Q` over the step since then, and r⁻, N⁻ before
/// the next one, moved back by B over the step until then, the value is `hᵀ(Am⁺ + PBᵀr⁻)` with the variance
/// `hᵀ(P − PBᵀN⁻BP)h`. Each new time costs `s²`, whatever the number of observations.
///
/// The covariances of [`joint`](Process::joint) pass over all observations once, and are constants at inputs on a
/// device with autodiff. Values are NaN at times that are not numbers.
#[derive(Clone, Debug)]
pub struct MarkovProcess<K> {
    pub(super) kernel: K,
    /// σ², `[1]`, or a variance for each observation, `[N]`
    pub(super) noise: Tensor<1>,
    /// y − m(t) in the order of time, [N, P]
    pub(super) residual: Vec<f64>,
    pub(super) outputs: usize,
    pub(super) timeline: Arc<Timeline>,
    smoothed: Arc<Smoothed>,
    place: (Device, DType),
}

/// Where new times lie among those of the observations.
struct Neighbors {
    /// The last observation until each time.
    before: Vec<Option<usize>>,
    /// The first observation after each time.
    after: Vec<Option<usize>>,
    /// The step since the last observation, or zero.
    since: Vec<f64>,
    /// The step until the next observation, or zero.
    until: Vec<f64>,
}

impl Neighbors {
    fn new(times: &[f64], observed: &[f64]) -> Self {
        let next = |time: f64| observed.partition_point(|&known| known <= time);
        let count = observed.len();
        let before: Vec<_> = times
            .iter()
            .map(|&time| next(time).checked_sub(1))
            .collect();
        let after: Vec<_> = (times.iter())
            .map(|&time| Some(next(time)).filter(|&next| next < count))
            .collect();
        let step = |(&time, place): (&f64, &Option<usize>)| {
            place.map_or(0.0, |place| (time - observed[place]).abs())
        };
        Self {
            since: times.iter().zip(&before).map(step).collect(),
            until: times.iter().zip(&after).map(step).collect(),
            before,
            after,
        }
    }
}

/// The values of some events, or zero where there is none, [T, rows, columns].
fn gathered(
    values: &[f64],
    places: &[Option<usize>],
    [rows, columns]: [usize; 2],
    place: (&Device, DType),
) -> Tensor<3> {
    let width = rows * columns;
    let mut all = vec![0.0; places.len() * width];
    for (target, place) in all.chunks_exact_mut(width).zip(places) {
        if let Some(place) = place {
            target.copy_from_slice(&values[place * width..][..width]);
        }
    }
    Tensor::from_data(TensorData::new(all, [places.len(), rows, columns]), place)
}

/// `AX` or `AᵀX` for packed blocks A, [T, Σb²], and X, [T, s, C].
pub(super) fn block_product(
    blocks: &[usize],
    packed: &Tensor<2>,
    x: Tensor<3>,
    transposed: bool,
) -> Tensor<3> {
    let [rows, _, columns] = x.dims();
    let (mut entry, mut state) = (0, 0);
    let products = blocks.iter().map(|&size| {
        let block = packed.clone().narrow(1, entry, size * size);
        let block = block.reshape([rows, size, size, 1]);
        let block = if transposed {
            block.swap_dims(1, 2)
        } else {
            block
        };
        let own = x.clone().narrow(1, state, size);
        (entry, state) = (entry + size * size, state + size);
        (block * own.reshape([rows, 1, size, columns]))
            .sum_dim(2)
            .reshape([rows, size, columns])
    });
    Tensor::cat(products.collect(), 1)
}

impl<K: KernelModule> MarkovProcess<K> {
    pub(super) fn new(
        kernel: K,
        noise: Tensor<1>,
        residual: Tensor<2>,
        timeline: Arc<Timeline>,
    ) -> Result<Self, ConditionError> {
        let place = (residual.device(), residual.dtype());
        let [_, outputs] = residual.dims();
        let smoothed = smoothed(&kernel, noise.clone(), residual.clone(), &timeline)
            .map_err(|error| failure(error, &timeline, place.1))?;
        let residual = super::in_order(residual, &timeline);
        Ok(Self {
            kernel,
            noise,
            residual: numbers(residual),
            outputs,
            timeline,
            smoothed: Arc::new(smoothed),
            place,
        })
    }

    /// Means and variances at some times.
    fn at(&self, x: Tensor<2>) -> Marginals {
        let form = form(&tracked_like(&x, self.kernel.clone()));
        let (device, dtype) = form.place();
        let place = (&device, dtype);
        let [rows, _] = x.dims();
        let times = times(&x);
        let neighbors = Neighbors::new(&times, &self.timeline.times);
        // Zero, with the gradient of the times.
        let change = x.is_autodiff().then(|| {
            let change = x.clone() - x.clone().detach();
            change.cast(dtype).reshape([rows])
        });
        let moved = |values: &[f64], sign: f64| {
            let values = Tensor::<1>::from_data(values, place);
            match &change {
                Some(change) => values + change.clone() * sign,
                None => values,
            }
        };
        let since = moved(&neighbors.since, 1.0);
        let until = moved(&neighbors.until, -1.0);
        let prior = form.prior(moved(&times, 1.0));
        let (mean, variance) = self.moments(&form, &neighbors, [since, until], prior);
        Marginals {
            mean: mean.cast(x.dtype()),
            variance: nonnegative(variance.cast(x.dtype())).expand([rows, self.outputs]),
        }
    }

    /// The means, [T, P], and the variances, [T, 1].
    fn moments(
        &self,
        form: &StateSpace,
        neighbors: &Neighbors,
        [since, until]: [Tensor<1>; 2],
        prior: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let (device, dtype) = form.place();
        let (blocks, row, outputs) = (form.blocks(), form.row(), self.outputs);
        let (rows, states) = (neighbors.before.len(), row.len());
        let of = |values: &[f64], places: &[Option<usize>], columns: usize| {
            gathered(values, places, [states, columns], (&device, dtype))
        };
        let smoothed = &self.smoothed;
        let h = Tensor::<1>::from_data(row.as_slice(), (&device, dtype)).reshape([1, states, 1]);
        let h = h.expand([rows, states, 1]);
        let transition = form.transitions(since.clone()); // A
        let back = block_product(&blocks, &transition, h.clone(), true); // Aᵀh
        // w = Ph = A(P⁺Aᵀh) + Qh, and P(t)h before all observations
        let covariance = of(&smoothed.covariances, &neighbors.before, states);
        let known = (covariance * back.clone().swap_dims(1, 2)).sum_dim(2);
        let is_first = neighbors.before.iter().map(|place| match place {
            None => 1.0,
            Some(_) => 0.0,
        });
        let is_first = TensorData::new(is_first.collect::<Vec<f64>>(), [rows, 1]);
        let is_first = Tensor::<2>::from_data(is_first, (&device, dtype));
        // The prior at a time before all observations moves over no step.
        let noise = form.process_noise(since) * (is_first.clone().neg() + 1.0);
        let added = noise + prior * is_first;
        let w = block_product(&blocks, &transition, known, false)
            + block_product(&blocks, &added, h.clone(), false);
        // z = Bw
        let z = block_product(&blocks, &form.transitions(until), w.clone(), false);
        // hᵀAm⁺ + zᵀr⁻, hᵀw − zᵀN⁻z
        let means = of(&smoothed.means, &neighbors.before, outputs);
        let vectors = of(&smoothed.vectors, &neighbors.after, outputs);
        let mean = (means * back + vectors * z.clone()).sum_dim(1);
        let matrix = of(&smoothed.matrices, &neighbors.after, states);
        let reduced = (matrix * z.clone().swap_dims(1, 2)).sum_dim(2);
        let variance = (h * w - z * reduced).sum_dim(1);
        (mean.reshape([rows, outputs]), variance.reshape([rows, 1]))
    }
}

impl<K: KernelModule> Process for MarkovProcess<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let ([rows, _], states) = (x.dims(), form(&self.kernel).row().len());
        let chunk = (ENTRIES / (states * states)).max(1);
        let parts = (0..rows).step_by(chunk).map(|first| {
            let part = self.at(x.clone().narrow(0, first, chunk.min(rows - first)));
            (part.mean, part.variance)
        });
        let (means, variances): (Vec<_>, Vec<_>) = parts.unzip();
        Marginals {
            mean: Tensor::cat(means, 0),
            variance: Tensor::cat(variances, 0),
        }
    }

    /// Means and covariances given all observations. Time grows with the number of observations between the first and
    /// the last new time, times the number of new times.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let covariance = self.covariances(&times(&x));
        joint(covariance, self.marginals(x), &self.place.0)
    }
}
