//! The conditional distributions of the rows of a tile, in training and in prediction.

use burn::tensor::Tensor;

use super::{JITTER, tile::Tile};
use crate::ops::{
    Jitter, NeighborRows, NotPositiveDefinite, may_wait, neighbor_conditional, number, numbers,
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
    let variance = variance.clone();
    if !may_wait(&variance) || number(variance.clone().min()) > 0.0 {
        return Ok(());
    }
    let dtype = variance.dtype();
    let values = numbers(variance);
    let Some(row) = values.iter().position(|&value| value <= 0.0) else {
        // NaN makes the density NaN.
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

/// `v_i − bᵀv_c` for columns of values v at all places, `[R, q, C]`: `[R, C]`.
pub fn errors(values: Tensor<3>, weights: Tensor<2>) -> Tensor<2> {
    let [rows, places, columns] = values.dims();
    let last = places - 1;
    let own = values.clone().narrow(1, last, 1).reshape([rows, columns]);
    if last == 0 {
        return own;
    }
    let predicted = values.narrow(1, 0, last) * weights.unsqueeze_dim::<3>(2);
    own - predicted.sum_dim(1).reshape([rows, columns])
}
