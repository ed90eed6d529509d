//! Panic messages of every model for inputs and targets of the wrong size, and predictions for no
//! rows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Tensor};
use burn_gp_models::{Predictions, training::TrainingData};

use super::{data, every_prediction};

/// Asserts that `mistake` panics with a message that contains all of these sizes.
#[track_caller]
fn assert_names<T>(what: &str, sizes: &[&str], mistake: impl FnOnce() -> T) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(mistake)) else {
        panic!("{what} passes");
    };
    let text = payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_default();
    for size in sizes {
        assert!(text.contains(size), "{what}: {size} is not in: {text}");
    }
}

#[test]
fn inputs_that_are_no_rows_of_the_models_are_refused() {
    for (name, model) in every_prediction(DType::F64) {
        let predictor = model.predictor().unwrap();
        let sizes = ["3 inputs", "rows of 2"];
        assert_names(&name, &sizes, || predictor.predict(&[1.0, 2.0, 3.0], 2));
        assert_names(&name, &sizes, || predictor.inputs(&[1.0, 2.0, 3.0], 2));
        assert_names(&name, &["3 inputs", "rows of 0"], || {
            predictor.predict(&[1.0, 2.0, 3.0], 0)
        });
        assert_names(&name, &["[2, 2]"], || {
            predictor.predict(&[1.0, 2.0, 3.0, 4.0], 2)
        });
    }
}

#[test]
fn targets_that_are_not_those_of_the_inputs_are_refused() {
    let inputs: Vec<f64> = (0..10).map(|row| 0.1 * f64::from(row)).collect();
    for (name, model) in every_prediction(DType::F64) {
        let predictor = model.predictor().unwrap();
        for count in [1, 9, 11] {
            let (targets, number) = (vec![0.5; count], format!("{count} targets"));
            let sizes = [number.as_str(), "10 rows"];
            assert_names(&name, &sizes, || {
                predictor.log_density(&inputs, 1, &targets)
            });
            assert_names(&name, &sizes, || predictor.score(&inputs, 1, &targets));
        }
        assert_names(&name, &["[10, 2]", "[10, 1]"], || {
            predictor.log_densities(&inputs, 1, &[0.5; 20])
        });
        assert_names(&name, &["1 targets", "0 rows"], || {
            predictor.log_density(&[], 1, &[0.5])
        });
    }
}

#[test]
fn no_rows_have_empty_predictions() {
    for dtype in [DType::F64, DType::F32] {
        for (name, model) in every_prediction(dtype) {
            let predictor = model.predictor().unwrap();
            assert_eq!(predictor.predict(&[], 1), Predictions::default(), "{name}");
            let densities = predictor.log_density(&[], 1, &[]).unwrap();
            assert!(densities.is_empty(), "{name}");
            let none = Tensor::zeros([0, 1], (&Device::default(), dtype));
            let marginals = predictor.marginals(none.clone());
            assert_eq!(marginals.mean.dims(), [0, 1], "{name}");
            assert_eq!(marginals.variance.dims(), [0, 1], "{name}");
            let draws = predictor.sample(none, 2, 0).unwrap();
            assert_eq!(draws.dims(), [2, 1, 0], "{name}");
            let some = data(dtype).inputs.narrow(0, 0, 3);
            assert_eq!(
                predictor.sample(some, 0, 0).unwrap().dims(),
                [0, 1, 3],
                "{name}"
            );
        }
    }
}

#[test]
fn training_data_of_other_sizes_are_refused() {
    let make = |inputs: &[f64], targets: &[f64], columns| {
        let device = Device::default();
        TrainingData::with_target_columns(inputs, targets, columns, &device, DType::F64)
    };
    let sizes = ["3 input values", "2 targets"];
    assert_names("three inputs of two rows", &sizes, || {
        make(&[1.0; 3], &[1.0; 2], 1)
    });
    let sizes = ["0 input values", "2 targets"];
    assert_names("no inputs", &sizes, || make(&[], &[1.0; 2], 1));
    assert_names("no targets", &["0 targets"], || make(&[1.0; 2], &[], 1));
    assert_names("no columns", &["0 columns"], || {
        make(&[1.0; 2], &[1.0; 2], 0)
    });
    let sizes = ["3 targets", "2 columns"];
    assert_names("three targets in two columns", &sizes, || {
        make(&[1.0; 2], &[1.0; 3], 2)
    });
}
