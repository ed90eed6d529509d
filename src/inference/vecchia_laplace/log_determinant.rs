//! The log-determinant of the posterior precision, with its derivatives.

use rand::{Rng as _, SeedableRng, rngs::ChaCha8Rng};

use super::{
    latent_precision::{Columns, LANES},
    posterior_columns::PosteriorColumns,
    posterior_precision::{PosteriorPrecision, Solved, Stop},
    precision_slopes::PrecisionSlopes,
};
use crate::ops::in_parts;

/// `log|Q + W|` and its derivatives.
pub struct LogDeterminant {
    pub value: f64,
    /// With respect to W, the diagonal of `(Q + W)⁻¹`, `[N]`.
    pub of_curvature: Vec<f64>,
    /// The columns whose products give the derivatives with respect to Q.
    columns: Vec<Group>,
    is_exact: bool,
}

/// Columns x and w, [N, L], with `(Q + W)⁻¹ ≈ Σ xwᵀ`, up to a factor.
struct Group {
    left: Columns<LANES>,
    right: Columns<LANES>,
}

impl LogDeterminant {
    /// From the root of the covariance and the value.
    pub fn exact(columns: PosteriorColumns, value: f64) -> Self {
        let groups = columns.groups.into_iter().map(|root| Group {
            left: root.clone(),
            right: root,
        });
        Self::new(value, groups.collect(), true)
    }

    /// An estimate by random vectors z of ±1: `log|P| + mean zᵀlog(Ã)z` by Lanczos quadrature. The derivatives are
    /// those of `log|P|` with the mean of `xᵀ∂A·w − wᵀ∂P·w`, for `x = A⁻¹Rᵀz` and `w = R⁻¹z`, whose expected
    /// value is `tr(A⁻¹∂A) − tr(P⁻¹∂P)` (arXiv:2310.12000, Section 3.1). Because `(Bw)_i² = 1/E_i`, the terms of P
    /// cancel except for those with ∂B.
    pub fn estimate(system: &PosteriorPrecision<'_>, probes: usize, seed: u64, stop: Stop) -> Self {
        let groups = probes.div_ceil(LANES);
        let mut results: Vec<Option<(Group, f64)>> = (0..groups).map(|_| None).collect();
        in_parts(&mut results, 1, groups, &|results, first| {
            for (index, result) in results.iter_mut().enumerate() {
                *result = Some(solve_group(system, seed, first + index, stop));
            }
        });
        let count = (groups * LANES) as f64;
        let mut quadrature = 0.0;
        let mut columns = Vec::with_capacity(groups);
        for (group, value) in results.into_iter().flatten() {
            quadrature += value;
            columns.push(group);
        }
        let value = system.log_determinant_of_preconditioner() + quadrature / count;
        Self::new(value, columns, false)
    }

    fn new(value: f64, columns: Vec<Group>, is_exact: bool) -> Self {
        let rows = columns.first().map_or(0, |group| group.left.len());
        let mut of_curvature = vec![0.0; rows];
        for group in &columns {
            for (sum, (x, w)) in of_curvature
                .iter_mut()
                .zip(group.left.iter().zip(&group.right))
            {
                *sum += x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
            }
        }
        let mut this = Self {
            value,
            of_curvature,
            columns,
            is_exact,
        };
        let share = this.share();
        this.of_curvature.iter_mut().for_each(|sum| *sum *= share);
        this
    }

    /// The share of a column in the derivatives.
    fn share(&self) -> f64 {
        match self.is_exact {
            true => 1.0,
            false => ((self.columns.len() * LANES) as f64).recip(),
        }
    }

    /// Adds `factor` times the derivatives with respect to b and d.
    pub fn add_slopes(
        &self,
        system: &PosteriorPrecision<'_>,
        factor: f64,
        slopes: &mut PrecisionSlopes,
    ) {
        let (prior, share) = (system.prior(), factor * self.share());
        for Group { left, right } in &self.columns {
            slopes.add(prior, share, [left, right]);
            if !self.is_exact {
                slopes.add_of_weights(prior, -share, system.roots(), right);
            }
        }
    }
}

/// x and w of the probes of a group, and the sum of `zᵀlog(Ã)z`.
fn solve_group(
    system: &PosteriorPrecision<'_>,
    seed: u64,
    group: usize,
    stop: Stop,
) -> (Group, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(group as u64);
    let rows = system.prior().rows();
    let signs = |random: &mut ChaCha8Rng| {
        let bits = random.next_u32();
        std::array::from_fn(|lane| if bits >> lane & 1 == 0 { 1.0 } else { -1.0 })
    };
    let mut right: Columns<LANES> = (0..rows).map(|_| signs(&mut random)).collect();
    let Solved {
        solution: mut left,
        tridiagonals,
    } = system.solve_transformed(right.clone(), stop);
    system.solve_root(&mut left);
    system.solve_root(&mut right);
    let value = tridiagonals.iter().map(|matrix| matrix.logarithm()).sum();
    (Group { left, right }, value)
}
