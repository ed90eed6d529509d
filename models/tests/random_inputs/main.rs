//! Configurations of every model with numbers and words at the corners, on data of any numbers, and
//! saved models whose files are damaged: an error or a model, and no panic but those that the
//! documentation announces. How long the search goes on is said in `tests/random_inputs/search.rs`
//! of the workspace.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;

mod configs;
mod fits;
mod saved;
