//! Rows added to a model after training, and removed from it.

use burn_gp_core::{inference::VecchiaSettings, neighbors::Ordering};
use burn_gp_models::{
    ConjugateGradientsConfig, DeepKernelConfig, MarkovConfig, MarkovVariationalConfig,
    VecchiaConfig, VecchiaLaplaceConfig, VifConfig,
};
use temp_dir::TempDir;

use super::*;

const OLD: usize = 24;
const ALL: usize = 40;
const NONE: f64 = f64::NAN;

fn double() -> Fit {
    Fit::new().on((&Device::flex(), DType::F64))
}

/// Double precision in the units of the model, so that a fit to other rows has the same parameters.
fn unscaled() -> Fit {
    double()
        .scale_inputs(false)
        .scale_targets(false)
        .default_priors(false)
}

/// Times in no order.
fn times(count: usize) -> Vec<f64> {
    (0..count).map(|row| (row * 17 % 41) as f64 / 5.0).collect()
}

fn waves(count: usize) -> Vec<f64> {
    let rows = times(count).into_iter().enumerate();
    rows.map(|(row, x)| x.sin() + 0.1 * (3.7 * row as f64).cos())
        .collect()
}

fn counts(count: usize) -> Vec<f64> {
    waves(count)
        .iter()
        .map(|y| (2.0 + 2.0 * y).floor().max(0.0))
        .collect()
}

fn at() -> Vec<f64> {
    vec![-0.7, 0.33, 2.6, 4.0, 9.0]
}

fn vecchia() -> VecchiaConfig {
    let settings = VecchiaSettings {
        neighbors: 5,
        prediction_neighbors: 8,
    };
    let config = VecchiaConfig::new(StationaryConfig::matern32()).with_settings(settings);
    config.with_order(Some(Ordering::Given))
}

fn vecchia_laplace() -> VecchiaLaplaceConfig {
    let config =
        VecchiaLaplaceConfig::new(StationaryConfig::matern32(), LikelihoodConfig::poisson());
    config.with_order(Some(Ordering::Given))
}

/// A model of this configuration with the hyperparameters of another, conditioned on all given rows.
fn from_scratch(gp: &Fitted, inputs: &[f64], targets: &[f64], columns: usize) -> Fitted {
    let mut config = gp.config().clone();
    let settings = config.parameters().expect("settings");
    for own in gp.hyperparameters() {
        settings.values.insert(own.path, own.values);
    }
    let targets: Vec<Vec<f64>> = targets.chunks_exact(columns).map(<[f64]>::to_vec).collect();
    config.fit(inputs, &targets, &unscaled().steps(0)).unwrap()
}

#[track_caller]
fn assert_same(gp: &Fitted, expected: &Fitted, tolerance: f64) {
    let (ours, expected) = (gp.predict(at()).unwrap(), expected.predict(at()).unwrap());
    assert_close(&numbers(ours.mean()), &numbers(expected.mean()), tolerance);
    let variances = [ours.variance(), expected.variance()].map(numbers);
    assert_close(&variances[0], &variances[1], tolerance);
}

/// Both condition on the same rows at the same hyperparameters, so that rounding alone differs: for Newton's method
/// and the search for sites, their stopping rules do.
#[test]
fn added_rows_are_conditioning_on_all_rows() {
    let poisson = || LikelihoodConfig::poisson();
    let both = |targets: Vec<f64>| -> Vec<f64> {
        let rows = targets.iter().enumerate();
        let pair = |(row, y): (usize, &f64)| [*y, if row % 3 == 0 { 0.5 - y } else { NONE }];
        rows.flat_map(pair).collect()
    };
    let matern = StationaryConfig::matern32;
    let cases: [(ModelConfig, Vec<f64>, usize, f64); 7] = [
        (exact().into(), waves(ALL), 1, 1e-9),
        (exact().into(), both(waves(ALL)), 2, 1e-9),
        (vecchia().into(), waves(ALL), 1, 1e-9),
        (vecchia_laplace().into(), counts(ALL), 1, 1e-5),
        (MarkovConfig::new(matern()).into(), waves(ALL), 1, 1e-9),
        (
            MarkovVariationalConfig::new(matern(), poisson()).into(),
            counts(ALL),
            1,
            1e-5,
        ),
        (
            ConjugateGradientsConfig::new(matern()).into(),
            waves(ALL),
            1,
            1e-4,
        ),
    ];
    for (config, targets, columns, tolerance) in cases {
        println!("{} of {columns}", config.name());
        let x = times(ALL);
        let rows = |range: std::ops::Range<usize>| -> Vec<Vec<f64>> {
            let each = targets.chunks_exact(columns).map(<[f64]>::to_vec);
            each.skip(range.start).take(range.len()).collect()
        };
        let gp = config
            .fit(&x[..OLD], rows(0..OLD), &unscaled().steps(3))
            .unwrap();
        let before = gp.predict(at()).unwrap();
        let updated = gp
            .condition_on_observations(&x[OLD..30], rows(OLD..30))
            .unwrap();
        let updated = updated
            .condition_on_observations(&x[30..], rows(30..ALL))
            .unwrap();
        assert_same(
            &updated,
            &from_scratch(&gp, &x, &targets, columns),
            tolerance,
        );
        // The model itself stays.
        assert_eq!(
            gp.predict(at()).unwrap().predictions(),
            before.predictions()
        );
        let moved = numbers(updated.predict(at()).unwrap().mean());
        let change = moved
            .iter()
            .zip(numbers(before.mean()))
            .map(|(a, b)| (a - b).abs());
        assert!(change.fold(0.0, f64::max) > 1e-3, "nothing changed");
    }
}

/// More measurements at the old inputs, all of which are inducing points: a fit to all rows chooses the same points. It
/// differs by rounding, which the jitter of the inducing points, 1e-8, magnifies.
#[test]
fn inducing_variables_are_those_of_all_rows() {
    let config = SgprConfig::new(StationaryConfig::matern32()).with_inducing(OLD);
    let (x, y) = (times(OLD), waves(ALL));
    let x: Vec<f64> = x.iter().chain(&x[..ALL - OLD]).copied().collect();
    let gp = config
        .fit(&x[..OLD], &y[..OLD], &unscaled().steps(0))
        .unwrap();
    let values = |gp: &Fitted| -> Vec<f64> {
        let own = gp.hyperparameters().into_iter();
        own.filter(|own| !own.path.contains("inducing"))
            .flat_map(|own| own.values)
            .collect()
    };
    let mut config = config.clone();
    for own in gp.hyperparameters() {
        if !own.path.contains("posterior") {
            config.parameters.values.insert(own.path, own.values);
        }
    }
    let expected = config.fit(&x, &y, &unscaled().steps(0)).unwrap();
    assert_close(&values(&gp), &values(&expected), 1e-12);
    let updated = gp.condition_on_observations(&x[OLD..], &y[OLD..]).unwrap();
    assert_same(&updated, &expected, 1e-6);
}

/// Rows in two groups are rows in one, wherever the update is not conditioning from scratch.
#[test]
fn groups_of_rows_add_up() {
    let matern = StationaryConfig::matern32;
    let gaussian = svgp(GaussianConfig::default());
    let configs: [(ModelConfig, Fit); 4] = [
        (gaussian.into(), double().steps(20)),
        (
            SgprConfig::new(matern()).with_inducing(10).into(),
            double().steps(3),
        ),
        (
            VifConfig::new(matern()).with_inducing(8).into(),
            double().steps(2),
        ),
        (DeepKernelConfig::new(exact()).into(), double().steps(2)),
    ];
    let (x, y) = (times(ALL), waves(ALL));
    for (config, fit) in configs {
        println!("{}", config.name());
        let gp = config.fit(&x[..OLD], &y[..OLD], &fit).unwrap();
        let one = gp.condition_on_observations(&x[OLD..], &y[OLD..]).unwrap();
        let two = gp
            .condition_on_observations(&x[OLD..31], &y[OLD..31])
            .unwrap();
        let two = two.condition_on_observations(&x[31..], &y[31..]).unwrap();
        assert_same(&two, &one, 1e-8);
        // The new rows are fitted better than before.
        let error = |gp: &Fitted| -> f64 {
            let mean = numbers(gp.predict(&x[OLD..]).unwrap().mean());
            mean.iter()
                .zip(&y[OLD..])
                .map(|(a, b)| (a - b).powi(2))
                .sum()
        };
        assert!(error(&one) < error(&gp), "{} {}", error(&one), error(&gp));
    }
}

#[test]
fn removed_rows_are_conditioning_on_the_others() {
    for config in [ModelConfig::from(exact()), vecchia().into()] {
        let (x, y) = (times(ALL), waves(ALL));
        let gp = config.fit(&x, &y, &unscaled().steps(3)).unwrap();
        let window = gp.retain_observations(|x| x[0] >= 3.0).unwrap();
        let kept = |values: &[f64]| -> Vec<f64> {
            let pairs = values.iter().zip(&x).filter(|(_, x)| **x >= 3.0);
            pairs.map(|(value, _)| *value).collect()
        };
        let expected = from_scratch(&gp, &kept(&x), &kept(&y), 1);
        assert_same(&window, &expected, 1e-9);
        let none = gp.retain_observations(|_| false);
        assert!(matches!(error(none), Error::NoRowsLeft));
    }
}

#[test]
fn updated_models_are_saved() {
    let (x, y) = (times(ALL), waves(ALL));
    let sparse = SgprConfig::new(StationaryConfig::matern32()).with_inducing(10);
    for config in [ModelConfig::from(exact()), sparse.into(), vecchia().into()] {
        let gp = config
            .fit(&x[..OLD], &y[..OLD], &double().steps(3))
            .unwrap();
        let gp = gp.condition_on_observations(&x[OLD..], &y[OLD..]).unwrap();
        let folder = TempDir::new().unwrap();
        gp.save(folder.path()).unwrap();
        let again = Fitted::load(folder.path(), &Device::flex()).unwrap();
        // A loaded model factors all rows at once.
        assert_same(&again, &gp, 1e-9);
        let again = again.condition_on_observations([8.5], [0.4]).unwrap();
        let more = gp.condition_on_observations([8.5], [0.4]).unwrap();
        assert_same(&again, &more, 1e-9);
    }
}

#[test]
fn impossible_updates_are_refused() {
    let (x, y) = (times(OLD), waves(OLD));
    let gp = exact().fit(&x, &y, &double().steps(1)).unwrap();
    let add = |x: &[f64], y: &[f64]| error(gp.condition_on_observations(x, y));
    assert!(matches!(add(&[1.0], &[NONE]), Error::Target(_)));
    assert!(matches!(add(&[NONE], &[1.0]), Error::NotFinite { .. }));
    assert!(matches!(
        add(&[1.0, 2.0], &[1.0]),
        Error::Rows {
            inputs: 2,
            targets: 1
        }
    ));
    assert!(matches!(add(&[], &[]), Error::Empty { .. }));
    let two = gp.condition_on_observations([[1.0, 2.0]], [1.0]);
    assert!(matches!(error(two), Error::InputColumns { found: 2, .. }));
    let two = gp.condition_on_observations([1.0], [[1.0, 2.0]]);
    assert!(matches!(error(two), Error::TargetColumns { found: 2, .. }));
    // Actions belong to the rows that they combine; a layer's or another likelihood's q(u) is no sum over rows.
    let actions: ModelConfig = computation_aware().into();
    let poisson: ModelConfig = svgp(LikelihoodConfig::poisson()).into();
    for (config, y) in [(actions, y.clone()), (poisson, counts(OLD))] {
        let gp = config.fit(&x, &y, &double().steps(1)).unwrap();
        let refused = gp.condition_on_observations([1.0], [1.0]);
        assert!(
            matches!(error(refused), Error::NoFurtherData),
            "{}",
            config.name()
        );
        let refused = gp.predict_given([1.0], [1.0]).err();
        assert!(matches!(refused, Some(Error::NoFurtherData)));
        assert!(matches!(
            error(gp.retain_observations(|_| true)),
            Error::NoRows
        ));
    }
}
