//! The command-line program `burn-gp`: train Gaussian processes on data, compare them, and predict
//! with them.
//!
//! [`run`] is the whole program: it parses the command line, runs the command, and turns a failure into a
//! message and an exit code.
//!
//! The features are those of the library: `flex` (default) and `ndarray` for the CPU, `wgpu`, `vulkan`,
//! `metal`, `cuda` and `rocm` for GPUs.

// `println!` and `eprintln!` panic if the terminal is closed or the disk is full. Use `burn_gp_runs` instead.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod commands;
mod datasets;
mod exit;
pub mod installation;
mod usage_error;

use std::ffi::OsString;

use burn_gp_models::training::on_device;
use burn_gp_runs::{failure::Failure, standard_error::tell, threads};
use clap::Parser;

use commands::Arguments;
pub use usage_error::usage_error;

/// Runs the program with the given command line, which starts with the program's name, and returns its
/// exit code.
///
/// The exit code is 0 for success, 1 if training or writing failed, 2 for a usage error, and 130 after Ctrl-C.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let outcome = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => match (arguments.threads, threads::of_environment()) {
            (None, Err(sentence)) => Err(Failure::Arguments(sentence)),
            (count, _) => {
                count.into_iter().for_each(threads::limit);
                on_device(|| arguments.command.execute())
                    .unwrap_or_else(|failure| Err(failure.into()))
            }
        },
        Err(error) => match usage_error(&error) {
            Some(sentence) => Err(Failure::Arguments(sentence)),
            None => {
                // Help and version are not errors, and a closed pipe need not be reported.
                let _ = error.print();
                return u8::from(error.use_stderr()) * 2;
            }
        },
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = exit::message(&failure) {
                tell(&message);
            }
            exit::code(&failure)
        }
    }
}
