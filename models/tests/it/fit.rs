//! `fit` and `predict`: units, labels and options.

mod configurations;
mod each;
mod early_stopping;
mod errors;
mod input_errors;
mod intervals;
mod limits;
mod missing;
mod observations;
mod outputs;
mod replicates;
mod restarts;
mod row_noise;
mod row_weights;
mod settings;
mod transforms;
mod uncertain;
mod wave;

use std::{f64::consts::PI, ops::ControlFlow};

use burn::tensor::{DType, Device, Int, Tensor};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig, StudentTConfig},
    parameter::numbers,
    variational::SolveGpConfig,
};
use burn_gp_models::{
    ActionsConfig, ComputationAwareConfig, DeepGpConfig, Error, ExactConfig, Fit, FitModel, Fitted,
    InducingConfig, InitError, LayerConfig, ModelConfig, SgprConfig, SolveCollapsedConfig,
    SvgpConfig,
};

const ROWS: usize = 30;

fn inputs() -> Vec<[f64; 2]> {
    let row = |i: usize| [i as f64 / 5.0, ((7 * i) % 11) as f64 / 3.0];
    (0..ROWS).map(row).collect()
}

fn targets() -> Vec<f64> {
    let target = |[first, second]: &[f64; 2]| first.sin() + 0.3 * second;
    inputs().iter().map(target).collect()
}

fn new() -> Vec<[f64; 2]> {
    vec![[0.3, 1.0], [2.5, 3.0], [9.0, 0.5]]
}

fn exact() -> ExactConfig {
    ExactConfig::new(StationaryConfig::matern52())
}

fn computation_aware() -> ComputationAwareConfig {
    ComputationAwareConfig::new(StationaryConfig::rbf())
}

fn svgp(likelihood: impl Into<LikelihoodConfig>) -> SvgpConfig {
    SvgpConfig::new(StationaryConfig::matern52(), likelihood).with_inducing(12)
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance * (1.0 + expected.abs()),
            "{found}, not {expected}"
        );
    }
}

/// A fit to inputs and targets in other units makes the same predictions in those units. Only
/// rounding of the standardized numbers differs, which 20 steps of L-BFGS or Adam multiply.
#[test]
fn predictions_do_not_depend_on_units() {
    let configs: [(ModelConfig, Fit); 3] = [
        (exact().into(), Fit::l_bfgs().steps(5)),
        (
            svgp(GaussianConfig::default()).into(),
            Fit::adam(0.02).steps(20),
        ),
        (
            svgp(StudentTConfig::default()).into(),
            Fit::adam(0.02).steps(20),
        ),
    ];
    let ([a, b], [c, d]) = ([250.0, -7e3], [4e-3, 60.0]);
    for (config, fit) in configs {
        let moved = |rows: Vec<[f64; 2]>| -> Vec<[f64; 2]> {
            rows.into_iter().map(|row| row.map(|x| a * x + b)).collect()
        };
        let moved_targets: Vec<f64> = targets().iter().map(|y| c * y + d).collect();
        let gp = config.fit(inputs(), targets(), &fit).unwrap();
        let other = config.fit(moved(inputs()), &moved_targets, &fit).unwrap();
        let (p, q) = (
            gp.predict(new()).unwrap(),
            other.predict(moved(new())).unwrap(),
        );
        let map = |values: Vec<f64>, scale: f64, shift: f64| -> Vec<f64> {
            values.iter().map(|value| scale * value + shift).collect()
        };
        let tolerance = 1e-6;
        let check = |p: Tensor<2>, q: Tensor<2>, scale: f64, shift: f64| {
            // Compared in the unit of the first.
            let back = map(numbers(q), scale.recip(), -shift / scale);
            assert_close(&back, &numbers(p), tolerance);
        };
        check(p.mean(), q.mean(), c, d);
        check(p.variance(), q.variance(), c * c, 0.0);
        check(p.standard_deviation(), q.standard_deviation(), c, 0.0);
        check(p.function_mean(), q.function_mean(), c, d);
        check(p.quantile(0.1).unwrap(), q.quantile(0.1).unwrap(), c, d);
        let (p_ends, q_ends) = (p.interval(0.9).unwrap(), q.interval(0.9).unwrap());
        check(p_ends.0, q_ends.0, c, d);
        check(p_ends.1, q_ends.1, c, d);
        let y = [0.4, 1.0, -0.3];
        let densities = numbers(p.log_density(y).unwrap());
        let moved = numbers(q.log_density(y.map(|y| c * y + d)).unwrap());
        assert_close(&map(moved, 1.0, c.ln()), &densities, tolerance);
        let draws = numbers(p.samples(4, 9).unwrap());
        let moved = numbers(q.samples(4, 9).unwrap());
        assert_close(&map(moved, c.recip(), -d / c), &draws, 1e-4);
    }
}

/// With normal noise, densities and quantiles are those of a normal distribution with the predicted
/// mean and variance.
#[test]
fn densities_are_those_of_normal_distributions() {
    for (dtype, tolerance) in [(DType::F64, 1e-9), (DType::F32, 1e-3)] {
        let place = (&Device::default(), dtype);
        let targets: Vec<f64> = targets().iter().map(|y| 50.0 * y - 400.0).collect();
        let fit = Fit::new().steps(4).on(place);
        let gp = exact().fit(inputs(), &targets, &fit).unwrap();
        let predicted = gp.predict(new()).unwrap();
        let (mean, variance) = (numbers(predicted.mean()), numbers(predicted.variance()));
        let y = [-350.0, -420.0, -300.0];
        let expected: Vec<f64> = (0..3)
            .map(|n| {
                let square = (y[n] - mean[n]).powi(2) / variance[n];
                -0.5 * (square + (2.0 * PI * variance[n]).ln())
            })
            .collect();
        assert_close(
            &numbers(predicted.log_density(y).unwrap()),
            &expected,
            tolerance,
        );
        let median = numbers(predicted.quantile(0.5).unwrap());
        assert_close(&median, &mean, tolerance);
        // Φ(1) = 0.8413447460685429
        let upper = numbers(predicted.quantile(0.841_344_746_068_542_9).unwrap());
        let deviations: Vec<f64> = variance.iter().map(|variance| variance.sqrt()).collect();
        let expected: Vec<f64> = mean.iter().zip(&deviations).map(|(m, s)| m + s).collect();
        assert_close(&upper, &expected, tolerance);
        assert_close(
            &numbers(predicted.standard_deviation()),
            &deviations,
            tolerance,
        );
    }
}

/// Without scaling, the model is the one that `init`, `fit` and `Predictor` make.
#[test]
fn scaling_can_be_turned_off() {
    let fit = Fit::new().steps(3).scale_inputs(false).scale_targets(false);
    let gp = exact().fit(inputs(), targets(), &fit).unwrap();
    assert_eq!(
        (&gp.scaling().inputs, &gp.scaling().targets),
        (&None, &None)
    );
    let flat: Vec<f64> = new().into_iter().flatten().collect();
    let expected = gp.predictor().predict(&flat, 2);
    assert_eq!(gp.predict(new()).unwrap().predictions(), &expected);
}

/// A constant input is centered and not scaled.
#[test]
fn constant_columns_are_centered() {
    let rows: Vec<[f64; 2]> = inputs().into_iter().map(|[x, _]| [x, 0.1]).collect();
    let gp = exact().fit(rows, targets(), &Fit::new().steps(0)).unwrap();
    let scaling = gp.scaling().inputs.clone().unwrap();
    assert_eq!(scaling.deviations[1], 1.0);
    assert!((scaling.means[1] - 0.1).abs() < 1e-15);
}

fn labels() -> Vec<usize> {
    inputs().iter().map(|[x, _]| (x / 2.01) as usize).collect()
}

fn classifier() -> Fitted {
    let fit = Fit::adam(0.05).epochs(150).batch_size(15).seed(1);
    svgp(SoftmaxConfig::new(3))
        .fit(inputs(), labels(), &fit)
        .unwrap()
}

#[test]
fn classes_have_probabilities_and_labels() {
    let gp = classifier();
    let predicted = gp.predict(inputs()).unwrap();
    let probabilities = predicted.probabilities().unwrap();
    assert_eq!(probabilities.dims(), [ROWS, 3]);
    let sums = numbers(probabilities.clone().sum_dim(1));
    // The quadrature of the softmax is accurate to 1e-3.
    assert_close(&sums, &[1.0; ROWS], 2e-3);
    let found: Vec<i64> = predicted.labels().unwrap().into_data().iter().collect();
    let right = found
        .iter()
        .zip(labels())
        .filter(|(a, b)| **a == *b as i64)
        .count();
    assert!(right >= ROWS - 3, "{right} of {ROWS}");
    let densities = numbers(predicted.log_density(labels()).unwrap());
    let rows = numbers(probabilities);
    let expected: Vec<f64> = labels()
        .iter()
        .enumerate()
        .map(|(n, l)| rows[3 * n + l].ln())
        .collect();
    assert_close(&densities, &expected, 1e-9);
    assert!(matches!(predicted.quantile(0.5), Err(Error::NoQuantiles)));
    assert!(gp.scaling().targets.is_none());
}

/// Tensors of integers, other types and hosts' numbers are the same data.
#[test]
fn every_form_of_the_same_numbers_gives_the_same_model() {
    let device = Device::default();
    let fit = Fit::adam(0.05).steps(5).on((&device, DType::F64));
    let rows: Vec<[i64; 1]> = (0..20).map(|i| [i]).collect();
    let labels: Vec<i64> = (0..20).map(|i| i / 10).collect();
    let config = svgp(LikelihoodConfig::bernoulli());
    let expected = config
        .fit(&rows, &labels, &fit)
        .unwrap()
        .predict([3, 12])
        .unwrap();
    let expected = expected.predictions();
    let floats: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i)]).collect();
    let column: Vec<f32> = (0..20).map(|i| i as f32).collect();
    let tensor = Tensor::<1, Int>::arange(0..20, &device);
    let of = |gp: Fitted| gp.predict([3, 12]).unwrap().predictions().clone();
    assert_eq!(&of(config.fit(&floats, &labels, &fit).unwrap()), expected);
    assert_eq!(&of(config.fit(&column, &labels, &fit).unwrap()), expected);
    assert_eq!(
        &of(config.fit(&tensor, labels.as_slice(), &fit).unwrap()),
        expected
    );
    let targets = Tensor::<1, Int>::from_data(labels.as_slice(), &device);
    let float = tensor.clone().float().unsqueeze_dim::<2>(1);
    assert_eq!(&of(config.fit(&float, &targets, &fit).unwrap()), expected);
    assert_eq!(
        &of(config.fit(float.autodiff(), targets.float(), &fit).unwrap()),
        expected
    );
}

/// Views in any layout count by rows and columns, not by their memory.
#[cfg(feature = "arrays")]
#[test]
fn arrays_of_ndarray_are_matrices() {
    use ndarray::{Array1, Array2, s};

    let fit = Fit::new().steps(3);
    let rows: Vec<[f64; 2]> = (0..12)
        .map(|i| [f64::from(i), f64::from(i * i % 7)])
        .collect();
    let targets: Vec<f64> = rows.iter().map(|[a, b]| a.sin() + b).collect();
    let at = [[3.0, 1.0], [4.5, 2.0]];
    let of = |gp: Fitted| gp.predict(at).unwrap().predictions().clone();
    let expected = of(exact().fit(&rows, &targets, &fit).unwrap());

    let table = Array2::from_shape_fn((12, 3), |(row, column)| match column {
        0 => targets[row],
        column => rows[row][column - 1],
    });
    let (x, y) = (table.slice(s![.., 1..]), table.slice(s![.., 0]));
    assert_eq!(of(exact().fit(x, y, &fit).unwrap()), expected);
    let columns = x.reversed_axes().as_standard_layout().into_owned(); // [D, N]
    let (x, y) = (columns.t().into_owned(), Array1::from(targets));
    assert_eq!(of(exact().fit(&x, &y, &fit).unwrap()), expected);
    assert_eq!(of(exact().fit(columns.t(), y, &fit).unwrap()), expected);
}

#[test]
fn the_type_is_that_of_the_inputs() {
    let device = Device::default();
    let fit = Fit::new().steps(0);
    let dtype = |gp: Result<Fitted, Error>| gp.unwrap().place().1;
    let y: Vec<f64> = (0..8).map(f64::from).collect();
    let single: Vec<f32> = (0..8).map(|i| i as f32).collect();
    let whole: Vec<i32> = (0..8).collect();
    assert_eq!(dtype(exact().fit(&y, &y, &fit)), DType::F64);
    assert_eq!(dtype(exact().fit(&single, &y, &fit)), DType::F32);
    let default: DType = device.settings().float_dtype.into();
    assert_eq!(dtype(exact().fit(&whole, &y, &fit)), default);
    let place = fit.clone().on((&device, DType::F64));
    assert_eq!(dtype(exact().fit(&single, &y, &place)), DType::F64);
    let half = Tensor::<1>::from_data(single.as_slice(), &device).cast(DType::F64);
    assert_eq!(dtype(exact().fit(half, &y, &fit)), DType::F64);
}

/// The default number of inducing points is at most the number of distinct inputs; an explicit one
/// that is larger is an error.
#[test]
fn default_inducing_points_fit_few_rows() {
    let kernel = StationaryConfig::matern52;
    let fit = Fit::new().steps(2);
    let layer = LayerConfig::new(kernel());
    let orthogonal = SvgpConfig::new(kernel(), GaussianConfig::default())
        .with_posterior(SolveGpConfig::default())
        .with_inducing(InducingConfig::default().with_orthogonal(40));
    let configs: [(ModelConfig, usize); 5] = [
        (
            SvgpConfig::new(kernel(), GaussianConfig::default()).into(),
            ROWS,
        ),
        (SgprConfig::new(kernel()).into(), ROWS),
        (SolveCollapsedConfig::new(kernel()).into(), ROWS),
        (orthogonal.into(), ROWS),
        (
            DeepGpConfig::new(layer.clone(), GaussianConfig::default())
                .with_hidden(2, layer)
                .into(),
            ROWS,
        ),
    ];
    for (config, expected) in configs {
        let gp = config.fit(inputs(), targets(), &fit).unwrap();
        assert_eq!(
            gp.model().inducing_points().len(),
            2 * expected,
            "{config:?}"
        );
        let folder = temp_dir::TempDir::new().unwrap();
        gp.save(folder.path()).unwrap();
        let loaded = Fitted::load(folder.path(), &Device::default()).unwrap();
        let [a, b] = [&gp, &loaded].map(|gp| gp.predict(new()).unwrap().predictions().clone());
        assert_eq!(a, b, "{config:?}");
    }
    let many = svgp(GaussianConfig::default()).with_inducing(ROWS + 1);
    let refused = many.fit(inputs(), targets(), &fit);
    assert!(matches!(refused, Err(Error::Init(_))));
}

#[test]
fn a_watcher_sees_and_stops_training() {
    let mut losses = Vec::new();
    let watch = |report: burn_gp_models::training::StepReport| {
        losses.push(report.loss);
        match losses.len() < 4 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    let config = svgp(GaussianConfig::default());
    config
        .fit_with(inputs(), targets(), &Fit::adam(0.05).steps(50), watch)
        .unwrap();
    assert_eq!(losses.len(), 4);
    assert!(losses[3] < losses[0], "{losses:?}");
}

/// L-BFGS trains a variational model with one layer on all data.
#[test]
fn variational_models_take_l_bfgs() {
    let objective = |fit: &Fit| {
        let mut last = f64::NAN;
        let watch = |report: burn_gp_models::training::StepReport| {
            last = report.loss;
            ControlFlow::Continue(())
        };
        let config = svgp(GaussianConfig::default());
        config.fit_with(inputs(), targets(), fit, watch).unwrap();
        last
    };
    let few = objective(&Fit::adam(0.01).batch_size(ROWS).steps(60));
    let searched = objective(&Fit::l_bfgs().steps(60));
    assert!(searched < few - 0.1, "L-BFGS: {searched}, Adam: {few}");
}

/// The error of a fit.
#[track_caller]
fn error(result: Result<Fitted, Error>) -> Error {
    match result {
        Err(error) => error,
        Ok(_) => panic!("the fit is accepted"),
    }
}

/// As many actions as there are rows, in the files too.
#[test]
fn computation_aware_regression_takes_few_rows() {
    let gp = computation_aware()
        .fit(inputs(), targets(), &Fit::new().steps(2))
        .unwrap();
    let config = gp.config().downcast_ref::<ComputationAwareConfig>();
    assert_eq!(config.unwrap().actions.count(), ROWS);
    let folder = temp_dir::TempDir::new().unwrap();
    gp.save(folder.path()).unwrap();
    let again = Fitted::load(folder.path(), &Device::default()).unwrap();
    let [before, after] = [gp, again].map(|gp| gp.predict(inputs()).unwrap().predictions().clone());
    assert_eq!(before, after);
}

#[test]
fn a_fitted_model_is_printed_without_its_data() {
    let gp = exact().fit(inputs(), targets(), &Fit::new()).unwrap();
    let text = format!("{gp:?}");
    assert!(
        text.starts_with("Fitted {") && text.contains("ExactConfig"),
        "{text}"
    );
    assert!(text.contains("scaling: Scaling"), "{text}");
    assert!(
        !text.contains("predictor") && !text.contains("Tensor"),
        "{text}"
    );
}
