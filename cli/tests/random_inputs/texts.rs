//! Kernel expressions, parameter options, command lines and configurations.

use std::ffi::OsString;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_cli::{commands::Arguments, usage_error};
use burn_gp_core::kernels::KernelModule;
use burn_gp_runs::{
    arguments::RunOptions,
    kernel_expression::KernelExpression,
    parameter_options::{BoundsOption, PriorOption, ValuesOption},
    plan::parameters,
};
use clap::Parser;
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use crate::mutations::{corner, damaged_text};
use crate::search::{no_panic, search};

const KERNELS: &[&str] = &[
    "rbf + linear[1,3]",
    "periodic(matern32, period=0.5) * rbf(lengthscale=2, variance=1e-3)",
    "scaled(rational-quadratic(shape=2), outputscale=3)[2]",
    "polynomial(degree=3, offset=0.1) + constant(variance=2) + white",
    "arc-cosine(order=2, weight-variance=1, bias-variance=1)",
    "cosine(period=3 data)[1] * (matern12(lengthscale=0.5 std) + matern52)",
    "spectral-mixture(components=2, highest-frequency=1.5)",
    "gibbs(lengthscale=1, layers=1, width=4, seed=3)",
    "deep(rbf[2], features=2, layers=2, width=3)",
    "preference(rbf)[1,2]",
    "change-point(rbf, linear, input=2, location=0.5, steepness=3)",
];

/// The largest number in a text, used to skip inputs that would need too much memory.
fn largest_number(text: &str) -> f64 {
    text.split(|sign: char| !(sign.is_ascii_alphanumeric() || "+-.".contains(sign)))
        .filter_map(|word| word.parse::<f64>().ok())
        .filter(|number| number.is_finite())
        .fold(0.0, |largest, number| largest.max(number.abs()))
}

#[test]
fn kernel_expressions() {
    let part = proptest::sample::select(&["rbf", "white[1]", "(linear)", "constant"][..]);
    let long = (
        part,
        proptest::sample::select(&["+", "*", "[1]"][..]),
        1usize..20_000,
    )
        .prop_map(|(part, between, count)| format!("{part}{between}").repeat(count) + part);
    let texts = prop_oneof![60 => damaged_text(KERNELS, 4), 1 => long];
    let inputs = (texts, 1usize..4, any::<[bool; 2]>());
    search(2500, inputs, |(text, dimensions, [isotropic, double])| {
        no_panic(&[], || {
            let Ok(expression) = text.parse::<KernelExpression>() else {
                return;
            };
            let written = serde_json::to_string(&expression).unwrap();
            assert_eq!(
                serde_json::from_str::<KernelExpression>(&written).unwrap(),
                expression
            );
            let config = expression.config(isotropic);
            let is_refused = config.missing_dimension(dimensions).is_some()
                || config.check_inputs(dimensions).is_err();
            if is_refused || largest_number(&text) > 100.0 {
                return;
            }
            let dtype = if double { DType::F64 } else { DType::F32 };
            let options = (&Device::default(), dtype);
            let kernel = config.init(dimensions, options);
            let points = TensorData::new(vec![0.25f32; 2 * dimensions], [2, dimensions]);
            let points = Tensor::<2>::from_data(points, options);
            let _ = kernel
                .covariance_at(points.clone(), points.clone())
                .into_data();
            let _ = kernel.diagonal_at(points).into_data();
        })?;
        Ok(())
    });
}

/// Asserts that a value survives conversion to text and back.
fn there_and_back<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(text: &str) {
    let quoted = serde_json::to_string(text).unwrap();
    if let Ok(value) = serde_json::from_str::<T>(&quoted) {
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(
            serde_json::from_str::<T>(&written).unwrap(),
            value,
            "{written}"
        );
    }
}

#[test]
fn options_of_parameters() {
    const TEXTS: &[&str] = &[
        "kernel.lengthscale=0.5, 2",
        "likelihood.noise=1e-4..1",
        "kernel.variance=..3",
        "kernel.variance=gamma(2, 1) data",
        "kernel.lengthscale=log-normal(0, 1)",
        "likelihood.noise=half-normal(0.1)",
        "mean.constant=uniform(-1, 1)",
    ];
    search(5000, damaged_text(TEXTS, 3), |text| {
        no_panic(&[], || {
            there_and_back::<ValuesOption>(&text);
            there_and_back::<BoundsOption>(&text);
            there_and_back::<PriorOption>(&text);
            let _ = parameters(&RunOptions {
                set: text.parse().ok().map(|option| vec![option]),
                bound: text.parse().ok().map(|option| vec![option]),
                prior: text.parse().ok().map(|option| vec![option]),
                fix: Some(vec![text.clone()]),
                ..RunOptions::default()
            });
        })?;
        Ok(())
    });
}

const COMMANDS: &[&[&str]] = &[
    &[
        "train",
        "--model",
        "svgp",
        "--kernel",
        "rbf",
        "--inducing",
        "10",
        "--steps",
        "3",
        "--seed",
        "1",
    ],
    &[
        "train",
        "--data",
        "a.csv",
        "--target",
        "y",
        "--test-fraction",
        "0.2",
        "--dtype",
        "f64",
    ],
    &[
        "train",
        "--prior",
        "kernel.variance=gamma(2,1)",
        "--bound",
        "likelihood.noise=1e-4..1",
        "--fix",
        "mean",
    ],
    &[
        "compare",
        "--models",
        "svgp,exact",
        "--seeds",
        "0,1",
        "--data",
        "a.csv",
    ],
    &[
        "predict", "--model", "out", "--data", "a.csv", "--out", "p.csv", "--level", "0.9",
    ],
    &["experiment", "solve-snelson", "--scale", "quick"],
    &["datasets", "list", "--data-dir", "."],
    &["--help"],
];

/// A command line with some words damaged, removed or repeated.
fn command_line() -> impl Strategy<Value = Vec<String>> {
    let known: Vec<Vec<String>> = (COMMANDS.iter())
        .map(|words| words.iter().map(|&word| word.to_owned()).collect())
        .collect();
    let words: Vec<String> = known.iter().flatten().cloned().collect();
    let word = prop_oneof![
        corner().prop_map(str::to_owned),
        proptest::sample::select(words),
        "\\PC{0,8}",
    ];
    let change = (
        any::<proptest::sample::Index>(),
        proptest::option::of(word),
        any::<bool>(),
    );
    (
        proptest::sample::select(known),
        proptest::collection::vec(change, 0..4),
    )
        .prop_map(|(mut words, changes)| {
            for (at, word, replace) in changes {
                let at = at.index(words.len() + 1);
                match word {
                    Some(word) if replace && at < words.len() => words[at] = word,
                    Some(word) => words.insert(at, word),
                    None if at < words.len() => drop(words.remove(at)),
                    None => {}
                }
            }
            words
        })
}

#[test]
fn command_lines() {
    search(800, command_line(), |words| {
        no_panic(&[], || {
            let words = ["burn-gp".to_owned()].into_iter().chain(words);
            if let Err(error) = Arguments::try_parse_from(words.map(OsString::from)) {
                let _ = usage_error(&error);
            }
        })?;
        Ok(())
    });
}

#[test]
fn configurations_of_runs() {
    const CONFIGS: &[&str] = &[
        r#"{"model":"svgp","kernel":"rbf + linear[1]","inducing":10,"steps":3,"seed":1}"#,
        r#"{"model":"exact","likelihood":"gaussian","noise":0.1,"data":"a.csv","target":"y"}"#,
        r#"{"set":["kernel.variance=1"],"prior":["likelihood.noise=gamma(2, 1)"],"fix":["mean"]}"#,
    ];
    search(3000, damaged_text(CONFIGS, 3), |text| {
        no_panic(&[], || {
            if let Ok(options) = serde_json::from_str::<RunOptions>(&text) {
                let written = serde_json::to_string(&options).unwrap();
                serde_json::from_str::<RunOptions>(&written).unwrap();
            }
        })?;
        Ok(())
    });
}
