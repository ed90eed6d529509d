//! P functions with kernels of their own in one call, compared with a loop over models of one function.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::Kernels,
    ops::Jitter,
    process::Marginals,
    variational::{AnyPosterior, Evaluation, PosteriorName},
};

use crate::support::{
    Random, assert_close, double_precision_platforms,
    module_gradients::{parameter_values, with_parameter_values},
    numbers,
    posterior_case::DIMENSIONS,
    separate_case::{FUNCTIONS, kernels},
};

const ROWS: usize = 11;
const INDUCING: usize = 6;
/// One call and a loop add in another order. On the CPU they agree to 1e-11; the rest is for processors that
/// round otherwise.
const TOLERANCE: f64 = 1e-10;

/// The gradients of all parameters.
struct Slopes<'a> {
    gradients: &'a Gradients,
    values: Vec<Option<Vec<f64>>>,
}

impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.gradients);
        self.values.push(gradient.map(numbers));
    }
}

fn slopes(module: &impl Module, gradients: &Gradients) -> Vec<Option<Vec<f64>>> {
    let mut slopes = Slopes {
        gradients,
        values: Vec::new(),
    };
    module.visit(&mut slopes);
    slopes.values
}

/// A weighted sum of means and variances, plus the divergence.
fn value(evaluation: Evaluation, weights: Tensor<2>) -> Tensor<1> {
    let Marginals { mean, variance } = evaluation.marginals;
    (mean * weights.clone()).sum() + (variance * weights.square()).sum() + evaluation.kl
}

/// The posterior with values that are not those of the prior.
fn moved(posterior: AnyPosterior) -> AnyPosterior {
    let moved: Vec<Vec<f64>> = (parameter_values(&posterior).into_iter().zip(1..))
        .map(|(values, number)| {
            let values = values.into_iter().enumerate();
            let shift = |index: usize| 0.1 * (2.3 * index as f64 + f64::from(number)).sin();
            values.map(|(index, value)| value + shift(index)).collect()
        })
        .collect();
    with_parameter_values(posterior, &moved)
}

/// The part of one function, if the values are not shared by all functions.
fn part(all: &[f64], size: usize, function: usize) -> &[f64] {
    match all.len() == size {
        true => all,
        false => &all[function * size..(function + 1) * size],
    }
}

/// Values and gradients of every registered posterior, for kernels that are computed in one operation and
/// for those that are not.
#[test]
fn functions_in_one_call_equal_a_loop_over_models_of_one_function() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let mut random = Random::new(433);
        let x = random.points(ROWS, DIMENSIONS);
        let points = [(); 2].map(|()| random.points(INDUCING, DIMENSIONS));
        let weights = tracked.matrix(&random.matrix(ROWS, FUNCTIONS));
        for name in PosteriorName::all() {
            let config = name.config();
            let count = if config.has_orthogonal_set() { 2 } else { 1 };
            let sets = || points[..count].iter().map(|set| tracked.matrix(set));
            let init = |prior: &Kernels, functions: usize| {
                let sets: Vec<_> = sets().map(InducingPoints::new).collect();
                let jitter = Jitter::relative(1e-6);
                let posterior = config.init(sets, prior, functions, jitter, tracked.options());
                posterior.expect("a factor")
            };
            // The last ones share their parameters.
            for (case, kernels) in kernels(&tracked).into_iter().take(3).enumerate() {
                let what = format!("{platform}, {}, kernels {case}", name.name());
                let together = moved(init(&kernels, FUNCTIONS));
                let values = parameter_values(&together);
                let evaluation = together.evaluate(&kernels, tracked.matrix(&x));
                let total = value(evaluation.expect("a factor"), weights.clone());
                let gradients = total.clone().backward();
                let (ours, of_kernels) = (
                    slopes(&together, &gradients),
                    slopes(&kernels, &gradients).into_iter(),
                );
                let (mut sum, mut expected_of_kernels) = (0.0, Vec::new());
                let mut shared: Vec<Vec<f64>> = Vec::new();
                for (function, kernel) in kernels.each().iter().enumerate() {
                    let what = format!("{what}, function {function}");
                    let prior = Kernels::from(kernel.clone());
                    let alone = init(&prior, 1);
                    let own: Vec<Vec<f64>> = (parameter_values(&alone).iter().zip(&values))
                        .map(|(own, all)| part(all, own.len(), function).to_vec())
                        .collect();
                    let alone = with_parameter_values(alone, &own);
                    let evaluation = alone.evaluate(&prior, tracked.matrix(&x));
                    let column = weights.clone().narrow(1, function, 1);
                    let own = value(evaluation.expect("a factor"), column);
                    sum += numbers(own.clone())[0];
                    let gradients = own.backward();
                    expected_of_kernels.extend(slopes(&prior, &gradients));
                    let own = slopes(&alone, &gradients);
                    assert_eq!(own.len(), ours.len(), "{what}");
                    shared.resize(own.len(), Vec::new());
                    for (index, (own, all)) in own.into_iter().zip(&ours).enumerate() {
                        let (own, all) = match (own, all) {
                            (Some(own), Some(all)) => (own, all),
                            (None, None) => continue,
                            _ => panic!("{what}, {index}: a gradient alone or together, not both"),
                        };
                        if own.len() == all.len() {
                            shared[index].resize(own.len(), 0.0);
                            let sums = shared[index].iter_mut().zip(own);
                            sums.for_each(|(sum, own)| *sum += own);
                        } else {
                            let all = part(all, own.len(), function);
                            assert_close(&format!("{what}, {index}"), all, &own, TOLERANCE);
                        }
                    }
                }
                assert_close(&what, &numbers(total), &[sum], TOLERANCE);
                for (ours, expected) in of_kernels.zip(expected_of_kernels) {
                    let (ours, expected) = (ours.expect("trained"), expected.expect("trained"));
                    assert_close(&format!("{what}, kernels"), &ours, &expected, TOLERANCE);
                }
                for (index, expected) in shared.iter().enumerate() {
                    if let Some(ours) = ours[index].as_ref().filter(|_| !expected.is_empty()) {
                        assert_close(&format!("{what}, {index}"), ours, expected, TOLERANCE);
                    }
                }
            }
        }
    }
}
