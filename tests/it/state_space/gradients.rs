//! Gradients of regression over time.

use burn_gp_core::{
    inference::Markov, likelihoods::Gaussian, means::ConstantMean, process::Process,
};

use super::{
    kernels,
    regression::{APPROXIMATE, column, exact, markov, series},
};
use crate::support::{
    Platform, assert_close, check_module_gradients, double_precision_platforms, numbers, platforms,
};

/// The gradient reaches all parameters of every kernel, the mean and the noise.
#[test]
fn gradients_are_central_differences() {
    let (times, targets) = series(18);
    for index in 0..kernels(&platforms()[0]).len() {
        let name = kernels(&platforms()[0])[index].0;
        let build = |platform: &Platform| {
            let kernel = kernels(platform).swap_remove(index).1;
            let mean = ConstantMean::new(platform.tensor(&[0.2, -0.1], [2]));
            Markov::new(kernel, mean, Gaussian::new(0.1, platform.options())).unwrap()
        };
        check_module_gradients(name, (1e-6, 1e-3), build, |platform, model| {
            let y = platform.tensor(&targets, [18, 2]);
            model.full_objective(column(platform, &times), y).unwrap()
        });
    }
}

/// The gradients of predictions at their times are those of exact regression.
#[test]
fn predictions_have_gradients_at_their_times() {
    let (times, targets) = series(40);
    let new_times = [-0.3, 0.21, 0.9, 1.7, 2.6];
    for platform in double_precision_platforms() {
        for (name, kernel) in kernels(&platform) {
            if APPROXIMATE.contains(&name) {
                continue;
            }
            let (x, y) = (
                column(&platform, &times),
                platform.tensor(&targets, [40, 2]),
            );
            let slopes = |process: &dyn Process| {
                let new = column(&platform.autodiff(), &new_times).require_grad();
                let marginals = process.marginals(new.clone());
                let (mean, variance) = (
                    marginals.mean.narrow(1, 0, 1),
                    marginals.variance.narrow(1, 0, 1),
                );
                // A constant kernel has no gradient of its own.
                let total = mean.sum() + variance.sum() * 3.0 + new.clone().sum() * 0.0;
                numbers(new.grad(&total.backward()).unwrap())
            };
            let ours = slopes(
                &markov(&platform, kernel.clone(), 2, 0.1)
                    .condition(x.clone(), y.clone())
                    .unwrap(),
            );
            let expected = slopes(&exact(&platform, kernel, 2, 0.1).condition(x, y).unwrap());
            assert_close(&format!("{platform}, {name}"), &ours, &expected, 1e-8);
        }
    }
}
