//! The Gaussian log density of a table whose covariance is a Kronecker product plus noise.

mod cpu;
mod slopes;
mod solution;
mod spectrum;
mod system;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::{Tensor, TensorData},
};
use faer::MatRef;

use super::{
    NotPositiveDefinite, declaration::operations, decompositions::count_decomposition, is_on_cpu,
    numbers,
};
use solution::Solution;
use system::{System, Table};

/// The cells of a table that are not known, and whether derivatives are needed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub holes: &'a [usize],
    pub wants_gradient: bool,
}

operations! {
    /// Backend implementation of the log density.
    trait KroneckerOps on cpu without autodiff {
        /// Whether the covariance was refused, the log density, and the derivatives with respect to the noise,
        /// [1, 2 + P]; and those with respect to the other tensors. They are zero unless wanted, and computed in
        /// double precision.
        fn kronecker(covariance, outputs, noise, residual; request: Request<'_>)
            -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
    }
}

/// `log N(r | 0, K_oo)` of the known cells o of a table with N rows and P columns, where
/// `K = Γ ⊗ K_x + diag(σ²_p)`: the covariance of the cells (i, p) and (j, r) is `Γ_pr·(K_x)_ij`, plus `σ²_p` for equal
/// cells.
///
/// Nothing of the size of K is computed. With `Γ̃ = D^(−½)ΓD^(−½) = U_ΓΛ_ΓU_Γᵀ` for `D = diag(σ²_p)`, `K_x = U_xΛ_xU_xᵀ`
/// and `H_ip = 1 + λ^x_i·λ^Γ_p`, a complete table has `log|K| = Σ log H + N·Σ log σ²_p` and `K⁻¹` is a division by H in
/// the basis of the eigenvectors (B. Rakitsch, C. Lippert, K. Borgwardt and O. Stegle, *It is all in the noise: Efficient
/// multi-task Gaussian process inference with structured residuals*, NIPS 2013). Eigenvalues that rounding made negative
/// count as zero. The derivatives are those of the matrices K_x and Γ, so that eigenvectors are never differentiated, and
/// equal eigenvalues do no harm.
///
/// With holes h and `G = K⁻¹` of the complete table, `K_oo⁻¹ = G_oo − G_oh·G_hh⁻¹·G_ho` and
/// `log|K_oo| = log|K| + log|G_hh|`.
///
/// All of it is in double precision and on the CPU: values of GPUs are read, and the derivatives are written there.
/// Time `N³ + P³ + NP(N + P)` for complete tables, and `h·NP(N + P + h)` more with h
/// holes.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::ops::kronecker_log_density;
///
/// # fn main() -> Result<(), burn_gp_core::ops::NotPositiveDefinite> {
/// // One row with two outputs, of which the second is not known: a single number of variance 2·3 + 1.
/// let place = (&Device::default(), DType::F64);
/// let covariance = Tensor::<2>::full([1, 1], 3.0, place);
/// let outputs = Tensor::<2>::from_data([[2.0, 1.0], [1.0, 2.0]], place);
/// let noise = Tensor::<1>::from_data([1.0, 0.5], place);
/// let residual = Tensor::<2>::full([1, 1], 0.4, place);
/// let value: f64 = kronecker_log_density(covariance, outputs, noise, residual, &[1])?.into_scalar();
/// let expected = -0.5 * (0.4 * 0.4 / 7.0 + 7f64.ln() + (2.0 * std::f64::consts::PI).ln());
/// assert!((value - expected).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
///
/// - `covariance` (K_x): `[N, N]`, `outputs` (Γ): `[P, P]`, `noise` (σ²): `[P]`
/// - `residual` (r): `[n, 1]`, the known cells row by row
/// - `holes`: the places `row·P + column` of the other NP − n cells, ascending
/// - result: `[1]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when a value of the covariances is not finite, a noise variance is not positive, or the
/// holes have no factor.
///
/// # Panics
///
/// If the shapes or the holes do not match.
#[track_caller]
pub fn kronecker_log_density(
    covariance: Tensor<2>,
    outputs: Tensor<2>,
    noise: Tensor<1>,
    residual: Tensor<2>,
    holes: &[usize],
) -> Result<Tensor<1>, NotPositiveDefinite> {
    check_shapes(&covariance, &outputs, &noise, &residual, holes);
    let wants_gradient = [
        covariance.is_autodiff(),
        outputs.is_autodiff(),
        noise.is_autodiff(),
        residual.is_autodiff(),
    ]
    .contains(&true);
    let request = Request {
        holes,
        wants_gradient,
    };
    let (outcome, slopes) = evaluated(
        covariance.clone().without_autodiff(),
        outputs.clone().without_autodiff(),
        noise.clone().without_autodiff(),
        residual.clone().without_autodiff(),
        request,
    );
    if numbers(outcome.clone())[0] != 0.0 {
        return Err(refused(&covariance, &noise));
    }
    let value = outcome.narrow(1, 1, 1).reshape([1]);
    if !wants_gradient {
        return Ok(value);
    }
    // A surrogate with value zero and these derivatives.
    let surrogate = change(covariance, slopes.covariance)
        + change(outputs, slopes.outputs)
        + change(noise, slopes.noise)
        + change(residual, slopes.residual);
    Ok(surrogate + value.autodiff())
}

/// The derivatives with respect to all tensors.
struct TensorSlopes {
    covariance: Tensor<2>,
    outputs: Tensor<2>,
    noise: Tensor<1>,
    residual: Tensor<2>,
}

/// Whether the covariance was refused, and the log density, [1, 2]; and the derivatives.
fn evaluated(
    covariance: Tensor<2>,
    outputs: Tensor<2>,
    noise: Tensor<1>,
    residual: Tensor<2>,
    request: Request<'_>,
) -> (Tensor<2>, TensorSlopes) {
    if is_on_cpu(&covariance) {
        let [count] = noise.dims();
        let (outcome, of_covariance, of_outputs, of_residual) = <Dispatch as Dispatched>::kronecker(
            covariance.into_dispatch(),
            outputs.into_dispatch(),
            noise.into_dispatch(),
            residual.into_dispatch(),
            request,
        );
        let outcome = Tensor::<2>::from_dispatch(outcome);
        let slopes = TensorSlopes {
            covariance: Tensor::from_dispatch(of_covariance),
            outputs: Tensor::from_dispatch(of_outputs),
            noise: outcome.clone().narrow(1, 2, count).reshape([count]),
            residual: Tensor::from_dispatch(of_residual),
        };
        return (outcome.narrow(1, 0, 2), slopes);
    }
    // Values of other devices are read, and the results are written there.
    let values = [
        numbers(covariance.clone()),
        numbers(outputs.clone()),
        numbers(noise.clone()),
        numbers(residual.clone()),
    ];
    let (outcome, slopes) = cpu::evaluated(values.each_ref().map(Vec::as_slice), request);
    let slopes = TensorSlopes {
        covariance: written(slopes.covariance, &covariance),
        outputs: written(slopes.outputs, &outputs),
        noise: written(slopes.noise, &noise),
        residual: written(slopes.residual, &residual),
    };
    let options = (&covariance.device(), covariance.dtype());
    let outcome = TensorData::new(outcome.to_vec(), [1, outcome.len()]);
    (
        Tensor::from_data(outcome.convert_dtype(options.1), options),
        slopes,
    )
}

/// A tensor with these values, and the shape, the type and the device of another.
fn written<const D: usize>(values: Vec<f64>, like: &Tensor<D>) -> Tensor<D> {
    let values = TensorData::new(values, like.dims()).convert_dtype(like.dtype());
    Tensor::from_data(values, (&like.device(), like.dtype()))
}

/// Zero, with this derivative with respect to the values.
fn change<const D: usize>(values: Tensor<D>, slope: Tensor<D>) -> Tensor<1> {
    let values = values.autodiff();
    ((values.clone() - values.detach()) * slope.autodiff()).sum()
}

/// What predictions need of a table given its known cells: see [`kronecker_log_density`] for the notation.
#[derive(Clone, Debug)]
pub struct KroneckerSolution {
    /// U_x, `[N, N]`
    pub vectors: Tensor<2>,
    /// `(λ^Γ_p)²/H_ip`, `[N, P]`: the variance that the eigenvector i removes from the latent function p
    pub removed: Tensor<2>,
    /// `D^½U_Γ`, `[P, P]`, from latent functions to outputs
    pub mixing: Tensor<2>,
    /// `αΓ` with `α = K_oo⁻¹r` as a table that is zero in the holes, `[N, P]`
    pub weights: Tensor<2>,
    /// `A_kΓ` for each hole k, where the tables A_k, zero in no cell, have `Σ_k vec(A_k)vec(A_k)ᵀ = G_:h·G_hh⁻¹·G_h:`;
    /// `[N, h·P]`, or `None` without holes
    pub returned: Option<Tensor<2>>,
}

/// Conditions a table on its known cells, in double precision; the arguments are those of [`kronecker_log_density`].
///
/// # Errors
///
/// As [`kronecker_log_density`].
///
/// # Panics
///
/// If the shapes or the holes do not match.
#[track_caller]
pub fn kronecker_solution(
    covariance: Tensor<2>,
    outputs: Tensor<2>,
    noise: Tensor<1>,
    residual: Tensor<2>,
    holes: &[usize],
) -> Result<KroneckerSolution, NotPositiveDefinite> {
    check_shapes(&covariance, &outputs, &noise, &residual, holes);
    let options = (&covariance.device(), covariance.dtype());
    let error = refused(&covariance, &noise);
    let values = [
        numbers(covariance),
        numbers(outputs),
        numbers(noise),
        numbers(residual),
    ];
    let [covariance, outputs, noise, residual] = values.each_ref().map(Vec::as_slice);
    let table = Table {
        covariance,
        outputs,
        noise,
        residual,
        holes,
    };
    count_decomposition();
    let system = System::new(&table).ok_or_else(|| error.clone())?;
    let solution = Solution::new(&system, &table).ok_or(error)?;
    let tensor = |matrix: MatRef<'_, f64>| {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let values = TensorData::new(spectrum::row_major(matrix), [rows, columns]);
        Tensor::<2>::from_data(values.convert_dtype(options.1), options)
    };
    let functions = solution.times(system.to_outputs().as_ref()); // [N, (1 + h)·P]
    let functions = functions.view();
    let (weights, returned) = functions.split_at_col(noise.len());
    Ok(KroneckerSolution {
        vectors: tensor(system.inputs.vectors()),
        removed: tensor(system.removed().as_ref()),
        mixing: tensor(system.mixing().as_ref()),
        weights: tensor(weights),
        returned: (!holes.is_empty()).then(|| tensor(returned)),
    })
}

/// The error of a covariance that was refused.
fn refused(covariance: &Tensor<2>, noise: &Tensor<1>) -> NotPositiveDefinite {
    let ([rows, _], [outputs]) = (covariance.dims(), noise.dims());
    NotPositiveDefinite {
        batch: 0,
        pivot: 0,
        size: rows * outputs,
        jitter: 0.0,
        smallest_diagonal: f64::NAN,
        largest_diagonal: f64::NAN,
        dtype: covariance.dtype(),
    }
}

#[track_caller]
fn check_shapes(
    covariance: &Tensor<2>,
    outputs: &Tensor<2>,
    noise: &Tensor<1>,
    residual: &Tensor<2>,
    holes: &[usize],
) {
    let ([rows, columns], [count]) = (covariance.dims(), noise.dims());
    let known = (rows * count).checked_sub(holes.len());
    assert!(
        rows == columns
            && outputs.dims() == [count, count]
            && known.is_some_and(|known| known > 0 && residual.dims() == [known, 1])
            && holes.is_sorted_by(|first, second| first < second)
            && holes.last().is_none_or(|&last| last < rows * count),
        "Kronecker covariance {:?}, outputs {:?}, noise [{count}], residual {:?}, {} holes; expected [N, N], [P, P], [P], \
         [n, 1] and NP − n ascending places",
        [rows, columns],
        outputs.dims(),
        residual.dims(),
        holes.len()
    );
}
