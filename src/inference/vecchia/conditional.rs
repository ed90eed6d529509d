//! The conditional distributions of the rows of a tile, in training and in prediction.

use burn::tensor::Tensor;

use super::{JITTER, tile::Tile};
use crate::ops::{
    ExactMatmul, Jitter, NeighborRows, NotPositiveDefinite, may_wait, neighbor_conditional, numbers,
};

/// Inputs without noise at which predictions repeat make the covariance of neighbors singular. Enough jitter is then
/// added, however much that is.
const PREDICTION_JITTER: Jitter = Jitter {
    initial: 0.0,
    escalations: 10,
};

/// The weights b, `[R, m]`, and the variances d, `[R]`, of a tile of observed rows, from its covariances, `[R, q, q]`.
///
/// # Errors
///
/// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive. The
/// batch member is the row.
pub fn conditional(
    tile: &Tile,
    rows: NeighborRows<'_>,
    covariance: Tensor<3>,
) -> Result<(Tensor<2>, Tensor<1>), NotPositiveDefinite> {
    let (weights, variance) =
        neighbor_conditional(covariance, JITTER).map_err(|error| NotPositiveDefinite {
            batch: rows.own[tile.rows.start + error.batch] as usize,
            ..error
        })?;
    check_variances(&variance, tile, rows)?;
    Ok((weights, variance))
}

/// The same for new rows. Values are NaN if there is no factor.
pub fn predicted_conditional(covariance: Tensor<3>) -> (Tensor<2>, Tensor<1>) {
    let ([rows, places, _], options) = (
        covariance.dims(),
        (&covariance.device(), covariance.dtype()),
    );
    neighbor_conditional(covariance, PREDICTION_JITTER).unwrap_or_else(|_| {
        let unknown = |shape| Tensor::<2>::full(shape, f64::NAN, options);
        let variance = unknown([rows, 1]).squeeze_dim(1);
        (unknown([rows, places - 1]), variance)
    })
}

/// Reports a conditional variance that is not positive, if the device may wait.
fn check_variances(
    variance: &Tensor<1>,
    tile: &Tile,
    rows: NeighborRows<'_>,
) -> Result<(), NotPositiveDefinite> {
    if !may_wait(variance) {
        return Ok(());
    }
    let dtype = variance.dtype();
    let values = numbers(variance.clone());
    let is_positive = |value: f64| value > 0.0; // false for NaN
    let Some(row) = values.iter().position(|&value| !is_positive(value)) else {
        return Ok(());
    };
    let place = tile.rows.start + row;
    Err(NotPositiveDefinite {
        batch: rows.own[place] as usize,
        pivot: rows.counts[place] as usize,
        size: rows.counts[place] as usize + 1,
        jitter: 0.0,
        smallest_diagonal: values[row],
        largest_diagonal: values[row],
        dtype,
    })
}

/// The row `(−bᵀ, 1)` for each row of a tile, `[R, q]`, from its weights, `[R, m]`.
pub fn signed_weights(weights: Tensor<2>) -> Tensor<2> {
    let ([rows, neighbors], options) = (weights.dims(), (&weights.device(), weights.dtype()));
    let one = Tensor::ones([rows, 1], options);
    match neighbors {
        0 => one,
        _ => Tensor::cat(vec![weights.neg(), one], 1),
    }
}

/// `v_i − bᵀv_c` for columns of values v at all places, `[R, q, C]`: `[R, C]`.
pub fn errors(values: Tensor<3>, weights: Tensor<2>) -> Tensor<2> {
    let [rows, _, columns] = values.dims();
    let signed = signed_weights(weights).unsqueeze_dim::<3>(1); // [R, 1, q]
    signed.exact_matmul(values).reshape([rows, columns])
}
