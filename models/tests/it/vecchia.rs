//! Nearest-neighbor regression as a ready-made model.

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    inference::VecchiaSettings, kernels::StationaryConfig, likelihoods::GaussianConfig,
    neighbors::Ordering, ops::Stationary, parameter::Parameters,
};
use burn_gp_models::{
    AnyVecchia, ExactConfig, Fit, FitModel, Fitted, InitError, ModelConfig, ModelDefinition,
    VecchiaConfig,
    training::{
        FullBatchTrainer, FullBatchTraining, Model, Trainer, TrainingData, TrainingDefaults,
    },
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use temp_dir::TempDir;

/// A function that varies ten times faster in the first input, at random places, with noise.
pub fn rows(count: usize) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let x: Vec<[f64; 2]> = (0..count)
        .map(|_| [random.random::<f64>(), random.random::<f64>()])
        .collect();
    let noise = |random: &mut ChaCha8Rng| 0.2 * (random.random::<f64>() - 0.5);
    let y = x
        .iter()
        .map(|[a, b]| (9.0 * a).sin() + (0.9 * b).cos() + noise(&mut random));
    let y = y.collect();
    (x, y)
}

fn config(neighbors: usize) -> VecchiaConfig {
    let settings = VecchiaSettings {
        neighbors,
        ..VecchiaSettings::default()
    };
    VecchiaConfig::new(StationaryConfig::new(Stationary::Matern32)).with_settings(settings)
}

fn tensors(count: usize, dtype: DType) -> TrainingData {
    let (x, y) = rows(count);
    TrainingData::new(x.as_flattened(), &y, &Device::default(), dtype)
}

fn trainer(config: &VecchiaConfig, count: usize, dtype: DType) -> FullBatchTrainer<AnyVecchia> {
    let data = config.arranged(tensors(count, dtype));
    let model = config.init(&data).unwrap();
    FullBatchTrainer::new(model, data, FullBatchTraining::default())
}

/// With all earlier rows as neighbors, training and prediction are those of exact regression; with the usual numbers,
/// almost.
#[test]
fn it_agrees_with_exact_regression() {
    let (x, y) = rows(150);
    let new_x = [[0.31, 0.5], [0.9, 0.07], [0.02, 0.98]];
    let exact = ExactConfig::new(StationaryConfig::new(Stationary::Matern32));
    let exact = exact.fit(&x, &y, &Fit::default()).unwrap();
    let exact = exact.predict(new_x).unwrap();
    let all = VecchiaSettings {
        neighbors: 149,
        prediction_neighbors: 600,
    };
    // Both optimizers stop within 1e-9 of the optimum, which is flat.
    for (settings, allowed) in [(all, 1e-2), (VecchiaSettings::default(), 0.3)] {
        let config = config(1).with_settings(settings);
        let training = Fit::default().tolerance(1e-9);
        let ours = config.fit(&x, &y, &training).unwrap();
        let ours = ours.predict(new_x).unwrap();
        let values = |tensor: Tensor<2>| -> Vec<f64> { tensor.into_data().iter().collect() };
        let pairs = values(ours.mean()).into_iter().zip(values(exact.mean()));
        for ((ours, expected), variance) in pairs.zip(values(exact.variance())) {
            let off = (ours - expected).abs() / variance.sqrt();
            assert!(
                off < allowed,
                "{settings:?}: {ours}, {expected}, off by {off}"
            );
        }
    }
}

/// Training ends with neighbors in the metric of its own lengthscales, which are not those of its beginning. Returns the
/// trainer after its last step.
pub fn check_updated_neighbors<M: Module + Model>(
    mut trainer: FullBatchTrainer<M>,
) -> FullBatchTrainer<M> {
    let first = trainer.model().parameter("metric.scales").unwrap();
    assert!((first[0] / first[1] - 1.0).abs() < 1e-12, "{first:?}");
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    let last = trainer.model().parameter("metric.scales").unwrap();
    assert!(last[0] > 3.0 * last[1], "{last:?}");
    trainer
}

#[test]
fn training_updates_the_neighbors() {
    let trainer = check_updated_neighbors(trainer(&config(6), 300, DType::F64));
    assert!(trainer.has_converged());
    assert!(!trainer.into_model().update_metric());
}

/// A run that is resumed after the neighbors have changed continues bit for bit. The type of the data must be the one in
/// which burn restores L-BFGS, single precision.
pub fn check_resumed_neighbors<M: Module + Model>(new: impl Fn() -> FullBatchTrainer<M>) {
    let mut first = new();
    let steps = |trainer: &mut FullBatchTrainer<M>| -> Vec<f64> {
        (0..5).map(|_| trainer.step().unwrap().loss).collect()
    };
    steps(&mut first);
    let folder = TempDir::new().unwrap();
    first.save(folder.path()).unwrap();
    let mut second = new();
    second.restore(folder.path()).unwrap();
    let metric =
        |trainer: &FullBatchTrainer<M>| trainer.model().parameter("metric.scales").unwrap();
    assert_eq!(metric(&second), metric(&first));
    assert_ne!(metric(&second), metric(&new()));
    assert_eq!(steps(&mut second), steps(&mut first));
}

#[test]
fn a_resumed_run_has_the_same_neighbors() {
    check_resumed_neighbors(|| trainer(&config(6), 120, DType::F32));
}

/// The order is that of the inputs and not that of the table.
#[test]
fn the_order_of_the_table_does_not_matter() {
    let (x, y) = rows(90);
    let mut shuffled: Vec<usize> = (0..90).collect();
    shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    let other_x: Vec<[f64; 2]> = shuffled.iter().map(|&row| x[row]).collect();
    let other_y: Vec<f64> = shuffled.iter().map(|&row| y[row]).collect();
    for order in [Ordering::Maximin, Ordering::Random] {
        let config = config(5).with_order(Some(order));
        let objective = |x: &[[f64; 2]], y: &[f64]| -> f64 {
            let data = TrainingData::new(x.as_flattened(), y, &Device::default(), DType::F64);
            let data = config.arranged(data);
            let model = config.init(&data).unwrap();
            let value = model.full_objective(data.inputs, data.targets).unwrap();
            value.into_scalar()
        };
        let (ours, expected) = (objective(&other_x, &other_y), objective(&x, &y));
        assert!(
            (ours - expected).abs() < 1e-12 * expected.abs(),
            "{order:?}: {ours}, {expected}"
        );
    }
    let given = config(5).with_order(Some(Ordering::Given));
    let data = tensors(90, DType::F64);
    let values = |tensor: Tensor<2>| -> Vec<f64> { tensor.into_data().iter().collect() };
    assert_eq!(
        values(given.arranged(data.clone()).inputs),
        values(data.inputs)
    );
}

#[test]
fn it_needs_neighbors() {
    let data = tensors(10, DType::F64);
    assert!(matches!(config(0).init(&data), Err(InitError::NoNeighbors)));
}

/// A predictor gives the process thousands of rows at once, and a loaded model has the same predictions, bit for bit.
#[test]
fn rows_are_predicted_together() {
    let (x, y) = rows(200);
    let fitted = config(5).fit(&x, &y, &Fit::default().steps(2)).unwrap();
    let (new_x, _) = rows(3000);
    let predicted = fitted.predict(&new_x).unwrap().predictions().clone();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    fitted.save(&path).unwrap();
    let loaded = Fitted::load(&path, &Device::default()).unwrap();
    assert_eq!(loaded.predict(&new_x).unwrap().predictions(), &predicted);
    // The last row depends on the first ones.
    let last = fitted
        .predict(&new_x[2500..])
        .unwrap()
        .predictions()
        .clone();
    assert_ne!(last.mean[499], predicted.mean[2999]);
    let config = config(5).with_joint_predictions(false);
    let fitted = config.fit(&x, &y, &Fit::default().steps(2)).unwrap();
    let all = fitted.predict(&new_x).unwrap().predictions().clone();
    let last = fitted
        .predict(&new_x[2500..])
        .unwrap()
        .predictions()
        .clone();
    for (last, all) in last.mean.iter().zip(&all.mean[2500..]) {
        // Tiles of another size may sum in another order.
        assert!(
            (last - all).abs() < 1e-12 * all.abs().max(1.0),
            "{last}, {all}"
        );
    }
}

/// Training stops when its steps improve the log density by a hundredth of a nat, unless the user gives a tolerance.
#[test]
fn training_stops_when_improvements_are_negligible() {
    let trained = |nats: f64| -> (usize, f64) {
        let config = config(10);
        let data = config.arranged(tensors(400, DType::F64));
        let training = FullBatchTraining {
            nats,
            ..FullBatchTraining::default()
        };
        let mut trainer = FullBatchTrainer::new(config.init(&data).unwrap(), data, training);
        while !trainer.is_finished() {
            trainer.step().unwrap();
        }
        assert!(trainer.has_converged());
        (trainer.steps_made(), 400.0 * trainer.loss().unwrap())
    };
    let ((long, best), (short, found)) = (trained(0.0), trained(1e-2));
    assert!(short < long, "{short} and {long} steps");
    // A difference of half a nat is within one standard deviation of a parameter.
    assert!((found - best).abs() < 0.5, "{found}, {best}");
    let usual = VecchiaConfig::new(StationaryConfig::matern32());
    let TrainingDefaults::FullBatch(usual) = ModelConfig::from(usual).default_training() else {
        panic!("not full batch");
    };
    assert_eq!(usual.nats, 1e-2);
    let other = ModelConfig::from(ExactConfig::new(StationaryConfig::matern32()));
    assert_eq!(other.default_training(), TrainingDefaults::L_BFGS);
    assert_eq!(FullBatchTraining::L_BFGS.nats, 0.0);
}

/// The file of a configuration has the numbers of neighbors and the order.
#[test]
fn configurations_are_files() {
    let config = ModelConfig::from(
        config(12)
            .with_order(Some(Ordering::Random))
            .with_seed(3)
            .with_likelihood(GaussianConfig::new(0.02)),
    );
    let text = serde_json::to_string(&config).unwrap();
    for part in [
        r#""model":"vecchia""#,
        r#""neighbors":12"#,
        r#""order":"random""#,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
    assert!(config.takes_one_output());
}
