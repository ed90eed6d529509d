//! The program `burn-gp`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    burn_gp_experiments::run(std::env::args_os())
}
