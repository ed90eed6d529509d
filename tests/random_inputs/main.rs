//! Random values, those at the corners of formats and formulas often, into every public constructor
//! and what is then asked of the result: no panic but those that the documentation announces, which
//! are listed in `values.rs` by their messages. How long the search goes on is said in `search.rs`.

#[path = "../support/mod.rs"]
mod support;

mod inducing;
mod inference;
mod kernels;
mod likelihoods;
mod numbers;
mod posteriors;
mod search;
mod values;
