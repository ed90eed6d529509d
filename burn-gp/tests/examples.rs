//! Runs every example. All are modules of this one program, so that it links only once.

use std::{
    collections::BTreeSet,
    error::Error,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

#[path = "../examples/bayesian_optimization.rs"]
mod bayesian_optimization;
#[path = "../examples/classification.rs"]
mod classification;
#[path = "../examples/conv_gp.rs"]
mod conv_gp;
#[path = "../examples/csv.rs"]
mod csv;
#[path = "../examples/decomposition.rs"]
mod decomposition;
#[path = "../examples/deep_basis_cnn.rs"]
mod deep_basis_cnn;
#[path = "../examples/deep_gp.rs"]
mod deep_gp;
#[path = "../examples/exact.rs"]
mod exact;
#[path = "../examples/forecasting.rs"]
mod forecasting;
#[path = "../examples/function_draws.rs"]
mod function_draws;
#[path = "../examples/heteroskedastic.rs"]
mod heteroskedastic;
#[path = "../examples/latent_variables.rs"]
mod latent_variables;
#[path = "../examples/learner.rs"]
mod learner;
#[path = "../examples/many_rows.rs"]
mod many_rows;
#[path = "../examples/map.rs"]
mod map;
#[path = "../examples/multi_output.rs"]
mod multi_output;
#[path = "../examples/neighbors.rs"]
mod neighbors;
#[path = "../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../examples/own_likelihood.rs"]
mod own_likelihood;
#[path = "../examples/own_posterior.rs"]
mod own_posterior;
#[path = "../examples/serve.rs"]
mod serve;
#[path = "../examples/several_outputs.rs"]
mod several_outputs;
#[path = "../examples/three_backends.rs"]
mod three_backends;
#[path = "../examples/time_series.rs"]
mod time_series;
#[path = "../examples/training_loop.rs"]
mod training_loop;

/// Lets one example run at a time, because all share burn's random numbers, which some of them seed.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A test for each example, and their names.
macro_rules! examples {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];

        mod runs {
            $(
                #[test]
                fn $name() -> Result<(), Box<dyn std::error::Error>> {
                    let _turn = super::turn();
                    super::$name::main().map_err(Into::into)
                }
            )+
        }
    };
}

examples! {
    bayesian_optimization,
    classification,
    conv_gp,
    csv,
    decomposition,
    deep_basis_cnn,
    deep_gp,
    exact,
    forecasting,
    function_draws,
    heteroskedastic,
    latent_variables,
    learner,
    many_rows,
    map,
    multi_output,
    neighbors,
    own_kernel,
    own_likelihood,
    own_posterior,
    serve,
    several_outputs,
    three_backends,
    time_series,
    training_loop,
}

/// The folder of the examples, found at run time because the test may have been compiled in another folder.
fn examples() -> Result<PathBuf, Box<dyn Error>> {
    Ok(Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("examples"))
}

/// The guide has a row for each example, and every example has fewer than 100 lines.
#[test]
fn every_example_is_short_and_in_the_guide() -> Result<(), Box<dyn Error>> {
    let guide = include_str!("../../docs/guide/src/start.md");
    for name in NAMES {
        let lines = fs::read_to_string(examples()?.join(format!("{name}.rs")))?
            .lines()
            .count();
        assert!(lines < 100, "{name} has {lines} lines");
        assert!(guide.contains(&format!("| `{name}` |")), "{name}");
    }
    Ok(())
}

#[test]
fn every_example_is_here() -> Result<(), Box<dyn Error>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(examples()?)? {
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
