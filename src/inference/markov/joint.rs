//! Covariances between several times given all observations.

use burn::tensor::{Device, Tensor, TensorData};

use super::{epsilon, form, process::MarkovProcess, system, timeline::Timeline};
use crate::{
    kernels::KernelModule,
    ops::{Event, LinearSystem, Smoothed, numbers, state_space_smoothing},
    process::{Joint, Marginals},
};

/// The joint distribution with the means of marginals, [N, P], and a covariance that all functions share, [N, N], on a
/// device. It is a constant if the means have autodiff.
pub(super) fn joint(covariance: Vec<f64>, marginals: Marginals, device: &Device) -> Joint {
    let mean = marginals.mean;
    let [rows, outputs] = mean.dims();
    let covariance = TensorData::new(covariance, [1, rows, rows]);
    let covariance = Tensor::<3>::from_data(covariance, (device, mean.dtype()));
    let covariance = covariance.repeat_dim(0, outputs);
    Joint {
        covariance: if mean.is_autodiff() {
            covariance.autodiff()
        } else {
            covariance
        },
        mean,
    }
}

/// The passes over observations and new times together.
struct Pass {
    blocks: Vec<usize>,
    /// A, [U, Σb²]
    transitions: Vec<f64>,
    /// h, `[s]`
    row: Vec<f64>,
    smoothed: Smoothed,
    events: Vec<Event>,
    /// The new time of each event, if it is one.
    new: Vec<Option<usize>>,
}

impl<K: KernelModule> MarkovProcess<K> {
    /// The covariances at times, `[T]`, as [T, T]; NaN if a variance is lost in rounding.
    ///
    /// With the covariances P of the state before each event given those before it, and the transitions
    /// `L = A(I − κhᵀ)` of prediction errors, `Cov(f_i, f_j) = (h − N_jP_jh)ᵀ L_(j−1)⋯L_i P_i h` for i before j (P. de
    /// Jong and M. Mackinnon, *Covariances for smoothed estimates in state space models*, 1988).
    pub(super) fn covariances(&self, times: &[f64]) -> Vec<f64> {
        let count = times.len();
        let Some(pass) = self.pass(times) else {
            return vec![f64::NAN; count * count];
        };
        let states = pass.row.len();
        let mut covariances = vec![0.0; count * count];
        // The new times until the event, with L_(j−1)⋯L_i P_i h.
        let mut sources: Vec<(usize, Vec<f64>)> = Vec::new();
        for (index, event) in pass.events.iter().enumerate() {
            if let Some(step) = event.step {
                for (_, vector) in &mut sources {
                    pass.advance(step as usize, vector);
                }
            }
            if let Some(own) = pass.new[index] {
                let covariance = &pass.smoothed.covariances[index * states * states..];
                let w = product(&covariance[..states * states], &pass.row); // Ph
                let matrix = &pass.smoothed.matrices[index * states * states..];
                let reduced = product(&matrix[..states * states], &w); // NPh
                let left: Vec<f64> = (pass.row.iter().zip(&reduced))
                    .map(|(h, n)| h - n)
                    .collect();
                sources.push((own, w));
                for (other, vector) in &sources {
                    let value = dot(&left, vector);
                    covariances[own * count + other] = value;
                    covariances[other * count + own] = value;
                }
            }
            if event.is_observed {
                let gain = &pass.smoothed.gains[index * states..][..states];
                for (_, vector) in &mut sources {
                    let value = dot(&pass.row, vector);
                    for (v, gain) in vector.iter_mut().zip(gain) {
                        *v -= gain * value; // (I − κhᵀ)v
                    }
                }
            }
        }
        covariances
    }

    fn pass(&self, times: &[f64]) -> Option<Pass> {
        let observed = self.timeline.times.len();
        let all: Vec<f64> = (self.timeline.times.iter().chain(times)).copied().collect();
        // The known times are merged with new ones: only equal numbers are equal steps.
        let timeline = Timeline::new(&all, epsilon(burn::tensor::DType::F64));
        let is_new = |place: usize| timeline.order[place].checked_sub(observed);
        let new: Vec<Option<usize>> = (0..all.len()).map(is_new).collect();
        let events: Vec<Event> = timeline
            .events
            .iter()
            .zip(&timeline.order)
            .map(|(event, &place)| Event {
                noise: self
                    .timeline
                    .events
                    .get(place)
                    .map_or(0, |known| known.noise),
                is_observed: place < observed,
                ..*event
            })
            .collect();
        let width = self.outputs;
        let mut targets = vec![0.0; all.len() * width];
        for (target, &row) in targets.chunks_exact_mut(width).zip(&timeline.order) {
            if row < observed {
                target.copy_from_slice(&self.residual[row * width..][..width]);
            }
        }
        let form = form(&self.kernel);
        let (device, dtype) = form.place();
        let targets = TensorData::new(targets, [1, all.len(), width]);
        let targets = Tensor::<3>::from_data(targets, (&device, dtype));
        let system = system(&form, &timeline, self.noise.clone());
        let series = state_space_smoothing(&system, targets, &events).ok()?;
        let LinearSystem {
            blocks,
            transitions,
            ..
        } = system;
        Some(Pass {
            blocks,
            transitions: numbers(transitions),
            row: form.row(),
            smoothed: series.into_iter().next()?,
            events,
            new,
        })
    }
}

impl Pass {
    fn advance(&self, step: usize, vector: &mut [f64]) {
        advance(&self.blocks, &self.transitions, step, vector);
    }
}

/// `v ← Av` with the blocks of A of one of several steps, [U, Σb²].
pub(super) fn advance(blocks: &[usize], transitions: &[f64], step: usize, vector: &mut [f64]) {
    let packed: usize = blocks.iter().map(|size| size * size).sum();
    let mut matrix = &transitions[step * packed..][..packed];
    let mut rest = vector;
    for &size in blocks {
        let (block, others) = matrix.split_at(size * size);
        let (own, below) = rest.split_at_mut(size);
        own.copy_from_slice(&product(block, own));
        (matrix, rest) = (others, below);
    }
}

/// A square matrix times a vector.
fn product(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks_exact(vector.len());
    rows.map(|row| dot(row, vector)).collect()
}

pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
