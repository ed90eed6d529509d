//! The program `burn-gp`.

// `println!` and `eprintln!` panic if the terminal is closed or the disk is full. Use `burn_gp_runs` instead.
#![deny(clippy::print_stderr, clippy::print_stdout)]

use std::{panic, process::ExitCode};

use burn_gp_models::training::DeviceFailure;

mod allocator;

fn main() -> ExitCode {
    allocator::keep_freed_pages();
    prefer_the_cpu();
    leave_out_reports_of_devices();
    ExitCode::from(burn_gp_cli::run(std::env::args_os()))
}

/// Makes the CPU burn's default device, on which burn restores the state of optimizers. With a GPU backend, the
/// default would be the GPU, which may lack the precision of a run on the CPU. `BURN_DEVICE` overrides this.
fn prefer_the_cpu() {
    const DEFAULT: &str = "BURN_DEVICE";
    if cfg!(feature = "flex") && std::env::var_os(DEFAULT).is_none() {
        // SAFETY: no other thread exists yet that could read the environment.
        unsafe { std::env::set_var(DEFAULT, "flex") };
    }
}

/// Suppresses the reports of panics that burn raises when a device fails. The program catches these panics and
/// prints one sentence.
fn leave_out_reports_of_devices() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if DeviceFailure::of_panic(panic.payload()).is_none() {
            report(panic);
        }
    }));
}
