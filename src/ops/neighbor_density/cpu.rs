//! The log density on the CPU.

use core::marker::PhantomData;

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    NeighborDensityOps, OUTCOME, Request,
    problem::Problem,
    rows::{Pass, Sums},
};
use crate::ops::{
    cholesky::Status,
    cpu::{
        CpuMemory, Element, Scalar, add_up, in_parts, threads, vectorized, with_element, write,
        write_like,
    },
    decompositions::count_decomposition,
    stationary::{expand, inverses, with_profile},
};

/// Entries of all tiles from which the rows are distributed over threads.
const PARALLEL_FROM: usize = 1 << 13;

impl<B: CpuMemory> NeighborDensityOps for B {
    fn neighbor_density(
        inputs: FloatTensor<B>,
        residual: FloatTensor<B>,
        parameters: FloatTensor<B>,
        request: Request<'_>,
    ) -> (
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
    ) {
        count_decomposition();
        let (dimensions, outputs) = (inputs.shape()[1], residual.shape()[1]);
        let device = inputs.device();
        with_element!(inputs, T => {
            let [points, targets, values] =
                [&inputs, &residual, &parameters].map(|tensor| B::read::<T>(tensor));
            let (scales, variances) = values.split_at(values.len() - 2);
            let problem = Problem {
                inputs: &points,
                residual: &targets,
                outputs,
                inverse: &inverses(&expand(scales, dimensions)),
                variance: variances[0],
                noise: variances[1],
                request,
            };
            let sums = total(&problem);
            let mut slopes = lengthscale_slopes(&sums, scales, dimensions);
            let of_variances = [sums.variance / problem.variance.to_f64(), sums.noise];
            slopes.extend(of_variances.map(<T as Scalar>::from_f64));
            let outcome = outcome(&sums, &problem).map(<T as Scalar>::from_f64);
            (
                write::<B, T>(outcome.to_vec(), [1, OUTCOME], &device),
                write_like::<B, T>(or_zeros(sums.inputs, points.len()), &inputs),
                write_like::<B, T>(or_zeros(sums.residual, targets.len()), &residual),
                write_like::<B, T>(slopes, &parameters),
            )
        })
    }
}

fn or_zeros<T: Scalar>(values: Vec<T>, count: usize) -> Vec<T> {
    match values.is_empty() {
        true => vec![T::default(); count],
        false => values,
    }
}

/// The sums over all rows.
fn total<T: Element>(problem: &Problem<'_, T>) -> Sums<T> {
    let rows = problem.request.rows;
    let (count, size) = (rows.own.len(), rows.width() + 1);
    let parts = threads::count_for(count * size * size, PARALLEL_FROM);
    let mut all: Vec<Option<Sums<T>>> = (0..parts).map(|_| None).collect();
    in_parts(&mut all, 1, parts, &|all, first| {
        for (index, sums) in all.iter_mut().enumerate() {
            let part = first + index;
            let rows = count * part / parts..count * (part + 1) / parts;
            with_profile!(problem.request.kind, P => {
                let profile = PhantomData::<P>;
                *sums = Some(vectorized::run(Pass { problem, rows, profile }));
            });
        }
    });
    joined(all.into_iter().flatten().collect(), problem.inverse.len())
}

/// The sums of several parts of the rows.
fn joined<T: Element>(mut parts: Vec<Sums<T>>, dimensions: usize) -> Sums<T> {
    let of_all = |value: fn(&Sums<T>) -> f64| parts.iter().map(value).sum::<f64>();
    let (density, variance, noise) = (
        of_all(|sums| sums.density),
        of_all(|sums| sums.variance),
        of_all(|sums| sums.noise),
    );
    let square = |d: usize| parts.iter().map(|sums| sums.squares[d]).sum();
    let squares = (0..dimensions).map(square).collect();
    let failures = parts.iter().filter_map(|sums| sums.failure);
    let failure = failures.min_by_key(|failure| failure.row);
    let residuals = parts
        .iter_mut()
        .map(|sums| core::mem::take(&mut sums.residual));
    let residual = add_up(residuals.collect()).unwrap_or_default();
    let inputs = parts
        .iter_mut()
        .map(|sums| core::mem::take(&mut sums.inputs));
    Sums {
        density,
        squares,
        variance,
        noise,
        residual,
        inputs: add_up(inputs.collect()).unwrap_or_default(),
        failure,
    }
}

/// `∂/∂ℓ_d = −2/ℓ_d·Σ K̄_jk·σ²φ′·(x_jd − x_kd)²/ℓ_d²`, summed over dimensions that share a lengthscale.
fn lengthscale_slopes<T: Element>(sums: &Sums<T>, scales: &[T], dimensions: usize) -> Vec<T> {
    let expanded = expand(scales, dimensions);
    let each =
        (expanded.iter().zip(&sums.squares)).map(|(scale, square)| -2.0 * square / scale.to_f64());
    match scales.len() == dimensions {
        true => each.map(<T as Scalar>::from_f64).collect(),
        false => vec![<T as Scalar>::from_f64(each.sum())],
    }
}

/// The log density, the status and the row that failed first.
fn outcome<T: Element>(sums: &Sums<T>, problem: &Problem<'_, T>) -> [f64; OUTCOME] {
    let prior = (problem.variance + problem.noise).to_f64();
    let status = Status {
        failed_pivot: sums.failure.map(|failure| failure.pivot),
        jitter: sums.failure.map_or(0.0, |failure| failure.jitter),
        diagonal: [prior; 2],
    };
    let [pivot, jitter, smallest, largest] = status.row();
    let row = sums.failure.map_or(0, |failure| failure.row);
    [sums.density, pivot, jitter, smallest, largest, row as f64]
}
