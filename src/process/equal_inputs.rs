//! Draws that agree at equal inputs, since a function has one value at each point.

use burn::tensor::{Int, Tensor};

use crate::{inducing::first_equal_rows, ops::numbers};

/// Inputs that are equal to earlier ones.
pub(crate) struct EqualInputs {
    /// The index of the first equal input of each input, `[N]`.
    first: Vec<usize>,
}

impl EqualInputs {
    /// Finds the equal inputs among `x`, `[N, D]`; `None` if all inputs differ.
    pub(crate) fn among(x: &Tensor<2>) -> Option<Self> {
        let [rows, dimensions] = x.dims();
        let first = match rows == 0 || dimensions == 0 {
            true => vec![0; rows],
            false => first_equal_rows(&numbers(x.clone()), dimensions),
        };
        let is_repeated = first.iter().enumerate().any(|(row, first)| row != *first);
        is_repeated.then_some(Self { first })
    }

    /// The index of the first equal input of each input, `[N]`.
    pub(crate) fn first(&self, like: &Tensor<2>) -> Tensor<1, Int> {
        indices(&self.first, like)
    }
}

/// Draws at the distinct inputs among `x`, and repeats the values for equal ones.
///
/// # Shapes
///
/// - `x`: `[N, D]`, result of `draw` for G inputs: `[S, P, G]`
/// - result: `[S, P, N]`
///
/// # Errors
///
/// When `draw` fails.
pub fn draw_at_distinct<E>(
    x: Tensor<2>,
    draw: impl FnOnce(Tensor<2>) -> Result<Tensor<3>, E>,
) -> Result<Tensor<3>, E> {
    let Some(equal) = EqualInputs::among(&x) else {
        return draw(x);
    };
    let rows = equal.first.iter().enumerate();
    let distinct: Vec<usize> = rows
        .filter(|(row, first)| row == *first)
        .map(|(row, _)| row)
        .collect();
    // The distinct rows are ascending, and each first row is one of them.
    let places: Vec<usize> = (equal.first.iter())
        .map(|first| distinct.partition_point(|row| row < first))
        .collect();
    let (distinct, places) = (indices(&distinct, &x), indices(&places, &x));
    Ok(draw(x.select(0, distinct))?.select(2, places))
}

pub(super) fn indices(rows: &[usize], like: &Tensor<2>) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), &like.device())
}
