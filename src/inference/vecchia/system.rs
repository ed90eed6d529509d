//! New rows given observed rows and each other.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    neighbors::NeighborSets,
    ops::{CholeskyFactor, NotPositiveDefinite, numbers},
    parameter::both_tracked,
    process::draw_at_distinct,
    random::normals,
};

/// Draws of one function at the distinct inputs among `x`, [S, 1, T], from `draws`, [T, S], of standard normals: `count`
/// for the observed rows, [count, S], and one for each row, [T, S].
pub fn draws_of_normals(
    x: Tensor<2>,
    (count, samples, seed): (usize, usize, u64),
    draws: impl FnOnce(&Tensor<2>, [Tensor<2>; 2]) -> Tensor<2>,
) -> Result<Tensor<3>, NotPositiveDefinite> {
    draw_at_distinct(x, |x| {
        let ([rows, _], options) = (x.dims(), (&x.device(), x.dtype()));
        if rows == 0 || samples == 0 {
            return Ok(Tensor::zeros([samples, 1, rows], options));
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let [observed, noise] =
            [count, rows].map(|rows| normals([rows, samples], &mut random, options));
        Ok(draws(&x, [observed, noise]).transpose().unsqueeze_dim(1))
    })
}

/// New rows given observed rows and those before them, `f_t = Σ b·(y or f) + √d·ε`.
pub struct System {
    /// The new rows, in their order.
    pub order: Vec<usize>,
    /// Indices of observed rows, and after those of new rows by their place in the order.
    pub sets: NeighborSets,
    /// b, [T, m]
    pub weights: Tensor<2>,
    /// d, `[T]`
    pub variance: Tensor<1>,
}

impl System {
    /// Values of the new rows by forward substitution, `f_t = Σ b·(y or f) + a_t`, with `columns` values for each row
    /// and the addition a of a place in the order and a column; in the order of the rows of x.
    pub fn substitute(
        &self,
        observed: Vec<f64>,
        columns: usize,
        mut addition: impl FnMut(usize, usize) -> f64,
    ) -> Vec<f64> {
        let weights = numbers(self.weights.clone());
        let (width, first) = (self.sets.width(), observed.len() / columns);
        let mut known = observed;
        let mut result = vec![0.0; self.order.len() * columns];
        for (place, &row) in self.order.iter().enumerate() {
            for column in 0..columns {
                let terms = self.sets.row(place).iter().zip(&weights[place * width..]);
                let mean: f64 = terms
                    .map(|(&index, weight)| weight * known[index as usize * columns + column])
                    .sum();
                let value = mean + addition(place, column);
                known.push(value);
                result[row * columns + column] = value;
            }
        }
        debug_assert_eq!(known.len(), (first + self.order.len()) * columns);
        result
    }

    /// √d·ε for normals ε, [T, S], by place in the order.
    pub fn scaled(&self, noise: Tensor<2>) -> Vec<f64> {
        let [_, columns] = noise.dims();
        let deviations = numbers(self.variance.clone().sqrt());
        let noise = numbers(noise).into_iter().enumerate();
        noise
            .map(|(index, normal)| deviations[index / columns] * normal)
            .collect()
    }

    /// Draws at the rows of x by [forward substitution](Self::substitute), [T, S], from values of the observed rows,
    /// [N, S], and additions by place in the order, [T, S]. Values in fewer columns, [N, P], are repeated.
    pub fn substituted_draws(
        &self,
        x: &Tensor<2>,
        observed: Tensor<2>,
        additions: &[f64],
    ) -> Tensor<2> {
        let ([_, known], columns) = (observed.dims(), additions.len() / self.order.len());
        let mut values = numbers(observed);
        if known < columns {
            let rows = values.chunks_exact(known);
            values = rows.flat_map(|row| row.repeat(columns / known)).collect();
        }
        let at = |place: usize, column: usize| additions[place * columns + column];
        let draws = self.substitute(values, columns, at);
        let data = TensorData::new(draws, [self.order.len(), columns]);
        Tensor::from_data(data, (&x.device(), x.dtype()))
    }

    /// I − B for the weights B among new rows in their order, [T, T], given the number of observed rows.
    pub fn factor(&self, observed: usize) -> CholeskyFactor<2> {
        let (sets, weights) = (&self.sets, self.weights.clone());
        let shape @ [rows, _] = weights.dims();
        let eye = Tensor::<2>::eye(rows, &weights.device()).cast(weights.dtype());
        if sets.width() == 0 {
            return CholeskyFactor::from_nonsingular(eye);
        }
        // Weights of observed rows go to column zero, times zero.
        let all = sets.indices().iter().map(|&index| index as usize);
        let is_new = all
            .clone()
            .map(|index| if index < observed { 0.0 } else { 1.0 });
        let is_new = on_device(is_new.collect(), shape, &weights.clone().without_autodiff());
        let columns = indices(all.map(|index| index.saturating_sub(observed)), &weights);
        let columns = columns.reshape(shape);
        let (weights, is_new) = both_tracked(weights, is_new);
        let factor = eye.scatter(1, columns, (weights * is_new).neg(), IndexingUpdateOp::Add);
        CholeskyFactor::from_nonsingular(factor)
    }

    /// The place in the order of each row of x, as an index.
    pub fn places(&self, like: &Tensor<2>) -> Tensor<1, Int> {
        let mut places = vec![0; self.order.len()];
        for (place, &row) in self.order.iter().enumerate() {
            places[row] = place;
        }
        indices(places.into_iter(), like)
    }
}

/// Rows as an index, on the device of a tensor.
pub fn indices(rows: impl Iterator<Item = usize>, like: &Tensor<2>) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.map(|row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), &like.device())
}

/// Values on the device and in the type of a tensor.
pub fn on_device(values: Vec<f64>, shape: [usize; 2], like: &Tensor<2>) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(values, shape),
        (&like.device(), like.dtype()),
    )
}
