//! Covariances of rows and their neighbors.

use std::ops::Range;

use burn::tensor::{Int, Tensor, TensorData};

use super::metric::is_stationary;
use crate::{
    kernels::Kernel,
    ops::{NeighborRows, add_diagonal},
    parameter::both_tracked,
};

/// The number of entries of the covariances in memory at once.
const ENTRIES: usize = 1 << 22;

/// Some rows of a table, each with its neighbors first and itself last: `q = m + 1` places.
pub struct Tile {
    /// The rows of the table.
    pub rows: Range<usize>,
    index: Vec<i64>,
    places: usize,
    /// One at places with noise and zero at the others, [R, q].
    noisy: Tensor<2>,
    /// One at padded places and zero at the others, [R, q], if a place is padded.
    padded: Option<Tensor<2>>,
}

impl Tile {
    /// The tiles of a table. Rows with an index of at least `latent` have no noise. `columns` is the number of values
    /// at each place that are in memory beside the covariances. `like` gives device and type.
    pub fn all<'a>(
        table: NeighborRows<'a>,
        latent: usize,
        columns: usize,
        like: &'a Tensor<2>,
    ) -> impl Iterator<Item = Self> + 'a {
        let (count, places) = (table.own.len(), table.width() + 1);
        let most = (ENTRIES / (places * places.max(columns))).max(1);
        let starts = (0..count).step_by(most);
        starts.map(move |start| Self::new(table, start..(start + most).min(count), latent, like))
    }

    fn new(table: NeighborRows<'_>, rows: Range<usize>, latent: usize, like: &Tensor<2>) -> Self {
        let (width, places) = (table.width(), table.width() + 1);
        let count = rows.len() * places;
        let (mut index, mut noisy) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut padded = Vec::with_capacity(count);
        for row in rows.clone() {
            let (own, neighbors) = (table.own[row], table.counts[row] as usize);
            let entries = &table.neighbors[row * width..][..width];
            let given = entries.iter().take(neighbors);
            let padding = entries.iter().skip(neighbors).map(|_| &own);
            for (place, &at) in given.chain(padding).chain([&own]).enumerate() {
                let is_padded = (neighbors..width).contains(&place);
                let is_noisy = !is_padded && (at as usize) < latent;
                index.push(i64::from(at));
                noisy.push(f64::from(u8::from(is_noisy)));
                padded.push(f64::from(u8::from(is_padded)));
            }
        }
        let device = like.device().inner();
        let has_padding = padded.contains(&1.0);
        let matrix = |values: Vec<f64>| {
            let data = TensorData::new(values, [rows.len(), places]);
            Tensor::<2>::from_data(data, (&device, like.dtype()))
        };
        Self {
            index,
            places,
            noisy: matrix(noisy),
            padded: has_padding.then(|| matrix(padded)),
            rows,
        }
    }

    /// The number of places, q.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The index of each place, [R·q], on the device of a tensor. A padded place has that of the row itself.
    pub fn index(&self, like: &Tensor<2>) -> Tensor<1, Int> {
        Tensor::from_data(self.index.as_slice(), &like.device())
    }

    /// The values at all places, `[R, q, C]`, from those of all rows, `[N, C]`.
    pub fn gather(&self, values: Tensor<2>) -> Tensor<3> {
        let [_, columns] = values.dims();
        let index = self.index(&values);
        (values.select(0, index)).reshape([self.rows.len(), self.places, columns])
    }

    /// Values at all places, `[R, q, C]`, with zeros at padded places.
    pub fn without_padding(&self, values: Tensor<3>) -> Tensor<3> {
        match &self.padded {
            None => values,
            Some(padded) => {
                let real = padded.clone().neg().add_scalar(1.0).unsqueeze_dim::<3>(2);
                let (values, real) = both_tracked(values, real);
                values * real
            }
        }
    }

    /// The covariances of all places, `[R, q, q]`, with noise where there is some. A padded place has variance one
    /// and no covariances.
    ///
    /// For stationary kernels, the inputs are first centered on the row itself. Rounding is then relative to the
    /// distances and not to the coordinates.
    pub fn covariance(
        &self,
        kernel: &dyn Kernel,
        inputs: Tensor<2>,
        noise: Tensor<1>,
    ) -> Tensor<3> {
        self.covariance_with(kernel, inputs, noise.reshape([1, 1]))
    }

    /// The noise variances `σ² + v` at all places, [R, q], from σ², `[1]`, and those that are known of the rows, v, with an
    /// entry for each index. Without them [1, 1] for all places.
    pub fn noise_at_places(&self, noise: Tensor<1>, known: Option<&Tensor<1>>) -> Tensor<2> {
        let noise = noise.reshape([1, 1]);
        let Some(known) = known else {
            return noise;
        };
        let known = self.gather(known.clone().unsqueeze_dim(1)).squeeze_dim(2);
        let (known, noise) = both_tracked(known, noise);
        known + noise
    }

    /// The same with the noise [at all places](Self::noise_at_places), where there is some.
    pub fn covariance_with(
        &self,
        kernel: &dyn Kernel,
        inputs: Tensor<2>,
        noise: Tensor<2>,
    ) -> Tensor<3> {
        let mut points = self.gather(inputs);
        if is_stationary(kernel, points.dims()[2]) {
            points = points.clone() - points.narrow(1, self.places - 1, 1);
        }
        let mut covariance = kernel.matrix(points);
        let on_device = |values: &Tensor<2>| match covariance.is_autodiff() || noise.is_autodiff() {
            true => values.clone().autodiff(),
            false => values.clone(),
        };
        let count = self.rows.len() * self.places;
        let (noisy, padded) = (on_device(&self.noisy), self.padded.as_ref().map(on_device));
        if let Some(padded) = padded.clone() {
            let real = padded.neg().add_scalar(1.0); // [R, q]
            let both = real.clone().unsqueeze_dim::<3>(2) * real.unsqueeze_dim::<3>(1);
            covariance = covariance * both;
        }
        let diagonal = noisy * noise;
        let diagonal = match padded {
            Some(padded) => diagonal + padded,
            None => diagonal,
        };
        add_diagonal(covariance, diagonal.reshape([count]))
    }
}
