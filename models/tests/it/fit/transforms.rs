//! Transformations of targets in `fit`: everything that comes out is in the units of the data.

mod refused;

use burn_gp_core::transforms::{Transform, TransformName};
use burn_gp_models::{CheckedFolder, FittedPredictions, MODEL_FILE, Matrix};
use serde_json::{Value, json};
use temp_dir::TempDir;

use super::*;

fn double() -> Fit {
    Fit::new().on((&Device::flex(), DType::F64))
}

fn with(transform: TransformName) -> Fit {
    double().transform_targets(transform)
}

fn places() -> Vec<f64> {
    (0..40).map(|row| (row * 17 % 41) as f64 / 5.0).collect()
}

/// Log-normal prices around a smooth function.
fn prices() -> Vec<f64> {
    let rows = places().into_iter().enumerate();
    rows.map(|(row, x)| (2.0 + x.sin() + 0.3 * (3.7 * row as f64).cos()).exp())
        .collect()
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn exponentials(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(f64::exp).collect()
}

fn at() -> Vec<f64> {
    vec![-0.7, 0.33, 2.6, 4.0, 12.0]
}

/// A model, and what it adds to the options of `fit`.
type Case = (ModelConfig, fn(Fit) -> Fit);

/// Exact regression, and sparse regression with an option of mini-batches.
fn configs() -> [Case; 2] {
    [
        (exact().into(), |fit| fit.steps(20)),
        (svgp(GaussianConfig::default()).into(), |fit| {
            fit.steps(60).batch_size(16)
        }),
    ]
}

/// A model of prices by `transform_targets`, and one of their logarithms.
fn both(config: &ModelConfig, options: fn(Fit) -> Fit) -> [Fitted; 2] {
    let own = config.fit(places(), prices(), &options(with(TransformName::Log)));
    let by_hand = config.fit(places(), logarithms(&prices()), &options(double()));
    [own, by_hand].map(|gp| gp.expect("a model"))
}

/// Predictions of prices are those of the model of logarithms, mapped back.
#[track_caller]
fn assert_mapped_back(own: &FittedPredictions, by_hand: &FittedPredictions) {
    for p in [0.05, 0.5, 0.9] {
        let [found, expected] = [own, by_hand].map(|gp| numbers(gp.quantile(p).unwrap()));
        assert_close(&found, &exponentials(expected), 1e-10);
    }
    let [found, expected] = [own, by_hand].map(|gp| gp.interval(0.8).unwrap());
    assert_close(&numbers(found.0), &exponentials(numbers(expected.0)), 1e-10);
    assert_close(&numbers(found.1), &exponentials(numbers(expected.1)), 1e-10);
    let targets: Vec<f64> = (1..=own.len()).map(|row| 2.0 * row as f64).collect();
    let found = numbers(own.log_density(&targets).unwrap());
    let plain = numbers(by_hand.log_density(logarithms(&targets)).unwrap());
    let expected: Vec<f64> = plain
        .iter()
        .zip(&targets)
        .map(|(own, y)| own - y.ln())
        .collect();
    assert_close(&found, &expected, 1e-10);
    let (means, variances) = (numbers(by_hand.mean()), numbers(by_hand.variance()));
    let moments = means.iter().zip(variances).map(|(mean, variance)| {
        let expected = (mean + 0.5 * variance).exp();
        (expected, expected * expected * variance.exp_m1())
    });
    let (means, variances): (Vec<f64>, Vec<f64>) = moments.unzip();
    assert_close(&numbers(own.mean()), &means, 1e-9);
    assert_close(&numbers(own.variance()), &variances, 1e-9);
    // The functions are those of the logarithms.
    let [found, expected] = [own, by_hand].map(|gp| numbers(gp.function_mean()));
    assert_close(&found, &expected, 1e-12);
    let [found, expected] = [own, by_hand].map(|gp| numbers(gp.samples(7, 3).unwrap()));
    assert_close(&found, &exponentials(expected), 1e-10);
}

#[test]
fn logarithms_are_those_by_hand() {
    for (config, options) in configs() {
        let [own, by_hand] = both(&config, options);
        assert_eq!(own.scaling().target_transforms, [Transform::Log]);
        assert_eq!(own.scaling().targets, by_hand.scaling().targets);
        let [predicted, expected] = [&own, &by_hand].map(|gp| gp.predict(at()).unwrap());
        assert_mapped_back(&predicted, &expected);
        let uncertain = |gp: &Fitted| gp.predict_uncertain(at(), vec![0.2; 5]).unwrap();
        let [found, expected] = [&own, &by_hand].map(uncertain);
        let [found, expected] = [found, expected].map(|own| numbers(own.quantile(0.7).unwrap()));
        assert_close(&found, &exponentials(expected), 1e-9);
    }
}

/// Scores of the distribution are in the units of the data.
#[test]
fn ranked_probability_scores_are_those_of_prices() {
    let [own, _] = both(&exact().into(), |fit| fit.steps(20));
    let predicted = own.predict(at()).unwrap();
    let distribution = predicted
        .predictions()
        .distribution
        .as_ref()
        .expect("numbers");
    let found = distribution.continuous_ranked_probability_score(&[9.0; 5]);
    for (row, found) in found.iter().enumerate() {
        // E|Y − y| − ½E|Y − Y′| over quantiles: 2∫₀¹ (1[y ≤ q(p)] − p)(q(p) − y) dp.
        let nodes = 4000;
        let score = (0..nodes).map(|node| {
            let p = (f64::from(node) + 0.5) / f64::from(nodes);
            let quantile = distribution.quantile(p)[row];
            let above = f64::from(u8::from(9.0 <= quantile));
            2.0 * (above - p) * (quantile - 9.0) / f64::from(nodes)
        });
        let expected: f64 = score.sum();
        // The midpoint rule misses tails beyond 1/8000.
        assert!((found / expected - 1.0).abs() < 1e-2, "{found}, {expected}");
    }
}

#[test]
fn further_rows_and_intervals_are_those_by_hand() {
    let [own, by_hand] = both(&exact().into(), |fit| fit.steps(20));
    let (x, y) = ([9.0, 10.0], [30.0, 4.0]);
    let more = own.condition_on_observations(x, y).unwrap();
    let expected = by_hand
        .condition_on_observations(x, logarithms(&y))
        .unwrap();
    assert_mapped_back(
        &more.predict(at()).unwrap(),
        &expected.predict(at()).unwrap(),
    );
    let kept = more.retain_observations(|x| x[0] > 1.0).unwrap();
    let expected = expected.retain_observations(|x| x[0] > 1.0).unwrap();
    assert_mapped_back(
        &kept.predict(at()).unwrap(),
        &expected.predict(at()).unwrap(),
    );
    let (x, known) = ([9.0, 9.5], [30.0, f64::NAN]);
    let given = own.predict_given(x, known).unwrap();
    let expected = by_hand.predict_given(x, logarithms(&known)).unwrap();
    let [found, expected] = [given, expected].map(|own| numbers(own.quantile(0.3).unwrap()));
    assert_close(&found, &exponentials(expected), 1e-10);
    let [found, expected] = [&own, &by_hand].map(|gp| gp.jackknife_plus(at(), 0.9).unwrap());
    assert_close(&found.lower, &exponentials(expected.lower), 1e-10);
    assert_close(&found.upper, &exponentials(expected.upper), 1e-10);
}

#[test]
fn early_stopping_is_that_by_hand() {
    let (x, y) = (places(), prices());
    let fit = |fit: Fit, y: &[f64]| {
        let fit = fit
            .epochs(12)
            .batch_size(8)
            .early_stopping(&x[30..], &y[30..], 3);
        svgp(GaussianConfig::default())
            .fit(&x[..30], &y[..30], &fit)
            .unwrap()
    };
    let (own, by_hand) = (
        fit(with(TransformName::Log), &y),
        fit(double(), &logarithms(&y)),
    );
    assert_eq!(own.best_step(), by_hand.best_step());
    assert_mapped_back(&own.predict(at()).unwrap(), &by_hand.predict(at()).unwrap());
}

/// `∫ f(y) dy` from values at ascending places that are a smooth function of their number: trapezoids of two lengths.
fn integral(places: &[f64], values: &[f64]) -> f64 {
    let trapezoids = |step: usize| -> f64 {
        let nodes: Vec<usize> = (0..places.len()).step_by(step).collect();
        let pairs = nodes.windows(2).map(|pair| (pair[0], pair[1]));
        pairs
            .map(|(a, b)| 0.5 * (values[a] + values[b]) * (places[b] - places[a]))
            .sum()
    };
    (4.0 * trapezoids(1) - trapezoids(2)) / 3.0
}

/// Property T1 in the whole: `∫ p(y) dy = 1` at one input, with quantiles as places.
#[test]
fn densities_integrate_to_one() {
    const NODES: usize = 1001;
    let noise = StudentTConfig {
        scale: 0.3,
        degrees_of_freedom: 4.5,
        train_degrees_of_freedom: false,
    };
    let models: [Case; 2] = [
        (exact().into(), |fit| fit.steps(20)),
        (svgp(noise).into(), |fit| fit.steps(100)),
    ];
    let shifted: Vec<f64> = prices().iter().map(|y| y - 8.0).collect();
    for (config, options) in models {
        for (transform, targets) in [
            (TransformName::None, prices()),
            (TransformName::Log, prices()),
            (TransformName::BoxCox, prices()),
            (TransformName::YeoJohnson, shifted.clone()),
        ] {
            let gp = config.fit(places(), &targets, &options(with(transform)));
            let gp = gp.expect("a model");
            let predicted = gp.predict(vec![2.6; NODES]).unwrap();
            let own = predicted.predictions().distribution.clone();
            let own = own.expect("numbers");
            let logit = |node: usize| 50.0 * node as f64 / (NODES - 1) as f64 - 25.0;
            let levels = (0..NODES).map(|node| 1.0 / (1.0 + (-logit(node)).exp()));
            let places = own.quantiles_at(&levels.collect::<Vec<_>>());
            assert!(places.is_sorted(), "{transform}, {config:?}");
            // Box-Cox takes what is below its range as zero, near which densities may be infinite.
            let at_zero = match transform {
                TransformName::BoxCox => own.cdf(&vec![0.0; NODES])[0],
                _ => 0.0,
            };
            let cdf = own.cdf(&places);
            let first = cdf.iter().take_while(|p| **p < 2.0 * at_zero).count();
            let (places, below) = (&places[first..], cdf[first]);
            let again = gp.predict(vec![2.6; places.len()]).unwrap();
            let densities = exponentials(numbers(again.log_density(places).unwrap()));
            let total = below + integral(places, &densities);
            assert!(
                (total - 1.0).abs() < 1e-6,
                "{total}: {transform}, {config:?}"
            );
        }
    }
}

#[test]
fn powers_are_those_of_the_training_targets() {
    for transform in [TransformName::BoxCox, TransformName::YeoJohnson] {
        let gp = exact()
            .fit(places(), prices(), &with(transform).steps(3))
            .unwrap();
        assert_eq!(gp.scaling().target_transforms, [transform.fit(&prices())]);
    }
    let plain = exact().fit(places(), prices(), &double().steps(3)).unwrap();
    let none = exact()
        .fit(places(), prices(), &with(TransformName::None).steps(3))
        .unwrap();
    assert_eq!(plain.scaling(), none.scaling());
    assert!(plain.scaling().target_transforms.is_empty());
    let [plain, none] = [plain, none].map(|gp| gp.predict(at()).unwrap().predictions().clone());
    assert_eq!(plain, none);
}

/// Each output has a power of its own from its known targets, and predictions of its own.
#[test]
fn outputs_are_transformed_each() {
    let hole = |row: usize, y: f64| if row % 4 == 1 { f64::NAN } else { y };
    let rows = prices().into_iter().enumerate();
    let two: Vec<[f64; 2]> = rows.map(|(row, y)| [y, hole(row, 1.0 + y * y)]).collect();
    let gp = exact()
        .fit(places(), &two, &with(TransformName::BoxCox).steps(10))
        .unwrap();
    let known: Vec<f64> = two
        .iter()
        .map(|row| row[1])
        .filter(|y| !y.is_nan())
        .collect();
    let expected = [prices(), known].map(|own| TransformName::BoxCox.fit(&own));
    assert_eq!(gp.scaling().target_transforms, expected);
    let by_hand: Vec<[f64; 2]> = two
        .iter()
        .map(|row| [expected[0].apply(row[0]), expected[1].apply(row[1])])
        .collect();
    let by_hand = exact()
        .fit(places(), &by_hand, &double().steps(10))
        .unwrap();
    let [found, plain] = [&gp, &by_hand].map(|gp| gp.predict(at()).unwrap());
    let mapped = |values: Vec<f64>| -> Vec<f64> {
        let each = values.into_iter().enumerate();
        each.map(|(index, value)| expected[index % 2].invert(value))
            .collect()
    };
    let [quantiles, own] = [&found, &plain].map(|own| numbers(own.quantile(0.3).unwrap()));
    assert_close(&quantiles, &mapped(own), 1e-10);
    let [draws, own] = [&found, &plain].map(|own| numbers(own.samples(3, 1).unwrap()));
    assert_close(&draws, &mapped(own), 1e-10);
    let targets = vec![[7.0, 40.0]; 5];
    let transformed = vec![[expected[0].apply(7.0), expected[1].apply(40.0)]; 5];
    let slopes = expected[0].log_slope(7.0) + expected[1].log_slope(40.0);
    let densities = numbers(plain.log_density(&transformed).unwrap());
    let densities: Vec<f64> = densities.iter().map(|own| own + slopes).collect();
    assert_close(
        &numbers(found.log_density(&targets).unwrap()),
        &densities,
        1e-10,
    );
}

#[test]
fn transformations_are_saved() {
    let folder = TempDir::new().unwrap();
    for transform in [
        TransformName::Log,
        TransformName::BoxCox,
        TransformName::YeoJohnson,
    ] {
        for (config, options) in configs() {
            let gp = config
                .fit(places(), prices(), &options(with(transform)))
                .unwrap();
            let path = folder.path().join(format!("{transform}"));
            gp.save(&path).unwrap();
            let loaded = Fitted::load(&path, &Device::flex()).unwrap();
            assert_eq!(gp.scaling(), loaded.scaling());
            let [before, after] = [&gp, &loaded].map(|gp| gp.predict(at()).unwrap());
            assert_eq!(before.predictions(), after.predictions());
            let densities = [before, after].map(|own| numbers(own.log_density([3.0; 5]).unwrap()));
            assert_eq!(densities[0], densities[1]);
            let single = Fitted::load(&path, (&Device::flex(), DType::F32)).unwrap();
            let medians =
                [&gp, &single].map(|gp| gp.predict(at()).unwrap().predictions().quantile(0.5));
            let [expected, found] = medians.map(|own| own.expect("numbers"));
            // Single precision of the conditioned model.
            assert_close(&found, &expected, 1e-2);
        }
    }
}

/// A model of prices without a transformation whose file says that it has these.
fn with_transforms_in_its_file(transforms: &Value) -> (Fitted, Result<Fitted, Error>) {
    let folder = TempDir::new().unwrap();
    let gp = exact()
        .fit(places(), prices(), &double().steps(10))
        .unwrap();
    gp.save(folder.path()).unwrap();
    let path = folder.path().join(MODEL_FILE);
    let mut file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(
        file["context"]["target_transforms"].is_null() && file["context"]["targets"].is_object()
    );
    file["context"]["target_transforms"] = transforms.clone();
    std::fs::write(&path, file.to_string()).unwrap();
    let mut checked = CheckedFolder::new(folder.path());
    checked.add_files().unwrap();
    checked.seal().unwrap();
    (gp, Fitted::load(folder.path(), &Device::flex()))
}

#[test]
fn a_power_of_one_changes_nothing() {
    let (plain, loaded) =
        with_transforms_in_its_file(&json!([{"kind": "yeo-johnson", "power": 1.0}]));
    let own = loaded.unwrap();
    assert_eq!(
        own.scaling().target_transforms,
        [Transform::YeoJohnson { power: 1.0 }]
    );
    let [found, expected] = [&own, &plain].map(|gp| gp.predict(at()).unwrap());
    let pairs = [
        (found.mean(), expected.mean()),
        (found.variance(), expected.variance()),
        (
            found.quantile(0.2).unwrap(),
            expected.quantile(0.2).unwrap(),
        ),
        (found.function_mean(), expected.function_mean()),
    ];
    for (found, expected) in pairs {
        // Integrals over quantiles without tails of 1e-13.
        assert_close(&numbers(found), &numbers(expected), 1e-9);
    }
    let [found, expected] =
        [found, expected].map(|own| numbers(own.log_density([3.0; 5]).unwrap()));
    assert_close(&found, &expected, 1e-10);
    let [found, expected] = [&own, &plain].map(|gp| gp.jackknife_plus(at(), 0.9).unwrap());
    assert_close(&found.lower, &expected.lower, 1e-10);
    let more = |gp: &Fitted| {
        gp.condition_on_observations([9.0], [30.0])
            .unwrap()
            .predict(at())
            .unwrap()
    };
    let [found, expected] = [&own, &plain].map(|gp| numbers(more(gp).quantile(0.9).unwrap()));
    assert_close(&found, &expected, 1e-10);
}
