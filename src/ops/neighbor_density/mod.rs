//! The Vecchia approximation of a Gaussian log density with a stationary covariance.

mod cpu;
mod group;
mod problem;
mod rows;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    cholesky::{Jitter, NotPositiveDefinite, Status},
    declaration::operations,
    numbers,
    stationary::Stationary,
};

/// Rows, and the rows that each is conditioned on.
#[derive(Clone, Copy, Debug)]
pub struct NeighborRows<'a> {
    /// The index of each row, `[R]`.
    pub own: &'a [u32],
    /// The indices of the neighbors of each row, `[R, m]`; those beyond the count are ignored.
    pub neighbors: &'a [u32],
    /// The number of neighbors of each row, `[R]`.
    pub counts: &'a [u32],
}

impl NeighborRows<'_> {
    /// The length of the rows of the table, m.
    pub fn width(&self) -> usize {
        self.neighbors.len() / self.own.len().max(1)
    }
}

/// What is computed besides the log density, and for which rows.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub kind: Stationary,
    pub rows: NeighborRows<'a>,
    pub jitter: Jitter,
    /// Whether the derivatives of the inputs are needed, and those of the residual and the parameters.
    pub wanted: [bool; 2],
}

operations! {
    /// Backend implementation of the log density.
    trait NeighborDensityOps on cpu without autodiff {
        /// The log density with the status and the row that failed first, [1, 6]; and the derivatives with respect
        /// to the inputs, the residual and the parameters (the lengthscales, σ² and τ²), zero unless wanted.
        fn neighbor_density(inputs, residual, parameters; request: Request<'_>)
            -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
    }
}

/// `Σ_p Σ_i log N(r_ip | b_iᵀr_{c(i)p}, d_i)` over the given rows i, where b and d are those of
/// [`neighbor_conditional`](super::neighbor_conditional()) for the covariance `σ²·φ(r²) + τ²I`: the Vecchia
/// approximation of a Gaussian log density, on the CPU.
///
/// Covariances, factors and all derivatives are computed in one pass, with one row in each lane of the vector
/// registers. Nothing of size `N·m²` is stored. With `e = r_i − bᵀr_c`, `α = A⁻¹r_c` and `v = (−b; 1)`, the
/// derivatives are `K̄ = Σ_p ½(e²/d² − 1/d)·vvᵀ + ½(e/d)·((α; 0)vᵀ + v(α; 0)ᵀ)` and `r̄ = −(e/d)·v`. Because
/// `Kv = (0; d)`, that of the variance follows from the trace of `K̄`.
///
/// Differences to the row itself are rounded once, so that coordinates far from zero lose no digits.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`, `residual` (r): `[N, P]`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions
/// - `variance` (σ²), `noise` (τ²): `[1]`
/// - result: `[1]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when the neighbors of a row have no factor even with the largest jitter, or rounding
/// exceeds its conditional variance. The batch member is the row.
///
/// # Panics
///
/// If the shapes do not match or an index is too large.
#[track_caller]
pub fn stationary_neighbor_density(
    kind: Stationary,
    [inputs, residual]: [Tensor<2>; 2],
    [lengthscales, variance, noise]: [Tensor<1>; 3],
    rows: NeighborRows<'_>,
    jitter: Jitter,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    check_shapes(&inputs, &residual, &lengthscales, rows);
    let wanted = [
        inputs.is_autodiff(),
        [&lengthscales, &variance, &noise]
            .map(Tensor::is_autodiff)
            .contains(&true)
            || inputs.is_autodiff()
            || residual.is_autodiff(),
    ];
    let parameters = Tensor::cat(vec![lengthscales, variance, noise], 0);
    let (outcome, of_inputs, of_residual, of_parameters) =
        <Dispatch as Dispatched>::neighbor_density(
            inputs.clone().without_autodiff().into_dispatch(),
            residual.clone().without_autodiff().into_dispatch(),
            parameters.clone().without_autodiff().into_dispatch(),
            Request {
                kind,
                rows,
                jitter,
                wanted,
            },
        );
    let outcome = Tensor::<2>::from_dispatch(outcome);
    check(&outcome, rows)?;
    let value = outcome.narrow(1, 0, 1).reshape([1]);
    if !wanted[1] {
        return Ok(value);
    }
    // A surrogate with value zero and these derivatives.
    let slope = Tensor::<2>::from_dispatch(of_residual).autodiff();
    let mut surrogate = (residual.autodiff() * slope).sum();
    let slope = Tensor::<1>::from_dispatch(of_parameters).autodiff();
    surrogate = surrogate + (parameters.autodiff() * slope).sum();
    if wanted[0] {
        let slope = Tensor::<2>::from_dispatch(of_inputs).autodiff();
        surrogate = surrogate + (inputs.autodiff() * slope).sum();
    }
    Ok(surrogate.clone() - surrogate.detach() + value.autodiff())
}

/// Reports the row that failed first.
fn check(outcome: &Tensor<2>, rows: NeighborRows<'_>) -> Result<(), NotPositiveDefinite> {
    let values = numbers(outcome.clone());
    let &[_, pivot, jitter, smallest_diagonal, largest_diagonal, row] = &values[..] else {
        return Ok(());
    };
    if pivot == 0.0 {
        return Ok(());
    }
    let batch = row as usize;
    let place = rows.own.iter().position(|&own| own as usize == batch);
    Err(NotPositiveDefinite {
        batch,
        pivot: pivot as usize - 1,
        size: place.map_or(0, |place| rows.counts[place] as usize) + 1,
        jitter,
        smallest_diagonal,
        largest_diagonal,
        dtype: outcome.dtype(),
    })
}

#[track_caller]
fn check_shapes(
    inputs: &Tensor<2>,
    residual: &Tensor<2>,
    lengthscales: &Tensor<1>,
    rows: NeighborRows<'_>,
) {
    let ([count, dimensions], [targets, _], [scales]) =
        (inputs.dims(), residual.dims(), lengthscales.dims());
    let (own, width) = (rows.own.len(), rows.width());
    assert!(
        count == targets
            && (scales == dimensions || scales == 1)
            && rows.counts.len() == own
            && rows.neighbors.len() == own * width
            && rows
                .counts
                .iter()
                .all(|&neighbors| neighbors as usize <= width),
        "stationary_neighbor_density: inputs {:?}, residual {:?}, {scales} lengthscales, {own} rows with \
         neighbors [{}] and counts [{}]; expected [N, D], [N, P], D lengthscales or one, and R rows with [R, m] \
         and [R]",
        inputs.dims(),
        residual.dims(),
        rows.neighbors.len(),
        rows.counts.len()
    );
    let used = rows
        .counts
        .iter()
        .enumerate()
        .flat_map(|(row, &neighbors)| rows.neighbors[row * width..][..neighbors as usize].iter());
    let largest = used.chain(rows.own).max();
    assert!(
        largest.is_none_or(|&index| (index as usize) < count),
        "stationary_neighbor_density: index {largest:?} among {count} rows"
    );
}

/// The number of values of the log density, the status and the row.
const OUTCOME: usize = Status::WIDTH + 2;
