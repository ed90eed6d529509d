//! Full-batch optimizers on functions with known optima.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor, TensorData},
};
use burn_gp_core::{ops::NotPositiveDefinite, parameter::Priors};
use burn_gp_models::training::{
    FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, Model, Objective, Schedule, Trainer,
    TrainingData,
};

#[derive(Clone, Copy, Debug)]
enum Function {
    /// `(1 − x)² + 100 (y − x²)²`: a curved valley with a nearly flat floor.
    Rosenbrock,
    /// `½ Σₙ (zₙᵀw − yₙ)²` of the data.
    LeastSquares,
}

/// A function whose only trained parameter is its argument.
#[derive(Module, Debug)]
struct Landscape {
    place: Param<Tensor<1>>,
    #[module(skip)]
    function: Function,
    /// The number of evaluations by this model and its copies, in whatever thread: long steps have
    /// threads of their own.
    #[module(skip)]
    evaluations: Arc<AtomicUsize>,
    /// The largest change of a coordinate in a line search.
    #[module(skip)]
    reach: f64,
}

impl Landscape {
    fn coordinates(&self) -> Vec<f64> {
        self.place.val().into_data().iter().collect()
    }

    /// The largest coordinate of the distance to `place`.
    fn distance(&self, place: &[f64]) -> f64 {
        (self.coordinates().iter().zip(place))
            .map(|(own, other)| (own - other).abs())
            .fold(0.0, f64::max)
    }
}

impl Model for Landscape {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let place = self.place.val();
        let height = match self.function {
            Function::Rosenbrock => {
                let (x, y) = (place.clone().narrow(0, 0, 1), place.narrow(0, 1, 1));
                let across = y - x.clone().square();
                (x.neg() + 1.0).square() + across.square() * 100.0
            }
            Function::LeastSquares => {
                let error = inputs.matmul(place.unsqueeze_dim(1)) - targets;
                error.square().sum() * 0.5
            }
        };
        Ok(Objective {
            fit: height.neg(),
            kl: None,
        })
    }

    fn needs_all_data(&self) -> bool {
        true
    }

    fn is_within_reach(&self, start: &dyn Model) -> bool {
        let start = start.as_any().downcast_ref::<Self>();
        self.distance(&start.expect("a landscape").coordinates()) <= self.reach
    }
}

/// The rows of a regression with an exact solution. The normal equations have a condition number of
/// about a hundred.
const INPUTS: [f64; 8] = [1.0, 0.1, 2.0, -0.1, -1.0, 0.2, 0.5, 0.15];
const SOLUTION: [f64; 2] = [0.7, -12.0];

fn data(dtype: DType) -> TrainingData {
    let targets: Vec<f64> = (INPUTS.chunks(2))
        .map(|row| row[0] * SOLUTION[0] + row[1] * SOLUTION[1])
        .collect();
    TrainingData::new(&INPUTS, &targets, &Device::default().autodiff(), dtype)
}

fn trainer(
    function: Function,
    dtype: DType,
    training: FullBatchTraining,
) -> FullBatchTrainer<Landscape> {
    let data = data(dtype);
    let start = match function {
        Function::Rosenbrock => [-1.2, 1.0],
        Function::LeastSquares => [0.0, 0.0],
    };
    let start = Tensor::<1>::from_data(TensorData::from(start), (&data.inputs.device(), dtype));
    let landscape = Landscape {
        place: Param::from_tensor(start),
        function,
        evaluations: Arc::default(),
        reach: f64::INFINITY,
    };
    FullBatchTrainer::new(landscape, data, training)
}

/// The number of evaluations so far.
fn evaluations(trainer: &FullBatchTrainer<Landscape>) -> usize {
    trainer.model().evaluations.load(Ordering::Relaxed)
}

fn l_bfgs(iterations: usize, learning_rate: f64) -> FullBatchTraining {
    FullBatchTraining {
        iterations,
        optimizer: FullBatchOptimizer::LBfgs { learning_rate },
        ..FullBatchTraining::default()
    }
}

/// The largest coordinate of the distance to `optimum`.
fn distance(trainer: &FullBatchTrainer<Landscape>, optimum: [f64; 2]) -> f64 {
    trainer.model().distance(&optimum)
}

/// With a limit to its reach, every line search ends within it, evaluates nothing beyond it, and the
/// optimum is found all the same.
#[test]
fn line_searches_stay_within_reach() {
    let mut model = trainer(Function::LeastSquares, DType::F64, l_bfgs(200, 1.0)).into_model();
    model.reach = 2.0;
    let mut trainer = FullBatchTrainer::new(model, data(DType::F64), l_bfgs(200, 1.0));
    let mut longest = 0.0_f64;
    while !trainer.is_finished() {
        let before = trainer.model().coordinates();
        trainer.step().expect("the step is sound");
        longest = longest.max(trainer.model().distance(&before));
    }
    assert!((0.5..=2.0).contains(&longest), "{longest}");
    // Without the limit it takes fewer iterations, but no fewer evaluations in each.
    let (made, asked) = (trainer.steps_made(), evaluations(&trainer));
    assert!(
        asked <= 2 * made + 5,
        "{asked} evaluations in {made} iterations"
    );
    let distance = distance(&trainer, SOLUTION);
    assert!(distance < 1e-6, "{distance} away");
}

/// The optimum is found with any first step size. Training ends when gradients are below 1e-6, and
/// its last steps go well below that. Single precision has a resolution of 1e-6 at a coordinate of
/// twelve.
#[test]
fn l_bfgs_finds_the_optimum() {
    for (dtype, allowed) in [(DType::F64, 1e-6), (DType::F32, 2e-5)] {
        for learning_rate in [1.0, 0.1] {
            for (function, optimum) in [
                (Function::Rosenbrock, [1.0, 1.0]),
                (Function::LeastSquares, SOLUTION),
            ] {
                let mut trainer = trainer(function, dtype, l_bfgs(200, learning_rate));
                while !trainer.is_finished() {
                    trainer.step().expect("the step is sound");
                }
                let distance = distance(&trainer, optimum);
                let what = format!("{function:?} {dtype:?} {learning_rate}");
                assert!(distance < allowed, "{what}: {distance} away");
                assert!(trainer.has_converged(), "{what}: did not end");
            }
        }
    }
}

/// A step is one iteration. The reported loss is that of its end point and never higher than the
/// one before.
#[test]
fn a_step_of_l_bfgs_is_one_iteration() {
    let mut trainer = trainer(Function::Rosenbrock, DType::F64, l_bfgs(30, 1.0));
    let mut last = f64::INFINITY;
    for step in 1..=30 {
        let report = trainer.step().expect("the step is sound");
        assert_eq!(report.step, step);
        assert_eq!(trainer.steps_made(), step);
        let here = trainer.model().objective(
            trainer.data().inputs.clone(),
            trainer.data().targets.clone(),
            trainer.data().len(),
        );
        let here =
            -here.expect("it is sound").fit.into_scalar::<f64>() / trainer.data().len() as f64;
        assert_eq!(report.loss, here, "step {step}");
        assert!(
            report.loss < last,
            "step {step}: {} after {last}",
            report.loss
        );
        last = report.loss;
    }
    assert!(trainer.is_finished());
}

/// The starting point of an iteration is cached from the previous iteration. Its cost is therefore
/// that of its line search, a single evaluation here. The very first iteration also evaluates its
/// starting point.
#[test]
fn nothing_is_evaluated_twice() {
    let mut trainer = trainer(Function::LeastSquares, DType::F64, l_bfgs(6, 1.0));
    let mut counts = Vec::new();
    while !trainer.is_finished() {
        let before = evaluations(&trainer);
        trainer.step().expect("the step is sound");
        counts.push(evaluations(&trainer) - before);
    }
    assert_eq!(counts, [2, 1, 1, 1, 1, 1]);
}

/// New priors discard the cached evaluations without priors.
#[test]
fn priors_are_counted_where_training_goes_on() {
    let mut trainer = trainer(Function::LeastSquares, DType::F64, l_bfgs(6, 1.0));
    trainer.step().expect("the step is sound");
    let mut trainer = trainer.with_priors(Priors::default());
    let before = evaluations(&trainer);
    trainer.step().expect("the step is sound");
    assert_eq!(evaluations(&trainer) - before, 2);
}

/// The steps of Adam shrink with its learning rate, linearly to a tenth.
#[test]
fn adam_finds_the_optimum() {
    let optimizer = FullBatchOptimizer::Adam {
        learning_rate: 0.3,
        schedule: Schedule::Linear {
            final_fraction: 0.1,
        },
    };
    let iterations = 2000;
    for (dtype, allowed) in [(DType::F64, 1e-9), (DType::F32, 2e-5)] {
        let training = FullBatchTraining {
            iterations,
            optimizer,
            ..FullBatchTraining::default()
        };
        let mut trainer = trainer(Function::LeastSquares, dtype, training);
        let mut rates = Vec::new();
        while !trainer.is_finished() {
            rates.push(trainer.step().expect("the step is sound").learning_rate);
        }
        assert_eq!(rates.len(), iterations);
        for (step, rate) in rates.into_iter().enumerate() {
            let expected = 0.3 * (1.0 - 0.9 * step as f64 / iterations as f64);
            assert!((rate / expected - 1.0).abs() < 1e-12, "step {step}: {rate}");
        }
        let distance = distance(&trainer, SOLUTION);
        assert!(distance < allowed, "{dtype:?}: {distance} away");
    }
}

/// For both optimizers, the next step begins with the loss of the current model.
#[test]
fn the_loss_is_that_of_the_model_as_it_is_now() {
    let adam = FullBatchTraining {
        iterations: 5,
        optimizer: FullBatchOptimizer::Adam {
            learning_rate: 0.1,
            schedule: Schedule::Constant,
        },
        ..FullBatchTraining::default()
    };
    for training in [adam, l_bfgs(5, 1.0)] {
        let mut trainer = trainer(Function::Rosenbrock, DType::F64, training);
        let mut after = trainer.loss().expect("a loss");
        while !trainer.is_finished() {
            let report = trainer.step().expect("the step is sound");
            let before = std::mem::replace(&mut after, trainer.loss().expect("a loss"));
            let reported = match training.optimizer {
                FullBatchOptimizer::Adam { .. } => before,
                FullBatchOptimizer::LBfgs { .. } => after,
            };
            assert_ne!(before, after);
            assert_eq!(report.loss, reported, "step {}", report.step);
        }
    }
}
