//! Inference for kernels of finite rank in `O(N·R²)`.
//!
//! It works with any [`LowRankKernel`](crate::kernels::LowRankKernel).

mod evidence;
mod log_density;
mod normal_equations;
mod regression;

pub use evidence::low_rank_evidence;
pub(in crate::inference) use log_density::{
    log_density_of_fit, low_rank_log_density, optimal_gaussian, posterior_mean, precision,
};
pub(in crate::inference) use normal_equations::precise_type;
pub use regression::LowRankRegression;
