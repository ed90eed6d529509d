//! Inducing points with separate training settings.

use std::path::PathBuf;

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary, parameter::numbers,
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{
        InducingTraining, MiniBatchTrainer, MiniBatchTraining, Plateau, Trainer, TrainingData,
    },
};

const COUNT: usize = 90;

fn trainer(training: MiniBatchTraining, dtype: DType) -> MiniBatchTrainer<AnySvgp> {
    let inputs: Vec<f64> = (0..COUNT).map(|n| n as f64 / 10.0 - 4.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (1.7 * x).sin()).collect();
    let data = TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype);
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let config = SvgpConfig::new(kernel, GaussianConfig { noise: 0.1 }).with_inducing(9);
    let model = config.init(&data).expect("distinct inputs");
    MiniBatchTrainer::new(model, data, training)
}

fn training(inducing: Option<InducingTraining>) -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: 32,
        inducing,
        ..MiniBatchTraining::new(60)
    }
}

/// The inducing points, and all other trained numbers of a model.
fn parameters(model: &AnySvgp) -> (Vec<f64>, Vec<f64>) {
    #[derive(Default)]
    struct Numbers {
        path: Vec<String>,
        points: Vec<f64>,
        others: Vec<f64>,
    }
    impl ModuleVisitor for Numbers {
        fn enter_module(&mut self, name: &str, _container_type: &str) {
            self.path.push(name.to_string());
        }
        fn exit_module(&mut self, _name: &str, _container_type: &str) {
            self.path.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let inducing = self.path.iter().any(|name| name == "inducing");
            let numbers = numbers(param.val());
            if inducing {
                &mut self.points
            } else {
                &mut self.others
            }
            .extend(numbers);
        }
    }
    let mut numbers = Numbers::default();
    model.visit(&mut numbers);
    assert_eq!(numbers.points.len(), 9, "nine points on a line");
    (numbers.points, numbers.others)
}

fn step(trainer: &mut MiniBatchTrainer<AnySvgp>) -> f64 {
    trainer.step().expect("the step is sound").loss
}

fn largest_change(before: &[f64], after: &[f64]) -> f64 {
    let changes = before.iter().zip(after).map(|(a, b)| (a - b).abs());
    changes.fold(0.0, f64::max)
}

#[test]
fn without_differences_training_is_the_same() {
    for dtype in [DType::F32, DType::F64] {
        let mut plain = trainer(training(None), dtype);
        let mut same = trainer(training(Some(InducingTraining::default())), dtype);
        for _ in 0..9 {
            assert_eq!(step(&mut plain), step(&mut same));
        }
        assert_eq!(parameters(plain.model()), parameters(same.model()));
    }
}

#[test]
fn frozen_points_stay_and_the_others_move() {
    let frozen_steps = 5;
    let mut trainer = trainer(
        training(Some(InducingTraining {
            frozen_steps,
            ..InducingTraining::default()
        })),
        DType::F64,
    );
    let (first, mut others) = parameters(trainer.model());
    for made in 1..=frozen_steps + 2 {
        step(&mut trainer);
        let now = parameters(trainer.model());
        assert_eq!(now.0 == first, made <= frozen_steps, "after {made} steps");
        assert_ne!(now.1, others, "after {made} steps");
        others = now.1;
    }
}

/// At the prior the loss does not depend on the points. Adam's second step, the first with a
/// gradient, is `√(1 + β₂)/(1 + β₁)` times the learning rate in every coordinate.
#[test]
fn points_have_their_own_rate_and_momentum() {
    for beta_1 in [0.99, 0.0] {
        let inducing = InducingTraining {
            learning_rate: Some(1e-4),
            beta_1,
            ..InducingTraining::default()
        };
        let mut trainer = trainer(training(Some(inducing)), DType::F64);
        let (points, others) = parameters(trainer.model());
        step(&mut trainer);
        let (after_one, moved_others) = parameters(trainer.model());
        assert_eq!(points, after_one);
        // Up to ε divided by the magnitude of the gradient.
        let far = largest_change(&others, &moved_others);
        assert!((far / 0.01 - 1.0).abs() < 1e-3, "{far}");
        step(&mut trainer);
        let near = largest_change(&points, &parameters(trainer.model()).0);
        let expected = 1e-4 * 1.999f64.sqrt() / (1.0 + beta_1);
        assert!((near / expected - 1.0).abs() < 1e-3, "{near}");
    }
}

/// With a factor of zero, the points stop at the first plateau of the losses.
#[test]
fn the_rate_of_the_points_goes_down_on_a_plateau() {
    let patience = 3;
    let plateau = Plateau {
        factor: 0.0,
        lowest: 0.0,
        ..Plateau::new(patience)
    };
    let mut trainer = trainer(
        training(Some(InducingTraining {
            plateau: Some(plateau),
            ..InducingTraining::default()
        })),
        DType::F64,
    );
    let (mut best, mut waited, mut stopped) = (f64::INFINITY, 0, false);
    for made in 0..60 {
        let (before, _) = parameters(trainer.model());
        let loss = step(&mut trainer);
        (best, waited) = if loss < best {
            (loss, 0)
        } else {
            (best, waited + 1)
        };
        stopped |= waited == patience;
        let (after, _) = parameters(trainer.model());
        // The first step has no gradient for the points.
        assert_eq!(before == after, stopped || made == 0, "step {made}");
    }
    assert!(stopped, "60 steps have a plateau");
}

fn temporary() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("burn-gp-inducing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder for temporary files");
    folder
}

#[test]
fn a_restored_trainer_goes_on_bit_for_bit() {
    for dtype in [DType::F32, DType::F64] {
        restored_trainer_goes_on(dtype);
    }
}

fn restored_trainer_goes_on(dtype: DType) {
    let new = || {
        let inducing = InducingTraining {
            frozen_steps: 4,
            learning_rate: Some(3e-3),
            beta_1: 0.99,
            plateau: Some(Plateau::new(2)),
        };
        trainer(training(Some(inducing)), dtype)
    };
    let mut undisturbed = new();
    let mut stopped = new();
    for _ in 0..20 {
        step(&mut undisturbed);
        step(&mut stopped);
    }
    let folder = temporary();
    stopped.save(&folder).expect("the folder is writable");
    let mut resumed = new();
    resumed.restore(&folder).expect("its own checkpoint");
    for _ in 0..20 {
        assert_eq!(step(&mut undisturbed), step(&mut resumed));
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!(parameters(undisturbed.model()), parameters(resumed.model()));
}
