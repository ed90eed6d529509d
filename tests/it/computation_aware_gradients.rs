//! Gradients of the computation-aware losses compared with central differences, and single
//! precision compared with double precision.

use crate::reference::{
    Matrix, Random, assert_all_close, assert_close, central_differences, double_precision,
    gradients, product, rows, scalar, single_precision, tensor, transpose, values,
};
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::{
        ActionLoss, ActionPolicy, BlockActions, ComputationAware, DenseActions, IterationRule,
        Iterations, Regression,
    },
    kernels::{KernelModule, Linear, Scaled, StationaryKernel, Sum},
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::{Blocks, Stationary},
    parameter::Parameters,
};

/// Inputs, and targets of two functions.
fn data(rows: usize, dimensions: usize) -> (Matrix, Matrix) {
    let mut random = Random(rows as u64);
    let x = random.uniform_rows(rows, dimensions, -2.0, 2.0);
    let target = |point: &Vec<f64>, random: &mut Random| {
        let total: f64 = point.iter().sum();
        vec![
            (2.0 * total).sin() + 0.2 * random.normal(),
            total.cos() + 0.2 * random.normal(),
        ]
    };
    let y = x.iter().map(|point| target(point, &mut random)).collect();
    (x, y)
}

fn stationary(dimensions: usize, options: (&Device, DType)) -> StationaryKernel {
    let lengthscales: Vec<f64> = (0..dimensions).map(|d| 0.8 + 0.2 * d as f64).collect();
    StationaryKernel::new(Stationary::Matern32, &lengthscales, 1.3, options)
}

fn model<K: KernelModule, A: ActionPolicy>(
    kernel: K,
    policy: A,
    mean: MeanConfig,
    dimensions: usize,
    options: (&Device, DType),
) -> ComputationAware<K, A> {
    let mean = mean.init(dimensions, 2, options);
    ComputationAware::new(kernel, mean, Gaussian::new(0.1, options), policy)
}

fn block_actions(rows: usize, count: usize, options: (&Device, DType)) -> BlockActions {
    let mut random = Random(count as u64);
    let values: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
    BlockActions::new(
        Blocks::new(rows, count),
        Tensor::from_data(&values[..], options),
    )
}

/// Compares the gradients of the objective with central differences.
fn assert_gradients<K: KernelModule, A: ActionPolicy>(
    model: &ComputationAware<K, A>,
    x: &Tensor<2>,
    y: &Tensor<2>,
    name: &str,
) {
    let value =
        |model: &ComputationAware<K, A>| model.full_objective(x.clone(), y.clone()).unwrap();
    let ours = gradients(model, &value(model).backward());
    let differences = central_differences(model, 1e-5, |model| scalar(value(model)));
    assert_all_close(&ours, &differences, 1e-7, name);
}

/// Actions, hyperparameters and mean, for both losses. The differences have an error of about 1e-9.
#[test]
fn gradients_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let (x, y) = data(41, 2);
        let (x, y) = (tensor(&x, options), tensor(&y, options));
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let actions = block_actions(41, 6, options);
            let model = model(
                stationary(2, options),
                actions,
                MeanConfig::linear(),
                2,
                options,
            );
            let model = model.with_loss(loss);
            assert_gradients(&model, &x, &y, name);
        }
    }
}

/// A sum kernel with a scaled part has no fused operation.
#[test]
fn any_kernel_has_gradients() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let (x, y) = data(30, 2);
        let (x, y) = (tensor(&x, options), tensor(&y, options));
        let kernel = Sum::new(
            Scaled::new(stationary(2, options), 0.7, options),
            Linear::new(&[0.3], options),
        );
        let model = model(
            kernel,
            block_actions(30, 4, options),
            MeanConfig::zero(),
            2,
            options,
        );
        assert_gradients(&model, &x, &y, name);
    }
}

/// The loss does not depend on the length of an action: `s_jᵀ∂s_j = 0`.
#[test]
fn the_gradient_does_not_change_the_length_of_an_action() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let (x, y) = data(41, 2);
        let (x, y) = (tensor(&x, options), tensor(&y, options));
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let actions = block_actions(41, 6, options);
            let kernel = stationary(2, options);
            let model = model(kernel, actions, MeanConfig::zero(), 2, options).with_loss(loss);
            let gradients = model
                .full_objective(x.clone(), y.clone())
                .unwrap()
                .backward();
            let s = values(model.policy().values());
            let slope = values(model.policy().values().grad(&gradients).unwrap());
            assert!(slope.iter().any(|slope| slope.abs() > 1e-3), "{name}");
            for range in Blocks::new(41, 6).ranges() {
                let along: f64 = range.map(|n| s[n] * slope[n]).sum();
                assert!(along.abs() < 1e-10, "{name}: {along:.2e}");
            }
        }
    }
}

/// The loss depends only on the span of the actions: `Sᵀ∂S = 0` for dense actions.
#[test]
fn the_gradient_does_not_move_dense_actions_within_their_span() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let (x, y) = data(41, 2);
        let (x, y) = (tensor(&x, options), tensor(&y, options));
        let mut random = Random(17);
        let columns: Matrix = (0..41)
            .map(|_| (0..6).map(|_| random.normal()).collect())
            .collect();
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let actions = DenseActions::new(tensor(&columns, options));
            let actions = actions.with_thawed("columns").unwrap();
            let kernel = stationary(2, options);
            let model = model(kernel, actions, MeanConfig::zero(), 2, options).with_loss(loss);
            let gradients = model
                .full_objective(x.clone(), y.clone())
                .unwrap()
                .backward();
            let slope = rows(model.policy().columns().grad(&gradients).unwrap());
            let largest = slope.concat().iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert!(largest > 1e-3, "{name}: {largest:.2e}");
            for along in product(&transpose(&columns), &slope).concat() {
                assert!(along.abs() < 1e-10, "{name}: {along:.2e}");
            }
        }
    }
}

/// With conjugate gradients the actions are constants in the gradient: it does not include how they
/// are computed.
#[test]
fn actions_of_the_iteration_are_constants() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let (x, y) = data(40, 2);
        let y: Matrix = y.iter().map(|row| vec![row[0]]).collect();
        let (x, y) = (tensor(&x, options), tensor(&y, options));
        let policy = Iterations::new(IterationRule::Residuals, 6, 0.0);
        let build = |options| {
            let mean = MeanConfig::zero().init(2, 1, options);
            (stationary(2, options), mean, Gaussian::new(0.1, options))
        };
        let (kernel, mean, likelihood) = build(options);
        let noise = likelihood.noise();
        let problem = Regression {
            kernel: &kernel,
            noise: &noise,
            inputs: &x,
            residual: &y,
        };
        let fixed = DenseActions::new(policy.run(&problem).unwrap().actions.autodiff());
        let iterated =
            ComputationAware::new(kernel.clone(), mean.clone(), likelihood.clone(), policy);
        let objective = iterated.full_objective(x.clone(), y.clone()).unwrap();
        let ours = gradients(&iterated, &objective.backward());
        let actions = fixed.columns();
        let differences = central_differences(&iterated, 1e-5, |model| {
            let frozen = ComputationAware::new(
                model.kernel().clone(),
                model.mean().clone(),
                model.likelihood().clone(),
                DenseActions::new(actions.clone()),
            );
            scalar(frozen.full_objective(x.clone(), y.clone()).unwrap())
        });
        assert_all_close(&ours, &differences, 1e-6, name);
    }
}

/// With shared actions, the loss of two outputs is the sum of their losses.
#[test]
fn outputs_add_up() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let (x, y) = data(41, 2);
        let x = tensor(&x, options);
        let loss = |columns: &[usize]| {
            let y: Matrix = y
                .iter()
                .map(|row| columns.iter().map(|&c| row[c]).collect())
                .collect();
            let mean = MeanConfig::zero().init(2, columns.len(), options);
            let model = ComputationAware::new(
                stationary(2, options),
                mean,
                Gaussian::new(0.1, options),
                block_actions(41, 6, options),
            );
            scalar(
                model
                    .full_objective(x.clone(), tensor(&y, options))
                    .unwrap(),
            )
        };
        assert_close(loss(&[0, 1]), loss(&[0]) + loss(&[1]), 1e-10, name);
    }
}

/// The host computes the algebra of I×I matrices in double precision. With 2000 points and 128
/// actions, single precision stays within 1e-3.
#[test]
fn single_precision_keeps_the_loss() {
    let (x, y) = data(2000, 2);
    let loss = |options: (&Device, DType)| {
        let actions = block_actions(2000, 128, options);
        let mean = MeanConfig::zero().init(2, 2, options);
        let likelihood = Gaussian::new(0.01, options);
        let model = ComputationAware::new(stationary(2, options), mean, likelihood, actions);
        scalar(
            model
                .full_objective(tensor(&x, options), tensor(&y, options))
                .unwrap(),
        )
    };
    let (_, reference) = double_precision().remove(0);
    let expected = loss((&reference, DType::F64));
    for (name, device) in single_precision() {
        if name != "wgpu" {
            assert_close(loss((&device, DType::F32)), expected, 1e-3, name);
        }
    }
}
