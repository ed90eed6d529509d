//! Predictions of each row by itself, and rows with finite inputs.

use burn::tensor::{Int, Tensor};

use crate::{
    ops::numbers,
    process::{Marginals, blocks, dummy_row_if_empty},
};

/// Marginals of rows that do not depend on each other, block by block. Rows with an input that is not finite have NaN.
pub fn each_row(x: Tensor<2>, marginals: &dyn Fn(Tensor<2>) -> Marginals) -> Marginals {
    if let Some(one) = dummy_row_if_empty(&x) {
        return each_row(one, marginals).at_none();
    }
    if let Some(rows) = FiniteRows::among(&x) {
        return rows.spread(each_row(rows.of(&x), marginals));
    }
    let parts = blocks(&x).into_iter().map(marginals);
    let (means, variances) = parts.map(|part| (part.mean, part.variance)).unzip();
    Marginals {
        mean: Tensor::cat(means, 0),
        variance: Tensor::cat(variances, 0),
    }
}

/// The rows with finite inputs among rows of which some are not. One row that is not finite would make the covariances
/// of a whole tile useless.
pub struct FiniteRows {
    finite: Vec<i64>,
    /// For each row its place among the finite ones; their number for the others.
    places: Vec<i64>,
}

impl FiniteRows {
    /// `None` if all inputs are finite.
    pub fn among(x: &Tensor<2>) -> Option<Self> {
        let [rows, dimensions] = x.dims();
        let values = numbers(x.clone().without_autodiff());
        let (mut finite, mut places) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let inputs = &values[row * dimensions..][..dimensions];
            let is_finite = inputs.iter().all(|input| input.is_finite());
            places.push(if is_finite { finite.len() as i64 } else { -1 });
            if is_finite {
                finite.push(row as i64);
            }
        }
        if finite.len() == rows {
            return None;
        }
        let last = finite.len() as i64;
        (places.iter_mut().filter(|place| **place < 0)).for_each(|place| *place = last);
        Some(Self { finite, places })
    }

    /// The finite rows of `x`.
    pub fn of(&self, x: &Tensor<2>) -> Tensor<2> {
        let [_, dimensions] = x.dims();
        match self.finite.is_empty() {
            true => Tensor::zeros([0, dimensions], (&x.device(), x.dtype())),
            false => rows(x.clone(), &self.finite),
        }
    }

    /// Marginals of all rows from those of the finite ones: NaN for the others.
    pub fn spread(&self, finite: Marginals) -> Marginals {
        let each = |values: Tensor<2>| {
            let [_, outputs] = values.dims();
            let options = (&values.device(), values.dtype());
            let unknown = Tensor::<2>::full([1, outputs], f64::NAN, options);
            let all = match self.finite.is_empty() {
                true => unknown,
                false => Tensor::cat(vec![values, unknown], 0),
            };
            rows(all, &self.places)
        };
        Marginals {
            mean: each(finite.mean),
            variance: each(finite.variance),
        }
    }
}

fn rows(values: Tensor<2>, places: &[i64]) -> Tensor<2> {
    let places = Tensor::<1, Int>::from_data(places, &values.device());
    values.select(0, places)
}
