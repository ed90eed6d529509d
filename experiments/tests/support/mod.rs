//! Running the program on small generated data.

#![allow(dead_code)] // every test file uses a part of this

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// The program, without the environment's data directory.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_burn-gp"));
    command.env_remove("BURN_GP_DATA");
    command
}

/// Runs the program in `folder`.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = program();
    command.current_dir(folder).args(arguments);
    command.output().expect("the program starts")
}

/// Runs the program in `folder` and expects success; returns what it printed.
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {errors}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// A file's text.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fields of a CSV text, header first.
pub fn fields(text: &str) -> Vec<Vec<String>> {
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

/// A regression set of two inputs with a header: `y = sin(2a) + b²/2 + noise`.
pub fn write_regression(path: &Path, rows: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b): (f64, f64) = (
            random.random_range(-2.0..2.0),
            random.random_range(-2.0..2.0),
        );
        let noise: f64 = random.random_range(-0.2..0.2);
        text += &format!("{a},{b},{}\n", (2.0 * a).sin() + 0.5 * b * b + noise);
    }
    fs::write(path, text).expect("the data can be written");
}

/// Two classes, labelled 1 and 2, on two sides of a wave.
pub fn write_classes(path: &Path, rows: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let mut text = String::from("a,b,class\n");
    for _ in 0..rows {
        let (a, b): (f64, f64) = (
            random.random_range(-2.0..2.0),
            random.random_range(-2.0..2.0),
        );
        let noise: f64 = random.random_range(-0.3..0.3);
        let class = if b > (2.0 * a).sin() + noise { 2 } else { 1 };
        text += &format!("{a},{b},{class}\n");
    }
    fs::write(path, text).expect("the data can be written");
}
