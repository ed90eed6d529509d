//! Matrices that functions share, or one matrix per function.

use burn::tensor::Tensor;

use crate::{
    ops::{
        CholeskyFactor, batch_column_products, batch_column_squares, column_products,
        column_squares, transposed_gram,
    },
    process::Moments,
};

/// A matrix that all functions share, `[M, N]`, or one per function, `[P, M, N]`. Code written
/// against this trait works for both shared and separate kernels.
pub(crate) trait FunctionMatrices: Sized {
    /// Converts one matrix per function, `[P, M, R]`, to right-hand sides for products and solves.
    /// For a shared matrix they are placed side by side, `[M, P·R]`.
    fn right_hand_sides(each: Tensor<3>) -> Self;

    /// Undoes [`right_hand_sides`](Self::right_hand_sides): `[P, M, R]`.
    fn of_each(self, outputs: usize) -> Tensor<3>;

    /// One matrix per function, `[P, M, N]`.
    fn repeated(self, outputs: usize) -> Tensor<3>;

    /// `Σ_m A_mn²`: `[N, 1]` or `[N, P]`.
    fn squared_norms(self) -> Tensor<2>;

    /// `Σ_m A_mn·B_mn`: `[N, 1]` or `[N, P]`.
    fn column_products(self, other: Self) -> Tensor<2>;

    /// `AᵀA`.
    fn inner_products(self) -> Self;

    /// Means of `Aᵀu_p`, and variances less those of standard normal variables, both `[N, P]`.
    fn project_relative(self, moments: Moments) -> (Tensor<2>, Tensor<2>);

    /// [`project_relative`](Self::project_relative) of `L⁻¹A`, for the [triangle](CholeskyFactor::triangle)
    /// of a factor L.
    fn solve_and_project_relative(self, triangle: Self, moments: Moments)
    -> (Tensor<2>, Tensor<2>);
}

impl FunctionMatrices for Tensor<2> {
    fn right_hand_sides(each: Tensor<3>) -> Self {
        let [outputs, rows, columns] = each.dims();
        if outputs == 1 {
            return each.squeeze_dim(0);
        }
        each.swap_dims(0, 1).reshape([rows, outputs * columns])
    }

    fn of_each(self, outputs: usize) -> Tensor<3> {
        let [rows, columns] = self.dims();
        if outputs == 1 {
            return self.unsqueeze();
        }
        (self.reshape([rows, outputs, columns / outputs])).swap_dims(0, 1)
    }

    fn repeated(self, outputs: usize) -> Tensor<3> {
        self.unsqueeze::<3>().repeat_dim(0, outputs)
    }

    fn squared_norms(self) -> Tensor<2> {
        column_squares(self).unsqueeze_dim(1)
    }

    fn column_products(self, other: Self) -> Tensor<2> {
        column_products(self, other).unsqueeze_dim(1)
    }

    fn inner_products(self) -> Self {
        transposed_gram(self)
    }

    fn project_relative(self, moments: Moments) -> (Tensor<2>, Tensor<2>) {
        moments.project_relative(self)
    }

    fn solve_and_project_relative(
        self,
        triangle: Self,
        moments: Moments,
    ) -> (Tensor<2>, Tensor<2>) {
        moments.solve_and_project_relative(&CholeskyFactor::from_triangle(triangle), self)
    }
}

impl FunctionMatrices for Tensor<3> {
    fn right_hand_sides(each: Tensor<3>) -> Self {
        each
    }

    fn of_each(self, _outputs: usize) -> Tensor<3> {
        self
    }

    fn repeated(self, _outputs: usize) -> Tensor<3> {
        self
    }

    fn squared_norms(self) -> Tensor<2> {
        batch_column_squares(self).transpose()
    }

    fn column_products(self, other: Self) -> Tensor<2> {
        batch_column_products(self, other).transpose()
    }

    fn inner_products(self) -> Self {
        transposed_gram(self)
    }

    fn project_relative(self, moments: Moments) -> (Tensor<2>, Tensor<2>) {
        moments.project_each_relative(self)
    }

    fn solve_and_project_relative(
        self,
        triangle: Self,
        moments: Moments,
    ) -> (Tensor<2>, Tensor<2>) {
        moments.project_each_relative(CholeskyFactor::from_triangle(triangle).solve(self))
    }
}
