//! Configurations of every model with extreme numbers and words on arbitrary data, and saved models
//! with damaged files. The result must be an error or a model. Only documented panics may occur.
//! `tests/random_inputs/search.rs` of the workspace documents the length of the search.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;

mod configs;
mod fits;
mod latent_variables;
mod saved;
