//! Models are not conditioned on numbers that are not finite.

use burn::tensor::Tensor;
use burn_gp_core::inference::ConditionError;
use burn_gp_models::{
    AnyModel,
    training::{Model, TrainingData},
};

use super::{Check, check_every_model};

/// `trained` is an error, or a model that has no use for the number.
struct Refuses;

/// The values with another one in row 5.
fn spoiled(values: &Tensor<2>, value: f64) -> Tensor<2> {
    let row = values.clone().narrow(0, 5, 1) * 0.0 + value;
    let [rows, _] = values.dims();
    let (first, last) = (
        values.clone().narrow(0, 0, 5),
        values.clone().narrow(0, 6, rows - 6),
    );
    Tensor::cat(vec![first, row, last], 0)
}

impl Refuses {
    fn assert(&self, name: &str, model: &AnyModel, data: &TrainingData, uses_targets: bool) {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let what = format!("{name}, {value}");
            let of_targets = model.trained(&TrainingData {
                inputs: data.inputs.clone(),
                targets: spoiled(&data.targets, value),
            });
            match of_targets {
                Err(ConditionError::Target(target)) => assert_eq!(target.row, 5, "{what}"),
                Err(error) => panic!("{what}: {error}"),
                Ok(_) => assert!(!uses_targets, "{what}"),
            }
            let of_inputs = model.trained(&TrainingData {
                inputs: spoiled(&data.inputs, value),
                targets: data.targets.clone(),
            });
            match of_inputs {
                Err(ConditionError::Input { row, column, .. }) => {
                    assert_eq!((row, column), (5, 0), "{what}");
                }
                Err(error) => panic!("{what}: {error}"),
                Ok(trained) => {
                    assert!(!uses_targets, "{what}");
                    let predicted = trained.predictor().unwrap().predict(&[0.5], 1);
                    assert!(predicted.mean[0].is_finite(), "{what}");
                }
            }
        }
    }
}

impl Check for Refuses {
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        self.assert(name, &model, &data, true);
    }

    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        if !model.needs_all_data() {
            self.assert(name, &model, &data, false);
        }
    }
}

#[test]
fn data_that_are_not_finite_are_refused() {
    check_every_model(&Refuses);
}
