//! The registry is complete, targets are checked, and configurations survive saving and loading.

use burn_gp_core::{
    likelihoods::{LikelihoodConfig, RobustMaxConfig, TargetKind},
    parameter::{Hyperparameter, hyperparameters},
};

use crate::support::{
    assert_close, likelihood_cases::registry, module_gradients::parameter_values, numbers,
    platforms,
};

/// The error message of serde for an unknown variant lists all variants.
pub fn variants() -> Vec<String> {
    let unknown = serde_json::from_str::<LikelihoodConfig>(r#"{"likelihood": "?"}"#);
    let message = unknown.expect_err("no such likelihood").to_string();
    let (_, list) = message.split_once("expected one of ").expect("a list");
    let quoted = list.split('`').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_variant_is_registered_under_its_name() {
    let platform = &platforms()[0];
    let mut names = Vec::new();
    for case in registry() {
        assert_eq!(case.init(platform).description().name, case.name);
        names.push(case.name.to_owned());
    }
    let mut variants = variants();
    names.sort();
    variants.sort();
    assert_eq!(names, variants);
}

#[test]
fn configurations_survive_their_files() {
    for case in registry() {
        let text = serde_json::to_string(&case.config).expect("serializable");
        let tag = format!("\"likelihood\":\"{}\"", case.name);
        assert!(text.contains(&tag), "{text}");
        let back: LikelihoodConfig = serde_json::from_str(&text).expect("readable");
        assert_eq!(back, case.config, "{text}");
        let slip = text.replacen('{', r#"{"nosie": 0.1, "#, 1);
        let read = serde_json::from_str::<LikelihoodConfig>(&slip);
        let error = read.expect_err("there is no such field").to_string();
        assert!(
            error.starts_with("unknown field `nosie`"),
            "{slip}: {error}"
        );
    }
}

#[test]
fn possible_targets_pass_and_impossible_ones_are_named() {
    let platform = &platforms()[0];
    for case in registry() {
        let likelihood = case.init(platform).description();
        let columns = case.columns();
        assert_eq!(likelihood.columns, columns, "{}", case.name);
        assert_eq!(likelihood.check_targets(&case.targets, columns), Ok(()));
        // Limits of intervals that are not there.
        let are_intervals = case.config.target() == TargetKind::Intervals;
        let is_no_limit =
            |&(column, value): &(usize, f64)| value == [f64::NEG_INFINITY, f64::INFINITY][column];
        let everywhere = (0..columns)
            .flat_map(|column| {
                [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| (column, value))
            })
            .filter(|place| !are_intervals || !is_no_limit(place));
        for (column, value) in case.impossible.iter().copied().chain(everywhere) {
            let mut targets = case.targets.clone();
            targets[3 * columns + column] = value;
            let error = (likelihood.check_targets(&targets, columns)).expect_err("impossible");
            assert_eq!((error.row, error.column), (3, column), "{}", case.name);
            assert_eq!(error.value.to_bits(), value.to_bits(), "{}", case.name);
            let expected = format!(
                "target {value} in row 3, column {column} is not possible under the {} likelihood, \
                 which takes {}",
                case.name,
                likelihood.expected()
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}

/// With two outputs the columns come in blocks: two values, then two noise variances.
#[test]
fn columns_of_several_outputs() {
    let platform = &platforms()[0];
    let likelihood = LikelihoodConfig::fixed_noise().init(platform.options());
    let likelihood = likelihood.description();
    assert_eq!(likelihood.outputs(4), 2);
    assert_eq!(likelihood.check_targets(&[-1.0, -2.0, 0.1, 0.2], 4), Ok(()));
    let error = likelihood.check_targets(&[-1.0, -2.0, 0.1, 0.0], 4);
    assert_eq!(error.map_err(|error| error.column), Err(3));
}

#[test]
#[should_panic(expected = "3 columns of targets; the fixed-noise likelihood takes 2 for each")]
fn a_column_short() {
    let platform = &platforms()[0];
    let likelihood = LikelihoodConfig::fixed_noise().init(platform.options());
    let likelihood = likelihood.description();
    likelihood.outputs(3);
}

/// Trained parameters are reported with the values of the configuration.
#[test]
fn hyperparameters_are_reported() {
    let expected: [(&str, &[f64]); 21] = [
        ("gaussian.noise", &[0.8]),
        ("censored.noise", &[0.7]),
        ("heteroskedastic.noise", &[0.6]),
        ("student-t.scale", &[0.9]),
        ("student-t.degrees_of_freedom", &[8.0]),
        ("asymmetric-laplace.scale", &[0.5]),
        ("asymmetric-laplace.quantile", &[0.3]),
        ("robust-max.epsilon", &[0.01]),
        ("ordinal.first_cut_point", &[-0.674_489_750_196_081_7]),
        (
            "ordinal.gaps",
            &[0.674_489_750_196_081_7, 0.674_489_750_196_081_7],
        ),
        ("negative-binomial.dispersion", &[0.4]),
        ("zero-inflated-poisson.zeros", &[0.3]),
        ("gamma.shape", &[3.0]),
        ("tweedie.dispersion", &[0.6]),
        ("tweedie.power_above_one", &[0.4]),
        ("weibull.shape", &[2.0]),
        ("log-normal.noise", &[0.4]),
        ("beta.precision", &[4.0]),
        ("beta-binomial.dispersion", &[0.2]),
        ("hurdle-poisson.zeros", &[0.25]),
        ("interval-censored.noise", &[0.7]),
    ];
    for platform in platforms() {
        let mut reported = Vec::new();
        for case in registry() {
            let likelihood = case.init(&platform);
            let own = hyperparameters(&likelihood);
            let trains = !parameter_values(&likelihood).is_empty();
            assert_eq!(trains, !own.is_empty(), "{}", case.name);
            reported.extend(own.into_iter().map(|parameter| Hyperparameter {
                path: format!("{}.{}", case.name, parameter.path),
                ..parameter
            }));
        }
        assert_eq!(reported.len(), expected.len());
        for (parameter, (path, values)) in reported.iter().zip(expected) {
            assert_eq!(parameter.path, path);
            let tolerance = platform.tolerance(1e-13, 1e-6);
            assert_close(path, &parameter.values, values, tolerance);
        }
    }
}

/// The error rate of a robust arg max can be fixed.
#[test]
fn rates_of_errors_that_are_not_trained() {
    let saved = r#"{"likelihood": "robust-max", "classes": 3, "epsilon": 0.02, "train_epsilon": false, "nodes": 20}"#;
    let config: LikelihoodConfig = serde_json::from_str(saved).expect("readable");
    for platform in platforms() {
        let Some(config) = config.downcast_ref::<RobustMaxConfig>() else {
            panic!("{config:?}");
        };
        let likelihood = config.init(platform.options());
        assert_eq!(parameter_values(&likelihood).len(), 0);
        assert_eq!(likelihood.epsilon(), 0.02);
    }
}

/// The error rate is set and bounded by its path. It always stays between 0 and 1.
#[test]
fn rates_of_errors_by_their_path() {
    use burn_gp_core::parameter::{Bounds, Parameters};
    for platform in platforms() {
        let likelihood =
            burn_gp_core::likelihoods::RobustMaxConfig::new(3).init(platform.options());
        let likelihood = likelihood
            .with_parameter("epsilon", &[0.25])
            .expect("a parameter");
        assert!((likelihood.epsilon() - 0.25).abs() < 1e-6);
        for wrong in [0.0, 1.0, -0.1, 1.5] {
            assert!(
                likelihood
                    .clone()
                    .with_parameter("epsilon", &[wrong])
                    .is_err(),
                "{wrong}"
            );
        }
        let bounded = likelihood
            .clone()
            .with_bounds("epsilon", Bounds::between(0.1, 0.5));
        let bounded = bounded.expect("bounds around the value");
        assert!((bounded.epsilon() - 0.25).abs() < 1e-6);
        let bounds = bounded.parameter_bounds("epsilon").expect("bounds").ends();
        assert!(
            (bounds.0 - 0.1).abs() < 1e-6 && (bounds.1 - 0.5).abs() < 1e-6,
            "{bounds:?}"
        );
        assert!(bounded.with_parameter("epsilon", &[0.6]).is_err());
        // The bound adds no restriction to the natural range.
        let below = likelihood
            .with_bounds("epsilon", Bounds::between(-1.0, 2.0))
            .expect("bounds");
        assert_eq!(
            below.parameter_bounds("epsilon").expect("bounds").ends(),
            (0.0, 1.0)
        );
    }
}

/// Fixed degrees of freedom are not a parameter.
#[test]
fn degrees_of_freedom_that_are_not_trained() {
    let config = burn_gp_core::likelihoods::StudentTConfig {
        degrees_of_freedom: 5.0,
        train_degrees_of_freedom: false,
        ..Default::default()
    };
    for platform in platforms() {
        let likelihood = config.init(platform.options());
        assert_eq!(parameter_values(&likelihood).len(), 1);
        assert_eq!(numbers(likelihood.degrees_of_freedom()), [5.0]);
    }
}
