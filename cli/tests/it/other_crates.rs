//! Models, a kernel, a likelihood, a posterior, a mean and a network of another crate, as this test is one, by
//! their names.

#[path = "../../../models/tests/it/other_crates/own_models.rs"]
mod own_models;
#[path = "../../../models/tests/it/other_crates/pieces.rs"]
mod pieces;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Command, Output};

use burn_gp_core::{
    features::NetworkConfig, likelihoods::LikelihoodConfig, means::MeanConfig,
    process::CovarianceShape, variational::PosteriorConfig,
};
use burn_gp_models::{DeepGpConfig, SvdbkConfig};
use burn_gp_runs::{
    arguments::{RunOptions, to_toml},
    plan::{self, Plan},
    preparation::PreparedData,
};
use pieces::{LevelConfig, NarrowConfig, NoisyConfig, WhiteConfig};
use serde_json::{Map, Value};
use temp_dir::TempDir;

use crate::support::{numbers, read, write_regression};

/// The variable with the command line of the program that this crate links.
const COMMAND: &str = "BURN_GP_TEST_COMMAND";

/// The options as they are typed.
fn typed(words: &[(&str, &str)]) -> RunOptions {
    let fields = words.iter().map(|(option, word)| {
        let parsed = RunOptions::parse_field(option, word);
        parsed.unwrap_or_else(|error| panic!("{option}: {error}"))
    });
    let fields: Map<_, _> = fields.flatten().collect();
    RunOptions::from_fields(fields).unwrap()
}

fn resolved(options: &RunOptions) -> (RunOptions, Plan) {
    let source = options.source().unwrap();
    let checked = plan::check(options, &source).unwrap();
    let data = PreparedData::load(&source, &checked).unwrap();
    plan::resolve(&checked, &data).unwrap()
}

#[test]
fn pieces_of_another_crate_are_chosen_by_their_names() {
    let options = typed(&[
        ("data", "synthetic:sines?n=50"),
        ("model", "deep-gp"),
        ("likelihood", "noisy"),
        ("noise", "0.3"),
        ("posterior", "white"),
        ("covariance", "diagonal"),
    ]);
    let (resolved, plan) = resolved(&options);
    let Some(config) = plan.model.downcast_ref::<DeepGpConfig>() else {
        panic!("no deep model: {:?}", plan.model)
    };
    let likelihood = LikelihoodConfig::from(NoisyConfig { noise: 0.3 });
    assert_eq!(config.likelihood, likelihood);
    let posterior = PosteriorConfig::from(WhiteConfig {
        covariance: CovarianceShape::Diagonal,
    });
    assert_eq!(config.output.posterior, posterior);
    assert_eq!(config.hidden[0].layer.posterior, posterior);
    let written = to_toml(&resolved);
    assert!(written.contains("likelihood = \"noisy\""), "{written}");
    assert!(written.contains("posterior = \"white\""), "{written}");
    let read = RunOptions::from_fields(resolved.fields()).unwrap();
    assert_eq!(read, resolved);
}

/// The name of a mean stands for its default, that of a network for the configuration for the options
/// of networks.
#[test]
fn means_and_networks_of_another_crate_are_chosen_by_their_names() {
    let options = typed(&[
        ("data", "synthetic:sines?n=50"),
        ("model", "svdbk"),
        ("mean", "level"),
        ("backbone", "narrow"),
        ("units", "9"),
    ]);
    let (resolved, plan) = resolved(&options);
    let Some(config) = plan.model.downcast_ref::<SvdbkConfig>() else {
        panic!("no deep basis kernel: {:?}", plan.model)
    };
    assert_eq!(config.mean, MeanConfig::from(LevelConfig::default()));
    let network = NetworkConfig::from(NarrowConfig { width: 9 });
    assert_eq!(config.basis.network, network);
    let read = RunOptions::from_fields(resolved.fields()).unwrap();
    assert_eq!(read, resolved);
}

/// An option that a posterior has no field for means nothing.
#[test]
fn posteriors_of_another_crate_use_the_options_that_they_have() {
    let options = |posterior| typed(&[("model", "deep-gp"), ("posterior", posterior)]);
    let unused = |posterior, option: &str, word: &str| {
        let (mut fields, own) = (options(posterior).fields(), typed(&[(option, word)]));
        fields.extend(own.fields());
        let options = RunOptions::from_fields(fields).unwrap();
        !options.without_use(options.model()).is_empty()
    };
    assert!(!unused("white", "covariance", "diagonal"));
    assert!(unused("delegating", "covariance", "diagonal"));
    assert!(!unused("delegating", "natural_gradient", "0.1"));
    assert!(unused("white", "columns", "5"));
}

#[test]
fn names_of_another_crate_are_among_the_possible_values() {
    for (option, wrong, right) in [
        ("posterior", "wite", "'white'"),
        ("likelihood", "nois", "'noisy'"),
        ("mean", "leve", "'level'"),
        ("backbone", "narow", "'narrow'"),
        ("model", "temperd", "'tempered'"),
    ] {
        let error = RunOptions::parse_field(option, wrong).unwrap_err();
        assert!(error.to_string().contains(right), "{error}");
        let fields = Map::from_iter([(option.into(), wrong.into())]);
        let error = RunOptions::from_fields(fields).unwrap_err().to_string();
        let start = format!("unknown variant `{wrong}`, expected one of `");
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains(&right.replace('\'', "`")), "{error}");
    }
}

/// The program with everything that this crate registers. Tests run it in a process of its own.
#[test]
fn program() {
    if let Ok(line) = env::var(COMMAND) {
        let words = ["burn-gp"].into_iter().chain(line.split(' '));
        process::exit(burn_gp_cli::run(words.map(Into::into)).into());
    }
}

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "other_crates::program", "--nocapture"]);
    command.current_dir(folder).env(COMMAND, line);
    command.output().unwrap()
}

/// Runs the program, and returns what it wrote.
fn succeed(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 40);
    folder
}

/// Trains with `options`, shows the model, and predicts with it. Returns the last loss, the description and the
/// predictions.
fn trained(folder: &Path, out: &str, options: &str) -> (f64, String, Vec<f64>) {
    let line = format!("train --out {out} --quiet {options}");
    succeed(folder, &line);
    succeed(
        folder,
        &format!("predict -m {out} -d data.csv -o {out}.csv"),
    );
    let losses = numbers(&folder.join(out).join("training_log.csv"), "loss");
    let shown = succeed(folder, &format!("show {out}"));
    let means = numbers(&folder.join(format!("{out}.csv")), "mean");
    assert_eq!(means.len(), 40);
    (losses[losses.len() - 1], shown, means)
}

/// With half the evidence, Adam makes the steps of the evidence, because its steps do not depend on the scale
/// of the loss.
#[test]
fn a_full_batch_model_of_another_crate_is_trained_by_its_name() {
    let folder = folder();
    let options = "--steps 20 --optimizer adam";
    let (loss, shown, means) = trained(
        folder.path(),
        "half",
        &format!("--data data.csv --model half {options}"),
    );
    let (expected, _, exact) = trained(
        folder.path(),
        "exact",
        &format!("--data data.csv --model exact --default-priors=false {options}"),
    );
    assert!(shown.contains("half"), "{shown}");
    assert!((2.0 * loss - expected).abs() < 1e-6, "{loss}, {expected}");
    for (own, exact) in means.iter().zip(exact) {
        // Adam's small constant is relative to the gradient.
        assert!((own - exact).abs() < 1e-5, "{own}, {exact}");
    }
    let config = read(&folder.path().join("half/config.toml"));
    assert!(config.contains("model = \"half\""), "{config}");
    let model: Value = serde_json::from_str(&read(&folder.path().join("half/model.json"))).unwrap();
    assert!(model.to_string().contains("\"model\":\"half\""), "{model}");
    let error = refused(
        folder.path(),
        "train --data data.csv --model half --inducing 5",
    );
    assert!(
        error.contains("--inducing does not apply to model 'half'"),
        "{error}"
    );
}

/// With weight one, every step is that of `svgp`.
#[test]
fn a_mini_batch_model_of_another_crate_is_trained_by_its_name() {
    let folder = folder();
    let options = "--steps 12 --batch-size 16 --inducing 7 --kernel rbf --mean constant";
    let (loss, shown, means) = trained(
        folder.path(),
        "tempered",
        &format!("--data data.csv --model tempered {options}"),
    );
    let (expected, _, svgp) = trained(
        folder.path(),
        "svgp",
        &format!("--data data.csv --model svgp --default-priors=false {options}"),
    );
    assert!(shown.contains("tempered"), "{shown}");
    assert_eq!((loss, means), (expected, svgp));
    let error = refused(
        folder.path(),
        "train --data data.csv --model tempered --layers 3",
    );
    assert!(
        error.contains("--layers does not apply to model 'tempered'"),
        "{error}"
    );
}

/// A run with another crate's components, and a second one from its configuration.
#[test]
fn components_of_another_crate_are_trained_by_their_names() {
    let folder = folder();
    let options = "--data data.csv --model svgp --steps 8 --inducing 6 --kernel bump(lengthscale=1.3)+linear \
                   --likelihood noisy --posterior white --mean level";
    let (_, shown, means) = trained(folder.path(), "own", options);
    for name in ["bump", "noisy"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    let (_, _, again) = trained(folder.path(), "again", "--config own/config.toml");
    assert_eq!(means, again);
}

/// The likelihood has no intervals, so the plot of the fit has no band of targets.
#[test]
fn a_likelihood_without_intervals_is_drawn_over_one_input() {
    let folder = TempDir::new().unwrap();
    let rows = (0..40).map(|row| format!("{row},{}\n", (0.3 * f64::from(row)).sin()));
    let text: String = std::iter::once("x,y\n".to_owned()).chain(rows).collect();
    fs::write(folder.path().join("data.csv"), text).unwrap();
    let options = "--data data.csv --model svgp --likelihood noisy --inducing 6 --steps 8";
    trained(folder.path(), "own", options);
    assert!(folder.path().join("own/fit.svg").is_file());
    assert!(!folder.path().join("own/calibration.svg").exists());
}

#[test]
fn the_help_lists_models_of_another_crate() {
    let help = succeed(&env::temp_dir(), "train --help");
    for line in [
        "half:",
        "Exact regression whose evidence counts half",
        "As svgp, with a weight of the divergence from the prior",
        "svgp-unwhitened:",
    ] {
        assert!(help.contains(line), "{line}: {help}");
    }
}
