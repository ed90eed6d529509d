//! Errors of the training inputs.

use burn_gp_core::{inference::ConditionError, kernels::LinearConfig};
use burn_gp_models::{
    AnyModel, InputErrors, Predictions, VecchiaConfig,
    training::{AnyTrainer, MiniBatchTraining, Training, TrainingData},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

use super::*;

/// Flat on both sides of a steep place, where the slope is 4.
fn steep(x: f64) -> f64 {
    2.0 / (1.0 + (-8.0 * x).exp())
}

/// The standard deviation of the errors of the inputs: up to 0.4 in the target.
const INPUT: f64 = 0.1;
/// The standard deviation of the noise of the targets.
const NOISE: f64 = 0.05;
const COUNT: usize = 150;

/// Recorded inputs, which have errors of this standard deviation, and targets at the true ones.
fn simulated(rows: usize, deviation: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let row = |_| {
        let x: f64 = random.random_range(-2.0..2.0);
        let [off, noise]: [f64; 2] = [(); 2].map(|()| StandardNormal.sample(&mut random));
        (x + deviation * off, steep(x) + NOISE * noise)
    };
    (0..rows).map(row).unzip()
}

fn noise_deviation(model: &Fitted) -> f64 {
    let hyperparameters = model.hyperparameters();
    let noise = hyperparameters
        .iter()
        .find(|own| own.path == "likelihood.noise");
    let scale = (model.scaling().targets.as_ref()).map_or(1.0, |own| own.deviations[0]);
    noise.expect("a noise variance").values[0].sqrt() * scale
}

fn density(model: &Fitted, (x, y): &(Vec<f64>, Vec<f64>)) -> f64 {
    let densities = model.predict(x).expect("predictions").log_density(y);
    densities.expect("densities").mean().into_scalar()
}

/// The models that take errors, with training that converges on 150 rows.
fn takers() -> Vec<(&'static str, ModelConfig, Fit)> {
    let kernel = StationaryConfig::rbf;
    let svgp = SvgpConfig::new(kernel(), GaussianConfig::default()).with_inducing(40);
    vec![
        ("exact", ExactConfig::new(kernel()).into(), Fit::new()),
        (
            "sgpr",
            SgprConfig::new(kernel()).with_inducing(40).into(),
            Fit::new(),
        ),
        (
            "svgp",
            svgp.into(),
            Fit::adam(0.02)
                .natural_gradients(0.5)
                .batch_size(COUNT)
                .steps(400),
        ),
    ]
}

fn predictions(model: &Fitted, x: &[f64]) -> Predictions {
    let predicted = model.predict(x).expect("predictions");
    predicted.predictions().clone()
}

/// The noise of the targets has a standard deviation of 0.05. With 150 rows, the standard error of its estimate is
/// 0.05/√300 = 0.003; the expansion to first order where the function bends adds more. The test allows 0.02. Without
/// errors of the inputs, all of the scatter is noise.
#[test]
fn noise_of_targets_is_told_from_errors_of_inputs() {
    let (x, y) = simulated(COUNT, INPUT, 1);
    let clean = simulated(400, 0.0, 2);
    for (name, config, fit) in takers() {
        let plain = config.fit(&x, &y, &fit).expect("a model");
        let corrected = config
            .fit(&x, &y, &fit.input_errors([INPUT]))
            .expect("a model");
        let (before, after) = (noise_deviation(&plain), noise_deviation(&corrected));
        assert!(before > 0.1, "{name}: {before}");
        assert!((after - NOISE).abs() < 0.02, "{name}: {after}");
        let (before, after) = (density(&plain, &clean), density(&corrected, &clean));
        assert!(
            after > before + 0.05,
            "{name}: {after}, not more than {before}"
        );
        let noise = corrected.input_noise().expect("noise");
        assert!(
            noise.rounds > 0 && noise.rounds <= 8,
            "{name}: {}",
            noise.rounds
        );
        assert_eq!(noise.variances.len(), COUNT);
        // The slope is 4 at 0, which makes 0.16, and almost 0 beyond 1, where that of the fit is below 1.
        for (x, variance) in x.iter().zip(&noise.variances) {
            match x.abs() {
                ..0.05 => assert!((0.06..0.3).contains(variance), "{name}: {variance} at {x}"),
                1.2..1.8 => assert!(*variance < 0.01, "{name}: {variance} at {x}"),
                _ => {}
            }
        }
        assert!(plain.input_noise().is_none());
    }
}

/// The mean of a linear kernel has one slope a, so that every row has the noise a²s². The noise that the model was
/// trained with differs from that of its last slope by less than 1 %.
#[test]
fn a_linear_function_has_the_same_noise_everywhere() {
    let x: Vec<f64> = (0..40).map(|row| f64::from(row) / 10.0).collect();
    let y: Vec<f64> = (x.iter().enumerate())
        .map(|(row, x)| 3.0 * x + 0.2 * ((row * 7) % 5) as f64)
        .collect();
    let config = ExactConfig::new(LinearConfig::default());
    let fit = Fit::new()
        .on((&Device::default(), DType::F64))
        .input_errors([0.1]);
    let model = config.fit(&x, &y, &fit).expect("a model");
    let means = numbers(model.predict([0.0, 1.0]).expect("predictions").mean());
    let slope = means[1] - means[0];
    assert!((slope - 3.0).abs() < 0.1, "{slope}");
    let noise = model.input_noise().expect("noise");
    assert!(noise.has_settled);
    let expected = (slope * 0.1).powi(2);
    for variance in &noise.variances {
        assert!(
            (variance / expected - 1.0).abs() < 0.01,
            "{variance}, not {expected}"
        );
        // All rows have the slope of one fit.
        assert!((variance / noise.variances[0] - 1.0).abs() < 1e-9);
    }
}

/// In double precision, central differences of step 1e-5 have errors of 1e-10 by truncation and by rounding; in single
/// precision, a step of 1e-2 gives 1e-4 and 1e-5.
#[test]
fn slopes_are_those_of_central_differences() {
    let (x, y) = simulated(40, INPUT, 3);
    let device = Device::default();
    let rows: Vec<[f64; 2]> = x.iter().map(|&x| [x, x.cos()]).collect();
    for (dtype, step, tolerance) in [(DType::F64, 1e-5, 1e-6), (DType::F32, 1e-2, 1e-2)] {
        for (name, config, _) in takers() {
            let fit = Fit::new().steps(5).scale_inputs(false).on((&device, dtype));
            let model = config.fit(&rows, &y, &fit).expect("a model");
            let at = Tensor::<2>::from_data([[0.1, 0.5], [-0.3, 0.9]], (&device, dtype));
            let process = model.predictor().process();
            let mean = |x: Tensor<2>| numbers(process.components(x).remove(0).mean);
            let found = InputErrors::slopes(&**model.model(), at.clone()).expect("slopes");
            assert_eq!(found.dtype(), dtype);
            let found = numbers(found);
            for input in 0..2 {
                let mut shift = [0.0; 2];
                shift[input] = step;
                let shift = Tensor::<1>::from_data(shift, (&device, dtype)).unsqueeze::<2>();
                let ends = [at.clone() + shift.clone(), at.clone() - shift].map(mean);
                for row in 0..2 {
                    let expected = (ends[0][row] - ends[1][row]) / (2.0 * step);
                    let error = (found[2 * row + input] - expected).abs();
                    assert!(
                        error < tolerance * (1.0 + expected.abs()),
                        "{name} {dtype:?}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn inputs_without_errors_are_as_always() {
    let (x, y) = simulated(60, 0.0, 4);
    for (name, config, fit) in takers() {
        let fit = fit.steps(10);
        let plain = config.fit(&x, &y, &fit).expect("a model");
        let none = config
            .fit(&x, &y, &fit.input_errors([0.0]))
            .expect("a model");
        assert_eq!(predictions(&plain, &x), predictions(&none, &x), "{name}");
        let noise = none.input_noise().expect("noise");
        assert!(noise.rounds == 0 && noise.has_settled);
    }
}

/// One number for each input, a matrix with that of each row, and other units are the same.
#[test]
fn standard_deviations_have_the_units_of_the_inputs() {
    let (x, y) = simulated(40, INPUT, 5);
    let rows: Vec<[f64; 2]> = x.iter().map(|&x| [x, (3.0 * x).cos()]).collect();
    let fit = || Fit::new().on((&Device::default(), DType::F64)).steps(20);
    let config = ExactConfig::new(StationaryConfig::rbf());
    let variance = |rows: &[[f64; 2]], fit: &Fit| {
        let model = config.fit(rows, &y, fit).expect("a model");
        model.input_noise().expect("noise").variances.clone()
    };
    let shared = variance(&rows, &fit().input_errors([0.1, 0.2]));
    assert!(shared.iter().all(|own| *own > 0.0));
    assert_eq!(variance(&rows, &fit().input_errors([[0.1, 0.2]])), shared);
    assert_eq!(
        variance(&rows, &fit().input_errors(vec![[0.1, 0.2]; 40])),
        shared
    );
    let scaled: Vec<[f64; 2]> = rows.iter().map(|[a, b]| [1024.0 * a, b / 32.0]).collect();
    // Only rounding differs, which 20 steps in each of the rounds multiply.
    let found = variance(&scaled, &fit().input_errors([102.4, 0.2 / 32.0]));
    assert_close(&found, &shared, 1e-5);
    let mut single = vec![[0.0; 2]; 40];
    single[7] = [0.1, 0.2];
    let alone = variance(&rows, &fit().input_errors(single));
    assert!(
        alone
            .iter()
            .enumerate()
            .all(|(row, own)| (*own > 0.0) == (row == 7))
    );
}

/// Known noise of the targets and that of the inputs add up.
#[test]
fn known_noise_of_targets_stays() {
    let (x, y) = simulated(60, INPUT, 6);
    let config = SvgpConfig::new(StationaryConfig::rbf(), LikelihoodConfig::fixed_noise());
    let config: ModelConfig = config.with_inducing(20).into();
    let known = |row: usize| NOISE * NOISE * (1 + row % 3) as f64;
    let targets: Vec<f64> = (y.iter().enumerate())
        .flat_map(|(row, y)| [*y, known(row)])
        .collect();
    let device = Device::default();
    let data = TrainingData::with_target_columns(&x, &targets, 2, &device, DType::F64);
    let training = Training::from(MiniBatchTraining::new(50));
    let model = config.init(&data).expect("a model");
    let mut trainer = AnyTrainer::new(model, data, training.clone());
    fn steps(trainer: &mut AnyTrainer<AnyModel>) {
        for _ in 0..50 {
            trainer.step().expect("a step");
        }
    }
    steps(&mut trainer);
    let place = (&device, DType::F64);
    let errors = InputErrors::new(Tensor::from_data([[INPUT]], place));
    let (trainer, noise) = errors
        .train(trainer, (&config, &training), |trainer| {
            steps(trainer);
            Ok::<_, ConditionError>(ControlFlow::Continue(()))
        })
        .expect("a model");
    assert!(noise.rounds > 0);
    let found = numbers(trainer.data().targets.clone());
    for row in 0..60 {
        let expected = known(row) + noise.variances[row];
        assert_eq!(found[2 * row], y[row]);
        assert!((found[2 * row + 1] - expected).abs() < 1e-12, "row {row}");
    }
    // `fit` takes such targets, too.
    let rows: Vec<[f64; 2]> = targets.chunks(2).map(|row| [row[0], row[1]]).collect();
    let fit = Fit::new().steps(20).input_errors([INPUT]);
    let model = config.fit(&x, &rows, &fit).expect("a model");
    assert!(model.input_noise().is_some_and(|own| own.rounds > 0));
}

#[test]
fn models_are_saved_with_the_noise_of_their_rows() {
    let (x, y) = simulated(40, INPUT, 8);
    let folder = temp_dir::TempDir::new().expect("a folder");
    for (name, config, fit) in takers() {
        let fit = fit.steps(20).input_errors([INPUT]);
        let model = config.fit(&x, &y, &fit).expect("a model");
        let path = folder.path().join(name);
        model.save(&path).expect("files");
        let again = Fitted::load(&path, &Device::default()).expect("a model");
        assert_eq!(predictions(&model, &x), predictions(&again, &x), "{name}");
        let given = |model: &Fitted| {
            let model = model.condition_on_observations([0.0, 3.0], [1.0, 2.0]);
            predictions(&model.expect("a model"), &x)
        };
        assert_eq!(given(&model), given(&again), "{name}");
        assert_ne!(given(&model), predictions(&model, &x), "{name}");
    }
}

/// Rows that are added to an exact model count as exact, and the others keep their noise.
#[test]
fn rows_keep_their_noise_when_others_come_and_go() {
    let (x, y) = simulated(30, INPUT, 9);
    let fit = Fit::new().on((&Device::default(), DType::F64)).steps(20);
    let config = ExactConfig::new(StationaryConfig::rbf());
    let model = config
        .fit(&x, &y, &fit.input_errors([INPUT]))
        .expect("a model");
    let more = model
        .condition_on_observations([5.0, 6.0], [1.0, 2.0])
        .expect("a model");
    let same = more.retain_observations(|x| x[0] < 4.0).expect("a model");
    let predict = |model: &Fitted| {
        model
            .predict([0.1, 0.9])
            .expect("predictions")
            .predictions()
            .clone()
    };
    let (found, expected) = (predict(&same), predict(&model));
    assert_close(&found.mean, &expected.mean, 1e-9);
    assert_close(&found.variance, &expected.variance, 1e-9);
    let rows = more.model().observations().expect("rows");
    assert_eq!(rows.targets.dims(), [32, 1]);
    // Extending the factor, as above, and conditioning on all rows again are the same.
    let process = more.model().process().expect("a process");
    let at = Tensor::<2>::from_data([[0.1], [5.5]], (&Device::default(), DType::F64));
    let (found, expected) = (
        process.components(at.clone()),
        more.predictor().process().components(at),
    );
    assert_close(
        &numbers(found[0].mean.clone()),
        &numbers(expected[0].mean.clone()),
        1e-9,
    );
    assert_close(
        &numbers(found[0].variance.clone()),
        &numbers(expected[0].variance.clone()),
        1e-9,
    );
    assert!(model.jackknife_plus([0.3], 0.9).is_ok());
}

#[test]
fn impossible_errors_are_refused() {
    let (x, y) = simulated(20, INPUT, 10);
    let config = ExactConfig::new(StationaryConfig::rbf());
    let fit = || Fit::new().steps(2);
    let error = |fit: Fit| config.fit(&x, &y, &fit).expect_err("an error").to_string();
    assert_eq!(
        error(fit().input_errors([0.1, 0.2])),
        "the standard deviations of the errors of inputs have the shape [2, 1]; expected one for each of 1 inputs, or \
         the shape [20, 1]"
    );
    assert_eq!(
        error(fit().input_errors([-0.1])),
        "a standard deviation of an input is -0.1; it must not be negative"
    );
    assert!(error(fit().input_errors([f64::NAN])).contains("NaN"));
    let stopping = Fit::adam(0.1).early_stopping(&x, &y, 2).input_errors([0.1]);
    assert!(matches!(
        config.fit(&x, &y, &stopping),
        Err(Error::Unused {
            option: "early_stopping",
            ..
        })
    ));
    let unused = |result: Result<Fitted, Error>| {
        matches!(
            result,
            Err(Error::Unused {
                option: "input_errors",
                ..
            })
        )
    };
    let fit = fit().input_errors([0.1]);
    let vecchia = VecchiaConfig::new(StationaryConfig::matern52());
    assert!(unused(vecchia.fit(&x, &y, &fit)));
    let heavy = SvgpConfig::new(StationaryConfig::rbf(), StudentTConfig::default());
    assert!(unused(heavy.with_inducing(5).fit(&x, &y, &fit)));
    let two: Vec<[f64; 2]> = y.iter().map(|y| [*y, -y]).collect();
    assert!(unused(config.fit(&x, &two, &fit)));
}
