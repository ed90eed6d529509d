//! Random texts for all command-line parsers, and random command lines, configurations, models and
//! checkpoints for the program. It must not panic. Errors must give a one-sentence message and exit
//! code 2. `tests/random_inputs/search.rs` of the workspace documents the length of the search.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;
#[allow(dead_code, reason = "these tests use a part")]
#[path = "../it/support/mod.rs"]
mod support;

mod program;
mod texts;
