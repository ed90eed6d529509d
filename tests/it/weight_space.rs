//! The posterior over the weights of features: equations 8 to 11, the optimum, batches, the leveled
//! variance and draws.

use crate::support::{
    Dense, Platform, Random, assert_close,
    comparison::assert_within,
    double_precision_platforms,
    low_rank_case::{Inputs, Waves, correction, norms, on_inputs, products, residuals, wave_data},
    numbers, parameter_gradients, platforms,
};
use burn::{module::Module, optim::GradientsParams, tensor::Tensor};
use burn_gp_core::{
    inference::low_rank_evidence,
    kernels::Basis,
    likelihoods::{Gaussian, Likelihood},
    optim::NaturalGradient,
    process::{
        CovarianceShape, Marginals, PredictedVariance, Process, VarianceCorrection,
        VariationalGaussian,
    },
    variational::{Posterior, WeightSpace},
};

const NOISE: f64 = 0.3;
const ROWS: usize = 24;
const RANK: usize = 4;

fn kernel() -> Basis {
    Basis::new(Inputs { rank: RANK })
}

/// Data and a distribution over the weights.
struct Case {
    features: Dense,
    targets: Dense,
    mean: Dense,
    scale: Dense,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            features: random.matrix(ROWS, RANK),
            targets: random.matrix(ROWS, 1),
            mean: random.matrix(1, RANK),
            scale: random.lower_triangle(RANK),
        }
    }

    /// Replaces the distribution by the optimum `N(Λ⁻¹Φᵀy, σ²Λ⁻¹)`.
    fn at_optimum(self) -> Self {
        let (mean, covariance) = self.optimum();
        Self {
            mean: mean.transposed(),
            scale: covariance.cholesky(),
            ..self
        }
    }

    fn optimum(&self) -> (Dense, Dense) {
        let gram = self.features.transposed().times(&self.features);
        let shifted = gram.plus(&Dense::identity(RANK).scaled(NOISE));
        let mean = shifted.solve(&self.features.transposed().times(&self.targets));
        (mean, shifted.inverse().scaled(NOISE))
    }

    fn posterior(&self, platform: &Platform, correction: VarianceCorrection) -> WeightSpace {
        let distribution = VariationalGaussian::full(
            platform.matrix(&self.mean),
            platform.batch(std::slice::from_ref(&self.scale)),
        );
        WeightSpace::new(distribution, correction)
    }

    /// The bound for some rows.
    fn bound(
        &self,
        platform: &Platform,
        posterior: &WeightSpace,
        (start, length): (usize, usize),
    ) -> Tensor<1> {
        let rows = |matrix: &Dense| platform.matrix(matrix).narrow(0, start, length);
        let evaluation = posterior.evaluate(&kernel(), rows(&self.features)).unwrap();
        let likelihood = Gaussian::new(NOISE, platform.options());
        let expected = likelihood.expected_log_density(rows(&self.targets), evaluation.marginals);
        expected.sum() * (ROWS as f64 / length as f64) - evaluation.kl
    }

    fn evidence(&self, platform: &Platform) -> f64 {
        let noise = platform.tensor(&[NOISE], [1]);
        let (phi, y) = (
            platform.matrix(&self.features),
            platform.matrix(&self.targets),
        );
        numbers(low_rank_evidence(phi, y, noise).unwrap())[0]
    }

    /// `KL[q ‖ p(w | y)]`.
    fn gap(&self) -> f64 {
        let (mean, covariance) = self.optimum();
        let own = products(&self.scale, &self.scale);
        let shift = mean.minus(&self.mean.transposed());
        let square = shift.transposed().times(&covariance.solve(&shift))[(0, 0)];
        let trace = covariance.solve(&own).trace();
        let determinants = covariance.log_determinant() - own.log_determinant();
        0.5 * (trace + square - RANK as f64 + determinants)
    }
}

const ALL: (usize, usize) = (0, ROWS);

/// Equation 8 with plain sums.
#[test]
fn bound_is_that_of_the_formula() {
    let case = Case::new(1);
    let projected = case.features.times(&case.scale);
    let square = |matrix: &Dense| matrix.values.iter().map(|v| v * v).sum::<f64>();
    let error = case
        .targets
        .minus(&case.features.times(&case.mean.transposed()));
    let two_pi = 2.0 * core::f64::consts::PI;
    let diagonal = case.scale.diagonal();
    let log_determinant: f64 = diagonal.iter().map(|l| (l * l).ln()).sum();
    let kl = 0.5 * (square(&case.mean) + square(&case.scale) - log_determinant - RANK as f64);
    let expected = -0.5 * ROWS as f64 * (two_pi * NOISE).ln()
        - (square(&error) + square(&projected)) / (2.0 * NOISE)
        - kl;
    for platform in platforms() {
        let posterior = case.posterior(&platform, VarianceCorrection::NONE);
        let actual = numbers(case.bound(&platform, &posterior, ALL));
        let what = format!("on {platform}");
        assert_close(&what, &actual, &[expected], platform.tolerance(1e-12, 1e-5));
    }
}

/// The gap between bound and evidence is the KL divergence from the posterior. It is zero at the
/// optimum.
#[test]
fn gap_is_the_divergence_from_the_posterior() {
    for seed in 0..6 {
        let case = Case::new(seed);
        for platform in double_precision_platforms() {
            let posterior = case.posterior(&platform, VarianceCorrection::NONE);
            let bound = numbers(case.bound(&platform, &posterior, ALL))[0];
            let gap = case.evidence(&platform) - bound;
            let what = format!("seed {seed} on {platform}");
            assert!(gap >= -1e-9, "{what}: {gap}");
            assert_close(&what, &[gap], &[case.gap()], 1e-8);
        }
    }
    let platform = &platforms()[0];
    let standard =
        VariationalGaussian::standard(RANK, 2, CovarianceShape::Full, platform.options());
    let none = VarianceCorrection::NONE;
    let posterior = WeightSpace::new(standard, none);
    let x = platform.tensor(&[0.5; RANK], [1, RANK]);
    let kl = posterior.evaluate(&kernel(), x).unwrap().kl;
    assert_eq!(numbers(kl), [0.0]);
}

/// At the optimum the bound is the evidence, its gradient is zero and the predictions are exact.
#[test]
fn optimum_is_exact_inference() {
    let case = Case::new(2).at_optimum();
    let new = Random::new(3).matrix(6, RANK);
    for platform in double_precision_platforms() {
        let what = format!("on {platform}");
        let tracked = platform.autodiff();
        let posterior = case.posterior(&tracked, VarianceCorrection::NONE);
        let bound = case.bound(&tracked, &posterior, ALL);
        let evidence = case.evidence(&platform);
        assert_close(&what, &numbers(bound.clone()), &[evidence], 1e-8);
        let gradients = bound.backward();
        let gradients = parameter_gradients(posterior.distribution(), &gradients);
        assert_within(&what, &gradients[0], &[0.0; RANK], 1e-8);
        assert_within(&what, &gradients[1], &[0.0; RANK * RANK], 1e-8);
        let exact = on_inputs(&platform, 1, NOISE, VarianceCorrection::NONE);
        let (phi, y) = (
            platform.matrix(&case.features),
            platform.matrix(&case.targets),
        );
        let exact = exact.condition(phi, y).unwrap();
        let exact = exact.marginals(platform.matrix(&new));
        let ours = posterior.condition(&kernel()).unwrap();
        let ours = ours.marginals(platform.matrix(&new));
        assert_close(&what, &numbers(ours.mean), &numbers(exact.mean), 1e-8);
        assert_close(
            &what,
            &numbers(ours.variance),
            &numbers(exact.variance),
            1e-8,
        );
    }
}

/// One natural-gradient step of size one reaches the optimum from any distribution.
#[test]
fn a_natural_step_reaches_the_optimum() {
    let case = Case::new(4);
    let optimum = Case::new(4).at_optimum();
    for platform in platforms() {
        let tracked = platform.autodiff();
        let posterior = case
            .posterior(&tracked, VarianceCorrection::default())
            .train();
        let loss = case.bound(&tracked, &posterior, ALL).neg();
        let mut gradients = GradientsParams::from_grads(loss.backward(), &posterior);
        let step = NaturalGradient::new(1.0)
            .step(0, posterior, &mut gradients, 1.0)
            .unwrap();
        assert_eq!(step.distributions, 1);
        let distribution = step.module.distribution();
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-9, 1e-4);
        let mean = numbers(distribution.mean());
        assert_close(&what, &mean, &optimum.mean.values, tolerance);
        let scale = Dense::new(RANK, RANK, numbers(distribution.scale()));
        let (actual, expected) = (
            products(&scale, &scale),
            products(&optimum.scale, &optimum.scale),
        );
        assert_close(&what, &actual.values, &expected.values, tolerance);
    }
}

/// The bounds of equal batches average to the full bound.
#[test]
fn batches_average_to_the_bound() {
    let case = Case::new(5);
    for platform in double_precision_platforms() {
        let posterior = case.posterior(&platform, VarianceCorrection::NONE);
        let whole = numbers(case.bound(&platform, &posterior, ALL));
        for size in [1, 3, 8, ROWS] {
            let parts: Vec<f64> = (0..ROWS)
                .step_by(size)
                .map(|start| numbers(case.bound(&platform, &posterior, (start, size)))[0])
                .collect();
            let mean = parts.iter().sum::<f64>() / parts.len() as f64;
            let what = format!("batches of {size} on {platform}");
            assert_close(&what, &[mean], &whole, 1e-10);
        }
    }
}

/// The correction lowers the bound of a batch by `(N/B)·Σ c/(2σ²)`, where c is relative to the
/// largest norm in the batch. The penalty is zero for one data point and complete for all data. On
/// average it never exceeds the complete penalty.
#[test]
fn penalties_of_batches_stay_below_that_of_all() {
    let case = Case::new(6);
    let only_training = correction(true, PredictedVariance::Features);
    let total: f64 = residuals(&case.features).iter().sum();
    for platform in double_precision_platforms() {
        let plain = case.posterior(&platform, VarianceCorrection::NONE);
        let corrected = case.posterior(&platform, only_training);
        let trace = |rows| {
            let bound = |posterior| numbers(case.bound(&platform, posterior, rows))[0];
            (bound(&plain) - bound(&corrected)) * 2.0 * NOISE
        };
        assert_close("all", &[trace(ALL)], &[total], 1e-10);
        for size in [1, 4, 12] {
            let starts = (0..ROWS).step_by(size);
            let traces: Vec<f64> = starts.map(|start| trace((start, size))).collect();
            let mean = traces.iter().sum::<f64>() / traces.len() as f64;
            assert!(mean <= total + 1e-10, "{size}: {mean} above {total}");
            if size == 1 {
                assert_within("one datum", &traces, &[0.0; ROWS], 1e-12);
            } else {
                assert!(mean > 0.0);
            }
        }
    }
}

/// Equation 10 with `σ² + c`. Without the correction it equals the prediction of the features bit
/// for bit.
#[test]
fn predictions_add_what_is_left_below_the_level() {
    let case = Case::new(7);
    let new = Random::new(8).matrix(9, RANK);
    let level = norms(&case.features).into_iter().fold(0.0, f64::max);
    let projected = new.times(&case.scale);
    let explained = norms(&projected);
    let left: Vec<f64> = norms(&new)
        .iter()
        .map(|norm| (level - norm).max(0.0))
        .collect();
    for platform in platforms() {
        let marginals = |correction| -> Marginals {
            let posterior = case.posterior(&platform, correction);
            let posterior = posterior
                .with_level_of(&kernel(), platform.matrix(&case.features))
                .unwrap();
            let process = posterior.condition(&kernel()).unwrap();
            process.marginals(platform.matrix(&new))
        };
        let (plain, corrected) = (
            marginals(VarianceCorrection::NONE),
            marginals(VarianceCorrection::default()),
        );
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        let mean = new.times(&case.mean.transposed());
        assert_close(&what, &numbers(plain.mean.clone()), &mean.values, tolerance);
        assert_eq!(numbers(plain.mean), numbers(corrected.mean));
        assert_close(&what, &numbers(plain.variance), &explained, tolerance);
        let sums: Vec<f64> = explained.iter().zip(&left).map(|(q, c)| q + c).collect();
        assert_close(&what, &numbers(corrected.variance), &sums, tolerance);
    }
}

/// Under the prior, the corrected variances of the training inputs are all equal, c is zero at the
/// largest norm and never negative, and the joint covariance is positive semidefinite.
#[test]
fn leveled_prior_has_one_variance() {
    let features = Random::new(9).matrix(ROWS, RANK);
    let all = norms(&features);
    let level = all.iter().copied().fold(0.0, f64::max);
    for platform in double_precision_platforms() {
        let prior = |correction| {
            let shape = CovarianceShape::Full;
            let standard = VariationalGaussian::standard(RANK, 1, shape, platform.options());
            let posterior = WeightSpace::new(standard, correction);
            let x = platform.matrix(&features);
            let posterior = posterior.with_level_of(&kernel(), x.clone()).unwrap();
            let process = posterior.condition(&kernel()).unwrap();
            (
                numbers(process.marginals(x.clone()).variance),
                process.joint(x),
            )
        };
        let (plain, _) = prior(VarianceCorrection::NONE);
        let (corrected, joint) = prior(VarianceCorrection::default());
        let what = format!("on {platform}");
        assert_close(&what, &corrected, &[level; ROWS], 1e-12);
        let left: Vec<f64> = corrected
            .iter()
            .zip(&plain)
            .map(|(k, norm)| k - norm)
            .collect();
        assert!(left.iter().all(|&c| c >= 0.0));
        let argmax = all.iter().position(|&norm| norm == level).unwrap();
        assert_within(&what, &left[argmax..=argmax], &[0.0], 1e-12);
        // The factor exists with the smallest diagonal term that covers rounding.
        let covariance = Dense::new(ROWS, ROWS, numbers(joint.covariance));
        covariance
            .plus(&Dense::identity(ROWS).scaled(1e-12))
            .cholesky();
    }
}

#[test]
fn golden_bound() {
    let (x, y) = wave_data();
    for platform in double_precision_platforms() {
        let (x, y) = (platform.tensor(&x, [6, 1]), platform.tensor(&y, [6, 1]));
        let standard =
            VariationalGaussian::standard(3, 1, CovarianceShape::Full, platform.options());
        let posterior = WeightSpace::new(standard, VarianceCorrection::NONE);
        let kernel = Basis::new(Waves { rank: 3 });
        let evaluation = posterior.evaluate(&kernel, x).unwrap();
        let likelihood = Gaussian::new(0.1, platform.options());
        let expected = likelihood.expected_log_density(y, evaluation.marginals);
        let bound = numbers(expected.sum() - evaluation.kl);
        assert_within("golden bound", &bound, &[-44.040573204539], 1e-10);
    }
}

/// Draws of the prior have the covariance `ΦΦᵀ + diag(c)`, within four standard errors of 20 000
/// draws, `√((k_ii·k_jj + k_ij²)/S)`.
#[test]
fn draws_have_the_covariance_of_the_kernel() {
    const DRAWS: usize = 20_000;
    let features = Random::new(10).matrix(5, RANK);
    for platform in platforms() {
        for correction in [VarianceCorrection::NONE, VarianceCorrection::default()] {
            let shape = CovarianceShape::Full;
            let standard = VariationalGaussian::standard(RANK, 1, shape, platform.options());
            let posterior = WeightSpace::new(standard, correction);
            let x = platform.matrix(&features);
            let posterior = posterior.with_level_of(&kernel(), x.clone()).unwrap();
            let process = posterior.condition(&kernel()).unwrap();
            let covariance = Dense::new(5, 5, numbers(process.joint(x.clone()).covariance));
            let draws = Dense::new(DRAWS, 5, numbers(process.sample(x, DRAWS, 11).unwrap()));
            let sample = draws.transposed().times(&draws).scaled(1.0 / DRAWS as f64);
            for i in 0..5 {
                for j in 0..5 {
                    let product = covariance[(i, i)] * covariance[(j, j)];
                    let error = (product + covariance[(i, j)].powi(2)) / DRAWS as f64;
                    let bound = 4.0 * error.sqrt();
                    let (actual, expected) = (sample[(i, j)], covariance[(i, j)]);
                    let what = format!("({i}, {j}) on {platform}");
                    assert_within(&what, &[actual], &[expected], bound);
                }
            }
        }
    }
}
