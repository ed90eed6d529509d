//! Random and damaged files into every loader, random arguments into every public function: no
//! panic that the documentation does not announce. How long the search goes on is said in
//! `tests/random_inputs/search.rs` of the workspace.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;

mod files;
mod functions;
mod images;
#[cfg(feature = "parquet")]
mod parquet_files;
