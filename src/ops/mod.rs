//! The linear algebra that burn lacks, with gradients, on every backend.
//!
//! | operation | forward | reverse |
//! |---|---|---|
//! | [`covariance`] | one vectorized pass from points to covariances | one pass, everything recomputed |
//! | [`patch_covariance`], [`patch_variance`] | one product and one pass a tile, nothing kept | the same tiles anew |
//! | [`covariance_product`], [`block_covariance`] | one pass and one product a tile, nothing kept | the same tiles anew |
//! | [`cholesky`] | blocked, all matrix products | one two-sided triangular solve |
//! | [`CholeskyFactor::solve`] | matrix products with the inverses of the diagonal blocks | one solve, one triangular product |
//! | [`gaussian_log_density`] | one factorization, two solves | one inverse, a third of a product |
//! | [`BlockFactor`] | two smaller factorizations | that of its parts |
//! | [`projected_moments`] | one triangular product | two triangular products |
//! | [`gram`], [`transposed_gram`] | one triangular product | one product |
//! | [`triangular_product`] | half a product | half a product |
//! | [`remainder`] | one product, added to a copy | two products |
//! | [`column_squares`], [`column_products`], [`add_to_diagonal`], [`gaussian_kl`], [`layer_normalization`] | one pass | one pass |
//! | [`congruence`] | two triangular products | none |
//!
//! They are one backend extension, [`extension`]: each backend supplies the primitives, and the
//! reverse mode is written once for the autodiff backend, in `reverse`.
//!
//! # Where they run
//!
//! On `flex` and `ndarray` the operations work on the tensor's own memory (a tensor whose rows are
//! not contiguous is copied first). **On the GPU backends each of them reads its inputs back to
//! the host, computes there and uploads the result**, but for [`gram`],
//! [`triangular_product`], [`remainder`] and [`congruence`], which are products of matrices there,
//! and [`tanh`] and [`layer_normalization`], which are burn's there.
//! Everything else of a model runs on the GPU.

mod adam;
mod block_factor;
mod covariance;
mod decompositions;
mod diagonal;
pub mod extension;
mod factor;
mod gram;
pub mod host;
mod host_access;
mod inversion;
mod layer_normalization;
mod log_density;
mod moments;
mod on_host;
mod patches;
mod products;
mod relaxation;
mod remainder;
pub(crate) mod reverse;
mod special;
mod stationary;
mod triangular;

pub(crate) use adam::adam;
pub use block_factor::BlockFactor;
pub(crate) use block_factor::factor_rest;
pub use covariance::{covariance, covariance_matrix, covariances};
pub use decompositions::decompositions;
pub use diagonal::{add_diagonal, add_to_diagonal};
pub(crate) use diagonal::{diagonals, mean_diagonal};
pub use factor::{
    CholeskyFactor, Jitter, NotPositiveDefinite, SingularTriangle, cholesky, solve_triangular,
};
pub use gram::{gram, transposed_gram};
pub(crate) use host::adam::AdamStep;
pub use inversion::{Congruence, congruence};
pub use layer_normalization::layer_normalization;
pub use log_density::gaussian_log_density;
pub use moments::{
    batch_column_products, batch_column_squares, batch_projected_moments, column_products,
    column_squares, gaussian_kl, projected_moments,
};
pub use patches::{patch_covariance, patch_variance};
pub use products::{Blocks, block_covariance, covariance_product};
pub use relaxation::MemoryAnswer;
pub(crate) use relaxation::{RelaxedMatrices, is_on_host, relaxed_terms};
pub use remainder::remainder;
pub use special::{
    SpecialFunction, exp_minus_one, log_gamma, log_normal_cdf, log_one_minus_exp, log_ratio,
    sigmoid, softplus, stirling_remainder, tanh,
};
pub use stationary::Stationary;
pub use triangular::{transposed_triangular_product, triangular_product};
