//! Adam in one pass, compared with its formula and with burn's implementation.

use crate::support::{Dense, Platform, Random, assert_close, numbers, platforms};
use burn::{
    module::{Module, Param},
    optim::{AdamConfig, GradientsParams, ModuleOptimizer, Optimizer},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::optim::{Adam, AdamMoments};

const STEPS: usize = 6;

/// Rows and columns: a single number, a few, and enough for several threads without dividing
/// evenly.
const SHAPES: [(usize, usize); 4] = [(1, 1), (3, 5), (1, 1001), (257, 131)];

const RATE: f64 = 0.03;

/// Algorithm 1 of arXiv:1412.6980, line by line.
fn reference(start: &Dense, gradients: &[Dense], [beta_1, beta_2, epsilon]: [f64; 3]) -> Vec<f64> {
    let one = |index: usize| {
        let (mut value, mut first, mut second) = (start.values[index], 0.0, 0.0);
        for (step, gradient) in gradients.iter().enumerate() {
            let (slope, time) = (gradient.values[index], step as f64 + 1.0);
            first = beta_1 * first + (1.0 - beta_1) * slope;
            second = beta_2 * second + (1.0 - beta_2) * slope * slope;
            let (mean, square) = (
                first / (1.0 - f64::powf(beta_1, time)),
                second / (1.0 - f64::powf(beta_2, time)),
            );
            value -= RATE * mean / (square.sqrt() + epsilon);
        }
        value
    };
    (0..start.values.len()).map(one).collect()
}

/// An initial value and the gradients of a few steps, with very different magnitudes.
fn problem((rows, columns): (usize, usize)) -> (Dense, Vec<Dense>) {
    let mut random = Random::new(columns as u64);
    let start = random.matrix(rows, columns);
    let gradient = |step: usize| {
        random
            .matrix(rows, columns)
            .scaled(10f64.powi(step as i32 - 3))
    };
    (start, (0..STEPS).map(gradient).collect())
}

fn trained(adam: &Adam, platform: &Platform, start: &Dense, gradients: &[Dense]) -> Vec<f64> {
    let (mut value, mut state) = (platform.matrix(start), None);
    for gradient in gradients {
        (value, state) = adam.step(RATE, value, platform.matrix(gradient), state);
    }
    numbers(value)
}

#[test]
fn steps_follow_the_formula() {
    for platform in platforms() {
        for shape in SHAPES {
            let (start, gradients) = problem(shape);
            for constants in [[0.9, 0.999, 1e-8], [0.99, 0.9, 1e-3]] {
                let [beta_1, beta_2, epsilon] = constants;
                let adam =
                    (Adam::new().with_beta_1(beta_1).with_beta_2(beta_2)).with_epsilon(epsilon);
                assert_close(
                    &format!("{platform}, {shape:?}"),
                    &trained(&adam, &platform, &start, &gradients),
                    &reference(&start, &gradients, constants),
                    // A few rounding errors per step.
                    platform.tolerance(1e-14, 1e-6),
                );
            }
        }
    }
}

/// A flag of one changes nothing. With a flag of zero, the parameter and the moments keep their bits,
/// even if the gradient is not a number. Both continue in the same way.
#[test]
fn a_flag_skips_a_step() {
    for platform in platforms() {
        for shape in SHAPES {
            let (start, gradients) = problem(shape);
            let adam = Adam::new();
            let first = platform.matrix(&gradients[0]);
            let (value, state) = adam.step(RATE, platform.matrix(&start), first.clone(), None);
            let flag = |value: f64| Some(platform.tensor(&[value], [1]));
            let (flagged, _) = adam.step_if(RATE, platform.matrix(&start), first, None, flag(1.0));
            assert_eq!(numbers(flagged), numbers(value.clone()), "{platform}");

            let broken = platform.matrix(&gradients[1]) * f64::NAN;
            let (kept, kept_state) =
                adam.step_if(RATE, value.clone(), broken, state.clone(), flag(0.0));
            assert_eq!(numbers(kept), numbers(value), "{platform}");
            let moments =
                |state: Option<AdamMoments<2>>| state.expect("a state").into_moments().map(numbers);
            assert_eq!(moments(kept_state), moments(state), "{platform}");
        }
    }
}

/// A step may reuse memory that is not shared, and no other memory.
#[test]
fn what_others_hold_is_left_alone() {
    for platform in platforms() {
        let (start, gradients) = problem((31, 17));
        let adam = Adam::new();
        let (parameter, gradient) = (platform.matrix(&start), platform.matrix(&gradients[0]));
        let (once, state) = adam.step(RATE, parameter.clone(), gradient.clone(), None);
        let held = (once.clone(), state.clone());
        let (twice, _) = adam.step(RATE, once, gradient.clone(), state);
        let (again, _) = adam.step(RATE, held.0, gradient.clone(), held.1);
        assert_eq!(numbers(twice), numbers(again), "{platform}");
        assert_eq!(
            numbers(parameter),
            numbers(platform.matrix(&start)),
            "{platform}"
        );
        assert_eq!(
            numbers(gradient),
            numbers(platform.matrix(&gradients[0])),
            "{platform}"
        );
    }
}

/// The memory layout of a gradient depends on the backward pass.
#[test]
fn a_transposed_gradient_counts_as_its_values() {
    for platform in platforms() {
        let (start, gradients) = problem((29, 12));
        let step = |gradient: Tensor<2>| {
            let (value, _) = Adam::new().step(RATE, platform.matrix(&start), gradient, None);
            numbers(value)
        };
        let plain = step(platform.matrix(&gradients[0]));
        let transposed = step(platform.matrix(&gradients[0].transposed()).transpose());
        assert_eq!(plain, transposed, "{platform}");
    }
}

#[derive(Module, Debug)]
struct Weights {
    matrix: Param<Tensor<2>>,
    vector: Param<Tensor<1>>,
}

impl Weights {
    fn new(platform: &Platform) -> Self {
        let mut random = Random::new(3);
        let values = random.normals(12);
        Self {
            matrix: Param::from_tensor(platform.tensor(&values, [4, 3])),
            vector: Param::from_tensor(platform.tensor(&values[..5], [5])),
        }
    }

    fn values(&self) -> Vec<f64> {
        let mut values = numbers(self.matrix.val().inner());
        values.extend(numbers(self.vector.val().inner()));
        values
    }

    /// The matrix and vector after some steps on `½‖matrix‖² + Σ vector⁴`.
    fn trained(mut self, optimizer: &mut ModuleOptimizer, steps: usize) -> Self {
        for _ in 0..steps {
            let loss = self.matrix.val().powi_scalar(2).sum() * 0.5
                + self.vector.val().powi_scalar(4).sum();
            let gradients = GradientsParams::from_grads(loss.backward(), &self);
            self = optimizer.step(RATE, self, gradients);
        }
        self
    }
}

/// burn stores β₁ and β₂ in single precision, which changes `1 − β₂` by a relative 1.3e-5 and a
/// step by half of that.
#[test]
fn a_module_trains_as_with_burns_adam() {
    for platform in platforms() {
        let start = || Weights::new(&platform.autodiff());
        let mut theirs = AdamConfig::new().with_epsilon(1e-8).init();
        let mut ours = ModuleOptimizer::from(Adam::new());
        let expected = start().trained(&mut theirs, 20).values();
        let actual = start().trained(&mut ours, 20).values();
        assert_ne!(actual, start().values(), "{platform}");
        assert_close(&format!("{platform}"), &actual, &expected, 1e-5);
    }
}

/// The state survives a save and load bit for bit in every type that the default device has, and
/// burn's Adam can continue from it in the default type, in which it restores.
#[test]
fn training_continues_from_a_record() {
    let default: DType = Device::default().settings().float_dtype.into();
    let has_type = |platform: &Platform| Device::default().supports_dtype(platform.dtype);
    for platform in platforms().into_iter().filter(has_type) {
        let mut whole = ModuleOptimizer::from(Adam::new());
        let half = Weights::new(&platform.autodiff()).trained(&mut whole, 5);
        // A record reads the device when its numbers are used, by then after further steps.
        let saved = || whole.into_bytes().expect("a record");
        let restored = ModuleOptimizer::from(Adam::new()).from_bytes(saved());
        let theirs = AdamConfig::new().with_epsilon(1e-8).init();
        let theirs = theirs.from_bytes(saved());
        let (mut restored, mut theirs) = (restored.expect("a state"), theirs.expect("a state"));
        let expected = half.clone().trained(&mut whole, 5).values();
        let actual = half.clone().trained(&mut restored, 5).values();
        assert_eq!(actual, expected, "{platform}");
        if platform.dtype != default {
            continue;
        }
        let actual = half.trained(&mut theirs, 5).values();
        assert_close(&format!("{platform}"), &actual, &expected, 1e-5);
    }
}

/// Weight decay replaces g by `g + λθ` and changes nothing else.
#[test]
fn weight_decay_is_a_part_of_the_gradient() {
    const DECAY: f64 = 0.3;
    for platform in platforms() {
        let (start, gradients) = problem((3, 5));
        let (mut ours, mut state) = (platform.matrix(&start), None);
        let (mut plain, mut plain_state) = (platform.matrix(&start), None);
        let adam = Adam::new().with_weight_decay(DECAY);
        for gradient in &gradients {
            let gradient = platform.matrix(gradient);
            let penalized = gradient.clone() + plain.clone() * DECAY;
            (ours, state) = adam.step(RATE, ours, gradient, state);
            (plain, plain_state) = Adam::new().step(RATE, plain, penalized, plain_state);
        }
        let expected = numbers(plain);
        assert_eq!(numbers(ours), expected, "on {platform}");
        let without = trained(&Adam::new(), &platform, &start, &gradients);
        assert_ne!(without, expected, "on {platform}");
    }
}
