//! The tests of the loaders in one binary, so that it is linked once.

mod as_written;
mod bad_input;
#[cfg(feature = "parquet")]
mod blocks;
mod cifar;
mod columns;
#[cfg(all(feature = "arrow", feature = "compression", feature = "excel"))]
mod formats;
mod images;
mod loading;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod sources;
mod splits;
mod support;
mod tables;
mod transforms;
