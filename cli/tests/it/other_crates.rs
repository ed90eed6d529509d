//! A likelihood, a posterior, a mean and a network of another crate, as this test is one, by their
//! names.

#[path = "../../../models/tests/it/other_crates/pieces.rs"]
mod pieces;

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
use serde_json::Map;

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
