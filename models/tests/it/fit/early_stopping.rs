//! Training that ends when held-out rows are no longer predicted better.

use burn_gp_core::metrics::negative_log_density;
use burn_gp_models::{
    DeepKernelConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, NetworkTraining, Trainer, TrainingData},
};

use super::*;

const EPOCHS: usize = 60;
const BATCH: usize = 10;
const RATE: f64 = 0.1;
const PATIENCE: usize = 4;

/// A network in front of a kernel, and little data: training for too long overfits.
fn network() -> DeepKernelConfig<SvgpConfig> {
    DeepKernelConfig {
        features: 2,
        ..DeepKernelConfig::new(svgp(GaussianConfig::default()))
    }
}

/// Inputs and targets with noise, of training and of validation.
fn rows() -> [(Vec<f64>, Vec<f64>); 2] {
    let part = |offset: usize| {
        let x: Vec<f64> = (0..20)
            .map(|row| (2 * row + offset) as f64 / 10.0)
            .collect();
        let y = x.iter().map(|x| x.sin() + 0.4 * (91.0 * x).sin()).collect();
        (x, y)
    };
    [part(0), part(1)]
}

fn options() -> Fit {
    Fit::adam(RATE)
        .epochs(EPOCHS)
        .batch_size(BATCH)
        .scale_inputs(false)
        .scale_targets(false)
        .default_priors(false)
        .on((&Device::default(), DType::F64))
}

/// The score after every epoch of training without early stopping, and the means that each model predicts.
fn reference() -> Vec<(f64, Vec<f64>)> {
    let [(x, y), (new_x, new_y)] = rows();
    let data = TrainingData::new(&x, &y, &Device::default(), DType::F64);
    let config = ModelConfig::from(network());
    let training = MiniBatchTraining {
        batch_size: BATCH,
        learning_rate: RATE,
        weight_decay: NetworkTraining::WEIGHT_DECAY,
        ..MiniBatchTraining::new(EPOCHS * x.len() / BATCH)
    };
    let model = config.init(&data).expect("a model");
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    let mut scores = Vec::new();
    while !trainer.is_finished() {
        trainer.step().expect("a step");
        if trainer.steps_made().is_multiple_of(x.len() / BATCH) {
            let trained = trainer.model().trained(&data).expect("a trained model");
            let predictor = trained.predictor().expect("a predictor");
            let densities = predictor.log_density(&new_x, 1, &new_y).expect("densities");
            let means = predictor.predict(&new_x, 1).mean;
            scores.push((negative_log_density(&densities), means));
        }
    }
    scores
}

/// The model of the best epoch is kept, and training ends after as many epochs as the patience.
#[test]
fn the_best_model_is_kept() {
    let [(x, y), (new_x, new_y)] = rows();
    let scores = reference();
    let (mut best, mut last) = (0, scores.len() - 1);
    for (epoch, (score, _)) in scores.iter().enumerate().skip(1) {
        if *score < scores[best].0 {
            best = epoch;
        } else if epoch == best + PATIENCE {
            last = epoch;
            break;
        }
    }
    // The problem shows early stopping: it comes before the last epoch.
    assert!(last + 1 < EPOCHS && best > 0, "{best}, {last}");
    let mut steps = 0;
    let watch = |_| {
        steps += 1;
        ControlFlow::Continue(())
    };
    let fit = options().early_stopping(&new_x, &new_y, PATIENCE);
    let fitted = network().fit_with(&x, &y, &fit, watch).expect("a model");
    let epoch = x.len() / BATCH;
    assert_eq!(steps, (last + 1) * epoch);
    assert_eq!(fitted.best_step(), Some((best + 1) * epoch));
    let predicted = fitted.predict(&new_x).expect("predictions");
    assert_eq!(predicted.predictions().mean, scores[best].1);
}

/// Validation rows are scaled like training rows: with scaled data, the best model is another, but it is found.
#[test]
fn scaled_data_stop_early_too() {
    let [(x, y), (new_x, new_y)] = rows();
    let far = |values: &[f64]| values.iter().map(|y| 500.0 + 20.0 * y).collect::<Vec<_>>();
    let fit = options().scale_targets(true).scale_inputs(true);
    let fit = fit.early_stopping(&new_x, far(&new_y), PATIENCE);
    let fitted = network().fit(&x, far(&y), &fit).expect("a model");
    assert!(fitted.best_step().is_some());
    let predicted = fitted.predict(&new_x).expect("predictions");
    let mean = &predicted.predictions().mean;
    let squares = mean.iter().zip(far(&new_y)).map(|(a, b)| (a - b).powi(2));
    let rmse = (squares.sum::<f64>() / mean.len() as f64).sqrt();
    // The noise of these rows alone is 0.4·20/√2 = 5.7; a wrong scale would be off by hundreds.
    assert!(rmse < 14.0, "{rmse}");
}

#[test]
fn impossible_validation_rows_are_errors() {
    let [(x, y), (new_x, new_y)] = rows();
    let error = |fit: Fit| network().fit(&x, &y, &fit).expect_err("an error");
    let stopping = |patience| options().early_stopping(&new_x, &new_y, patience);
    let text = error(stopping(0)).to_string();
    assert!(text.contains("the patience"), "{text}");
    let found = error(options().early_stopping(&new_x, [1.0, 2.0], 3));
    assert!(
        matches!(
            found,
            Error::Rows {
                inputs: 20,
                targets: 2
            }
        ),
        "{found}"
    );
    let found = error(options().early_stopping(vec![[1.0, 2.0]; 20], &new_y, 3));
    assert!(
        matches!(
            found,
            Error::InputColumns {
                found: 2,
                expected: 1
            }
        ),
        "{found}"
    );
    let found = error(stopping(3).restarts(2));
    assert!(
        matches!(
            found,
            Error::Unused {
                option: "early_stopping",
                ..
            }
        ),
        "{found}"
    );
}
