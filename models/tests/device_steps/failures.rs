//! Failures of steps on GPUs: the same errors as on the CPU, and no damage to the model.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    ops::{NotPositiveDefinite, device_reads, number},
    optim::NaturalGradient,
};
use burn_gp_models::{
    AnyModel, ModelConfig,
    training::{
        AnyTrainer, MiniBatchTrainer, MiniBatchTraining, Model, Objective, StepReport, Trainer,
        TrainingData, TrainingError,
    },
};

use crate::{
    alone,
    models::{posteriors, svgp, training, waves},
    parameters::parameters,
    platforms::gpus,
};

/// More steps than are read together.
const STEPS: usize = 40;

fn whitened() -> ModelConfig {
    let (_, posterior) = posteriors().remove(0);
    svgp(&posterior).into()
}

fn many_steps() -> MiniBatchTraining {
    MiniBatchTraining {
        steps: STEPS,
        ..training()
    }
}

/// Trains on a device until an error. Returns it with the model.
fn failure(
    model: AnyModel,
    data: TrainingData,
    training: MiniBatchTraining,
) -> (TrainingError, AnyModel) {
    let mut trainer = AnyTrainer::new(model, data, training.into());
    let error = trainer
        .run::<TrainingError>(&mut [])
        .expect_err("a failure");
    (error, trainer.model().clone())
}

/// NaN in an input ends training with the step and the term that the CPU names. The model is as good
/// as before.
#[test]
fn nan_in_the_data_is_the_same_error() {
    let _alone = alone();
    let mut rows = waves();
    rows.inputs[61] = f64::NAN;
    let fail = |device: Device, dtype| {
        let sound = waves().on(&device.clone().autodiff(), dtype);
        let model = whitened().init(&sound).expect("a model");
        failure(model, rows.on(&device.autodiff(), dtype), many_steps())
    };
    let (expected, _) = fail(Device::flex(), DType::F64);
    let TrainingError::NonFinite { step, term, .. } = expected else {
        panic!("{expected}");
    };
    for gpu in gpus() {
        let (error, model) = fail(gpu, DType::F32);
        let TrainingError::NonFinite {
            step: ours,
            term: other,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((ours, other), (step, term));
        assert!(parameters(&model).iter().all(|number| number.is_finite()));
    }
}

/// Replaces the inducing points by a point that is not a number.
struct NoPoints {
    within: Vec<String>,
}

impl ModuleMapper for NoPoints {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.within.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.within.pop();
    }

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !self.within.iter().any(|name| name == "inducing") {
            return parameter;
        }
        let no_points = |points: Tensor<D>| points.without_autodiff() * f64::NAN;
        parameter.map(|points| Tensor::from_inner(no_points(points)).require_grad())
    }
}

/// A matrix that has no factor ends training with the error of the factorization.
#[test]
fn a_matrix_without_a_factor_is_the_same_error() {
    let _alone = alone();
    let fail = |device: Device, dtype| {
        let data = waves().on(&device.autodiff(), dtype);
        let data = whitened().arranged(data);
        let model = whitened().init(&data).expect("a model");
        let model = model.map(&mut NoPoints { within: Vec::new() });
        failure(model, data, many_steps())
    };
    let (expected, _) = fail(Device::flex(), DType::F64);
    let TrainingError::Factorization { step, source, .. } = expected else {
        panic!("{expected}");
    };
    for gpu in gpus() {
        let (error, _) = fail(gpu, DType::F32);
        let TrainingError::Factorization {
            step: ours,
            source: other,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(ours, step);
        assert_eq!(
            (other.batch, other.pivot, other.size),
            (source.batch, source.pivot, source.size)
        );
    }
}

/// A model whose loss is not a number in one of its first evaluations.
#[derive(Module, Debug)]
struct Flaky {
    weight: Param<Tensor<1>>,
    #[module(skip)]
    evaluations: Arc<AtomicUsize>,
}

/// The evaluation of [`Flaky`] that fails.
const FAILS: usize = 5;

impl Model for Flaky {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let fails = self.evaluations.fetch_add(1, Ordering::Relaxed) == FAILS;
        let missing = targets - inputs.narrow(1, 0, 1) * self.weight.val().unsqueeze();
        let fit = missing.square().sum() * if fails { f64::NAN } else { -1.0 };
        Ok(Objective { fit, kl: None })
    }
}

/// A step that fails once is skipped: the model and the moments of Adam are those of the step before,
/// and the step is counted.
#[test]
fn a_step_that_fails_once_is_skipped() {
    let _alone = alone();
    for gpu in gpus() {
        let data = waves().on(&gpu.clone().autodiff(), DType::F32);
        let weight = Tensor::<1>::from_data([0.5], (&gpu, DType::F32));
        let model = Flaky {
            weight: Param::from_tensor(weight),
            evaluations: Arc::default(),
        };
        let mut trainer = MiniBatchTrainer::new(model.train(), data, many_steps());
        let mut weights = Vec::new();
        for _ in 0..=FAILS + 1 {
            trainer.advance().expect("a step");
            weights.push(number(trainer.model().weight.val()));
        }
        let reports = trainer.read_reports().expect("the step succeeds now");
        assert_eq!(trainer.skipped_steps(), 1);
        assert_eq!(weights[FAILS], weights[FAILS - 1]);
        assert_ne!(weights[FAILS + 1], weights[FAILS]);
        let finite: Vec<bool> = reports
            .iter()
            .map(|report| report.loss.is_finite())
            .collect();
        let expected: Vec<bool> = (0..=FAILS + 1).map(|step| step != FAILS).collect();
        assert_eq!(finite, expected);
    }
}

/// A natural-gradient step of any size leads nowhere after a change of sign: the error is that of
/// the CPU.
#[test]
fn an_impossible_natural_gradient_is_the_same_error() {
    let _alone = alone();
    let training = MiniBatchTraining {
        natural_gradient: Some(NaturalGradient::new(-1e30)),
        ..many_steps()
    };
    for gpu in gpus() {
        let data = waves().on(&gpu.autodiff(), DType::F32);
        let data = whitened().arranged(data);
        let model = whitened().init(&data).expect("a model");
        let (error, model) = failure(model, data, training.clone());
        assert!(
            matches!(error, TrainingError::NaturalGradient { step: 1, .. }),
            "{error}"
        );
        assert!(parameters(&model).iter().all(|number| number.is_finite()));
    }
}

/// Losses are read every so many steps, and at once where a callback needs them.
#[test]
fn losses_are_read_together_or_when_a_callback_needs_them() {
    let _alone = alone();
    for gpu in gpus() {
        let data = waves().on(&gpu.autodiff(), DType::F32);
        let data = whitened().arranged(data);
        let model = whitened().init(&data).expect("a model");
        let trainer = || AnyTrainer::new(model.clone(), data.clone(), many_steps().into());
        let mut first = trainer();
        first.advance().expect("a step");
        let before = device_reads();
        first.run::<TrainingError>(&mut []).expect("sound steps");
        // After 32 steps and after the last.
        assert_eq!(device_reads() - before, 2);
        let mut seen = Vec::new();
        let mut log = |trainer: &dyn Trainer<Model = _>, report: StepReport| {
            seen.push((report.step, trainer.steps_made()));
            Ok::<_, TrainingError>(ControlFlow::Continue(()))
        };
        trainer().run(&mut [&mut log]).expect("sound steps");
        let expected: Vec<(usize, usize)> = (1..=STEPS).map(|step| (step, step)).collect();
        assert_eq!(seen, expected);
    }
}
