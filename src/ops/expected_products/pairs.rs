//! The different pairs of points.

use burn::tensor::{Int, Tensor, TensorData};

/// The T = M(M + 1)/2 pairs (m, m′) of M points with m′ ≤ m.
pub(super) struct Pairs {
    count: usize,
    first: Vec<i64>,
    second: Vec<i64>,
}

impl Pairs {
    pub fn of(count: usize) -> Self {
        let pairs = (0..count as i64).flat_map(|m| (0..=m).map(move |other| (m, other)));
        let (first, second) = pairs.unzip();
        Self {
            count,
            first,
            second,
        }
    }

    /// The first and the second points of the pairs, [T, D] each, for points, [M, D].
    pub fn points(&self, points: &Tensor<2>) -> [Tensor<2>; 2] {
        [&self.first, &self.second].map(|rows| {
            let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &points.device());
            points.clone().select(0, rows)
        })
    }

    /// The symmetric matrix, [M, M], of the values of the pairs, [1, T].
    pub fn matrix(&self, values: Tensor<2>) -> Tensor<2> {
        let place = |m: usize, other: usize| (m * (m + 1) / 2 + other) as i64;
        let places = (0..self.count)
            .flat_map(|m| (0..self.count).map(move |other| place(m.max(other), m.min(other))));
        let places = TensorData::new(places.collect::<Vec<i64>>(), [self.count * self.count]);
        let places = Tensor::<1, Int>::from_data(places, &values.device());
        (values.select(1, places)).reshape([self.count, self.count])
    }
}
