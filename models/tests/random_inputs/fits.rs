//! Models from damaged configurations and arbitrary data: initialization, evaluation and
//! prediction.

use burn::tensor::{DType, Device};
use burn_gp_models::{
    AnyTrained, ModelConfig,
    training::{Model, TrainingData},
};
use proptest::prelude::*;

use crate::configs::{is_small, texts};
use crate::mutations::damaged;
use crate::search::{no_panic, search};

/// Parts of the messages of documented panics, which are mistakes of the caller.
const DOCUMENTED: &[&str] = &[
    "KernelConfig:",
    "positive hyperparameters must be finite and above",
    "a polynomial kernel of degree 0",
    "lengthscales around",
    "a spectral mixture needs at least one component",
    "ActiveDimensions: no dimension given",
    "a kernel needs inputs with at least one dimension",
    "active dimensions",
    "a softmax over",
    "quasi-Monte Carlo takes",
    "PseudoObservationsConfig:",
    "Stack:",
    "columns of targets; the",
];

fn value() -> impl Strategy<Value = f64> {
    const CORNERS: &[f64] = &[0.0, 1.0, 2.0, 1e-9, 1e9, -1e30, f64::NAN, f64::INFINITY];
    prop_oneof![6 => -2.0..2.0f64, 1 => proptest::sample::select(CORNERS)]
}

/// The model from a configuration, after the computations of a training step.
pub fn fit(config: &ModelConfig, data: &TrainingData) -> Option<AnyTrained> {
    let data = config.arranged(data.clone());
    let mut model = config.init(&data).ok()?;
    let seen = match model.needs_all_data() {
        true => data.len(),
        false => 2 * data.len(),
    };
    if let Ok(objective) = model.objective(data.inputs.clone(), data.targets.clone(), seen) {
        let _ = objective.value().backward();
    }
    model.after_step();
    model.trained(&data).ok()
}

/// Calls all prediction methods of a model.
pub fn ask(model: &AnyTrained, dimensions: usize) {
    let _ = (model.hyperparameters(), model.inducing_points());
    if let Ok(predictor) = model.predictor() {
        let _ = predictor.predict(&vec![0.3; 2 * dimensions], dimensions);
        let _ = predictor.sample(predictor.inputs(&vec![0.3; dimensions], dimensions), 2, 0);
    }
}

#[test]
fn models_of_any_configuration() {
    let rows = proptest::collection::vec([value(), value(), value()], 1..7);
    let inputs = (damaged(texts(), 3), rows, any::<[bool; 2]>());
    search(1200, inputs, |(text, rows, [double, labels])| {
        no_panic(DOCUMENTED, || {
            let Ok(json) = serde_json::from_slice::<serde_json::Value>(&text.0) else {
                return;
            };
            let Ok(config) = serde_json::from_slice::<ModelConfig>(&text.0) else {
                return;
            };
            if !is_small(&json) {
                return;
            }
            let points: Vec<f64> = rows.iter().flat_map(|row| [row[0], row[1]]).collect();
            let targets: Vec<f64> = (rows.iter())
                .map(|row| {
                    if labels {
                        (row[2].abs() % 3.0).floor()
                    } else {
                        row[2]
                    }
                })
                .collect();
            let dtype = if double { DType::F64 } else { DType::F32 };
            let data = TrainingData::new(&points, &targets, &Device::default().autodiff(), dtype);
            if let Some(model) = fit(&config, &data) {
                ask(&model, 2);
            }
        })?;
        Ok(())
    });
}
