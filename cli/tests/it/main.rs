//! The tests of the program in one binary, so that it is linked once.

mod all_rows;
mod automatic;
mod bad_input;
mod class_order;
mod comparison;
mod computation_aware_experiments;
mod convolutional_experiments;
mod cross_validation;
mod deep_basis_experiments;
mod deep_models;
mod devices;
mod early_stopping;
mod experiments;
mod failed_matrices;
mod held_out_files;
mod help;
mod html_report;
mod installation;
mod intervals;
mod inverse_free_experiments;
mod kernel_expressions;
mod learning_curve;
mod likelihoods;
mod other_crates;
mod outputs;
mod parameter_options;
mod resume;
mod safe_runs;
mod shortcomings;
mod show;
#[allow(dead_code, reason = "other test programs share it")]
mod streaming;
mod support;
mod tables;
mod train_predict;
mod weights;
