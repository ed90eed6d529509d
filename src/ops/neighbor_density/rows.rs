//! The log density of a range of rows and its derivatives.

use core::{f64::consts::PI, marker::PhantomData, ops::Range};

use super::{
    group::Group,
    problem::{Failure, Problem},
};
use crate::ops::{
    cpu::{Kernel, Lanes, Scalar, WIDTH},
    stationary::Profile,
};

/// The log density of some rows with its derivatives.
pub struct Sums<T> {
    pub density: f64,
    /// `Σ K̄_jk·σ²φ′·(x_jd − x_kd)²/ℓ_d²` over pairs j, k, `[D]`
    pub squares: Vec<f64>,
    /// σ² times the derivative of σ²
    pub variance: f64,
    pub noise: f64,
    /// [N, P], or empty
    pub residual: Vec<T>,
    /// [N, D], or empty
    pub inputs: Vec<T>,
    pub failure: Option<Failure>,
}

impl<T: Scalar> Sums<T> {
    fn zero(problem: &Problem<'_, T>) -> Self {
        let [of_inputs, of_others] = problem.request.wanted;
        let zeros = |wanted, count| vec![T::default(); if wanted { count } else { 0 }];
        Self {
            density: 0.0,
            squares: vec![0.0; problem.inverse.len()],
            variance: 0.0,
            noise: 0.0,
            residual: zeros(of_others, problem.residual.len()),
            inputs: zeros(of_inputs, problem.inputs.len()),
            failure: None,
        }
    }
}

/// The pass over some rows of the table.
pub struct Pass<'a, T, P> {
    pub problem: &'a Problem<'a, T>,
    pub rows: Range<usize>,
    pub profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Pass<'_, T, P> {
    type Output = Sums<T>;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> Sums<T> {
        let problem = self.problem;
        let mut sums = Sums::zero(problem);
        let mut group = Group::new(problem);
        for first in self.rows.clone().step_by(WIDTH) {
            let rows = first..(first + WIDTH).min(self.rows.end);
            group.gather(problem, rows);
            if let Err(failure) = group.condition::<P, FUSED>(problem) {
                sums.failure = Some(failure);
                return sums;
            }
            add_density::<T, FUSED>(problem, &mut group, &mut sums);
            if problem.request.wanted[1] {
                group.differentiate::<FUSED>(problem.outputs);
                add_slopes(problem, &group, &mut sums);
            }
        }
        sums
    }
}

/// Adds the log densities of a group and the derivatives of the residual; leaves `Σ_p e_p²/d` and
/// `Σ_p (e_p/d)·r_cp` in the group.
#[inline(always)]
fn add_density<T: Scalar, const FUSED: bool>(
    problem: &Problem<'_, T>,
    group: &mut Group<T>,
    sums: &mut Sums<T>,
) {
    let (outputs, width) = (problem.outputs, group.width());
    group.clear_residuals();
    for output in 0..outputs {
        let scaled = group.residual::<FUSED>(output, outputs); // e/d
        if !problem.request.wanted[1] {
            continue;
        }
        for (lane, row) in group.rows.clone().enumerate() {
            // r̄ = −(e/d)·v
            let own = problem.request.rows.own[row] as usize;
            sums.residual[own * outputs + output] += -scaled.0[lane];
            let neighbors = &problem.request.rows.neighbors[row * width..][..group.counts[lane]];
            for (&neighbor, weight) in neighbors.iter().zip(&group.weights) {
                sums.residual[neighbor as usize * outputs + output] +=
                    scaled.0[lane] * weight.0[lane];
            }
        }
    }
    for lane in 0..group.rows.len() {
        let normalizer = (2.0 * PI).ln() + group.variance.0[lane].to_f64().ln();
        sums.density -= 0.5 * (outputs as f64 * normalizer + group.fit.0[lane].to_f64());
    }
}

/// Adds the derivatives of the lengthscales, the variance, the noise and the inputs.
#[inline(always)]
fn add_slopes<T: Scalar>(problem: &Problem<'_, T>, group: &Group<T>, sums: &mut Sums<T>) {
    for (sum, square) in sums.squares.iter_mut().zip(&group.squares) {
        *sum += square.sum();
    }
    let (variance, noise) = (problem.variance.to_f64(), problem.noise.to_f64());
    for lane in 0..group.rows.len() {
        let at = |lanes: Lanes<T>| lanes.0[lane].to_f64();
        let (trace, jitter) = (at(group.trace), group.attempts.jitter(lane));
        let added = jitter * (variance + noise);
        // tr(K̄K) = d̄·d for the whole K = σ²Φ + (τ² + jitter·(σ² + τ²))·I, since Kv = (0; d).
        let product = at(group.slope) * at(group.variance);
        sums.variance += product - (noise + added) * trace + jitter * variance * trace;
        sums.noise += (1.0 + jitter) * trace;
    }
    if problem.request.wanted[0] {
        add_input_slopes(problem, group, sums);
    }
}

#[inline(always)]
fn add_input_slopes<T: Scalar>(problem: &Problem<'_, T>, group: &Group<T>, sums: &mut Sums<T>) {
    let (dimensions, width) = (problem.inverse.len(), group.width());
    let two = T::from_f64(2.0);
    for (lane, row) in group.rows.clone().enumerate() {
        let neighbors = &problem.request.rows.neighbors[row * width..][..group.counts[lane]];
        let places = neighbors
            .iter()
            .enumerate()
            .map(|(place, &row)| (place, row));
        for (place, row) in places.chain([(width, problem.request.rows.own[row])]) {
            let pulls = &group.pulls[place * dimensions..][..dimensions];
            let slopes = &mut sums.inputs[row as usize * dimensions..][..dimensions];
            for ((slope, pull), &inverse) in slopes.iter_mut().zip(pulls).zip(problem.inverse) {
                *slope += two * pull.0[lane] * inverse;
            }
        }
    }
}
