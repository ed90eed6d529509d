//! Runs every example. Each is a module of this one program, so that none is linked on its own.

use std::{collections::BTreeSet, error::Error, ffi::OsStr, fs};

#[path = "../examples/bayesian_optimization.rs"]
mod bayesian_optimization;
#[path = "../examples/classification.rs"]
mod classification;
#[path = "../examples/csv.rs"]
mod csv;
#[path = "../examples/deep_basis_cnn.rs"]
mod deep_basis_cnn;
#[path = "../examples/deep_gp.rs"]
mod deep_gp;
#[path = "../examples/exact.rs"]
mod exact;
#[path = "../examples/function_draws.rs"]
mod function_draws;
#[path = "../examples/learner.rs"]
mod learner;
#[path = "../examples/many_rows.rs"]
mod many_rows;
#[path = "../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../examples/own_likelihood.rs"]
mod own_likelihood;
#[path = "../examples/serve.rs"]
mod serve;
#[path = "../examples/time_series.rs"]
mod time_series;
#[path = "../examples/training_loop.rs"]
mod training_loop;

/// A test for each example, and their names.
macro_rules! examples {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];

        mod runs {
            $(
                #[test]
                fn $name() -> Result<(), Box<dyn std::error::Error>> {
                    super::$name::main().map_err(Into::into)
                }
            )+
        }
    };
}

examples! {
    bayesian_optimization,
    classification,
    csv,
    deep_basis_cnn,
    deep_gp,
    exact,
    function_draws,
    learner,
    many_rows,
    own_kernel,
    own_likelihood,
    serve,
    time_series,
    training_loop,
}

#[test]
fn every_example_is_here() -> Result<(), Box<dyn Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let stem = entry?
            .path()
            .file_stem()
            .and_then(OsStr::to_str)
            .map(str::to_owned);
        found.extend(stem);
    }
    let known: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, known);
    Ok(())
}
