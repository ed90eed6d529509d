//! Random and damaged files for every loader, and random arguments for every public function. Only
//! documented panics may occur. `tests/random_inputs/search.rs` of the workspace documents the
//! length of the search.

#[path = "../../../tests/random_inputs/mutations.rs"]
mod mutations;
#[path = "../../../tests/random_inputs/search.rs"]
mod search;

mod files;
#[cfg(all(feature = "arrow", feature = "compression", feature = "excel", unix))]
mod formats;
mod functions;
#[cfg(all(feature = "arrow", feature = "compression", feature = "excel", unix))]
mod hostile;
mod images;
mod memory;
#[cfg(all(feature = "arrow", feature = "compression", feature = "excel", unix))]
mod packed;
#[cfg(feature = "parquet")]
mod parquet_files;
