//! The learning rate of all parameters falls when the loss reaches a plateau.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary, parameter::numbers,
};
use burn_gp_models::{
    DeepGp, DeepGpConfig, InducingConfig, LayerConfig,
    training::{
        InducingTraining, MiniBatchTrainer, MiniBatchTraining, Plateau, StepReport, Trainer,
        TrainingData,
    },
};

const COUNT: usize = 90;
const RATE: f64 = 0.02;
const STEPS: usize = 80;

/// Two layers, whose draws and batches make the loss fluctuate.
fn trainer(
    plateau: Plateau,
    inducing: Option<InducingTraining>,
    dtype: DType,
) -> MiniBatchTrainer<DeepGp> {
    let inputs: Vec<f64> = (0..COUNT).map(|n| n as f64 / 10.0 - 4.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (1.7 * x).sin()).collect();
    let data = TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype);
    let layer = LayerConfig::new(StationaryConfig::new(Stationary::Matern52))
        .with_inducing(InducingConfig::new(9));
    let config = DeepGpConfig::new(layer.clone(), GaussianConfig { noise: 0.1 })
        .with_hidden(1, layer.with_deviation(0.1));
    let training = MiniBatchTraining {
        batch_size: 32,
        learning_rate: RATE,
        plateau: Some(plateau),
        inducing,
        ..MiniBatchTraining::new(STEPS)
    };
    let model = config.init(&data).expect("distinct inputs");
    MiniBatchTrainer::new(model, data, training)
}

fn all_steps(trainer: &mut MiniBatchTrainer<DeepGp>) -> Vec<StepReport> {
    let mut reports = Vec::new();
    while !trainer.is_finished() {
        reports.push(trainer.step().expect("the step is sound"));
    }
    reports
}

#[test]
fn the_rate_goes_down_after_every_patience_without_a_lower_loss() {
    let plateau = Plateau {
        factor: 0.5,
        patience: 4,
        lowest: 0.1,
    };
    for dtype in [DType::F32, DType::F64] {
        let reports = all_steps(&mut trainer(plateau, None, dtype));
        let (mut best, mut waited, mut rate) = (f64::INFINITY, 0, RATE);
        for report in &reports {
            if report.loss < best {
                (best, waited) = (report.loss, 0);
            } else {
                waited += 1;
            }
            if waited == plateau.patience {
                (rate, waited) = ((rate * plateau.factor).max(RATE * plateau.lowest), 0);
            }
            // The factors are multiplied in another order.
            let off = (report.learning_rate / rate - 1.0).abs();
            assert!(off < 1e-12, "{report:?}: not {rate}");
        }
        let lowered = reports.last().is_some_and(|last| last.learning_rate < RATE);
        assert!(lowered, "{STEPS} steps have a plateau");
    }
}

/// With a factor of zero, the loss shows that no parameter is trained any more, including the
/// inducing points.
#[test]
fn all_parameters_follow_the_plateau() {
    let plateau = Plateau {
        factor: 0.0,
        patience: 2,
        lowest: 0.0,
    };
    let damped = InducingTraining {
        beta_1: 0.99,
        ..InducingTraining::default()
    };
    for inducing in [None, Some(damped)] {
        let mut trainer = trainer(plateau, inducing, DType::F64);
        let mut stopped = None;
        while !trainer.is_finished() {
            let report = trainer.step().expect("the step is sound");
            if let Some(kept) = &stopped {
                assert_eq!(*kept, parameters(trainer.model()), "after {report:?}");
            } else if report.learning_rate == 0.0 {
                stopped = Some(parameters(trainer.model()));
            }
        }
        assert!(stopped.is_some(), "{STEPS} steps have a plateau");
    }
}

#[test]
fn a_restored_plateau_goes_on_bit_for_bit() {
    // burn restores optimizers in the default type of the default device.
    let new = || trainer(Plateau::new(3), None, DType::F32);
    let expected = all_steps(&mut new());
    let mut stopped = new();
    let mut found: Vec<StepReport> = (0..STEPS / 2)
        .map(|_| stopped.step().expect("the step is sound"))
        .collect();
    let folder = temp_dir::TempDir::new().expect("a folder");
    stopped.save(folder.path()).expect("saved");
    let mut resumed = new();
    resumed.restore(folder.path()).expect("its own checkpoint");
    found.extend(all_steps(&mut resumed));
    assert_eq!(found, expected);
}

/// All trained numbers of a model.
fn parameters(model: &DeepGp) -> Vec<f64> {
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
