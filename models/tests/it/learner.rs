//! Mini-batch training in burn's loop, compared with the same steps one at a time.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
    train::{SupervisedTraining, checkpoint::FileCheckpointer, checkpoint::KeepLastNCheckpoints},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::{Jitter, NotPositiveDefinite, Stationary, cholesky},
    optim::NaturalGradient,
    parameter::numbers,
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{
        InducingTraining, LearnedModel, MiniBatchLearner, MiniBatchTrainer, MiniBatchTraining,
        Plateau, Schedule, StepRenderer, Trainer, TrainingData, TrainingError,
    },
};

const COUNT: usize = 90;

fn data(dtype: DType) -> TrainingData {
    let inputs: Vec<f64> = (0..COUNT).map(|n| n as f64 / 10.0 - 4.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (1.7 * x).sin()).collect();
    TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype)
}

fn model(data: &TrainingData) -> AnySvgp {
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let config = SvgpConfig::new(kernel, GaussianConfig { noise: 0.1 }).with_inducing(9);
    config.init(data).expect("distinct inputs")
}

/// Batches across the ends of epochs, and all settings that depend on the step.
fn training() -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: 32,
        schedule: Schedule::Cosine {
            final_fraction: 0.1,
        },
        plateau: Some(Plateau::new(3)),
        gradient_norm: Some(0.5),
        natural_gradient: Some(NaturalGradient::new(0.1).with_warm_up(1e-3, 20)),
        inducing: Some(InducingTraining {
            frozen_steps: 4,
            learning_rate: Some(3e-3),
            beta_1: 0.99,
            plateau: Some(Plateau::new(2)),
        }),
        ..MiniBatchTraining::new(30)
    }
}

fn trainer(dtype: DType, training: MiniBatchTraining) -> MiniBatchTrainer<AnySvgp> {
    let data = data(dtype);
    MiniBatchTrainer::new(model(&data), data, training)
}

fn learner(dtype: DType, training: MiniBatchTraining) -> MiniBatchLearner<AnySvgp> {
    let data = data(dtype);
    MiniBatchLearner::new(model(&data), data, training)
}

/// Training for at most `rounds` rounds of seven steps, without files.
fn rounds(
    learner: &MiniBatchLearner<AnySvgp>,
    rounds: usize,
) -> SupervisedTraining<LearnedModel<AnySvgp>> {
    let batches = learner.batches(|step| step.is_multiple_of(7));
    SupervisedTraining::new("no-folder", batches, learner.examinations(|_| None))
        .num_epochs(rounds)
        .renderer(Box::new(StepRenderer::silent()))
        .with_application_logger(None)
}

/// All trained numbers of a model.
fn parameters(model: &AnySvgp) -> Vec<f64> {
    struct Numbers(Vec<f64>);
    impl ModuleVisitor for Numbers {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.extend(numbers(param.val()));
        }
    }
    let mut numbers = Numbers(Vec::new());
    model.visit(&mut numbers);
    numbers.0
}

fn temporary(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("burn-gp-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder for temporary files");
    folder
}

#[test]
fn a_learner_makes_the_steps_of_a_trainer_bit_for_bit() {
    for dtype in [DType::F32, DType::F64] {
        for natural in [true, false] {
            let mut training = training();
            training.natural_gradient = training.natural_gradient.filter(|_| natural);
            let mut trainer = trainer(dtype, training.clone());
            let start = parameters(trainer.model());
            while !trainer.is_finished() {
                trainer.step().expect("the step is sound");
            }
            let mut learner = learner(dtype, training);
            assert_eq!(parameters(learner.model()), start);
            // The fifth round has two steps, the sixth has none.
            let supervised = rounds(&learner, 6);
            learner.fit(supervised).expect("all steps are sound");
            assert!(learner.is_finished());
            assert_eq!(parameters(learner.model()), parameters(trainer.model()));
            assert_ne!(parameters(learner.model()), start);
        }
    }
}

/// The numbers of a model after the steps of a trainer on several devices.
fn on_devices(training: &MiniBatchTraining, devices: &[Device]) -> Vec<f64> {
    let mut trainer = trainer(DType::F64, training.clone()).on_devices(devices);
    while !trainer.is_finished() {
        trainer.step().expect("the step is sound");
    }
    parameters(trainer.model())
}

/// Batches of 32 rows in two and in three parts, on one CPU that is named several times.
#[test]
fn several_devices_make_the_steps_of_one() {
    for (count, natural) in [(2, true), (2, false), (3, true)] {
        let mut training = training();
        training.natural_gradient = training.natural_gradient.filter(|_| natural);
        let mut trainer = trainer(DType::F64, training.clone());
        let start = parameters(trainer.model());
        while !trainer.is_finished() {
            trainer.step().expect("the step is sound");
        }
        let devices = vec![Device::default().autodiff(); count];
        let mut learner = learner(DType::F64, training.clone()).on_devices(&devices);
        let supervised = rounds(&learner, 6);
        learner.fit(supervised).expect("all steps are sound");
        assert_eq!(learner.steps_made(), 30);
        let (ours, expected) = (parameters(learner.model()), parameters(trainer.model()));
        let difference = |other: &[f64]| {
            let pairs = other.iter().zip(&expected);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        // Thirty steps with gradients whose sums are in another order.
        println!(
            "{count} devices: parameters differ by {:e}",
            difference(&ours)
        );
        assert!(difference(&ours) < 1e-10, "{count} devices");
        assert!(difference(&start) > 1e-2);
        let ours = on_devices(&training, &devices);
        assert!(difference(&ours) < 1e-10, "{count} devices, a trainer");
        assert_eq!(ours, on_devices(&training, &devices));
    }
}

#[test]
#[should_panic(expected = "a batch of 2 rows cannot be divided among 3 devices")]
fn a_batch_has_a_row_for_each_device() {
    let training = MiniBatchTraining {
        batch_size: 2,
        ..training()
    };
    let devices = vec![Device::default().autodiff(); 3];
    let _ = learner(DType::F64, training).on_devices(&devices);
}

#[test]
fn devices_without_collective_operations_have_no_replicas() {
    let devices = vec![Device::default().autodiff(); 2];
    let refused = learner(DType::F64, training()).distributed_on(&devices);
    let Err(error) = refused else {
        panic!("a CPU has no collective operations")
    };
    println!("{error}");
    assert!(
        matches!(error, TrainingError::NoCollectives { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("on_devices"), "{error}");
}

/// One CUDA device has the only replica, and NCCL sums over it alone.
#[cfg(feature = "cuda")]
#[test]
fn a_replica_makes_the_steps_of_a_trainer() {
    for natural in [true, false] {
        let mut training = training();
        training.natural_gradient = training.natural_gradient.filter(|_| natural);
        let mut trainer = trainer(DType::F32, training.clone());
        while !trainer.is_finished() {
            trainer.step().expect("the step is sound");
        }
        let device = Device::default().autodiff();
        let learner = learner(DType::F32, training).distributed_on(&[device]);
        let mut learner = learner.expect("the default device is CUDA's");
        let supervised = rounds(&learner, 6);
        learner.fit(supervised).expect("all steps are sound");
        assert_eq!(learner.steps_made(), 30);
        let (ours, expected) = (parameters(learner.model()), parameters(trainer.model()));
        let differences = ours.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        let worst = differences.fold(0.0, f64::max);
        println!("a replica: parameters differ by {worst:e}");
        assert!(worst < 1e-3, "{worst:e}");
    }
}

/// After one step with a learning rate of 1e200, the loss of the second step is NaN.
#[test]
fn a_loss_that_is_not_finite_does_not_reach_the_parameters() {
    let training = MiniBatchTraining {
        learning_rate: 1e200,
        natural_gradient: None,
        schedule: Schedule::Constant,
        ..training()
    };
    let mut trainer = trainer(DType::F64, training.clone());
    trainer.step().expect("the first step is sound");
    let expected = trainer.step().expect_err("the second is not");
    let mut learner = learner(DType::F64, training);
    let supervised = rounds(&learner, 5);
    let error = learner.fit(supervised).expect_err("neither is it here");
    assert_eq!(error.to_string(), expected.to_string());
    assert_eq!(learner.steps_made(), 1);
    assert_eq!(
        format!("{:?}", parameters(learner.model())),
        format!("{:?}", parameters(trainer.model()))
    );
}

#[test]
fn a_natural_step_without_a_distribution_is_an_error() {
    let data = data(DType::F64);
    let frozen = {
        struct Freeze;
        impl burn::module::ModuleMapper for Freeze {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let hyperparameter = D == 1;
                param.set_require_grad(hyperparameter)
            }
        }
        model(&data).map(&mut Freeze)
    };
    let mut learner = MiniBatchLearner::new(frozen, data, training());
    let supervised = rounds(&learner, 5);
    let error = learner.fit(supervised).expect_err("nothing to step on");
    assert!(matches!(error, TrainingError::NoDistribution), "{error}");
    assert_eq!(learner.steps_made(), 0);
}

/// Restores from the records that burn's checkpointers receive after the second round.
#[test]
fn a_restored_learner_goes_on_bit_for_bit() {
    for dtype in [DType::F32, DType::F64] {
        restored_learner_goes_on(dtype);
    }
}

fn restored_learner_goes_on(dtype: DType) {
    let new = || learner(dtype, training());
    let mut undisturbed = new();
    let supervised = rounds(&undisturbed, 5);
    undisturbed.fit(supervised).expect("all steps are sound");

    let folder = temporary("learner");
    let mut stopped = new();
    let checkpointer = |name| FileCheckpointer::new(&folder, name);
    let supervised = rounds(&stopped, 2)
        .with_custom_checkpointers(
            checkpointer("model"),
            checkpointer("optimizer"),
            checkpointer("scheduler"),
        )
        .with_checkpointing_strategy(KeepLastNCheckpoints::new(1));
    stopped.fit(supervised).expect("all steps are sound");
    for name in ["model", "optimizer", "scheduler"] {
        let saved = folder.join(format!("{name}-2.bpk"));
        std::fs::rename(saved, folder.join(format!("{name}.bpk"))).expect("burn wrote it");
    }
    let mut resumed = new();
    resumed.restore(&folder).expect("its own checkpoint");
    assert_eq!(resumed.steps_made(), 14);
    // The learner also accepts a record from before training.
    resumed
        .record()
        .save(&folder)
        .expect("the folder is writable");
    let mut again = new();
    again.restore(&folder).expect("its own checkpoint");
    for mut learner in [resumed, again] {
        let supervised = rounds(&learner, 3);
        learner.fit(supervised).expect("all steps are sound");
        assert_eq!(parameters(learner.model()), parameters(undisturbed.model()));
    }
    std::fs::write(folder.join("scheduler.bpk"), "nonsense").expect("it is writable");
    let error = new().restore(&folder).expect_err("it is damaged");
    assert!(error.to_string().contains("scheduler.bpk"), "{error}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

fn not_positive_definite() -> NotPositiveDefinite {
    let matrix = Tensor::<3>::zeros([1, 2, 2], &Device::default()).neg();
    let jitter = Jitter {
        initial: 0.0,
        escalations: 0,
    };
    cholesky(matrix, jitter).expect_err("zero is not positive definite")
}

/// Examinations use the current model when they are due. An error in one ends training.
#[test]
fn a_model_is_examined_between_rounds() {
    let mut learner = learner(DType::F64, training());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let examined = Arc::clone(&seen);
    let examinations = learner.examinations(move |step| {
        let seen = Arc::clone(&examined);
        (step != 14).then_some(Box::new(move |model: &AnySvgp| {
            seen.lock().unwrap().push((step, parameters(model)));
            if step < 21 {
                Ok(0.5)
            } else {
                Err(not_positive_definite().into())
            }
        }))
    });
    let batches = learner.batches(|step| step.is_multiple_of(7));
    let supervised = SupervisedTraining::new("no-folder", batches, examinations)
        .num_epochs(5)
        .renderer(Box::new(StepRenderer::silent()))
        .with_application_logger(None);
    let error = learner
        .fit(supervised)
        .expect_err("the third examination fails");
    assert!(
        matches!(error, TrainingError::Factorization { step: 21, .. }),
        "{error}"
    );
    let mut trainer = trainer(DType::F64, training());
    let seen = seen.lock().unwrap();
    let steps: Vec<usize> = seen.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [7, 21]);
    for (step, parameters_then) in seen.iter() {
        while trainer.steps_made() < *step {
            trainer.step().expect("the step is sound");
        }
        assert_eq!(*parameters_then, parameters(trainer.model()));
    }
}
