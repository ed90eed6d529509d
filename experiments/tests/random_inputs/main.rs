//! Random texts into everything that reads what is typed, and random command lines, configurations,
//! models and checkpoints into the program: no panic, and a sentence with exit code 2 for what is
//! wrong. How long the search goes on is said in `tests/random_inputs/search.rs` of the workspace.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;
#[path = "../support/mod.rs"]
mod support;

mod program;
mod texts;
