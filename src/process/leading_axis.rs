//! P functions and matrices with a leading axis B: 1 if all functions share a matrix, P if each has its own.

use burn::tensor::Tensor;

use crate::{
    kernels::Kernels,
    ops::{ExactMatmul, batch_column_products, batch_column_squares},
};

/// The columns of all functions, `[P, M, R]`, as right-hand sides for products and solves with `batch`
/// matrices. For one shared matrix they are side by side, `[1, M, P·R]`.
pub(crate) fn right_hand_sides(each: Tensor<3>, batch: usize) -> Tensor<3> {
    let [outputs, rows, columns] = each.dims();
    if batch == outputs {
        return each;
    }
    each.swap_dims(0, 1).reshape([1, rows, outputs * columns])
}

/// Undoes [`right_hand_sides`]: `[P, M, R]`.
pub(crate) fn of_each(columns: Tensor<3>, outputs: usize) -> Tensor<3> {
    let [batch, rows, width] = columns.dims();
    if batch == outputs {
        return columns;
    }
    (columns.reshape([rows, outputs, width / outputs])).swap_dims(0, 1)
}

/// `A_p·x_p`, `[P, N]`, for matrices A, `[B, N, M]`, and vectors x, `[P, M]`.
pub(crate) fn product_of_each(matrices: Tensor<3>, vectors: Tensor<2>) -> Tensor<2> {
    let ([batch, _, _], [outputs, _]) = (matrices.dims(), vectors.dims());
    let columns = right_hand_sides(vectors.unsqueeze_dim(2), batch);
    of_each(matrices.exact_matmul(columns), outputs).squeeze_dim(2)
}

/// `A_pᵀ·m_p` as columns, `[N, P]`, for matrices A, `[B, M, N]`, and means m, `[P, M]`.
pub(crate) fn means_of_each(basis: &Tensor<3>, mean: Tensor<2>) -> Tensor<2> {
    let transposed = basis.clone().transpose(); // [B, N, M]
    if basis.dims()[0] == 1 {
        return transposed
            .squeeze_dim::<2>(0)
            .exact_matmul(mean.transpose());
    }
    let means = transposed.exact_matmul(mean.unsqueeze_dim(2)); // [P, N, 1]
    means.squeeze_dim::<2>(2).transpose()
}

/// Rows of B matrices, `[B, N]`, as columns, `[N, B]`.
fn as_columns(rows: Tensor<2>) -> Tensor<2> {
    match rows.dims() {
        // The reshape keeps a column contiguous.
        [1, count] if count > 0 => rows.reshape([count, 1]),
        _ => rows.transpose(),
    }
}

/// `Σ_m A_mn²`, `[N, B]`, for A, `[B, M, N]`.
pub(crate) fn column_sums_of_squares(basis: Tensor<3>) -> Tensor<2> {
    as_columns(batch_column_squares(basis))
}

/// `Σ_m A_mn·B_mn`, `[N, B]`, for A and B, `[B, M, N]`.
pub(crate) fn column_sums_of_products(left: Tensor<3>, right: Tensor<3>) -> Tensor<2> {
    as_columns(batch_column_products(left, right))
}

/// The prior variances of the functions at `x`, `[N, D]`: `[N, B]`.
pub(crate) fn prior_variances(kernels: &Kernels, x: Tensor<2>) -> Tensor<2> {
    as_columns(kernels.diagonal_at(x))
}
