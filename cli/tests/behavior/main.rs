//! Regression tests of the whole program. Short runs of every model, likelihood and posterior, and
//! every experiment on a budget of seconds, must give the numbers stored in `stored.json`.
//!
//! A refactoring does not change these numbers. After an intentional change, store the new numbers
//! in a commit that gives the reason:
//!
//! ```text
//! BURN_GP_STORE=1 cargo test --release --workspace --test behavior -- --test-threads 1
//! ```

#[allow(dead_code, reason = "these tests use a part")]
#[path = "../it/support/mod.rs"]
mod support;

mod numbers;
mod tables;
mod targets;

use std::path::Path;

use burn_gp_core::{
    likelihoods::{LikelihoodName, TargetKind},
    variational::PosteriorName,
};
use burn_gp_runs::arguments::{ModelChoice, ModelFields, RunOptions};
use numbers::{check, numbers_of};
use support::{succeed, write_digits};
use temp_dir::TempDir;

/// Options of all runs. With so few steps rounding errors cannot grow.
const SHORT: &str = "--dtype f64 --steps 3 --seed 0 --out run --quiet";

/// The largest difference, relative to numbers above one, from summing in another order for a few
/// steps.
const TOLERANCE: f64 = 1e-9;

/// Runs `train` with the options and checks the output.
fn check_run(name: &str, folder: &Path, options: &str) {
    let line = format!("train {options} {SHORT}");
    let arguments: Vec<&str> = line.split_whitespace().collect();
    succeed(folder, &arguments);
    check(name, numbers_of(&folder.join("run")), TOLERANCE);
}

/// Additional options that make a model fast on the data of these tests.
fn options_of(model: &ModelFields) -> &'static str {
    let has = |path| model.has(path);
    match (has("inducing"), has("actions")) {
        _ if has("actions.rule") => "--policy unit --actions 10",
        (_, true) => "--actions 10",
        _ if model.has_orthogonal() => "--inducing 12 --orthogonal 9",
        _ if model.has_images() && has("hidden") => "--inducing 12 --patch 5,5",
        _ if model.has_images() => "--inducing 12 --patch 5",
        (true, _) => "--inducing 12",
        _ => "",
    }
}

/// Whether a preset has the same configuration as this registered model.
fn has_short_name(model: &ModelChoice) -> bool {
    let is_same = |other: ModelChoice| other != *model && other.config() == model.config();
    matches!(model, ModelChoice::Registered(_)) && ModelChoice::named().any(is_same)
}

/// Whether a model takes data with several inputs. Models over time take one, and have their tests in `models/tests`.
fn takes_several_inputs(model: &ModelChoice) -> bool {
    !model.name().starts_with("markov")
}

#[test]
fn every_model() {
    let all = ModelChoice::all().filter(|model| !has_short_name(model));
    for model in all.filter(takes_several_inputs) {
        let folder = TempDir::new().unwrap();
        let fields = ModelFields::new(model, &RunOptions::default());
        let data = if fields.has_images() {
            write_digits(folder.path(), 120, 60);
            "--data mnist --data-dir . --batch-size 20"
        } else {
            "--data winequality"
        };
        let name = model.name();
        let options = format!("{data} --model {name} {}", options_of(&fields));
        check_run(&format!("model {name}"), folder.path(), &options);
    }
}

/// Every posterior in a two-layer model. In single-layer models, each posterior has its own model
/// name.
#[test]
fn every_posterior_in_layers() {
    for posterior in PosteriorName::all() {
        let folder = TempDir::new().unwrap();
        let own = match posterior.config().has_orthogonal_set() {
            true => "--inducing 12 --orthogonal 9",
            false => "--inducing 12",
        };
        let name = posterior.name();
        let options = format!("--data winequality --model deep-gp --posterior {name} {own}");
        check_run(&format!("deep-gp {name}"), folder.path(), &options);
    }
}

#[test]
fn every_likelihood_in_one_layer_and_two() {
    for likelihood in LikelihoodName::all() {
        for model in ["svgp", "deep-gp"] {
            let folder = TempDir::new().unwrap();
            targets::write(&folder.path().join("data.csv"), likelihood);
            let name = likelihood.name();
            let more = match likelihood.target() {
                TargetKind::Measurements => "--noise-column error",
                TargetKind::Successes => "--trials tries",
                TargetKind::Intervals => "--upper-column end",
                TargetKind::OrderedClasses => "--class-order low,middle,high",
                _ => "",
            };
            let options =
                format!("--data data.csv --model {model} --inducing 12 --likelihood {name} {more}");
            check_run(&format!("{model} {name}"), folder.path(), &options);
        }
    }
}
