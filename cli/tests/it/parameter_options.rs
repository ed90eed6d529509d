//! Parameter options on the command line.

use crate::support::{read, run, succeed, write_regression};
use burn_gp_core::parameter::{Bounds, Prior};
use burn_gp_runs::parameter_options::{BoundsOption, PriorOption, ValuesOption};

#[test]
fn what_is_typed() {
    let values: ValuesOption = "kernel.lengthscale = 0.5, 2e-1".parse().expect("values");
    assert_eq!(values.path, "kernel.lengthscale");
    assert_eq!(values.values, [0.5, 0.2]);
    for (text, expected) in [
        ("noise=1e-4..1", Bounds::between(1e-4, 1.0)),
        ("noise=-2 .. -1.5", Bounds::between(-2.0, -1.5)),
        ("noise=.5..", Bounds::above(0.5)),
        ("noise=..3", Bounds::below(3.0)),
    ] {
        let option: BoundsOption = text.parse().expect("bounds");
        assert_eq!(option.bounds, expected, "{text}");
    }
    let (shape, rate) = (2.0, 3.5);
    for (text, expected) in [
        ("noise=gamma(2,3.5)", Prior::Gamma { shape, rate }),
        (
            "noise=log-normal( -1 , 0.5 )",
            Prior::LogNormal {
                mean: -1.0,
                deviation: 0.5,
            },
        ),
        (
            "noise=split-log-normal(0, 0.5, 2)",
            Prior::SplitLogNormal {
                mode: 0.0,
                below: 0.5,
                above: 2.0,
            },
        ),
        ("noise=half-normal(2)", Prior::HalfNormal { scale: 2.0 }),
        (
            "noise=uniform(0, 1)",
            Prior::Uniform {
                lower: 0.0,
                upper: 1.0,
            },
        ),
    ] {
        let option: PriorOption = text.parse().expect("a prior");
        assert_eq!((option.path.as_str(), option.prior), ("noise", expected));
    }
}

#[test]
fn mistakes_are_named() {
    let values = |text: &str| text.parse::<ValuesOption>().expect_err(text).to_string();
    let bounds = |text: &str| text.parse::<BoundsOption>().expect_err(text).to_string();
    let prior = |text: &str| text.parse::<PriorOption>().expect_err(text).to_string();
    let form = "expected PATH=VALUE, such as kernel.lengthscale=0.5";
    for text in ["", "kernel.lengthscale", "=1", "kernel.lengthscale="] {
        assert_eq!(values(text), form, "{text}");
    }
    assert_eq!(values("a=1,,2"), "\"\" is not a finite number");
    assert_eq!(values("a=inf"), "\"inf\" is not a finite number");
    let form =
        "expected PATH=LOWER..UPPER, such as likelihood.noise=1e-4..1; one end can be omitted";
    for text in ["a", "a=1", "a=.."] {
        assert_eq!(bounds(text), form, "{text}");
    }
    assert_eq!(bounds("a=1..b"), "\"b\" is not a finite number");
    let known = "Known priors: gamma(SHAPE, RATE), log-normal(MEAN, DEVIATION), split-log-normal(MODE, BELOW, ABOVE), \
                 half-normal(SCALE), uniform(LOWER, UPPER)";
    for (text, nearest) in [
        ("gama(1, 2)", "gamma(SHAPE, RATE)"),
        ("gamma(1)", "gamma(SHAPE, RATE)"),
        ("lognormal(0, 1)", "log-normal(MEAN, DEVIATION)"),
        ("half-normal", "half-normal(SCALE)"),
        ("uniform(1, 2", "uniform(LOWER, UPPER)"),
    ] {
        let expected = format!("unknown prior {text}; did you mean {nearest}? {known}");
        assert_eq!(prior(&format!("a={text}")), expected);
    }
    assert_eq!(prior("a=gamma(1, x)"), "\"x\" is not a finite number");
}

#[test]
fn options_are_kept_in_files() {
    for text in ["kernel.lengthscale=0.5,0.25", "a=1"] {
        let option: ValuesOption = text.parse().expect("values");
        assert_eq!(String::from(option), text);
    }
    for text in ["a=0.5..2", "a=..-3", "a=1.."] {
        let option: BoundsOption = text.parse().expect("bounds");
        assert_eq!(String::from(option), text);
    }
    for text in ["a=gamma(2, 0.5)", "a=uniform(0, 1)"] {
        let option: PriorOption = text.parse().expect("a prior");
        let json = serde_json::to_string(&option).expect("serializable");
        assert_eq!(json, format!("{text:?}"));
        assert_eq!(
            serde_json::from_str::<PriorOption>(&json).expect("readable"),
            option
        );
    }
}

/// For every model: fixed parameters keep their values, bounded parameters stay within their
/// bounds, and predictions equal those of the saved model.
#[test]
fn runs_do_what_is_asked() {
    for model in ["exact", "sgpr", "svgp"] {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let data = folder.path().join("data.csv");
        write_regression(&data, 120);
        let mut arguments = vec![
            "train",
            "--data",
            "data.csv",
            "--out",
            "run",
            "--quiet",
            "--model",
            model,
            "--steps",
            "40",
            "--set",
            "kernel.variance=1.25",
            "--fix",
            "kernel.variance",
            "--bound",
            "likelihood.noise=0.3..",
            "--set",
            "likelihood.noise=0.5",
            "--set",
            "kernel.lengthscale=1",
            "--prior",
            "kernel.lengthscale=uniform(0.8, 1.2)",
        ];
        if model != "exact" {
            arguments.extend(["--inducing", "20"]);
        }
        succeed(folder.path(), &arguments);
        let file = |name: &str| read(&folder.path().join("run").join(name));
        let metrics: serde_json::Value =
            serde_json::from_str(&file("metrics.json")).expect("metrics");
        let values = |path: &str| -> Vec<f64> {
            let values = metrics["hyperparameters"][path].as_array().expect("values");
            values
                .iter()
                .map(|value| value.as_f64().expect("a number"))
                .collect()
        };
        assert!(
            (values("kernel.variance")[0] - 1.25).abs() < 1e-12,
            "{model}"
        );
        assert!(values("likelihood.noise")[0] >= 0.3 - 1e-12, "{model}");
        for lengthscale in values("kernel.lengthscale") {
            assert!(
                (0.8 - 1e-12..=1.2 + 1e-12).contains(&lengthscale),
                "{model}: {lengthscale}"
            );
        }
        let predict = [
            "predict",
            "--model-dir",
            "run",
            "--data",
            "data.csv",
            "--out",
            "p.csv",
        ];
        succeed(folder.path(), &predict);
        let config = file("config.toml");
        assert!(
            config.contains("kernel.lengthscale=uniform(0.8, 1.2)"),
            "{config}"
        );
    }
}

/// If every parameter is fixed there is nothing to train. The model is only conditioned on the
/// data.
#[test]
fn a_model_without_a_free_parameter_is_conditioned() {
    for (model, fixed) in [
        ("exact", ["kernel", "likelihood", "likelihood.noise"]),
        ("sgpr", ["kernel", "likelihood", "inducing"]),
        ("svgp", ["kernel", "likelihood", "posterior"]),
    ] {
        let folder = temp_dir::TempDir::new().expect("a folder");
        write_regression(&folder.path().join("data.csv"), 80);
        let mut arguments = vec![
            "train",
            "--data",
            "data.csv",
            "--out",
            "run",
            "--quiet",
            "--model",
            model,
            "--steps",
            "40",
            "--set",
            "likelihood.noise=0.05",
        ];
        for path in fixed {
            arguments.extend(["--fix", path]);
        }
        succeed(folder.path(), &arguments);
        let text = read(&folder.path().join("run/metrics.json"));
        let metrics: serde_json::Value = serde_json::from_str(&text).expect("metrics");
        assert_eq!(metrics["steps"], 0, "{model}");
        assert!(metrics["objective"].is_f64(), "{model}: {text}");
        let noise = metrics["hyperparameters"]["likelihood.noise"][0].as_f64();
        assert!((noise.expect("a number") - 0.05).abs() < 1e-12, "{model}");
        let rmse = metrics["rmse"].as_f64().expect("a number");
        // The predictions of svgp are those of the prior.
        assert!(model == "svgp" || rmse < 0.5, "{model}: {rmse}");
        let predict = ["predict", "--model-dir", "run", "--data", "data.csv"];
        succeed(folder.path(), &predict);
    }
}

/// Without noise in the targets, training drives the noise variance to its floor and reports it.
#[test]
fn a_parameter_at_its_floor_is_told() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let rows = (0..60).map(|row| {
        let x = f64::from(row) / 10.0;
        format!("{x},{}\n", x.sin())
    });
    let text = format!("x,y\n{}", rows.collect::<String>());
    std::fs::write(folder.path().join("data.csv"), text).expect("written");
    let arguments = [
        "train", "--data", "data.csv", "--out", "run", "--quiet", "--model", "exact", "--kernel",
        "rbf",
    ];
    let done = run(folder.path(), &arguments);
    let message = String::from_utf8(done.stderr).expect("text");
    assert!(done.status.success(), "{message}");
    let start = "warning: likelihood.noise ended at its lower bound 1e-6";
    assert!(message.contains(start), "{message}");
}

/// The degrees of freedom have one name and one value in the configuration, in options, in files and in `show`.
#[test]
fn degrees_of_freedom_have_one_name() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 60);
    let train = "train --data table.csv --model svgp --likelihood student-t --inducing 8 --steps 20 --out run \
                 --overwrite";
    let train = |more: &[&str]| {
        let words: Vec<&str> = train
            .split_whitespace()
            .chain(more.iter().copied())
            .collect();
        run(path, &words)
    };
    let name = "likelihood.degrees_of_freedom";
    let set = format!("{name}=7.5");
    let output = train(&["--set", &set, "--fix", name]);
    assert!(output.status.success(), "{output:?}");
    let shown = succeed(path, &["show", "run"]);
    assert!(
        shown.contains("likelihood.degrees_of_freedom 7.5"),
        "{shown}"
    );
    assert!(read(&path.join("run/config.toml")).contains(&set));
    let model: serde_json::Value =
        serde_json::from_str(&read(&path.join("run/model.json"))).unwrap();
    let likelihood = model.to_string();
    assert!(
        likelihood.contains("\"degrees_of_freedom\":"),
        "{likelihood}"
    );
    assert!(!likelihood.contains("excess"), "{likelihood}");
    // Bounds and priors are of the same number.
    let bound = format!("{name}=3..6");
    let prior = format!("{name}=gamma(2, 0.1)");
    let output = train(&["--bound", &bound, "--prior", &prior]);
    assert!(output.status.success(), "{output:?}");
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let found = metrics["hyperparameters"][name][0].as_f64().unwrap();
    assert!((3.0..=6.0).contains(&found), "{found}");
    for (option, value) in [("--set", "=2"), ("--set", "=-1"), ("--bound", "=..1.5")] {
        let output = train(&[option, &format!("{name}{value}")]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(name), "{text}");
    }
}
