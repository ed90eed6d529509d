//! Calls every public constructor and then the methods of the result with random values, often
//! extreme values of formats and formulas. Only documented panics may occur. `values.rs` lists them
//! by their messages. `search.rs` documents the length of the search.

#[allow(dead_code, unused_imports, reason = "these tests use a part")]
#[path = "../it/support/mod.rs"]
mod support;

mod inducing;
mod inference;
mod kernels;
mod likelihoods;
mod numbers;
mod posteriors;
mod search;
mod values;
