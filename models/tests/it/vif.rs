//! Regression by inducing points and nearest neighbors as a ready-made model.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::InducingConfig, inference::VecchiaSettings, kernels::StationaryConfig,
    neighbors::Ordering, ops::Stationary, parameter::Parameters,
};
use burn_gp_models::{
    AnyVif, ExactConfig, Fit, FitModel, ModelConfig, ModelDefinition, SgprConfig, VifConfig,
    training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData},
};

use crate::vecchia::{check_resumed_neighbors, check_updated_neighbors, rows};

fn config(inducing: usize, neighbors: usize) -> VifConfig {
    let settings = VecchiaSettings {
        neighbors,
        ..VecchiaSettings::default()
    };
    VifConfig::new(StationaryConfig::new(Stationary::Matern32))
        .with_inducing(inducing)
        .with_settings(settings)
}

fn trainer(config: &VifConfig, count: usize, dtype: DType) -> FullBatchTrainer<AnyVif> {
    let (x, y) = rows(count);
    let data = TrainingData::new(x.as_flattened(), &y, &Device::default(), dtype);
    let data = config.arranged(data);
    let model = config.init(&data).unwrap();
    FullBatchTrainer::new(model, data, FullBatchTraining::default())
}

/// With few inducing points and neighbors, predictions are closer to exact regression than those of the same inducing
/// points alone.
#[test]
fn it_is_closer_to_exact_regression_than_inducing_points() {
    let (x, y) = rows(150);
    let new_x = [[0.31, 0.5], [0.9, 0.07], [0.02, 0.98], [0.55, 0.3]];
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let means = |config: ModelConfig| -> Vec<f64> {
        let gp = config.fit(&x, &y, &Fit::default()).unwrap();
        let mean: Tensor<2> = gp.predict(new_x).unwrap().mean();
        mean.into_data().iter().collect()
    };
    let exact = means(ExactConfig::new(kernel.clone()).into());
    let distance = |config: ModelConfig| -> f64 {
        let pairs = means(config).into_iter().zip(&exact);
        pairs.map(|(ours, exact)| (ours - exact).powi(2)).sum()
    };
    let ours = distance(config(8, 10).into());
    let alone = distance(SgprConfig::new(kernel).with_inducing(8).into());
    assert!(4.0 * ours < alone, "{ours}, {alone}");
}

#[test]
fn training_updates_the_neighbors() {
    let trainer = check_updated_neighbors(trainer(&config(10, 6), 200, DType::F64));
    assert!(!trainer.into_model().update_metric());
}

#[test]
fn a_resumed_run_has_the_same_neighbors() {
    check_resumed_neighbors(|| trainer(&config(10, 6), 120, DType::F32));
}

/// The file of a configuration has the inducing points, the numbers of neighbors and the order.
#[test]
fn configurations_are_files() {
    let config = ModelConfig::from(config(25, 12).with_order(Some(Ordering::Random)));
    let text = serde_json::to_string(&config).unwrap();
    for part in [
        r#""model":"vif""#,
        r#""count":25"#,
        r#""neighbors":12"#,
        r#""order":"random""#,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
    assert!(config.takes_one_output());
}

/// By default, there are at most as many inducing points as distinct inputs.
#[test]
fn there_are_at_most_as_many_inducing_points_as_inputs() {
    let config = VifConfig::new(StationaryConfig::new(Stationary::Matern32));
    assert_eq!(config.inducing.count, 200);
    let points = trainer(&config, 30, DType::F64)
        .model()
        .parameter("inducing.points");
    assert_eq!(points.unwrap().len(), 60);
    let config = config.with_inducing(InducingConfig::new(31));
    let (x, y) = rows(30);
    let data = TrainingData::new(x.as_flattened(), &y, &Device::default(), DType::F64);
    assert!(config.init(&data).is_err());
}

/// Only the inducing points of a configuration that trains them move.
#[test]
fn inducing_points_stay_unless_they_are_trained() {
    for trains in [false, true] {
        let config = config(6, 5).with_train_inducing(trains);
        let mut trainer = trainer(&config, 40, DType::F64);
        let points = |trainer: &FullBatchTrainer<AnyVif>| {
            let points = trainer.model().parameter("inducing.points");
            points.expect("a parameter")
        };
        let first = points(&trainer);
        for _ in 0..3 {
            trainer.step().expect("a step");
        }
        assert_eq!(points(&trainer) != first, trains);
    }
}
