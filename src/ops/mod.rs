//! Linear algebra that burn does not provide, with gradients, on every backend.
//!
//! | operation | forward | backward |
//! |---|---|---|
//! | [`covariance`] | one vectorized pass from points to covariances | one pass, everything recomputed |
//! | [`patch_covariance`], [`patch_variance`] | one product and one pass per tile, nothing kept | the same tiles recomputed |
//! | [`covariance_product`], [`block_covariance`] | one pass and one product per tile, nothing kept | the same tiles recomputed |
//! | [`cholesky`] | blocked, all matrix products | one two-sided triangular solve |
//! | [`CholeskyFactor::solve`] | matrix products, substitution within diagonal blocks | one solve, one triangular product |
//! | [`CholeskyFactor::solve_lower`] | a third of a solve | a third of a solve and of a product |
//! | [`gaussian_log_density`], [`gaussian_log_densities`] | one factorization, two solves | one inverse, a third of a product |
//! | [`neighbor_conditional`] | one small factorization per row | one factorization and two solves per row, no backward pass of the factor |
//! | [`stationary_neighbor_density`] | covariances and factors of all rows in one pass, nothing kept | computed in the same pass |
//! | [`state_space_log_density`] | a Kalman filter in double precision | one backward pass, moments computed again from checkpoints |
//! | [`kronecker_log_density`] | two eigendecompositions in double precision, nothing of the size of the covariance | computed in the same pass |
//! | [`BlockFactor`] | two smaller factorizations | the backward passes of its parts |
//! | [`projected_moments`], [`marginals_minus_prior`] | one triangular product | two triangular products |
//! | [`CholeskyFactor::marginals_minus_prior`] | one solve, one triangular product | one solve, three triangular products |
//! | [`gram`], [`transposed_gram`] | one triangular product | one product |
//! | [`triangular_product`] | half a product | half a product |
//! | [`subtract_product`] | one product, added to a copy | two products |
//! | [`column_squares`], [`column_products`], [`add_to_diagonal`], [`gaussian_kl`], [`expected_gaussian_log_density`], [`layer_normalization`] | one pass | one pass |
//! | [`matern`] | a sum of about fifty exponentials per value, in one pass | the same terms recomputed |
//! | [`congruence`] | two triangular products | none |
//! | [`expected_covariance`], [`expected_products`] | a pass for each dimension over rows and points, or pairs of points | that of its parts |
//!
//! # How an operation is built
//!
//! Each operation is a module. Its `mod.rs` has the public functions and the declaration (`operations!`): the
//! signatures, the shapes of the results and the gradients. It makes the trait that a device implements, with
//! the operations that models call and the kernels that only the backward pass calls, and from it what is the
//! same for all operations: autodiff over any backend, dispatch at run time, fusing and remote devices.
//! `cpu.rs` implements the trait with kernels on slices, for backends whose tensors are in CPU memory
//! (`CpuMemory`), and `cube.rs` with kernels for GPUs. In small operations `mod.rs` has all but the GPU
//! kernels. Shared code is in `cpu`, `backward` and `stationary`.
//!
//! # Where they run
//!
//! On `flex` and `ndarray` the operations work on the tensor's own memory (a tensor whose rows are not
//! contiguous is copied first). On GPUs they launch their own kernels and read no values back, except for
//! factorizations that report failures at once. Models use [`ExactMatmul`] for matrix products, because
//! burn's own may round to fewer digits.

// The attribute is here for all operations, because the attribute macro repeats the name in places that an
// attribute on a trait does not reach.
#![allow(deprecated, reason = "ndarray stays supported beside flex")]

mod adam;
mod backward;
mod cholesky;
mod covariance;
mod covariance_product;
pub(crate) mod cpu;
#[cfg(feature = "cube")]
pub(crate) mod cube;
mod declaration;
mod decompositions;
mod diagonal;
mod exact_matmul;
mod expected_log_density;
mod expected_products;
#[cfg(all(feature = "cube", feature = "fusion"))]
mod fusion;
mod gram;
mod inverse_free;
mod inversion;
mod kronecker;
mod launches;
mod layer_normalization;
mod log_density;
mod matern;
mod moments;
mod natural_step;
pub(crate) mod nearest;
mod neighbor_conditional;
mod neighbor_density;
pub(crate) mod patches;
mod reads;
#[cfg(feature = "remote")]
mod remote;
mod solved_moments;
pub(crate) mod special;
mod state_space;
mod stationary;
mod subtract_product;
mod triangular_product;
mod triangular_solve;

pub(crate) use adam::{AdamStep, adam};
pub use cholesky::{
    BlockFactor, CholeskyFactor, Jitter, NotPositiveDefinite, SingularTriangle, cholesky,
};
pub(crate) use cholesky::{cholesky_unchecked, factor_rest, may_wait};
pub use covariance::{covariance, covariances};
pub use covariance_product::{Blocks, block_covariance, covariance_product};
#[cfg(any(test, feature = "section-times"))]
pub use cpu::{
    Interval, MeasuredSection, Section, Timeline, on_measured_threads, on_simulated_threads,
};
pub(crate) use cpu::{has_cheap_doubles, in_parts, is_cpu};
pub use cpu::{is_on_cpu, with_threads_awake};
pub use decompositions::decompositions;
pub use diagonal::{add_diagonal, add_to_diagonal};
pub(crate) use diagonal::{diagonals, mean_diagonal};
pub use exact_matmul::ExactMatmul;
pub use expected_log_density::expected_gaussian_log_density;
pub use expected_products::{expected_covariance, expected_products};
pub use gram::{gram, transposed_gram};
pub(crate) use inverse_free::{RelaxedMatrices, relaxed_terms};
pub use inversion::{Congruence, congruence};
pub use kronecker::{KroneckerSolution, kronecker_log_density, kronecker_solution};
pub use launches::{Launches, launches};
pub use layer_normalization::layer_normalization;
pub use log_density::{gaussian_log_densities, gaussian_log_density};
pub use matern::matern;
pub use moments::{
    batch_column_products, batch_column_squares, batch_projected_moments, batch_relative_moments,
    column_products, column_squares, gaussian_kl, marginals_minus_prior, projected_moments,
};
pub(crate) use natural_step::{lower_of_transposed_product, reversed_precision, solve_reversed};
pub use neighbor_conditional::neighbor_conditional;
pub use neighbor_density::{NeighborRows, stationary_neighbor_density};
pub use patches::{patch_covariance, patch_variance};
pub(crate) use reads::first_not_finite;
pub(crate) use reads::values;
pub use reads::{device_reads, integer, number, numbers, whole_numbers};
#[cfg(feature = "remote")]
pub use remote::remote_server;
pub use special::{
    SpecialFunction, arc_sine, exp_minus_one, log_gamma, log_normal_cdf, log_one_minus_exp,
    log_ratio, sigmoid, softplus, stirling_remainder, tanh,
};
pub use state_space::{
    Event, LinearSeries, LinearSystem, Smoothed, StateMoments, StateSpaceCotangents,
    StateSpaceError, state_space_filtering, state_space_log_density, state_space_score,
    state_space_smoothing,
};
pub use stationary::Stationary;
#[doc(hidden)]
pub use stationary::profile_rate;
pub use subtract_product::subtract_product;
pub use triangular_product::{transposed_triangular_product, triangular_product};
pub use triangular_solve::solve_triangular;
