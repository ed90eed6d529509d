//! Kernels with hyperparameters of their own in one call, compared with a loop over them.

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    inference::Exact,
    kernels::{
        AnyKernel, Convolutional, Kernel, KernelConfig, Kernels, StationaryConfig, matrix_columns,
    },
    likelihoods::Gaussian,
    means::MeanName,
    parameter::{Bounds, Parameters, hyperparameters, member, stacked},
};

use crate::{
    leading_axis::{
        SETS, SIZES, TOLERANCE, assert_same_gradients, every_kernel, gradients_of, sets,
    },
    support::{
        Platform, Random, assert_close, double_precision_platforms, kernel_registry, numbers,
        platforms,
    },
};

/// Kernels with the given one's structure and network, and with hyperparameters of their own.
fn members(kernel: &AnyKernel) -> Vec<AnyKernel> {
    let with_own_values = |number: usize| {
        let mut own = kernel.clone();
        for (place, found) in hyperparameters(kernel).into_iter().enumerate() {
            let is_positive = kernel
                .parameter_bounds(&found.path)
                .expect("known")
                .ends()
                .0
                > -1.0;
            let moved = found.values.iter().enumerate().map(|(index, value)| {
                let wave = (2.3 * number as f64 + 1.7 * place as f64 + 0.9 * index as f64).sin();
                match is_positive {
                    true => value * (0.3 * wave).exp(),
                    false => value + 0.3 * wave,
                }
            });
            let moved: Vec<f64> = moved.collect();
            own = own.with_parameter(&found.path, &moved).expect("a value");
        }
        own
    };
    (0..SETS).map(with_own_values).collect()
}

/// The points of one member, `[1, N, D]`.
fn own(points: &Tensor<3>, member: usize) -> Tensor<3> {
    match points.dims()[0] {
        1 => points.clone(),
        _ => points.clone().narrow(0, member, 1),
    }
}

/// Every registered kernel and those without a configuration, but for those that evaluate patches.
fn kernels(platform: &Platform) -> Vec<(String, AnyKernel, usize)> {
    let mut all = every_kernel(platform);
    all.retain(|(_, kernel, _)| kernel.downcast_ref::<Convolutional>().is_none());
    all
}

fn columns(platform: &Platform) -> Tensor<1, Int> {
    Tensor::from_data([3, 0, 4], &platform.tensor(&[0.0], [1]).device())
}

/// Covariances, matrices, columns and variances, flattened, of all members or of one, `[B, …]`.
fn everything(
    kernels: &Kernels,
    x1: Tensor<3>,
    x2: Tensor<3>,
    columns: Tensor<1, Int>,
) -> Tensor<2> {
    let parts = vec![
        kernels.covariance(x1.clone(), x2).flatten(1, 2),
        kernels.matrix(x1.clone()).flatten(1, 2),
        kernels.matrix_columns(x1.clone(), columns).flatten(1, 2),
    ];
    Tensor::cat(parts, 1)
}

/// Values, and gradients of points and of the members' hyperparameters, at one set of points that all members
/// share and at a set for each.
#[test]
fn kernels_with_hyperparameters_of_their_own_in_one_call_equal_a_loop() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        for (name, kernel, dimensions) in kernels(&tracked) {
            let members = members(&kernel);
            for count in [1, SETS] {
                let together = Kernels::stacked(&members);
                assert_eq!(together.count(), SETS, "{name}");
                let what = format!("{platform}, {name}, {count} sets");
                let mut random = Random::new(457);
                let [x1, x2] =
                    SIZES.map(|rows| sets(&tracked, &mut random, [count, rows, dimensions]));
                let columns = columns(&tracked);
                let ours = everything(&together, x1.clone(), x2.clone(), columns.clone());
                let each = members.iter().enumerate().map(|(index, member)| {
                    let [x1, x2] = [&x1, &x2].map(|points| own(points, index));
                    everything(&member.clone().into(), x1, x2, columns.clone())
                });
                let alone = Tensor::cat(each.collect(), 0);
                assert_eq!(ours.dims(), alone.dims(), "{what}");
                let both = [&ours, &alone].map(|values| numbers(values.clone()));
                assert_close(&what, &both[0], &both[1], TOLERANCE);
                let [ours, expected] = [ours, alone]
                    .map(|values| gradients_of(&tracked, values, [&x1, &x2], &members));
                assert_same_gradients(&what, &ours, &expected);
            }
        }
    }
}

/// The variances at points that all functions share, and their gradients.
#[test]
fn variances_in_one_call_equal_a_loop() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        for (name, kernel, dimensions) in kernels(&tracked) {
            let what = format!("{platform}, {name}");
            let members = members(&kernel);
            let x = sets(&tracked, &mut Random::new(461), [1, SIZES[0], dimensions]);
            let flat = x.clone().squeeze_dim::<2>(0);
            let ours = Kernels::stacked(&members).diagonal_at(flat);
            let each = members.iter().map(|member| member.diagonal(x.clone()));
            let alone = Tensor::cat(each.collect(), 0);
            let both = [&ours, &alone].map(|values| numbers(values.clone()));
            assert_close(&what, &both[0], &both[1], TOLERANCE);
            let [ours, expected] =
                [ours, alone].map(|values| gradients_of(&tracked, values, [&x, &x], &members));
            // Without hyperparameters, the variance of a stationary kernel has gradients of zero up to rounding.
            if !hyperparameters(&kernel).is_empty() {
                assert_same_gradients(&what, &ours, &expected);
            }
        }
    }
}

/// A member of a stack is the module that was stacked, and has its structure.
#[test]
fn a_member_of_a_stack_is_what_was_stacked() {
    for platform in platforms() {
        for (name, kernel, dimensions) in kernels(&platform) {
            let what = format!("{platform}, {name}");
            let (members, x) = (
                members(&kernel),
                Random::new(463).points(SIZES[0], dimensions),
            );
            let x = platform.matrix(&x).unsqueeze::<3>();
            let all = stacked(&members);
            for (index, own) in members.iter().enumerate() {
                let ours = member(&all, index, SETS);
                assert_eq!(hyperparameters(&ours), hyperparameters(own), "{what}");
                let columns = columns(&platform);
                let [ours, expected] = [&ours, own]
                    .map(|kernel| numbers(matrix_columns(kernel, x.clone(), columns.clone())));
                assert_eq!(ours, expected, "{what}");
            }
        }
    }
}

/// The evidence of exact regression with every kind of mean, and its gradients.
#[test]
fn evidence_of_several_models_in_one_call_equals_a_loop() {
    let (rows, outputs) = (20, 2);
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let mut random = Random::new(479);
        let x = tracked.matrix(&random.points(rows, kernel_registry::DIMENSIONS));
        let y = tracked.matrix(&random.matrix(rows, outputs));
        let mean = |name: MeanName| {
            let config = name.config();
            config.init(kernel_registry::DIMENSIONS, outputs, tracked.options())
        };
        for (kernel_name, kernel, _) in kernels(&tracked).into_iter().step_by(3).take(16) {
            for mean_name in MeanName::all() {
                let what = format!("{platform}, {kernel_name}, {}", mean_name.name());
                let models: Vec<Exact<AnyKernel>> =
                    (members(&kernel).into_iter().zip([0.1, 0.5, 0.02]))
                        .map(|(kernel, noise)| {
                            let noise = Gaussian::new(noise, tracked.options());
                            Exact::new(kernel, mean(mean_name), noise)
                        })
                        .collect();
                let ours = Exact::full_objectives(&models, x.clone(), y.clone()).expect("factors");
                let each = models.iter().map(|model| {
                    let objective = model.full_objective(x.clone(), y.clone());
                    objective.expect("a factor")
                });
                let alone = Tensor::cat(each.collect(), 0);
                let both = [&ours, &alone].map(|values| numbers(values.clone()));
                assert_close(&what, &both[0], &both[1], TOLERANCE);
                let none = sets(&tracked, &mut random, [1, 1, 1]);
                let [ours, expected] = [ours, alone].map(|values| {
                    gradients_of(&tracked, values.unsqueeze(), [&none, &none], &models)
                });
                assert_same_gradients(&what, &ours, &expected);
            }
        }
    }
}

/// A stack is trained as one module: bounded and frozen parameters of the members stay so.
#[test]
fn a_stack_keeps_bounds_and_frozen_parameters() {
    for platform in platforms() {
        let kernel = |lengthscale: f64| {
            let config = StationaryConfig::rbf().with_lengthscale(lengthscale);
            let kernel =
                KernelConfig::from(config).init(kernel_registry::DIMENSIONS, platform.options());
            let bounds = Bounds::between(0.1, 4.0);
            let kernel = kernel.with_bounds("lengthscale", bounds).expect("inside");
            kernel.with_frozen("variance").expect("known")
        };
        let all = stacked(&[0.5, 1.5].map(kernel));
        let expected = [0.5, 0.5, 0.5, 1.5, 1.5, 1.5];
        let found = all.parameter("lengthscale").expect("known");
        assert_close(
            &format!("{platform}"),
            &found,
            &expected,
            platform.tolerance(1e-12, 1e-5),
        );
        assert!(all.clone().with_parameter("lengthscale", &[4.5]).is_err());
        let x = Random::new(467).points(SIZES[0], kernel_registry::DIMENSIONS);
        let x = platform.autodiff().matrix(&x).unsqueeze::<3>();
        let all = burn::module::Module::train(burn::module::Module::valid(&all));
        let gradients = all.matrix(x).sum().backward();
        let gradients = crate::leading_axis::slopes(&all, &gradients);
        // The lengthscales, their two bounds, and the variance.
        let are_trained: Vec<bool> = gradients.iter().map(Option::is_some).collect();
        assert_eq!(are_trained, [true, false, false, false], "{platform}");
    }
}
