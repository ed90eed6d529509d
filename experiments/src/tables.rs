//! The tables of papers that are grids of training runs. Each file registers its studies.

mod cagp_uci;
mod cifar10;
mod dbk_mobile;
mod dbk_rank;
mod dbk_uci;
mod deep_basis_protocol;
mod deep_regression;
mod inverse_free_hutchinson;
mod inverse_free_protocol;
mod inverse_free_uci;
mod map_competition;
mod mnist;
mod solve_ablation;
mod solve_protocol;
mod solve_regression;
#[cfg(test)]
mod tests;
