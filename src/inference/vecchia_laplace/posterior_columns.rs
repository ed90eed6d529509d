//! Columns v with `Σ vvᵀ = (Q + W)⁻¹`, exactly or on average.

use burn::tensor::{Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    latent_precision::{Columns, LANES},
    posterior_precision::{PosteriorPrecision, Stop},
};
use crate::{
    inference::low_rank::precise_type,
    ops::{Jitter, NotPositiveDefinite, cholesky, in_parts, number, numbers},
    random::standard_normals,
};

/// A root of the posterior covariance, in groups of columns, [N, L] each.
pub struct PosteriorColumns {
    pub groups: Vec<Columns<LANES>>,
    /// `Σ vvᵀ` times this factor is the covariance.
    pub share: f64,
}

impl PosteriorColumns {
    /// The exact root, computed on the device of a tensor: `R⁻¹L⁻ᵀ` for `Ã = LLᵀ`, with N columns, and `log|Q + W| = log|P| + log|Ã|`. Memory N², time N³.
    ///
    /// # Errors
    ///
    /// When a value is not finite.
    pub fn exact(
        system: &PosteriorPrecision<'_>,
        like: &Tensor<2>,
    ) -> Result<(Self, f64), NotPositiveDefinite> {
        let rows = system.prior().rows();
        let mut groups: Vec<Columns<LANES>> = (0..rows.div_ceil(LANES))
            .map(|group| unit_columns(rows, group * LANES))
            .collect();
        for_each(&mut groups, &|group, _| {
            *group = system.transformed_product(group)
        });
        let mut matrix = vec![0.0; rows * rows];
        for (group, columns) in groups.iter().enumerate() {
            for (row, values) in columns.iter().enumerate() {
                let place = row * rows + group * LANES;
                let count = LANES.min(rows - group * LANES);
                matrix[place..place + count].copy_from_slice(&values[..count]);
            }
        }
        let options = (&like.device(), precise_type(like));
        let matrix = Tensor::<2>::from_data(TensorData::new(matrix, [rows, rows]), options);
        let factor = cholesky(matrix, Jitter::NONE)?;
        let value = system.log_determinant_of_preconditioner() + number(factor.log_determinant());
        let eye = Tensor::<2>::eye(rows, options.0).cast(options.1);
        let inverse = numbers(factor.solve(eye)); // L⁻¹; its rows are the columns of L⁻ᵀ
        for_each(&mut groups, &|group, first| {
            for (row, values) in group.iter_mut().enumerate() {
                for (lane, value) in values.iter_mut().enumerate() {
                    let column = first * LANES + lane;
                    *value = inverse.get(column * rows + row).copied().unwrap_or(0.0);
                }
            }
            system.solve_root(group);
        });
        Ok((Self { groups, share: 1.0 }, value))
    }

    /// Draws `v = A⁻¹(BᵀD^{-½}ε + W^{½}ε′) ~ N(0, A⁻¹)` for normals ε and ε′: on average over the columns, `vvᵀ` is the
    /// covariance (arXiv:2310.12000, Section 3.3). The number of columns is rounded up to whole groups.
    pub fn draws(system: &PosteriorPrecision<'_>, count: usize, seed: u64, stop: Stop) -> Self {
        let mut groups: Vec<Columns<LANES>> = vec![Vec::new(); count.div_ceil(LANES)];
        let rows = system.prior().rows();
        for_each(&mut groups, &|group, index| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(index as u64);
            let mut normals = || columns_of(&standard_normals(rows * LANES, &mut random));
            let right = system.transformed_noise(&normals(), normals());
            let mut solution = system.solve_transformed(right, stop).solution;
            system.solve_root(&mut solution);
            *group = solution;
        });
        Self {
            share: ((groups.len() * LANES) as f64).recip(),
            groups,
        }
    }

    /// All columns times the root of their share, [N, K], like a tensor.
    pub fn matrix(&self, like: &Tensor<2>) -> Tensor<2> {
        let rows = self.groups.first().map_or(0, Vec::len);
        let factor = self.share.sqrt();
        let columns = self.groups.len() * LANES;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let own = self.groups.iter().flat_map(|group| group[row]);
            values.extend(own.map(|value| factor * value));
        }
        let data = TensorData::new(values, [rows, columns]);
        Tensor::from_data(data, (&like.device(), like.dtype()))
    }
}

/// Calls `work` for each group and its index, in parallel.
fn for_each(groups: &mut [Columns<LANES>], work: &(impl Fn(&mut Columns<LANES>, usize) + Sync)) {
    let parts = groups.len();
    in_parts(groups, 1, parts, &|groups, first| {
        for (index, group) in groups.iter_mut().enumerate() {
            work(group, first + index);
        }
    });
}

/// Columns of the unit matrix, from `first` on; zero beyond the last.
fn unit_columns(rows: usize, first: usize) -> Columns<LANES> {
    let mut columns = vec![[0.0; LANES]; rows];
    for (lane, row) in (first..rows.min(first + LANES)).enumerate() {
        columns[row][lane] = 1.0;
    }
    columns
}

fn columns_of(values: &[f64]) -> Columns<LANES> {
    let row = |values: &[f64]| std::array::from_fn(|lane| values[lane]);
    values.chunks_exact(LANES).map(row).collect()
}
