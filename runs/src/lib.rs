//! Runs of Gaussian-process models on data: options, training, evaluation and results of single runs and of
//! grids.
//!
//! A training run goes through these modules in order: [`arguments`] (its options),
//! [`plan::check`] (checked options), [`preparation`] (the data), [`plan::resolve`] (model and
//! training), [`fitting`] (the steps), [`evaluation`] (held-out rows), [`output`] (the folder),
//! [`report`] (the terminal). [`train`] calls them, [`predict`] uses the model in such a folder,
//! [`update`] adds rows to it, and [`show`] describes it. [`forecast`] forecasts series over time. [`outputs`] has models of
//! several columns of targets. Comparisons and the tables of papers consist of several runs: [`study`].

// `println!` and `eprintln!` panic if the terminal is closed or the disk is full. Use `standard_error` and
// `standard_output`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod arguments;
mod automatic;
mod baselines;
mod calibration;
pub mod checksums;
mod column_table;
mod conformal_intervals;
pub mod coverage;
mod cross_validation;
mod csv_text;
mod data_units;
pub mod devices;
mod diagnostics;
mod early_stopping;
pub mod evaluation;
pub mod evenly_spaced;
pub mod failure;
mod file_names;
mod first_periods;
pub mod fitting;
mod folder_of_models;
pub mod forecast;
pub mod html_report;
mod illustrations;
mod input_noise;
pub mod kernel_expression;
mod leave_one_out;
mod memory;
mod noise_for_signal;
pub mod option_error;
pub mod output;
pub mod outputs;
pub mod parameter_options;
pub mod plan;
pub mod plots;
pub mod predict;
pub mod preparation;
mod progress;
mod pure_error;
pub mod ranges;
mod regular_file;
mod replacement;
pub mod report;
mod restarts;
mod results;
pub mod sample;
pub mod scores;
pub mod show;
pub mod standard_error;
pub mod standard_output;
pub mod study;
pub mod summary;
mod table_of_runs;
mod text_table;
pub mod threads;
pub mod train;
mod train_by;
mod trained_folder;
pub mod training_log;
pub mod training_run;
mod transformed;
pub mod update;
mod visible_text;
