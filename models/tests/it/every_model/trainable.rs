//! Every model can be trained, and every trainer refuses a model that no step would change.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Tensor},
    train::SupervisedTraining,
};
use burn_gp_core::parameter::Parameters;
use burn_gp_models::{
    AnyModel, ExactConfig,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, MiniBatchLearner,
        MiniBatchTrainer, MiniBatchTraining, NothingToTrain, Schedule, StepRenderer, Trainer,
        TrainingData, TrainingError,
    },
};

use super::{Check, KERNEL, check_every_model, data, noise};

fn full_batch_training(optimizer: FullBatchOptimizer) -> FullBatchTraining {
    FullBatchTraining {
        iterations: 3,
        optimizer,
        ..FullBatchTraining::default()
    }
}

const OPTIMIZERS: [FullBatchOptimizer; 2] = [
    FullBatchOptimizer::L_BFGS,
    FullBatchOptimizer::Adam {
        learning_rate: 0.01,
        schedule: Schedule::Constant,
    },
];

/// The stored numbers of all trained parameters.
fn trained(model: &impl Module) -> Vec<Vec<f64>> {
    #[derive(Default)]
    struct Trained(Vec<Vec<f64>>);
    impl ModuleVisitor for Trained {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            let value = parameter.val();
            if value.is_require_grad() {
                self.0.push(value.into_data().iter::<f64>().collect());
            }
        }
    }
    let mut trained = Trained::default();
    model.visit(&mut trained);
    trained.0
}

/// A step changes a parameter, and a second call of `train` makes no other parameter trainable.
struct Trains;

impl Check for Trains {
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        assert_eq!(trained(&model), trained(&model.clone().train()), "{name}");
        for optimizer in OPTIMIZERS {
            let training = full_batch_training(optimizer);
            let mut trainer = FullBatchTrainer::new(model.clone(), data.clone(), training);
            trainer
                .step()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_ne!(trained(trainer.model()), trained(&model), "{name}");
        }
    }

    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        assert_eq!(trained(&model), trained(&model.clone().train()), "{name}");
        let training = MiniBatchTraining::new(3);
        let mut trainer = MiniBatchTrainer::new(model.clone(), data, training);
        trainer
            .step()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_ne!(trained(trainer.model()), trained(&model), "{name}");
    }
}

#[test]
fn the_model_of_every_configuration_can_be_trained() {
    check_every_model(&Trains);
}

/// Every trainer refuses the model after `change`, with the reason.
struct Refused {
    reason: NothingToTrain,
}

impl Refused {
    fn changed<M: Module>(&self, model: &M) -> M {
        match self.reason {
            NothingToTrain::Untracked => model.valid(),
            _ => model.clone().no_grad(),
        }
    }

    fn assert(&self, name: &str, outcome: Result<impl std::fmt::Debug, TrainingError>) {
        match outcome {
            Err(TrainingError::NothingToTrain { step: 1, source }) => {
                assert_eq!(source, self.reason, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

impl Check for Refused {
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        for optimizer in OPTIMIZERS {
            let training = full_batch_training(optimizer);
            let model = self.changed(&model);
            self.assert(
                name,
                FullBatchTrainer::new(model, data.clone(), training).step(),
            );
        }
    }

    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        let (model, training) = (self.changed(&model), MiniBatchTraining::new(3));
        let mut trainer = MiniBatchTrainer::new(model.clone(), data.clone(), training.clone());
        self.assert(name, trainer.step());
        let mut learner = MiniBatchLearner::new(model, data, training);
        let (batches, none) = (learner.batches(|_| true), learner.examinations(|_| None));
        let supervised = SupervisedTraining::new("no-folder", batches, none)
            .num_epochs(3)
            .renderer(Box::new(StepRenderer::silent()))
            .with_application_logger(None);
        self.assert(name, learner.fit(supervised));
        assert_eq!(learner.steps_made(), 0, "{name}");
    }
}

#[test]
fn every_trainer_refuses_a_model_without_autodiff() {
    check_every_model(&Refused {
        reason: NothingToTrain::Untracked,
    });
}

#[test]
fn every_trainer_refuses_a_model_whose_parameters_are_all_frozen() {
    check_every_model(&Refused {
        reason: NothingToTrain::Frozen,
    });
}

/// A model with a single free parameter is trained.
#[test]
fn a_model_with_a_single_free_parameter_is_trained() {
    let data = data(DType::F64);
    let config = ExactConfig::new(KERNEL).with_likelihood(noise());
    let model = config.init(&data).unwrap();
    let model = model.with_frozen("kernel").unwrap();
    let training = full_batch_training(FullBatchOptimizer::L_BFGS);
    let mut trainer = FullBatchTrainer::new(model, data, training);
    let before = trainer.model().parameter("likelihood.noise").unwrap();
    trainer.step().unwrap();
    assert_ne!(
        trainer.model().parameter("likelihood.noise").unwrap(),
        before
    );
}
