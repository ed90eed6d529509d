//! The priors of a configuration are part of the objective of every trainer of its model.

use burn::tensor::DType;
use burn_gp_core::parameter::{Parameters, Prior};
use burn_gp_models::{
    AnyModel, ModelConfig,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, MiniBatchLearner,
        MiniBatchTrainer, MiniBatchTraining, Schedule, Trainer, TrainingData,
    },
};

use super::{Check, ROWS, check, data, every_model};

const PATH: &str = "likelihood.noise";

const PRIOR: Prior = Prior::Gamma {
    shape: 3.0,
    rate: 7.0,
};

/// The log density of the prior of the logarithm at a noise variance.
fn log_density(noise: f64) -> f64 {
    // Γ(3) = 2.
    3.0 * 7f64.ln() - 2f64.ln() + 3.0 * noise.ln() - 7.0 * noise
}

/// The same configuration with the prior.
fn with_prior(mut config: ModelConfig) -> ModelConfig {
    let parameters = config.parameters().expect("every model has parameters");
    parameters.priors.0.insert(PATH.to_owned(), PRIOR);
    config
}

/// The losses of the first step of every trainer, and the noise variances at that step.
#[derive(Default)]
struct FirstLosses(std::cell::RefCell<Vec<(f64, f64)>>);

fn noise_of(model: &impl burn::module::Module) -> f64 {
    let paths = model.parameter_paths();
    let path = paths.iter().find(|path| path.ends_with(PATH)).unwrap();
    model.parameter(path).unwrap()[0]
}

impl Check for FirstLosses {
    fn full_batch(&self, _name: &str, model: AnyModel, data: TrainingData) {
        let training = FullBatchTraining {
            optimizer: FullBatchOptimizer::Adam {
                learning_rate: 0.01,
                schedule: Schedule::Constant,
            },
            ..FullBatchTraining::default()
        };
        let noise = noise_of(&model);
        let mut trainer = FullBatchTrainer::new(model.clone(), data.clone(), training);
        self.0
            .borrow_mut()
            .push((trainer.step().unwrap().loss, noise));
    }

    fn mini_batch(&self, _name: &str, model: AnyModel, data: TrainingData) {
        let (training, noise) = (MiniBatchTraining::new(3), noise_of(&model));
        let learner = MiniBatchLearner::new(model.clone(), data.clone(), training.clone());
        let mut trainer = MiniBatchTrainer::new(model, data, training);
        assert_eq!(learner.priors(), trainer.priors());
        self.0
            .borrow_mut()
            .push((trainer.step().unwrap().loss, noise));
    }
}

#[test]
fn priors_of_a_configuration_are_in_the_loss_of_every_trainer() {
    for dtype in [DType::F64, DType::F32] {
        for config in every_model() {
            let losses = |config: ModelConfig| {
                let losses = FirstLosses::default();
                check(&losses, config, data(dtype));
                losses.0.into_inner()
            };
            let (without, with) = (losses(config.clone()), losses(with_prior(config.clone())));
            for ((without, noise), (with, _)) in without.into_iter().zip(with) {
                let expected = -log_density(noise) / ROWS as f64;
                let tolerance = if dtype == DType::F64 { 1e-12 } else { 2e-5 };
                let error = with - without - expected;
                assert!(
                    error.abs() < tolerance * without.abs().max(1.0),
                    "{dtype:?}, {config:?}: {with} − {without}, not {expected}"
                );
            }
        }
    }
}
