//! Frozen parameters do not change in training, whoever updates them.

use burn_gp_core::{
    inducing::InducingConfig,
    inference::ActionStart,
    optim::NaturalGradient,
    parameter::Parameters,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, PosteriorConfig, SolveGpConfig,
    },
};
use burn_gp_models::{
    ActionsConfig, AnyModel, ComputationAwareConfig, SvgpConfig,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, MiniBatchTrainer,
        MiniBatchTraining, Schedule, Trainer, TrainingData,
    },
};

use super::{Check, KERNEL, check, check_every_model, data, noise};

const STEPS: usize = 3;

const ADAM: FullBatchOptimizer = FullBatchOptimizer::Adam {
    learning_rate: 0.05,
    schedule: Schedule::Constant,
};

/// Freezes each parameter in turn, and compares its values, to the bit, after some steps.
struct Stays {
    natural_gradient: Option<NaturalGradient>,
}

impl Stays {
    fn after_steps(&self, name: &str, model: &AnyModel, run: impl Fn(AnyModel) -> AnyModel) {
        let paths = model.parameter_paths();
        assert!(paths.len() > 1, "{name}: {paths:?}");
        for path in paths {
            let before = model.parameter(&path).unwrap();
            let frozen = model.clone().with_frozen(&path).unwrap();
            let after = run(frozen).parameter(&path).unwrap();
            assert_eq!(before, after, "{name}: {path}");
        }
    }
}

impl Check for Stays {
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        for optimizer in [FullBatchOptimizer::L_BFGS, ADAM] {
            self.after_steps(&format!("{name}, {optimizer:?}"), &model, |model| {
                let training = FullBatchTraining {
                    iterations: STEPS,
                    optimizer,
                    ..FullBatchTraining::default()
                };
                let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
                while !trainer.is_finished() {
                    trainer.step().unwrap();
                }
                trainer.into_model()
            });
        }
    }

    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        self.after_steps(name, &model, |model| {
            let training = MiniBatchTraining {
                natural_gradient: self.natural_gradient,
                ..MiniBatchTraining::new(STEPS)
            };
            let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
            while !trainer.is_finished() {
                trainer.step().unwrap();
            }
            trainer.into_model()
        });
    }
}

#[test]
fn frozen_parameters_of_every_model_stay() {
    let natural_gradient = None;
    check_every_model(&Stays { natural_gradient });
}

/// Some posteriors and actions update parameters of their own after a step.
#[test]
fn frozen_parameters_with_an_update_of_their_own_stay() {
    let posteriors: [PosteriorConfig; 4] = [
        InverseFreeConfig::default().into(),
        LSvgpConfig::default().into(),
        SolveGpConfig::default().into(),
        OrthogonallyDecoupledConfig::default()
            .with_columns(2)
            .into(),
    ];
    for dtype in [burn::tensor::DType::F64, burn::tensor::DType::F32] {
        for posterior in &posteriors {
            let orthogonal = if posterior.has_orthogonal_set() { 4 } else { 0 };
            let config = SvgpConfig::new(KERNEL, noise())
                .with_posterior(posterior.clone())
                .with_inducing(InducingConfig::new(6).with_orthogonal(orthogonal));
            let natural_gradient = None;
            check(&Stays { natural_gradient }, config.into(), data(dtype));
        }
        let config = SvgpConfig::new(KERNEL, noise()).with_inducing(6);
        let natural_gradient = Some(NaturalGradient::new(0.1));
        check(&Stays { natural_gradient }, config.into(), data(dtype));
        let actions = ActionsConfig::Blocks {
            count: 4,
            at_most: false,
            start: ActionStart::Targets,
            seed: 0,
            rows: Default::default(),
        };
        let config = ComputationAwareConfig::new(KERNEL).with_actions(actions);
        let natural_gradient = None;
        check(&Stays { natural_gradient }, config.into(), data(dtype));
    }
}

/// A parameter that is not frozen moves, also if it has an update of its own.
#[test]
fn the_auxiliary_matrix_moves_unless_it_is_frozen() {
    let config = SvgpConfig::new(KERNEL, noise())
        .with_posterior(InverseFreeConfig::default())
        .with_inducing(6);
    let data = data(burn::tensor::DType::F64);
    let model = config.init(&data).unwrap();
    let path = "posterior.auxiliary";
    let moved = |model: burn_gp_models::AnySvgp| {
        let before = model.parameter(path).unwrap();
        let mut trainer = MiniBatchTrainer::new(model, data.clone(), MiniBatchTraining::new(STEPS));
        while !trainer.is_finished() {
            trainer.step().unwrap();
        }
        trainer.model().parameter(path).unwrap() != before
    };
    assert!(moved(model.clone()));
    assert!(!moved(model.clone().with_frozen(path).unwrap()));
    assert!(!moved(model.with_frozen("posterior").unwrap()));
}
