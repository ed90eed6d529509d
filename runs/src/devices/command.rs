//! `burn-gp devices` and `burn-gp devices check`.

use clap::{Args, Subcommand};

use super::{
    check::{CheckArguments, check},
    found::{FoundDevice, found},
};
use crate::arguments::name_of;
use crate::failure::Failure;
use crate::standard_output::print;

/// The arguments of `devices`.
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// The task [default: list the devices]
    #[command(subcommand)]
    pub command: Option<DevicesCommand>,
}

/// The subcommands of `devices`.
#[derive(Debug, Subcommand)]
pub enum DevicesCommand {
    /// Check every operation and model on a device against the CPU
    ///
    /// The comparison covers every operation, kernel, mean, likelihood, posterior and model, with
    /// gradients, and data without a valid result. Then some training steps are timed. The last lines
    /// are a summary to paste into a report. The exit code is 0 if all errors are within their
    /// tolerances and 1 otherwise.
    Check(CheckArguments),
}

/// Runs the command.
///
/// # Errors
///
/// If the standard output cannot be written, or a device fails its check.
pub fn run(arguments: &DevicesArguments) -> Result<(), Failure> {
    match &arguments.command {
        None => list(),
        Some(DevicesCommand::Check(arguments)) => check(arguments),
    }
}

/// Prints the backends with their devices.
fn list() -> Result<(), Failure> {
    let mut text = line(["device", "f32", "f64", "name"]);
    for device in found() {
        text += &entry(&device);
    }
    print(&text)
}

fn entry(device: &FoundDevice) -> String {
    let absent = |backend, reason: &str| line([&name_of(backend), "–", "–", reason]);
    match device {
        FoundDevice::Here {
            name,
            description,
            precisions,
            is_default,
        } => {
            let [single, double] = precisions.map(|computes| if computes { "yes" } else { "no" });
            let default = if *is_default { " (default)" } else { "" };
            let text = format!("{description}{default}");
            line([&name.to_string(), single, double, &text])
        }
        FoundDevice::None { backend } => absent(*backend, "no such device on this machine"),
        FoundDevice::NotBuilt { backend } => absent(
            *backend,
            &format!(
                "not in this program; build it with: cargo build --release --features {}",
                name_of(*backend)
            ),
        ),
    }
}

fn line([device, single, double, name]: [&str; 4]) -> String {
    format!("{device:<10}{single:<5}{double:<5}{name}\n")
}
