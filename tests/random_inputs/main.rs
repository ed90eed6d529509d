//! Calls every public constructor and then the methods of the result with random values, often
//! extreme values of formats and formulas. Only documented panics may occur. `values.rs` lists them
//! by their messages. `search.rs` documents the length of the search.

mod inducing;
mod inference;
mod kernels;
mod latent_inputs;
mod likelihoods;
mod neighbors;
mod numbers;
mod posteriors;
mod search;
mod values;
