//! Several outputs equal the single outputs, side by side in blocks.

use burn::tensor::Tensor;
use burn_gp_core::process::Marginals;

use crate::support::{
    Random, assert_close,
    likelihood_cases::{ROWS, registry},
    numbers, platforms,
};

/// Every second column of each of `blocks` blocks with two columns, from `output` on.
fn of_output(values: &Tensor<2>, output: usize) -> Tensor<2> {
    let blocks = values.dims()[1] / 2;
    let columns = (0..blocks).map(|block| values.clone().narrow(1, 2 * block + output, 1));
    Tensor::cat(columns.collect(), 1)
}

/// Row-major `[ROWS, K]` twice, the second time with reversed rows, as `[ROWS, 2K]` in blocks.
fn doubled(values: &[f64]) -> Vec<f64> {
    let columns = values.len() / ROWS;
    let mut all = Vec::new();
    for row in 0..ROWS {
        for column in 0..columns {
            all.push(values[row * columns + column]);
            all.push(values[(ROWS - 1 - row) * columns + column]);
        }
    }
    all
}

#[test]
fn two_outputs_are_each_alone() {
    for case in registry() {
        let (means, variances) = case.moments_of_functions();
        for platform in platforms() {
            let likelihood = case.init(&platform);
            let both = Marginals {
                mean: platform.tensor(&doubled(&means), [ROWS, 2 * case.latents]),
                variance: platform.tensor(&doubled(&variances), [ROWS, 2 * case.latents]),
            };
            let targets = platform.tensor(&doubled(&case.targets), [ROWS, 2 * case.columns()]);
            let alone = |output: usize| {
                let marginals = Marginals {
                    mean: of_output(&both.mean, output),
                    variance: of_output(&both.variance, output),
                };
                (of_output(&targets, output), marginals)
            };
            let [(t0, m0), (t1, m1)] = [alone(0), alone(1)];
            let what = format!("{} on {platform}", case.name);
            let tolerance = platform.tolerance(1e-13, 1e-5);
            let close = |a: Tensor<1>, b: Tensor<1>| {
                assert_close(&what, &numbers(a), &numbers(b), tolerance);
            };
            close(
                likelihood.expected_log_density(targets.clone(), both.clone()),
                likelihood.expected_log_density(t0.clone(), m0.clone())
                    + likelihood.expected_log_density(t1.clone(), m1.clone()),
            );
            close(
                likelihood.log_predictive_density(targets.clone(), both.clone()),
                likelihood.log_predictive_density(t0, m0.clone())
                    + likelihood.log_predictive_density(t1, m1.clone()),
            );
            let whole = likelihood.predict(both.clone());
            for (output, own) in [m0, m1].into_iter().enumerate() {
                let alone = likelihood.predict(own.clone());
                let pairs = [(&whole.mean, alone.mean), (&whole.variance, alone.variance)];
                for (whole, alone) in pairs {
                    let whole = of_output(whole, output);
                    assert_close(&what, &numbers(whole), &numbers(alone), tolerance);
                }
                let probabilities = likelihood.class_probabilities(both.clone());
                let alone = likelihood.class_probabilities(own);
                assert_eq!(
                    probabilities.is_some(),
                    likelihood.description().classes.is_some()
                );
                if let (Some(whole), Some(alone)) = (probabilities, alone) {
                    let whole = of_output(&whole, output);
                    assert_close(&what, &numbers(whole), &numbers(alone), tolerance);
                }
            }
        }
    }
}

/// `log p(y | f)`, moments and samples of two outputs for given functions.
#[test]
fn two_outputs_given_the_functions() {
    let samples = 2;
    for case in registry() {
        let (functions, columns) = (2 * case.latents, 2 * case.columns());
        let values = Random::new(227).uniforms(samples * ROWS * functions, -1.5, 1.5);
        let targets = doubled(&case.targets);
        let expected: Vec<f64> = (values.chunks(functions).enumerate())
            .flat_map(|(index, f)| {
                let row = &targets[index % ROWS * columns..(index % ROWS + 1) * columns];
                [0, 1].map(|output| {
                    let own = |all: &[f64]| -> Vec<f64> {
                        all.iter().copied().skip(output).step_by(2).collect()
                    };
                    (case.log_density)(&own(row), &own(f))
                })
            })
            .collect();
        for platform in platforms() {
            let likelihood = case.init(&platform);
            let function = platform.tensor(&values, [samples, ROWS, functions]);
            let targets = platform.tensor(&targets, [ROWS, columns]);
            let found = likelihood.log_density(targets, function.clone());
            assert_eq!(found.dims(), [samples, ROWS, 2]);
            let what = format!("{} on {platform}", case.name);
            let tolerance = platform.tolerance(1e-12, 1e-5);
            assert_close(&what, &numbers(found), &expected, tolerance);
        }
    }
}
