//! Several outputs with missing targets.

use burn_gp_core::{
    features::Standardization,
    kernels::{IndexConfig, KernelConfig},
    parameter::Hyperparameter,
};

use super::*;

const NONE: f64 = f64::NAN;

/// Standard normal numbers by the method of Box and Muller, from a fixed linear congruence.
fn normals(count: usize) -> Vec<f64> {
    let mut state = 12_345_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let draw = |_| (-2.0 * uniform().ln()).sqrt() * (2.0 * PI * uniform()).cos();
    (0..count).map(draw).collect()
}

fn places(count: usize) -> Vec<f64> {
    (0..count)
        .map(|row| 10.0 * row as f64 / count as f64)
        .collect()
}

/// Two functions with a common part, with these noise variances.
fn noisy(count: usize, noise: [f64; 2]) -> Vec<[f64; 2]> {
    let normal = normals(2 * count);
    let row = |(row, x): (usize, &f64)| {
        let (first, second) = (x.sin(), -0.8 * x.sin() + 0.3 * (0.5 * x).cos());
        [
            first + noise[0].sqrt() * normal[2 * row],
            second + noise[1].sqrt() * normal[2 * row + 1],
        ]
    };
    places(count).iter().enumerate().map(row).collect()
}

/// Rows of which the second output is known at every third only, and the first at all but every fifth.
fn with_holes(rows: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let hole = |(row, [first, second]): (usize, &[f64; 2])| {
        let first = if row % 5 == 4 { NONE } else { *first };
        [first, if row % 3 == 0 { *second } else { NONE }]
    };
    rows.iter().enumerate().map(hole).collect()
}

fn double() -> Fit {
    Fit::new().on((&Device::default(), DType::F64))
}

#[track_caller]
fn values(gp: &Fitted, path: &str) -> Vec<f64> {
    let found = gp
        .hyperparameters()
        .into_iter()
        .find(|own| own.path == path);
    found
        .map(|Hyperparameter { values, .. }| values)
        .unwrap_or_else(|| panic!("no {path}"))
}

/// The noise variances in the units of the data.
fn noise(gp: &Fitted) -> Vec<f64> {
    let scales = gp
        .scaling()
        .targets
        .as_ref()
        .expect("scaled")
        .deviations
        .clone();
    let noise = values(gp, "likelihood.noise");
    noise
        .iter()
        .zip(scales)
        .map(|(noise, scale)| noise * scale * scale)
        .collect()
}

/// With 240 rows, the variance of noise is known to a tenth (√(2/240)); three such errors are allowed.
#[test]
fn each_output_has_its_noise() -> Result<(), Error> {
    let gp = exact().fit(places(240), noisy(240, [0.02, 0.4]), &double())?;
    let found = noise(&gp);
    assert!((found[0] / 0.02 - 1.0).abs() < 0.3, "{found:?}");
    assert!((found[1] / 0.4 - 1.0).abs() < 0.3, "{found:?}");
    // Predictions of new targets include it.
    let predicted = gp.predict([3.3])?;
    let (target, function) = (predicted.variance(), predicted.function_variance());
    let difference = numbers(target - function);
    assert_close(&difference, &found, 1e-9);
    Ok(())
}

#[test]
fn each_output_is_standardized_by_its_known_targets() -> Result<(), Error> {
    let rows = with_holes(&noisy(30, [0.01, 0.01]));
    let gp = exact().fit(places(30), &rows, &double().steps(1))?;
    let of = |column: usize| {
        let known: Vec<f64> = rows
            .iter()
            .map(|row| row[column])
            .filter(|y| !y.is_nan())
            .collect();
        Standardization::of_rows(&known, 1)
    };
    let (first, second) = (of(0), of(1));
    let expected = Standardization {
        means: [first.means, second.means].concat(),
        deviations: [first.deviations, second.deviations].concat(),
    };
    assert_eq!(gp.scaling().targets.as_ref(), Some(&expected));
    Ok(())
}

/// Where the second output is not known, the first tells what it is.
#[test]
fn outputs_learn_from_each_other() -> Result<(), Error> {
    let count = 60;
    let (x, normal) = (places(count), normals(2 * count));
    let row = |(row, x): (usize, &f64)| {
        let second = 2.0 - 0.8 * x.sin();
        [
            x.sin() + 0.01 * normal[2 * row],
            second + 0.01 * normal[2 * row + 1],
        ]
    };
    let complete: Vec<[f64; 2]> = x.iter().enumerate().map(row).collect();
    // Known in the first half only: elsewhere only the first output tells about the second.
    let rows: Vec<[f64; 2]> = (complete.iter().enumerate())
        .map(|(row, [a, b])| [*a, if row < count / 2 { *b } else { NONE }])
        .collect();
    let gp = exact().fit(&x, &rows, &double())?;
    let alone: Vec<f64> = complete[..count / 2].iter().map(|row| row[1]).collect();
    let alone = exact().fit(&x[..count / 2], &alone, &double())?;
    let error = |mean: Vec<f64>, column: usize, columns: usize| -> f64 {
        let rows = count / 2..count;
        let square = |row: usize| (mean[row * columns + column] - complete[row][1]).powi(2);
        (rows.map(square).sum::<f64>() / (count / 2) as f64).sqrt()
    };
    let together = error(numbers(gp.predict(&x)?.mean()), 1, 2);
    let alone = error(numbers(alone.predict(&x)?.mean()), 0, 1);
    assert!(together < 0.5 * alone, "{together}, alone {alone}");
    Ok(())
}

/// What is known at new inputs counts as further rows.
#[test]
fn predictions_given_some_outputs_are_those_with_more_rows() -> Result<(), Error> {
    let rows = with_holes(&noisy(30, [0.01, 0.05]));
    let config = exact();
    let gp = config.fit(places(30), &rows, &double())?;
    let at = [11.0, 12.0, 13.0];
    let known = [[0.7, NONE], [NONE, NONE], [NONE, -0.4]];
    let given = gp.predict_given(at, known)?;
    // The same model on more rows, with the scaling of the first.
    let scaling = gp.scaling();
    let model = |values: &[Hyperparameter]| {
        let mut config = config.clone().with_rank(1);
        let settings = &mut config.parameters;
        for own in values {
            settings.values.insert(own.path.clone(), own.values.clone());
        }
        settings.frozen = vec![
            "kernel".into(),
            "likelihood".into(),
            "coregionalization".into(),
        ];
        config
    };
    let targets = scaling.targets.clone().expect("scaled");
    let standardized =
        |row: &[f64; 2]| [0, 1].map(|p| (row[p] - targets.means[p]) / targets.deviations[p]);
    let of_inputs = scaling.inputs.clone().expect("scaled");
    let x: Vec<f64> = places(30).into_iter().chain(at).collect();
    let x = of_inputs.apply_to_rows(&x);
    let y: Vec<[f64; 2]> = rows.iter().chain(&known).map(standardized).collect();
    let fit = double()
        .scale_inputs(false)
        .scale_targets(false)
        .default_priors(false);
    let more = model(&gp.hyperparameters()).fit(&x, &y, &fit)?;
    let more = numbers(more.predict(&x[30..])?.mean());
    let more: Vec<f64> = (more.iter().enumerate())
        .map(|(index, value)| targets.means[index % 2] + targets.deviations[index % 2] * value)
        .collect();
    assert_close(&numbers(given.mean()), &more, 1e-8);
    // Nothing known: as without.
    let nothing = gp.predict_given(at, [[NONE, NONE]; 3])?;
    assert_eq!(nothing.predictions(), gp.predict(at)?.predictions());
    // It is close to what is known, and surer.
    let (before, after) = (
        numbers(gp.predict(at)?.function_variance()),
        numbers(given.function_variance()),
    );
    assert!(
        after[0] < 0.3 * before[0] && after[1] < before[1],
        "{before:?} {after:?}"
    );
    Ok(())
}

/// One output of a model with one output can be given, too, as can inducing variables.
#[test]
fn one_output_can_be_given() -> Result<(), Error> {
    let (x, y) = (
        places(20),
        places(20).iter().map(|x| x.sin()).collect::<Vec<_>>(),
    );
    let gp = exact().fit(&x, &y, &double())?;
    let given = gp.predict_given([14.0, 14.1], [0.9, NONE])?;
    let mean = numbers(given.mean());
    assert!((mean[1] - 0.9).abs() < 0.1, "{mean:?}");
    let inducing = SgprConfig::new(StationaryConfig::rbf()).fit(&x, &y, &double().steps(2))?;
    let given = inducing.predict_given([9.0, 9.1], [0.9, NONE])?;
    let (before, after) = (
        inducing.predict([9.1])?.function_variance(),
        given.function_variance(),
    );
    assert!(numbers(after)[1] < numbers(before)[0]);
    Ok(())
}

#[test]
fn saved_models_of_several_outputs_predict_the_same() -> Result<(), Error> {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let rows = with_holes(&noisy(20, [0.01, 0.05]));
    let own_kernel = IndexConfig::new(2).with_dimension(1);
    let sum = KernelConfig::from(own_kernel.clone())
        .times(KernelConfig::from(StationaryConfig::rbf()).on_dimensions(vec![0]));
    let sum = sum.plus(
        KernelConfig::from(own_kernel.with_seed(4))
            .times(KernelConfig::from(StationaryConfig::matern32()).on_dimensions(vec![0])),
    );
    for config in [
        exact(),
        exact().with_rank(0),
        exact().with_rank(2),
        ExactConfig::new(sum),
    ] {
        let gp = config.fit(places(20), &rows, &double().steps(5))?;
        gp.save(folder.path())?;
        let again = Fitted::load(folder.path(), &Device::default())?;
        let predicted = |gp: &Fitted| Ok::<_, Error>(gp.predict([0.5, 3.3])?.predictions().clone());
        assert_eq!(predicted(&gp)?, predicted(&again)?);
    }
    Ok(())
}

/// The covariance of outputs grows to its rank: three outputs that are mixtures of two functions.
#[test]
fn the_covariance_of_outputs_grows_to_its_rank() -> Result<(), Error> {
    let x = places(40);
    let rows: Vec<[f64; 3]> = (x.iter())
        .map(|x| {
            let (a, b) = ((0.9 * x).sin(), (0.9 * x + 2.0).cos());
            [a, b, 0.6 * a - 0.8 * b]
        })
        .collect();
    let gp = exact().with_rank(2).fit(&x, &rows, &double())?;
    let weights = values(&gp, "coregionalization.weights");
    // The determinants of pairs of rows of W: the columns are not parallel.
    let minor = |a: usize, b: usize| {
        weights[2 * a] * weights[2 * b + 1] - weights[2 * a + 1] * weights[2 * b]
    };
    let largest = [minor(0, 1), minor(0, 2), minor(1, 2)]
        .map(f64::abs)
        .into_iter()
        .fold(0.0, f64::max);
    let square: f64 = weights.iter().map(|weight| weight * weight).sum();
    assert!(largest > 0.1 * square, "{weights:?}");
    Ok(())
}

#[test]
fn impossible_tables_are_refused() {
    let x = places(4);
    let fit = |rows: [[f64; 2]; 4]| exact().fit(&x, rows, &double()).err();
    let none = fit([[1.0, NONE], [2.0, NONE], [NONE, NONE], [0.5, NONE]]);
    let text = none.map(|error| error.to_string());
    assert_eq!(
        text.as_deref(),
        Some("target column 1, counted from zero, has no values")
    );
    let infinite = fit([[1.0, 1.0], [2.0, f64::INFINITY], [NONE, 3.0], [0.5, 1.0]]);
    assert!(matches!(infinite, Some(Error::Target(_))), "{infinite:?}");
    // One output has no holes: leave out the row.
    let one = exact().fit(&x, [1.0, NONE, 2.0, 3.0], &double()).err();
    assert!(matches!(one, Some(Error::Target(_))), "{one:?}");
    let rank = exact()
        .with_rank(3)
        .fit(&x, [[1.0, 2.0]; 4], &double())
        .err();
    let text = rank.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        text.contains("rank 3 of the covariance of 2 levels"),
        "{text}"
    );
}

/// Codes of levels are not standardized: an index kernel on a column of the inputs.
#[test]
fn codes_of_levels_stay_as_they_are() -> Result<(), Error> {
    let rows = noisy(30, [0.01, 0.02]);
    let inputs: Vec<[f64; 2]> = places(30)
        .iter()
        .flat_map(|&x| [[x, 0.0], [x, 1.0]])
        .collect();
    let targets: Vec<f64> = rows.concat();
    let levels = IndexConfig::new(2).with_dimension(1);
    let kernel = KernelConfig::from(levels)
        .times(KernelConfig::from(StationaryConfig::matern52()).on_dimensions(vec![0]));
    let gp = ExactConfig::new(kernel).fit(&inputs, &targets, &double())?;
    let scaling = gp.scaling().inputs.clone().expect("scaled");
    assert_eq!((scaling.means[1], scaling.deviations[1]), (0.0, 1.0));
    assert!(scaling.deviations[0] > 2.0);
    // Both functions are found, and a level without data is as before any data.
    let at = [[4.0, 0.0], [4.0, 1.0], [4.0, 5.0]];
    let mean = numbers(gp.predict(at)?.mean());
    let expected = [4.0_f64.sin(), -0.8 * 4.0_f64.sin() + 0.3 * 2.0_f64.cos()];
    for (mean, expected) in mean.iter().zip(expected) {
        assert!((mean - expected).abs() < 0.2, "{mean} for {expected}");
    }
    let average = targets.iter().sum::<f64>() / targets.len() as f64;
    assert!((mean[2] - average).abs() < 1e-9);
    Ok(())
}
