//! The distance between action subspaces (arXiv:2411.01036, Section 4), and its change in training.

use std::f64::consts::FRAC_PI_2;

use crate::reference::{Matrix, Random, assert_close, double_precision, tensor, values};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    inference::{
        BlockActions, ComputationAware, IterationRule, Iterations, Regression, grassmann_distance,
    },
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Blocks, Stationary},
    optim::Adam,
};

const ROWS: usize = 100;

const ACTIONS: usize = 5;

/// The arccosine near one turns a rounding error of 1e-16 into an angle of 1e-8.
const ROUNDING: f64 = 1e-6;

/// Columns `first` to `first + count` of the identity matrix.
fn unit_columns(rows: usize, first: usize, count: usize) -> Matrix {
    let entry = |row: usize, column: usize| f64::from(row == first + column);
    (0..rows)
        .map(|row| (0..count).map(|column| entry(row, column)).collect())
        .collect()
}

#[test]
fn the_same_span_has_no_distance_and_orthogonal_ones_the_largest() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let distance = |first: &Matrix, second: &Matrix| {
            grassmann_distance(tensor(first, options), tensor(second, options))
        };
        let mut random = Random(3);
        let first = random.uniform_rows(20, 4, -1.0, 1.0);
        // The same span with other columns.
        let mixed: Matrix = first
            .iter()
            .map(|row| vec![row[0] + row[1], row[1] - 2.0 * row[3], row[2], 0.5 * row[3]])
            .collect();
        assert_close(distance(&first, &mixed), 0.0, ROUNDING, name);
        let (some, others) = (unit_columns(20, 0, 4), unit_columns(20, 4, 4));
        assert_close(distance(&some, &others), 2.0 * FRAC_PI_2, ROUNDING, name);
        // The planes share a line and differ by one angle of 0.3.
        let (sine, cosine) = 0.3f64.sin_cos();
        let plane = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.0, 0.0]];
        let turned = vec![vec![1.0, 0.0], vec![0.0, cosine], vec![0.0, sine]];
        assert_close(distance(&plane, &turned), 0.3, ROUNDING, name);
    }
}

/// A function of two inputs with noise.
fn toy(random: &mut Random) -> (Matrix, Matrix) {
    let x = random.uniform_rows(ROWS, 2, -1.0, 1.0);
    let y = x
        .iter()
        .map(|point| vec![(3.0 * point[0]).sin() * (2.0 * point[1]).cos() + 0.1 * random.normal()])
        .collect();
    (x, y)
}

/// Block-sparse actions as columns, [N, I].
fn columns(actions: &BlockActions) -> Matrix {
    let found = values(actions.values());
    let mut columns = vec![vec![0.0; ACTIONS]; ROWS];
    for (column, run) in actions.blocks().ranges().enumerate() {
        for row in run {
            columns[row][column] = found[row];
        }
    }
    columns
}

type Model = ComputationAware<StationaryKernel, BlockActions>;

/// The model after some Adam steps on all trainable parameters.
fn trained(mut model: Model, x: &Tensor<2>, y: &Tensor<2>) -> Model {
    let mut optimizer = ModuleOptimizer::from(Adam::new());
    for _ in 0..200 {
        let loss = model.full_objective(x.clone(), y.clone()).unwrap().neg();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(0.1, model, gradients);
    }
    model
}

/// Compares the distances of actions to the leading eigenvectors of the covariance matrix, with the
/// trained hyperparameters. Conjugate-gradient actions are closest, then trained actions, then
/// random ones.
#[test]
fn trained_actions_are_closer_to_the_eigenvectors_than_random_ones() {
    for seed in [1, 2, 3] {
        let [residuals, trained, random] = distances(&Device::flex(), seed);
        assert!(
            residuals < trained && trained < random,
            "seed {seed}: {residuals}, {trained}, {random}"
        );
    }
}

/// The distances from the leading eigenvectors to residual actions, trained actions and random
/// ones.
fn distances(device: &Device, seed: u64) -> [f64; 3] {
    let device = device.clone().autodiff();
    let options = (&device, DType::F64);
    let mut random = Random(seed);
    let (x, y) = toy(&mut random);
    let (x, y) = (tensor(&x, options), tensor(&y, options));
    let start: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
    let model = ComputationAware::new(
        StationaryKernel::new(Stationary::SquaredExponential, &[0.5], 1.0, options),
        ZeroMean::new(1),
        Gaussian::new(0.05, options),
        BlockActions::new(
            Blocks::new(ROWS, ACTIONS),
            Tensor::from_data(&start[..], options),
        ),
    );
    let model = trained(model, &x, &y).valid();
    let (x, y) = (x.inner(), y.inner());
    let noise = model.likelihood().noise();
    let problem = Regression {
        kernel: model.kernel(),
        noise: &noise,
        inputs: &x,
        residual: &y,
    };
    let by = |rule| {
        let policy = Iterations::new(rule, ACTIONS, 0.0).with_seed(seed);
        policy.run(&problem).unwrap().actions
    };
    let plain = device.inner();
    let learned = tensor(&columns(model.policy()), (&plain, DType::F64));
    let others = [
        by(IterationRule::Residuals),
        learned,
        by(IterationRule::RandomVectors),
    ];
    others.map(|actions| grassmann_distance(by(IterationRule::Eigenvectors), actions))
}
