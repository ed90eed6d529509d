//! Gradients of the inverse-free bound (arXiv:2604.00697): those of L-SVGP if T is the inverse, no
//! gradient for T, and gradients of estimated traces.

use crate::support::{
    Dense, Platform, Random, assert_close, double_precision_platforms,
    inverse_free_case::{FORMS, InverseFreeCase, ROWS, SIZE},
    largest, numbers, platforms,
    posterior_case::{elbo, kernel, likelihood},
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};
use burn_gp_core::{
    kernels::Kernels,
    likelihoods::AnyLikelihood,
    variational::{AuxiliaryUpdate, InverseFree, MeanForm, Posterior, TraceProbes},
};

#[derive(Module, Debug)]
struct Model<Q: Module> {
    kernel: Kernels,
    likelihood: AnyLikelihood,
    posterior: Q,
}

/// The gradient of every parameter, or `None` if there is none.
struct Slopes<'a> {
    gradients: &'a Gradients,
    values: Vec<Option<Vec<f64>>>,
}

impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.values
            .push(param.val().grad(self.gradients).map(numbers));
    }
}

impl<Q: Posterior + Module + burn::module::ModuleDisplay> Model<Q> {
    fn new(platform: &Platform, posterior: Q) -> Self {
        Self {
            kernel: kernel(platform),
            likelihood: likelihood(platform),
            posterior,
        }
    }

    fn loss(&self, platform: &Platform, case: &InverseFreeCase) -> Tensor<1> {
        let evaluation = self.posterior.evaluate(&self.kernel, case.x(platform));
        let evaluation = evaluation.expect("a factor");
        elbo(evaluation, &self.likelihood, case.y(platform), ROWS)
    }

    /// The bound and the gradients of all parameters.
    fn differentiated(
        &self,
        platform: &Platform,
        case: &InverseFreeCase,
    ) -> (f64, Vec<Option<Vec<f64>>>) {
        let loss = self.loss(platform, case);
        let value = numbers(loss.clone())[0];
        let gradients = loss.backward();
        let mut slopes = Slopes {
            gradients: &gradients,
            values: Vec::new(),
        };
        Module::visit(self, &mut slopes);
        (value, slopes.values)
    }
}

/// The gradients of all parameters except T, which has none.
fn without_auxiliary(all: Vec<Option<Vec<f64>>>) -> Vec<Vec<f64>> {
    assert!(all.last().is_some_and(Option::is_none), "T has a gradient");
    all.into_iter().flatten().collect()
}

/// T5 (proposition 2) and T16: with `T = K̃⁻¹`, held constant, the gradients with respect to
/// kernel, noise, inducing points, m̃ and s̃ equal those of L-SVGP through its factorization.
#[test]
fn gradients_at_the_inverse_are_those_of_the_factorization() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for outputs in [1, 2] {
            let case = InverseFreeCase::new(outputs);
            let inverse = case.noisy().inverse();
            for form in FORMS {
                let factored = Model::new(&tracked, case.l_svgp(&tracked, form));
                let (_, expected) = factored.differentiated(&tracked, &case);
                let relaxed = Model::new(&tracked, case.with_inverse(&tracked, form, &inverse));
                let (_, ours) = relaxed.differentiated(&tracked, &case);
                assert_eq!(ours.len(), expected.len() + 1);
                let pairs = without_auxiliary(ours).into_iter().zip(expected);
                for (index, (ours, expected)) in pairs.enumerate() {
                    let what = format!("{platform}, {outputs} outputs, {form:?}, {index}");
                    let expected = expected.expect("every parameter of L-SVGP is trained");
                    assert_close(&what, &ours, &expected, platform.tolerance(1e-6, 1e-2));
                }
            }
        }
    }
}

/// T16: an L that the optimizer trains has a gradient, which is zero above the diagonal.
#[test]
fn a_trained_auxiliary_has_a_gradient() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let case = InverseFreeCase::new(1);
        let lower = case.noisy().inverse().cholesky().scaled(0.9);
        for form in FORMS {
            let update = AuxiliaryUpdate::TRAINED;
            let posterior = case.inverse_free(&tracked, form, &lower, update);
            let (_, gradients) = Model::new(&tracked, posterior).differentiated(&tracked, &case);
            let last = gradients
                .last()
                .cloned()
                .flatten()
                .expect("a gradient of L");
            let gradient = Dense::new(SIZE, SIZE, last);
            assert!(largest(&gradient.values) > 1e-2, "{platform}");
            assert_eq!(gradient, gradient.lower(), "{platform}");
        }
    }
}

/// T6, a control: if T itself replaces `2T − TK̃T` in the mean, the value does not change, but the
/// gradient with respect to the inducing points does.
#[test]
fn the_preconditioner_has_to_follow_the_parameters() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let case = InverseFreeCase::new(1);
        let inverse = case.noisy().inverse();
        let form = MeanForm::Preconditioned;
        let relaxed = Model::new(&tracked, case.with_inverse(&tracked, form, &inverse));
        let (_, right) = relaxed.differentiated(&tracked, &case);

        // The same evaluation with another mean, and with v replaced in the KL divergence too.
        let model = Model::new(
            &tracked,
            case.with_inverse(&tracked, MeanForm::Plain, &inverse),
        );
        let (kernel, x) = (&model.kernel, case.x(&tracked));
        let mut evaluation = model.posterior.evaluate(kernel, x.clone()).expect("none");
        let mean = tracked.matrix(&case.mean.transposed());
        let weights = tracked.matrix(&inverse).matmul(mean.clone()); // T·m̃
        let inducing = model.posterior.inducing();
        let points = inducing.inputs().expect("points");
        let kuu = inducing.kuu(kernel).squeeze_dim::<2>(0);
        let squares = |v: Tensor<2>| (v.clone() * kuu.clone().matmul(v)).sum();
        evaluation.kl = evaluation.kl + (squares(weights.clone()) - squares(mean)) * 0.5;
        evaluation.marginals.mean = inducing
            .kuf(kernel, x)
            .squeeze_dim::<2>(0)
            .transpose()
            .matmul(weights);
        let loss = elbo(evaluation, &model.likelihood, case.y(&tracked), ROWS);
        let value = numbers(loss.clone())[0];
        let exact = relaxed.loss(&tracked, &case);
        assert_close("the same value", &[value], &numbers(exact), 1e-8);
        let gradient = points.grad(&loss.backward()).expect("Z is trained");
        let wrong = numbers(gradient);
        let right = right
            .iter()
            .flatten()
            .find(|values| values.len() == wrong.len());
        let right = right.expect("Z is trained");
        let difference: Vec<f64> = right.iter().zip(&wrong).map(|(a, b)| a - b).collect();
        let relative = largest(&difference) / largest(right);
        assert!(relative > 1e-2, "{platform}: {relative}");
    }
}

/// T7: near the inverse the error of the value is quadratic in the distance, and that of the
/// gradient is linear.
#[test]
fn errors_shrink_with_the_distance_from_the_inverse() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let case = InverseFreeCase::new(1);
        let root = case.noisy().inverse().cholesky();
        let noise = Random::new(83).matrix(SIZE, SIZE);
        let noise = noise.plus(&noise.transposed()).scaled(0.05);
        for form in FORMS {
            let at = |distance: f64| {
                let inner = Dense::identity(SIZE).plus(&noise.scaled(distance));
                let inverse = root.times(&inner).times(&root.transposed());
                let model = Model::new(&tracked, case.with_inverse(&tracked, form, &inverse));
                let (value, gradients) = model.differentiated(&tracked, &case);
                (value, without_auxiliary(gradients).concat())
            };
            let (value, gradient) = at(0.0);
            let gaps = |distance: f64| {
                let (near, slopes) = at(distance);
                let squares = slopes.iter().zip(&gradient).map(|(a, b)| (a - b).powi(2));
                [(near - value).abs(), squares.sum::<f64>().sqrt()]
            };
            // The plain mean does not depend on T, but the variances and the KL divergence do.
            let (far, near) = (gaps(1e-1), gaps(1e-3));
            for (what, index, expected) in [("value", 0, 2.0), ("gradient", 1, 1.0)] {
                let slope = (far[index] / near[index]).log10() / 2.0;
                assert!(
                    (slope - expected).abs() <= 0.1,
                    "{platform}, {form:?}, {what}: slope {slope}"
                );
            }
        }
    }
}

fn with_probes(
    tracked: &Platform,
    case: &InverseFreeCase,
    inverse: &Dense,
    probes: TraceProbes,
) -> Model<InverseFree> {
    let form = MeanForm::Preconditioned;
    Model::new(tracked, case.with_probes(tracked, form, inverse, probes))
}

/// T14: estimated traces and their gradients are unbiased, within four standard errors. The probes
/// of one step always give the same numbers.
#[test]
fn estimated_traces_are_unbiased() {
    let draws = 2000;
    let platform = double_precision_platforms().swap_remove(0);
    let tracked = platform.autodiff();
    let case = InverseFreeCase::new(1);
    let inverse =
        crate::support::inverse_free_case::inverses(&case.noisy().inverse(), &mut Random::new(89))
            .swap_remove(1);
    let flat = |model: &Model<InverseFree>| {
        let (value, gradients) = model.differentiated(&tracked, &case);
        let mut all = without_auxiliary(gradients).concat();
        all.push(value);
        all
    };
    let form = MeanForm::Preconditioned;
    let exact = flat(&Model::new(
        &tracked,
        case.with_inverse(&tracked, form, &inverse),
    ));
    let (mut sum, mut squares) = (vec![0.0; exact.len()], vec![0.0; exact.len()]);
    for seed in 0..draws {
        let probes = TraceProbes { count: 2, seed };
        let estimate = flat(&with_probes(&tracked, &case, &inverse, probes));
        for (index, value) in estimate.into_iter().enumerate() {
            let off = value - exact[index];
            sum[index] += off;
            squares[index] += off * off;
        }
    }
    let mut varied = 0;
    for index in 0..exact.len() {
        let mean = sum[index] / draws as f64;
        let variance = squares[index] / draws as f64 - mean * mean;
        let error = (variance.max(0.0) / draws as f64).sqrt();
        let rounding = 1e-9 * exact[index].abs().max(1.0);
        assert!(
            mean.abs() <= 4.0 * error + rounding,
            "{index}: {mean:.3e}, {error:.3e}"
        );
        varied += usize::from(error > 1e-6);
    }
    assert!(varied > SIZE, "{varied} values depend on the probes");
    let probes = TraceProbes { count: 2, seed: 3 };
    let model = with_probes(&tracked, &case, &inverse, probes);
    assert_eq!(flat(&model), flat(&model));
}

/// The fused operation for constant L and the separate operations for trained L give the same
/// values and gradients. Other tests compare the gradients of the fused operation with central
/// differences.
#[test]
fn one_operation_gives_what_several_do() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for (outputs, form) in [(1, FORMS[0]), (1, FORMS[1]), (3, FORMS[0]), (3, FORMS[1])] {
            let case = InverseFreeCase::new(outputs);
            let lower = case.noisy().inverse().cholesky().scaled(0.9);
            for probes in [None, Some(TraceProbes { count: 7, seed: 4 })] {
                let [one, several] =
                    [AuxiliaryUpdate::default(), AuxiliaryUpdate::TRAINED].map(|update| {
                        let posterior = case.inverse_free(&tracked, form, &lower, update);
                        let posterior = match probes {
                            Some(probes) => posterior.with_probes(probes),
                            None => posterior,
                        };
                        Model::new(&tracked, posterior).differentiated(&tracked, &case)
                    });
                let what = format!("{platform}, {outputs} outputs, {form:?}, {probes:?}");
                let tolerance = platform.tolerance(1e-10, 1e-3);
                assert_close(&what, &[one.0], &[several.0], tolerance);
                let all = without_auxiliary(one.1).into_iter().zip(several.1);
                for (index, (one, several)) in all.enumerate() {
                    let several = several.expect("every parameter is trained");
                    assert_close(&format!("{what}, {index}"), &one, &several, tolerance);
                }
            }
        }
    }
}

/// Each step has its own probes. With more than M probes the traces are exact.
#[test]
fn probes_belong_to_steps() {
    for platform in platforms() {
        let case = InverseFreeCase::new(1);
        let inverse = case.noisy().inverse();
        let kernel = kernel(&platform);
        let kl = |posterior: &InverseFree| {
            let evaluation = posterior.evaluate(&kernel, case.x(&platform));
            numbers(evaluation.expect("none").kl)[0]
        };
        let form = MeanForm::Preconditioned;
        let with = |count| {
            let probes = TraceProbes { count, seed: 1 };
            case.with_probes(&platform, form, &inverse, probes)
        };
        let exact = case.with_inverse(&platform, form, &inverse);
        assert_eq!(kl(&with(SIZE + 1)), kl(&exact), "{platform}");
        let mut first = with(3);
        first.synchronize(&kernel);
        let mut second = first.clone();
        second.after_step(&kernel);
        let mut third = second.clone();
        third.after_step(&kernel);
        let values = [&first, &second, &third].map(kl);
        assert!(
            values[0] != values[1] && values[1] != values[2],
            "{platform}: {values:?}"
        );
        assert_eq!(kl(&first), values[0], "{platform}");
    }
}
