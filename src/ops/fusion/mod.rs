//! Operations on devices whose backend fuses operations (burn's feature `fusion`).
//!
//! That backend queues operations, so that neighboring ones become one kernel. An operation of ours
//! launches what is queued before it, without waiting for the device, and then runs on the backend
//! below. Its results are again tensors of the fusing backend.

mod value;

use burn::backend::{
    fusion::{Fusion, FusionBackend},
    tensor::FloatTensor as Tensor,
};

use super::{
    adam::{AdamOps, AdamStep},
    cholesky::{CholeskyBackward, CholeskyOps, Jitter},
    covariance::{CovarianceBackward, CovarianceOps},
    covariance_product::{BlockPairs, CovarianceProductBackward, CovarianceProductOps},
    cpu::Side,
    diagonal::{DiagonalBackward, DiagonalOps},
    exact_matmul::cube::ExactMatmulOps,
    gram::{GramBackward, GramOps},
    inverse_free::{InverseFreeBackward, InverseFreeOps, Widths},
    inversion::{CongruenceOps, InversionOps},
    layer_normalization::{LayerNormalizationBackward, LayerNormalizationOps},
    log_density::{LogDensityBackward, LogDensityOps},
    moments::{MomentBackward, MomentOps},
    patches::{PatchBackward, PatchGrid, PatchOps},
    remainder::{RemainderBackward, RemainderOps},
    special::{SpecialBackward, SpecialFunction, SpecialOps},
    stationary::Stationary,
    triangular_product::{TriangularProductBackward, TriangularProductOps},
    triangular_solve::{TriangularSolveBackward, TriangularSolveOps},
};
use value::Value;

/// Implements the traits of operations: each runs on the backend below.
macro_rules! operations {
    ($($ops:ident { $($name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty;)* })*) => {$(
        impl<B: FusionBackend + $ops> $ops for Fusion<B> {
            $(fn $name($($argument: $type),*) -> $output {
                Value::<B>::outer(B::$name($(Value::<B>::inner($argument)),*))
            })*
        }
    )*};
}

operations! {
    AdamOps {
        adam(
            parameter: Tensor<Self>,
            gradient: Tensor<Self>,
            first: Tensor<Self>,
            second: Tensor<Self>,
            step: AdamStep,
        ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>);
        adam_if(
            parameter: Tensor<Self>,
            gradient: Tensor<Self>,
            first: Tensor<Self>,
            second: Tensor<Self>,
            ok: Tensor<Self>,
            step: AdamStep,
        ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>);
    }
    CholeskyOps {
        cholesky(matrix: Tensor<Self>, jitter: Jitter) -> (Tensor<Self>, Tensor<Self>);
        cholesky_scaled(
            matrix: Tensor<Self>,
            scales: Tensor<Self>,
            jitter: Jitter,
        ) -> (Tensor<Self>, Tensor<Self>);
        factor_from_lower(matrix: Tensor<Self>) -> (Tensor<Self>, Tensor<Self>);
        lower_of_factor(factor: Tensor<Self>) -> Tensor<Self>;
        factor_log_determinant(factor: Tensor<Self>) -> Tensor<Self>;
    }
    CholeskyBackward {
        cholesky_backward(
            factor: Tensor<Self>,
            status: Tensor<Self>,
            cotangent: Tensor<Self>,
        ) -> Tensor<Self>;
        cholesky_scaled_backward(
            factor: Tensor<Self>,
            status: Tensor<Self>,
            cotangent: Tensor<Self>,
        ) -> [Tensor<Self>; 2];
        factor_from_lower_backward(factor: Tensor<Self>, cotangent: Tensor<Self>) -> Tensor<Self>;
        lower_of_factor_backward(factor: Tensor<Self>, gradient: Tensor<Self>) -> Tensor<Self>;
        factor_log_determinant_backward(
            factor: Tensor<Self>,
            gradient: Tensor<Self>,
        ) -> Tensor<Self>;
    }
    CovarianceOps {
        covariance(
            x1: Tensor<Self>,
            x2: Tensor<Self>,
            lengthscales: Tensor<Self>,
            variance: Tensor<Self>,
            kind: Stationary,
        ) -> Tensor<Self>;
    }
    CovarianceBackward {
        covariance_backward(
            arguments: [Tensor<Self>; 4],
            gradient: Tensor<Self>,
            kind: Stationary,
            wanted: [bool; 4],
        ) -> [Option<Tensor<Self>>; 4];
    }
    CovarianceProductOps {
        covariance_product(
            x1: Tensor<Self>,
            x2: Tensor<Self>,
            lengthscales: Tensor<Self>,
            variance: Tensor<Self>,
            vectors: Tensor<Self>,
            kind: Stationary,
            same: bool,
        ) -> Tensor<Self>;
        block_covariance(
            points: Tensor<Self>,
            others: Tensor<Self>,
            lengthscales: Tensor<Self>,
            variance: Tensor<Self>,
            values: Tensor<Self>,
            kind: Stationary,
            pairs: BlockPairs,
        ) -> Tensor<Self>;
    }
    CovarianceProductBackward {
        covariance_product_backward(
            arguments: [Tensor<Self>; 5],
            gradient: Tensor<Self>,
            kind: Stationary,
            same: bool,
            points_wanted: bool,
        ) -> [Option<Tensor<Self>>; 5];
        block_covariance_backward(
            arguments: [Tensor<Self>; 5],
            gradient: Tensor<Self>,
            kind: Stationary,
            pairs: BlockPairs,
            points_wanted: bool,
        ) -> [Option<Tensor<Self>>; 5];
    }
    DiagonalOps {
        add_to_diagonal(matrix: Tensor<Self>, value: Tensor<Self>) -> Tensor<Self>;
    }
    DiagonalBackward {
        diagonal(matrix: Tensor<Self>) -> Tensor<Self>;
        trace(matrix: Tensor<Self>) -> Tensor<Self>;
    }
    ExactMatmulOps {
        exact_matmul(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>;
    }
    GramOps {
        gram(basis: Tensor<Self>, side: Side) -> Tensor<Self>;
    }
    GramBackward {
        gram_backward(basis: Tensor<Self>, gradient: Tensor<Self>, side: Side) -> Tensor<Self>;
    }
    InverseFreeOps {
        relaxed_terms(
            kuu: Tensor<Self>,
            variances: Tensor<Self>,
            lower: Tensor<Self>,
            kuf: Tensor<Self>,
            mean: Tensor<Self>,
            probes: Tensor<Self>,
            widths: Widths,
        ) -> (Tensor<Self>, Vec<Tensor<Self>>);
    }
    InverseFreeBackward {
        relaxed_terms_backward(
            matrices: [Tensor<Self>; 3],
            saved: Vec<Tensor<Self>>,
            gradient: Tensor<Self>,
            widths: Widths,
        ) -> [Tensor<Self>; 4];
    }
    CongruenceOps {
        congruence(matrix: Tensor<Self>, lower: Tensor<Self>) -> Tensor<Self>;
    }
    InversionOps {
        identity_distance(matrix: Tensor<Self>) -> Tensor<Self>;
        inversion_step(lower: Tensor<Self>, matrix: Tensor<Self>, step_size: f64) -> Tensor<Self>;
    }
    LayerNormalizationOps {
        layer_normalization(
            x: Tensor<Self>,
            scale: Tensor<Self>,
            shift: Tensor<Self>,
            epsilon: f64,
        ) -> Tensor<Self>;
    }
    LayerNormalizationBackward {
        layer_normalization_backward(
            x: Tensor<Self>,
            scale: Tensor<Self>,
            gradient: Tensor<Self>,
            epsilon: f64,
        ) -> [Tensor<Self>; 3];
    }
    LogDensityOps {
        gaussian_log_density(
            covariance: Tensor<Self>,
            residual: Tensor<Self>,
            jitter: Jitter,
        ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>, Tensor<Self>);
    }
    LogDensityBackward {
        gaussian_log_density_backward(
            saved: [Tensor<Self>; 3],
            gradient: Tensor<Self>,
            wanted: [bool; 2],
        ) -> [Option<Tensor<Self>>; 2];
    }
    MomentOps {
        projected_moments(
            basis: Tensor<Self>,
            mean: Tensor<Self>,
            scale: Tensor<Self>,
        ) -> (Tensor<Self>, Tensor<Self>);
        column_squares(basis: Tensor<Self>) -> Tensor<Self>;
        column_products(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>;
        gaussian_kl(mean: Tensor<Self>, scale: Tensor<Self>) -> Tensor<Self>;
    }
    MomentBackward {
        projected_moments_backward(
            saved: [Tensor<Self>; 4],
            gradient: Tensor<Self>,
        ) -> [Tensor<Self>; 3];
        column_squares_backward(basis: Tensor<Self>, gradient: Tensor<Self>) -> Tensor<Self>;
        column_products_backward(
            matrices: [Tensor<Self>; 2],
            gradient: Tensor<Self>,
        ) -> [Tensor<Self>; 2];
        gaussian_kl_backward(
            arguments: [Tensor<Self>; 2],
            gradient: Tensor<Self>,
        ) -> [Tensor<Self>; 2];
    }
    PatchOps {
        patch_covariance(
            inducing: Tensor<Self>,
            images: Tensor<Self>,
            lengthscales: Tensor<Self>,
            variance: Tensor<Self>,
            weights: Tensor<Self>,
            kind: Stationary,
            grid: PatchGrid,
        ) -> Tensor<Self>;
        patch_variance(
            images: Tensor<Self>,
            lengthscales: Tensor<Self>,
            variance: Tensor<Self>,
            weights: Tensor<Self>,
            kind: Stationary,
            grid: PatchGrid,
        ) -> Tensor<Self>;
    }
    PatchBackward {
        patch_covariance_backward(
            arguments: [Tensor<Self>; 5],
            gradient: Tensor<Self>,
            kind: Stationary,
            grid: PatchGrid,
            images_wanted: bool,
        ) -> [Option<Tensor<Self>>; 5];
        patch_variance_backward(
            arguments: [Tensor<Self>; 4],
            gradient: Tensor<Self>,
            kind: Stationary,
            grid: PatchGrid,
            images_wanted: bool,
        ) -> [Option<Tensor<Self>>; 4];
    }
    RemainderOps {
        remainder(matrix: Tensor<Self>, left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>;
    }
    RemainderBackward {
        remainder_backward(
            factors: [Tensor<Self>; 2],
            gradient: Tensor<Self>,
            wanted: [bool; 2],
        ) -> [Option<Tensor<Self>>; 2];
    }
    SpecialOps {
        special(x: Tensor<Self>, function: SpecialFunction) -> Tensor<Self>;
    }
    SpecialBackward {
        special_backward(
            x: Tensor<Self>,
            gradient: Tensor<Self>,
            function: SpecialFunction,
        ) -> Tensor<Self>;
    }
    TriangularProductOps {
        triangular_product(lower: Tensor<Self>, rhs: Tensor<Self>, side: Side) -> Tensor<Self>;
    }
    TriangularProductBackward {
        lower_of_product(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>;
    }
    TriangularSolveOps {
        factor_solve(factor: Tensor<Self>, rhs: Tensor<Self>, side: Side) -> Tensor<Self>;
    }
    TriangularSolveBackward {
        negative_lower_product(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>;
    }
}
