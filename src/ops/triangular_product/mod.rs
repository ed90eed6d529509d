//! Products with triangular matrices.

#[cfg(feature = "cube")]
pub(super) mod cube;

use burn::{
    backend::{TensorMetadata, tensor::FloatTensor},
    tensor::Tensor,
};
use faer::Accum;

use crate::ops::{
    cpu::{
        CpuMemory, Side, lower_product, map_members, matrix_dims, member, member_mut, threads,
        triangular, with_element, with_matrix_dims, write,
    },
    declaration::{dispatch, operations},
};

/// `L·B` for a lower-triangular L at half the cost of a full product.
///
/// Only the lower triangle of L receives a gradient.
///
/// # Shapes
///
/// - `lower` (L): `[…, M, M]`, zeros above the diagonal
/// - `rhs` (B): `[…, M, N]`, batch dimensions as in L
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn triangular_product<const D: usize>(lower: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    product(lower, rhs, Side::Lower)
}

/// `Lᵀ·B`; otherwise like [`triangular_product`].
#[track_caller]
pub fn transposed_triangular_product<const D: usize>(
    lower: Tensor<D>,
    rhs: Tensor<D>,
) -> Tensor<D> {
    product(lower, rhs, Side::Transposed)
}

#[track_caller]
fn product<const D: usize>(lower: Tensor<D>, rhs: Tensor<D>, side: Side) -> Tensor<D> {
    let (triangle, given) = (lower.dims(), rhs.dims());
    assert!(
        D >= 2 && triangle[D - 2] == triangle[D - 1] && triangle[..D - 1] == given[..D - 1],
        "triangular_product: triangle {triangle:?}, right-hand side {given:?}; expected \
         [..., M, M] and [..., M, N]"
    );
    dispatch!(triangular_product(lower, rhs; side))
}

operations! {
    /// Backend implementation of the products.
    trait TriangularProductOps on devices {
        /// `L·B` or `Lᵀ·B` for a lower-triangular L.
        fn triangular_product(lower, rhs; side: Side) -> FloatTensor<Self> = like(rhs),
            |gradient, wanted| {
                let triangle = wanted[0].then(|| match side {
                    Side::Lower => B::lower_of_product(gradient.clone(), rhs, 1.0),
                    Side::Transposed => B::lower_of_product(rhs, gradient.clone(), 1.0),
                });
                let rhs = wanted[1].then(|| B::triangular_product(lower, gradient, side.opposite()));
                [triangle, rhs]
            };
    } backward {
        /// The lower triangle of `s·A·Bᵀ` for a sign s, zeros above it.
        fn lower_of_product(left, right; sign: f64) -> FloatTensor<Self>
            = matrices(left, rows(left), rows(left));
    }
}

impl<B: CpuMemory> TriangularProductOps for B {
    fn triangular_product(
        lower: FloatTensor<B>,
        rhs: FloatTensor<B>,
        side: Side,
    ) -> FloatTensor<B> {
        with_element!(lower, T => {
            let (triangles, values) = (B::read::<T>(&lower), B::read::<T>(&rhs));
            map_members::<B, T>(&rhs, |index, out| {
                let (rows, columns) = (out.nrows(), out.ncols());
                let triangle = member(&triangles, index, rows, rows);
                let rhs = member(&values, index, rows, columns);
                triangular::triangular_product(triangle, side, rhs, out, Accum::Replace);
            })
        })
    }

    fn lower_of_product(left: FloatTensor<B>, right: FloatTensor<B>, sign: f64) -> FloatTensor<B> {
        let (batch, size, inner) = matrix_dims(&left.shape());
        let shape = with_matrix_dims(left.shape(), size, size);
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            let mut out: Vec<T> = threads::zeros(batch * size * size);
            for (index, out) in out.chunks_exact_mut((size * size).max(1)).enumerate() {
                lower_product(
                    member_mut(out, 0, size, size),
                    Accum::Replace,
                    member(&lefts, index, size, inner),
                    member(&rights, index, size, inner).transpose(),
                    sign as T,
                );
            }
            write::<B, T>(out, shape, &left.device())
        })
    }
}
