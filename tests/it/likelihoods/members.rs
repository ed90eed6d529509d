//! Likelihoods with parameters of their own in one call equal a loop over them.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};
use burn_gp_core::{
    likelihoods::AnyLikelihood,
    parameter::{Parameters, hyperparameters, stacked},
    process::Marginals,
    rand::{SeedableRng, rngs::ChaCha8Rng},
};

use crate::support::{
    Platform, Random, assert_close, double_precision_platforms,
    likelihood_cases::{Case, ROWS, registry},
    numbers,
};

const OUTPUTS: usize = 3;

/// The likelihood with values of its parameters for one output.
fn of_output(likelihood: &AnyLikelihood, output: usize) -> AnyLikelihood {
    let mut own = likelihood.clone();
    for found in hyperparameters(likelihood) {
        let wave = |index: usize| (1.9 * output as f64 + 0.8 * index as f64 + 0.3).sin();
        let values = found.values.iter().enumerate();
        let moved: Vec<f64> = values
            .map(|(index, value)| value * (0.4 * wave(index)).exp())
            .collect();
        own = own.with_parameter(&found.path, &moved).expect("a value");
    }
    own
}

/// The same columns for every output, in blocks, with the rows in another order for each: `[ROWS, K]` row-major to
/// `[ROWS, K·OUTPUTS]`.
fn repeated(values: &[f64]) -> Vec<f64> {
    let columns = values.len() / ROWS;
    let mut all = Vec::new();
    for row in 0..ROWS {
        for column in 0..columns {
            all.extend((0..OUTPUTS).map(|output| values[(row + output) % ROWS * columns + column]));
        }
    }
    all
}

/// The columns of one output, from blocks.
fn columns_of<const D: usize>(values: &Tensor<D>, output: usize) -> Tensor<D> {
    let blocks = values.dims()[D - 1] / OUTPUTS;
    let columns =
        (0..blocks).map(|block| values.clone().narrow(D - 1, OUTPUTS * block + output, 1));
    Tensor::cat(columns.collect(), D - 1)
}

struct Slopes<'a>(&'a Gradients, Vec<f64>);

impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.0);
        self.1.extend(gradient.map(numbers).into_iter().flatten());
    }
}

/// The gradients of the parameters of all members.
fn slopes(members: &Vec<AnyLikelihood>, total: Tensor<1>) -> Vec<f64> {
    let gradients = total.backward();
    let mut slopes = Slopes(&gradients, Vec::new());
    members.visit(&mut slopes);
    slopes.1
}

/// Marginals and targets of all outputs; the marginals are tracked by autodiff.
fn data(case: &Case, platform: &Platform) -> (Marginals, Tensor<2>) {
    let (means, variances) = case.moments_of_functions();
    let tensor = |values: &[f64], width: usize| platform.tensor(&repeated(values), [ROWS, width]);
    let marginals = Marginals {
        mean: tensor(&means, OUTPUTS * case.latents).require_grad(),
        variance: tensor(&variances, OUTPUTS * case.latents),
    };
    (marginals, tensor(&case.targets, OUTPUTS * case.columns()))
}

fn marginals_of(marginals: &Marginals, output: usize) -> Marginals {
    Marginals {
        mean: columns_of(&marginals.mean, output),
        variance: columns_of(&marginals.variance, output),
    }
}

/// Values and gradients, for every likelihood. Each sums the same numbers in another order.
#[test]
fn likelihoods_with_parameters_of_their_own_in_one_call_equal_a_loop() {
    let tolerance = 1e-10;
    for platform in double_precision_platforms() {
        let platform = platform.autodiff();
        for case in registry() {
            let what = format!("{} on {platform}", case.name);
            let first = case.init(&platform);
            let members: Vec<_> = (0..OUTPUTS)
                .map(|output| of_output(&first, output))
                .collect();
            let together = stacked(&members);
            let (marginals, targets) = data(&case, &platform);
            let each = |of: &dyn Fn(&AnyLikelihood, Tensor<2>, Marginals) -> Tensor<1>| {
                let all = members.iter().enumerate().map(|(output, member)| {
                    of(
                        member,
                        columns_of(&targets, output),
                        marginals_of(&marginals, output),
                    )
                });
                all.reduce(|sum, own| sum + own).expect("outputs")
            };
            let expected: &dyn Fn(&AnyLikelihood, Tensor<2>, Marginals) -> Tensor<1> =
                &|likelihood, y, f| likelihood.expected_log_density(y, f);
            let predictive: &dyn Fn(&AnyLikelihood, Tensor<2>, Marginals) -> Tensor<1> =
                &|likelihood, y, f| likelihood.log_predictive_density(y, f);
            for (quantity, of) in [("expected", expected), ("predictive", predictive)] {
                let what = format!("{what}, {quantity}");
                // A stack is part of the graph of one backward pass.
                let together = stacked(&members);
                let (ours, loops) = (of(&together, targets.clone(), marginals.clone()), each(of));
                let both = [&ours, &loops].map(|values| numbers(values.clone()));
                assert_close(&what, &both[0], &both[1], tolerance);
                let weights = platform.tensor(&Random::new(239).normals(ROWS), [ROWS]);
                let [ours, loops] =
                    [ours, loops].map(|values| slopes(&members, (values * weights.clone()).sum()));
                assert_close(&what, &ours, &loops, tolerance);
            }
            let whole = together.predict(marginals.clone());
            let function = marginals.mean.clone().unsqueeze::<3>();
            let (means, variances) = together.conditional_moments(function.clone());
            for (output, member) in members.iter().enumerate() {
                let what = format!("{what}, output {output}");
                let alone = member.predict(marginals_of(&marginals, output));
                let (mean, variance) = member.conditional_moments(columns_of(&function, output));
                let pairs = [
                    (columns_of(&whole.mean, output), alone.mean),
                    (columns_of(&whole.variance, output), alone.variance),
                    (
                        columns_of(&means, output).squeeze_dim(0),
                        mean.squeeze_dim(0),
                    ),
                    (
                        columns_of(&variances, output).squeeze_dim(0),
                        variance.squeeze_dim(0),
                    ),
                ];
                for (ours, alone) in pairs {
                    assert_close(&what, &numbers(ours), &numbers(alone), tolerance);
                }
            }
        }
    }
}

/// The first output of a row takes the first random numbers, whatever the other outputs are.
#[test]
fn samples_of_an_output_have_its_own_parameters() {
    for platform in double_precision_platforms() {
        for case in registry() {
            let first = case.init(&platform);
            let members: Vec<_> = (0..OUTPUTS)
                .map(|output| of_output(&first, output))
                .collect();
            let (means, _) = case.moments_of_functions();
            let functions = |count: usize| {
                let each = means[..case.latents].iter();
                let values: Vec<f64> = each.flat_map(|&value| vec![value; count]).collect();
                platform.tensor(&values, [1, 1, count * case.latents])
            };
            for first in 0..OUTPUTS {
                let mut order = members.clone();
                order.rotate_left(first);
                for seed in 0..20 {
                    let random = || ChaCha8Rng::seed_from_u64(seed);
                    let ours = stacked(&order).sample(functions(OUTPUTS), &mut random());
                    let alone = order[0].sample(functions(1), &mut random());
                    let what = format!("{} on {platform}, output {first}", case.name);
                    assert_eq!(numbers(ours)[0], numbers(alone)[0], "{what}");
                }
            }
        }
    }
}

/// Outputs with parameters of their own have no common distribution.
#[test]
fn outputs_with_parameters_of_their_own_have_no_common_distribution() {
    for platform in double_precision_platforms() {
        for case in registry() {
            let first = case.init(&platform);
            let members: Vec<_> = (0..OUTPUTS)
                .map(|output| of_output(&first, output))
                .collect();
            let together = stacked(&members);
            // The noise of outputs is added to a common normal distribution.
            let is_normal = ["gaussian", "interval-censored"].contains(&case.name);
            assert_eq!(together.noise_of_outputs().is_some(), is_normal);
            if !hyperparameters(&first).is_empty() && !is_normal {
                assert!(together.target_distribution().is_none(), "{}", case.name);
            }
        }
    }
}
