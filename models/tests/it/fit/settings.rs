//! Settings of mini-batches, all at once or by methods.

use burn_gp_models::training::{MiniBatchTraining, Plateau, TrainingDefaults};

use super::*;

const STEPS: usize = 25;

/// The means that a model predicts after training by `fit`.
fn means(fit: Fit) -> Vec<f64> {
    let fit = fit.on((&Device::default(), DType::F64));
    let gp = svgp(GaussianConfig::default()).fit(inputs(), targets(), &fit);
    numbers(gp.unwrap().predict(new()).unwrap().mean())
}

fn settings() -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: 8,
        learning_rate: 0.1,
        schedule: TrainingDefaults::SCHEDULE,
        gradient_norm: Some(1.0),
        seed: 3,
        ..MiniBatchTraining::new(STEPS)
    }
}

#[test]
fn settings_are_those_of_the_methods() {
    let methods = Fit::adam(0.1).steps(STEPS).batch_size(8);
    let expected = means(methods.gradient_norm(1.0).seed(3));
    assert_eq!(means(Fit::new().mini_batches(settings())), expected);
    // The methods come first, in any order.
    let other = MiniBatchTraining {
        batch_size: 11,
        learning_rate: 0.01,
        seed: 4,
        ..settings()
    };
    let changed = Fit::adam(0.1).batch_size(8).mini_batches(other).seed(3);
    assert_eq!(means(changed), expected);
}

#[test]
fn settings_without_a_method_have_an_effect() {
    let with = Fit::new().mini_batches(settings().with_plateau(Plateau::new(1)));
    assert_ne!(means(with), means(Fit::new().mini_batches(settings())));
}

#[test]
fn models_on_all_data_refuse_mini_batches() {
    let fit = Fit::new().mini_batches(settings());
    let refused = exact().fit(inputs(), targets(), &fit).err().unwrap();
    let option = "mini_batches";
    assert!(
        matches!(refused, Error::Unused { option: own, .. } if own == option),
        "{refused}"
    );
}
