//! The command-line program `burn-gp`: train Gaussian processes on data, compare them, and predict
//! with them.
//!
//! [`run`] is the whole program. A training run goes through these modules in order: [`commands`]
//! and [`arguments`] (the command line), [`plan::check`] (checked options), [`preparation`] (the
//! data), [`plan::resolve`] (model and training), [`fitting`] (the steps), [`evaluation`] (held-out rows),
//! [`output`] (the folder), [`report`] (the terminal). A comparison consists of several such runs,
//! and so do most experiments of papers.

pub mod arguments;
pub mod commands;
pub mod coverage;
mod datasets;
pub mod devices;
mod early_stopping;
pub mod evaluation;
mod evenly_spaced;
mod experiment;
pub mod failure;
pub mod fitting;
mod illustrations;
pub mod kernel_expression;
mod memory;
pub mod output;
pub mod parameter_options;
pub mod plan;
pub mod plots;
mod predict;
pub mod preparation;
mod progress;
mod ranges;
mod replacement;
pub mod report;
pub mod setting_error;
mod shortcomings;
mod standard_output;
mod study;
mod summary;
mod text_table;
mod train;
pub mod training_log;
mod training_run;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use commands::Arguments;
use failure::Failure;

/// Runs the program with the given command line, which starts with the program's name.
///
/// The exit code is 0 after success, 1 if training or writing failed, 2 for a usage error, and 130
/// after Ctrl-C.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command.execute(),
        Err(error) => match arguments::usage_error(&error) {
            Some(sentence) => Err(Failure::Arguments(sentence)),
            None => {
                // Help and version are not errors, and a closed pipe is no reason to report one.
                let _ = error.print();
                return ExitCode::from(u8::from(error.use_stderr()) * 2);
            }
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                eprintln!("{message}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
