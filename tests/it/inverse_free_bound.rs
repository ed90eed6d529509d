//! The bound of inverse-free posteriors (S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van
//! der Wilk, *Inverse-Free Sparse Variational Gaussian Processes*, arXiv:2604.00697) compared with
//! dense formulas, L-SVGP and the evidence.

use crate::support::{
    Dense, Platform, Random, assert_close,
    dense::flatten,
    double_precision_platforms,
    inverse_free_case::{FORMS, InverseFreeCase, Moments, NOISE, ROWS, SIZE, inverses},
    numbers, platforms,
    posterior_case::{covariances, elbo, kernel, likelihood},
};
use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    optim::VarianceGap,
    process::{Marginals, Process},
    variational::{
        AuxiliaryUpdate, Evaluation, InverseFree, LSvgp, MeanForm, Posterior, PseudoObservations,
    },
};

/// Checks that the moments of evaluation, prediction and joint prediction, and the KL divergence,
/// are `expected`.
#[track_caller]
fn check<P: Posterior>(
    what: &str,
    platform: &Platform,
    case: &InverseFreeCase,
    posterior: &P,
    expected: &Moments,
    tolerance: f64,
) {
    let kernel = kernel(platform);
    let x = || case.x(platform);
    let outputs = case.outputs();
    let Evaluation { marginals, kl } = posterior.evaluate(&kernel, x()).expect("a factor");
    let process = posterior.condition(&kernel).expect("a factor");
    let variance = Dense::from_function(ROWS, outputs, |n, _| expected.covariance[(n, n)]);
    for (part, marginals) in [
        ("evaluated", marginals),
        ("predicted", process.marginals(x())),
    ] {
        let what = format!("{what}: {part}");
        assert_close(
            &what,
            &numbers(marginals.mean),
            &expected.mean.values,
            tolerance,
        );
        let ours = numbers(marginals.variance);
        assert_close(&what, &ours, &variance.values, tolerance);
    }
    let joint = process.joint(x());
    assert_close(what, &numbers(joint.mean), &expected.mean.values, tolerance);
    let all = flatten(&vec![expected.covariance.clone(); outputs]);
    assert_close(what, &numbers(joint.covariance), &all, tolerance);
    assert_close(what, &numbers(kl), &[expected.kl], tolerance);
}

/// The moments and KL divergences of both posteriors equal the dense formulas for any T.
#[test]
fn moments_and_divergence_are_those_of_the_dense_formulas() {
    for platform in platforms() {
        // Single precision loses digits by the condition number of K̃, up to about 500.
        let tolerance = platform.tolerance(1e-9, 2e-3);
        for outputs in [1, 3] {
            let case = InverseFreeCase::new(outputs);
            let exact = case.noisy().inverse();
            for form in FORMS {
                let what = format!("{platform}, {outputs} outputs, {form:?}");
                let posterior = case.l_svgp(&platform, form);
                let expected = case.factored(form);
                check(
                    &format!("L, {what}"),
                    &platform,
                    &case,
                    &posterior,
                    &expected,
                    tolerance,
                );
                for (index, inverse) in inverses(&exact, &mut Random::new(1)).iter().enumerate() {
                    let (expected, root) = (case.relaxed(form, inverse), inverse.cholesky());
                    // With constant L this is a single operation, otherwise several.
                    for update in [AuxiliaryUpdate::default(), AuxiliaryUpdate::TRAINED] {
                        let posterior = case.inverse_free(&platform, form, &root, update);
                        let what = format!("T number {index}, {what}, {update:?}");
                        check(&what, &platform, &case, &posterior, &expected, tolerance);
                    }
                }
            }
        }
    }
}

/// T1: at `T = K̃⁻¹` the inverse-free posterior is L-SVGP, which is the unwhitened posterior with
/// the same mean and covariance.
#[test]
fn at_the_inverse_all_are_one() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-8, 2e-3);
        for outputs in [1, 2] {
            let case = InverseFreeCase::new(outputs);
            let (inverse, kuu) = (case.noisy().inverse(), case.kuu());
            let covariance = kuu.minus(&kuu.times(&inverse).times(&kuu));
            for form in FORMS {
                let mean = kuu.times(&case.weights(form, &inverse));
                let expected = case.unwhitened(&mean, &covariance);
                let what = format!("{platform}, {outputs} outputs, {form:?}");
                let relaxed = case.with_inverse(&platform, form, &inverse);
                check(
                    &format!("R, {what}"),
                    &platform,
                    &case,
                    &relaxed,
                    &expected,
                    tolerance,
                );
                let factored = case.l_svgp(&platform, form);
                check(
                    &format!("L, {what}"),
                    &platform,
                    &case,
                    &factored,
                    &expected,
                    tolerance,
                );
            }
        }
    }
}

fn bound<P: Posterior>(platform: &Platform, case: &InverseFreeCase, posterior: &P) -> f64 {
    let evaluation = posterior.evaluate(&kernel(platform), case.x(platform));
    let value = elbo(
        evaluation.expect("a factor"),
        &likelihood(platform),
        case.y(platform),
        ROWS,
    );
    numbers(value)[0]
}

/// T2: the order of the bounds for any T. The preconditioned bounds have different means. They are
/// compared with the bound of their own `q(u)`, and with L-SVGP if the means agree.
#[test]
fn every_inverse_gives_a_bound() {
    for platform in double_precision_platforms() {
        let mut random = Random::new(61);
        for seed in 0..4 {
            let case = InverseFreeCase::with_seed(1, 100 + seed);
            let (kuu, noisy) = (case.kuu(), case.noisy());
            let evidence = case.evidence();
            for (index, inverse) in inverses(&noisy.inverse(), &mut random).iter().enumerate() {
                let what = format!("{platform}, case {seed}, T number {index}");
                let below = |lower: f64, upper: f64, of: &str| {
                    let allowed = 1e-8 * (1.0 + upper.abs());
                    assert!(
                        lower <= upper + allowed,
                        "{what}: {lower} above {upper} ({of})"
                    );
                };
                let [plain, preconditioned] = FORMS.map(|form| {
                    bound(
                        &platform,
                        &case,
                        &case.with_inverse(&platform, form, inverse),
                    )
                });
                let factored = bound(&platform, &case, &case.l_svgp(&platform, MeanForm::Plain));
                below(plain, factored, "plain L-SVGP");
                let projected = case.projected(inverse);
                let covariance = kuu.minus(&kuu.times(&projected).times(&kuu));
                let weights = case.weights(MeanForm::Preconditioned, &projected);
                let own = case.unwhitened(&kuu.times(&weights), &covariance);
                below(preconditioned, case.bound(&own), "its own q(u)");
                let same_mean = InverseFreeCase {
                    mean: noisy.times(&weights).transposed(),
                    ..case.clone()
                };
                let factored = same_mean.l_svgp(&platform, MeanForm::Preconditioned);
                below(
                    preconditioned,
                    bound(&platform, &same_mean, &factored),
                    "L-SVGP",
                );
                below(preconditioned, evidence, "the evidence");
                below(plain, evidence, "the evidence");
            }
        }
    }
}

/// T3: `U_n ≥ σ²_n ≥ L_n`, and `U_n − L_n` is the variance gap. Near the inverse the difference is
/// far smaller than its terms, which therefore set the scale of the tolerance.
#[test]
fn variances_lie_between_their_bounds() {
    for platform in double_precision_platforms() {
        let case = InverseFreeCase::new(1);
        let (noisy, kuf) = (case.noisy(), case.kuf());
        let floor = case.variances.iter().copied().fold(f64::MAX, f64::min);
        let without = noisy.minus(&Dense::identity(SIZE).scaled(floor));
        let exact = case.factored(MeanForm::Plain).covariance.diagonal();
        let prior = covariances(&case.x, &case.x).diagonal();
        for inverse in inverses(&noisy.inverse(), &mut Random::new(67)) {
            let posterior = case.with_inverse(&platform, MeanForm::Plain, &inverse);
            let kernel = kernel(&platform);
            let evaluation = posterior
                .evaluate(&kernel, case.x(&platform))
                .expect("none");
            let upper = numbers(evaluation.marginals.variance);
            let gap = VarianceGap {
                covariances: platform.matrix(&kuf),
                floor,
                noise: NOISE,
                tolerance: 0.0,
            };
            let lower = platform.matrix(&inverse.cholesky());
            let gaps = numbers(gap.of(&platform.matrix(&noisy), &lower));
            let (t, tb) = (inverse.times(&kuf), inverse.times(&without));
            let once = tb.times(&kuf);
            let twice = tb.times(&noisy).times(&t);
            for n in 0..ROWS {
                let dot = |a: &Dense| (0..SIZE).map(|m| kuf[(m, n)] * a[(m, n)]).sum::<f64>();
                let bracket = dot(&kuf) - 2.0 * dot(&once) + dot(&twice);
                let lowest = prior[n] - bracket / floor;
                let allowed = 1e-9 * (1.0 + dot(&kuf) / floor);
                assert!(
                    upper[n] >= exact[n] - allowed,
                    "{platform}: U_{n} too small"
                );
                assert!(exact[n] >= lowest - allowed, "{platform}: L_{n} too large");
                let error = (upper[n] - lowest - gaps[n]).abs();
                assert!(error <= allowed, "{platform}: G_{n} off by {error:.3e}");
            }
        }
    }
}

/// T4: the relaxed divergence adds `tr K̃T − M − log|K̃T| = 2ℓ ≥ 0` and `log|S| − log|S_L| ≥ 0`.
/// `S = K_uu − K_uu·P_R·K_uu` is a covariance.
#[test]
fn the_slack_is_a_divergence() {
    for platform in double_precision_platforms() {
        let case = InverseFreeCase::new(1);
        let (noisy, kuu) = (case.noisy(), case.kuu());
        for inverse in inverses(&noisy.inverse(), &mut Random::new(71)) {
            let posterior = case.with_inverse(&platform, MeanForm::Plain, &inverse);
            let kernel = kernel(&platform);
            let evaluation = posterior
                .evaluate(&kernel, case.x(&platform))
                .expect("none");
            let kl = numbers(evaluation.kl)[0];
            let root = inverse.cholesky();
            let inner = root.transposed().times(&noisy).times(&root); // LᵀK̃L
            let twice = inner.trace() - SIZE as f64 - inner.log_determinant();
            let squares = case.mean.times(&kuu).times(&case.mean.transposed()).trace();
            let explained = case.projected(&inverse).times(&kuu).trace();
            // 2KL without the slack.
            let rest = squares - explained - case.log_noise() + noisy.log_determinant();
            let slack = 2.0 * kl - rest;
            let scale = 1.0 + twice.abs() + rest.abs();
            assert!(
                (slack - twice).abs() <= 1e-9 * scale,
                "{platform}: {slack}, {twice}"
            );
            assert!(slack >= -1e-9 * scale, "{platform}: {slack}");
            let joint = posterior.condition(&kernel).expect("none");
            let joint = joint.joint(platform.matrix(&case.z)).covariance;
            let covariance = Dense::new(SIZE, SIZE, numbers(joint));
            let pivots = covariance.cholesky().diagonal();
            assert!(pivots.iter().all(|pivot| *pivot > 0.0), "{platform}");
        }
    }
}

/// T17: with inducing points at the data, `m̃ = y` and `S̃` equal to the noise, it is exact
/// regression.
#[test]
fn it_is_exact_regression_at_the_data() {
    for platform in platforms() {
        let random = Random::new(73).points(ROWS, 2);
        let case = InverseFreeCase::new(1);
        let exact = InverseFreeCase {
            z: case.x.clone(),
            mean: case.y.transposed(),
            variances: vec![NOISE; ROWS],
            ..case.clone()
        };
        let inverse = exact.noisy().inverse();
        let form = MeanForm::Preconditioned;
        let relaxed = exact.with_inverse(&platform, form, &inverse);
        let factored = exact.l_svgp(&platform, form);
        let evidence = exact.evidence();
        let tolerance = platform.tolerance(1e-7, 1e-3);
        for value in [
            bound(&platform, &exact, &relaxed),
            bound(&platform, &exact, &factored),
        ] {
            assert_close(
                &format!("{platform}: evidence"),
                &[value],
                &[evidence],
                tolerance,
            );
        }
        let kuf = covariances(&case.x, &random);
        let mean = kuf.transposed().times(&inverse).times(&case.y);
        let explained = kuf.transposed().times(&inverse).times(&kuf);
        let covariance = covariances(&random, &random).minus(&explained);
        let x = platform.matrix(&random);
        let kernel = kernel(&platform);
        let all: [Marginals; 2] = [
            relaxed
                .condition(&kernel)
                .expect("none")
                .marginals(x.clone()),
            factored.condition(&kernel).expect("a factor").marginals(x),
        ];
        for marginals in all {
            let what = format!("{platform}: prediction");
            assert_close(&what, &numbers(marginals.mean), &mean.values, tolerance);
            let variances = numbers(marginals.variance);
            assert_close(&what, &variances, &covariance.diagonal(), tolerance);
        }
    }
}

fn kl<P: Posterior>(platform: &Platform, case: &InverseFreeCase, posterior: &P) -> f64 {
    let evaluation = posterior.evaluate(&kernel(platform), case.x(platform));
    numbers(evaluation.expect("a factor").kl)[0]
}

/// T18: if functions share `S̃` and T, their KL divergences add up.
#[test]
fn functions_share_their_variances() {
    for platform in platforms() {
        let case = InverseFreeCase::new(3);
        let inverse = inverses(&case.noisy().inverse(), &mut Random::new(79)).swap_remove(1);
        for form in FORMS {
            let mut sums = [0.0; 2];
            for output in 0..3 {
                let alone = InverseFreeCase {
                    mean: Dense::new(1, SIZE, case.mean.row(output).to_vec()),
                    ..case.clone()
                };
                let relaxed = alone.with_inverse(&platform, form, &inverse);
                sums[0] += kl(&platform, &alone, &relaxed);
                sums[1] += kl(&platform, &alone, &alone.l_svgp(&platform, form));
            }
            let relaxed = case.with_inverse(&platform, form, &inverse);
            let ours = [
                kl(&platform, &case, &relaxed),
                kl(&platform, &case, &case.l_svgp(&platform, form)),
            ];
            let tolerance = platform.tolerance(1e-10, 1e-4);
            assert_close(&format!("{platform}, {form:?}"), &ours, &sums, tolerance);
        }
    }
}

/// T21: the bounds of mini-batches average to the full bound.
#[test]
fn mini_batches_average_to_the_full_bound() {
    for platform in double_precision_platforms() {
        let case = InverseFreeCase::new(1);
        let (kernel, likelihood) = (kernel(&platform), likelihood(&platform));
        let inverse = case.noisy().inverse();
        for form in FORMS {
            let posterior = case.with_inverse(&platform, form, &inverse);
            let (x, y) = (case.x(&platform), case.y(&platform));
            let bound = |x: Tensor<2>, y: Tensor<2>| {
                let evaluation = posterior.evaluate(&kernel, x).expect("none");
                numbers(elbo(evaluation, &likelihood, y, ROWS))[0]
            };
            let part = |tensor: &Tensor<2>, index: usize| tensor.clone().narrow(0, 12 * index, 12);
            let mean = (0..5).map(|index| bound(part(&x, index), part(&y, index)));
            let mean = mean.sum::<f64>() / 5.0;
            assert_close(
                &format!("{platform}, {form:?}"),
                &[mean],
                &[bound(x, y)],
                1e-10,
            );
        }
    }
}

/// A posterior supports only one kind of prior.
#[test]
#[should_panic(expected = "expected a triangle [M, M] for M variances")]
fn triangles_and_variances_belong_together() {
    let platform = &platforms()[0];
    let mean = Tensor::<2>::zeros([2, 3], platform.options());
    let observations = PseudoObservations::new(mean, &[0.1; 3], MeanForm::Plain);
    let points = InducingPoints::new(Tensor::zeros([3, 1], platform.options()));
    let lower = Tensor::<3>::ones([2, 3, 3], platform.options());
    let _ = InverseFree::new(
        points.clone(),
        observations.clone(),
        lower,
        AuxiliaryUpdate::TRAINED,
    );
    let _ = LSvgp::new(points, observations);
}
