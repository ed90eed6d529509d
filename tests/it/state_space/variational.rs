//! Other likelihoods over time, compared with reference values and with dense algebra.

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::{ConditionError, MarkovVariational},
    kernels::{AnyKernel, KernelModule},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig, StudentTConfig},
    means::{AnyMean, ConstantMean, ZeroMean},
    ops::Stationary,
    process::{Marginals, Process},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    golden::{NEW_TIMES, TIMES},
    matern,
    regression::{column, markov, series},
};
use crate::support::{
    Dense, Platform, assert_close, check_module_gradients, first_platform, largest,
    likelihood_cases::{Case, in_columns, registry},
    numbers, parameter_gradients, platforms,
};

const COUNTS: [f64; 12] = [1.0, 3.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 4.0, 6.0, 2.0, 1.0];
const BOUND: f64 = -20.676819633510778;
/// Of the lengthscale, 1.4, and the variance, 0.9.
const GRADIENT: [(f64, f64); 2] = [(1.4, -0.39741844352059746), (0.9, -0.017000818989239285)];
const MEANS: [f64; 12] = [
    0.37605137158527896,
    0.3699834445088764,
    0.3035122233331005,
    -0.21146654808026996,
    -0.21146654808026996,
    -0.6031206646256183,
    -0.4414408519933579,
    -0.35241519881103345,
    1.1196567309478238,
    1.4303081396783524,
    0.4565059368766239,
    0.39000724281389443,
];
const VARIANCES: [f64; 12] = [
    0.22443555995527875,
    0.16513107154315704,
    0.16558282109983646,
    0.22379804212499296,
    0.22379804212499296,
    0.3236101120246386,
    0.3091867274909443,
    0.3145353980401984,
    0.17967836873666276,
    0.14739108139420012,
    0.20704809714903033,
    0.21547894948160198,
];
const NEW_MEANS: [f64; 8] = [
    0.2917237655978619,
    0.0649631504415058,
    -0.21146654808026996,
    0.375273997275846,
    0.39000724281389443,
    0.14559745737560753,
    0.007108228068080035,
    -0.0003872928452276948,
];
const NEW_VARIANCES: [f64; 8] = [
    0.44305841726004463,
    0.19290960684442568,
    0.22379804212499296,
    0.3520717270028452,
    0.21547894948160198,
    0.4562674006943135,
    0.8545160190140205,
    0.89996173060896,
];

/// Every smooth likelihood with one latent function.
fn likelihoods() -> Vec<LikelihoodConfig> {
    let of_one = |case: &Case| case.latents == 1 && case.is_smooth();
    let cases = registry().into_iter().filter(of_one);
    cases.map(|case| case.config).collect()
}

/// Targets drawn from a likelihood, [N, T]. Some of those with real values are outliers.
fn drawn(platform: &Platform, likelihood: &AnyLikelihood, times: &[f64]) -> Tensor<2> {
    let function: Vec<f64> = times.iter().map(|time| (2.3 * time).sin()).collect();
    let function = platform.tensor(&function, [1, times.len(), 1]);
    let mut values = numbers(likelihood.sample(function, &mut ChaCha8Rng::seed_from_u64(5)));
    let description = likelihood.description();
    if description.name == "student-t" {
        values[7] += 4.0;
        values[20] -= 3.0;
    }
    let columns = description.columns;
    platform.tensor(&in_columns(&**likelihood, values), [times.len(), columns])
}

fn model(
    platform: &Platform,
    kernel: AnyKernel,
    mean: impl Into<AnyMean>,
    likelihood: &LikelihoodConfig,
) -> MarkovVariational<AnyKernel> {
    let likelihood = likelihood.init(platform.options());
    MarkovVariational::new(kernel, mean, likelihood).unwrap()
}

/// The kernel of the reference values.
fn reference_kernel(platform: &Platform) -> AnyKernel {
    matern(platform, Stationary::Matern32, 1.4, 0.9)
}

/// With Gaussian noise, it is regression.
#[test]
fn gaussian_noise_is_exact() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = series(60);
    let kernel = || matern(&platform, Stationary::Matern52, 0.7, 1.3);
    let noise = GaussianConfig { noise: 0.02 }.into();
    let ours = model(&platform, kernel(), ZeroMean::new(1), &noise);
    let expected = markov(&platform, kernel(), 1, 0.02);
    let (x, y) = (column(&platform, &times), column(&platform, &targets[..60]));
    let bound = numbers(ours.full_objective(x.clone(), y.clone()).unwrap());
    let evidence = numbers(expected.full_objective(x.clone(), y.clone()).unwrap());
    assert_close("bound", &bound, &evidence, 1e-12);
    let new = column(&platform, &[-0.4, 0.3, times[5], 2.9, 4.0]);
    let ours = ours.condition(x.clone(), y.clone()).unwrap();
    let expected = expected.condition(x, y).unwrap();
    let (ours, expected) = (ours.joint(new.clone()), expected.joint(new));
    assert_close("mean", &numbers(ours.mean), &numbers(expected.mean), 1e-12);
    let (ours, expected) = (numbers(ours.covariance), numbers(expected.covariance));
    assert_close("covariance", &ours, &expected, 1e-12);
}

/// Counts with a logarithmic link.
#[test]
fn counts_have_the_reference_values() {
    for platform in platforms() {
        let device = platform.autodiff();
        let model = model(
            &device,
            reference_kernel(&device),
            ZeroMean::new(1),
            &LikelihoodConfig::poisson(),
        );
        let (x, y) = (column(&device, &TIMES), column(&device, &COUNTS));
        let bound = model.full_objective(x.clone(), y.clone()).unwrap();
        // Single precision ends the search for the sites early.
        let tolerance = platform.tolerance(1e-12, 1e-6);
        assert_close("bound", &numbers(bound.clone()), &[BOUND], tolerance);
        // Parameters are 10⁻⁶ + softplus(raw), whose slope is 1 − e^−(value − 10⁻⁶).
        let slopes = parameter_gradients(&model, &bound.backward()).concat();
        let expected = GRADIENT.map(|(value, slope)| slope * (1.0 - (1e-6f64 - value).exp()));
        let tolerance = platform.tolerance(1e-8, 1e-3);
        assert_close("gradient", &slopes, &expected, tolerance);
        let process = model.condition(x, y).unwrap();
        let at = |times: &[f64]| process.marginals(column(&platform, times));
        for (times, means, variances) in [
            (&TIMES[..], &MEANS[..], &VARIANCES[..]),
            (&NEW_TIMES[..], &NEW_MEANS[..], &NEW_VARIANCES[..]),
        ] {
            let Marginals { mean, variance } = at(times);
            let tolerance = platform.tolerance(1e-9, 1e-4);
            assert_close("means", &numbers(mean), means, tolerance);
            assert_close("variances", &numbers(variance), variances, tolerance);
        }
    }
}

/// G, W and the sum of `E[log p(y | f)]` with Gaussian functions.
fn expectation(
    likelihood: &AnyLikelihood,
    targets: Tensor<2>,
    marginals: &Marginals,
) -> (Vec<f64>, Vec<f64>, f64) {
    let tracked = |tensor: &Tensor<2>| tensor.clone().autodiff().require_grad();
    let (mean, variance) = (tracked(&marginals.mean), tracked(&marginals.variance));
    let own = Marginals {
        mean: mean.clone(),
        variance: variance.clone(),
    };
    let expected = likelihood
        .expected_log_density(targets.autodiff(), own)
        .sum();
    let gradients = expected.backward();
    let slopes = |tensor: &Tensor<2>| numbers(tensor.grad(&gradients).unwrap());
    let curvatures = slopes(&variance).iter().map(|slope| -2.0 * slope).collect();
    (slopes(&mean), curvatures, numbers(expected)[0])
}

/// The posterior of every likelihood is the best Gaussian one, by dense algebra: with K of all rows, `K⁻¹(m − m₀) = G`,
/// `S⁻¹ = K⁻¹ + W`, and the bound is `Σ E[log p] − KL[N(m, S) ‖ N(m₀, K)]`.
#[test]
fn the_posterior_is_the_best_gaussian() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, _) = series(60);
    let prior_mean = 0.3;
    let x = column(&platform, &times);
    let kernel = matern(&platform, Stationary::Matern32, 0.7, 1.3);
    let covariance = Dense::new(60, 60, numbers(kernel.covariance_at(x.clone(), x.clone())));
    for config in likelihoods() {
        let what = format!("{config:?}");
        let likelihood = config.init(platform.options());
        let y = drawn(&platform, &likelihood, &times);
        let mean = ConstantMean::new(platform.tensor(&[prior_mean], [1]));
        let ours = model(&platform, kernel.clone(), mean, &config);
        let process = ours.condition(x.clone(), y.clone()).unwrap();
        let marginals = process.marginals(x.clone());
        let tracked = config.init(platform.autodiff().options());
        let (slopes, curvatures, expected) = expectation(&tracked, y.clone(), &marginals);
        // Two rows have the same time, so that K is singular: m = m₀ + KG, S = K − K(I + WK)⁻¹WK = (I + KW)⁻¹K.
        let right = covariance.times(&Dense::new(60, 1, slopes.clone()));
        let means: Vec<f64> = (0..60).map(|row| prior_mean + right.row(row)[0]).collect();
        let found = numbers(marginals.mean.clone());
        // The sites are within 1e-10 of the fixed point.
        assert_close(&format!("{what}: means"), &found, &means, 1e-8);
        let weighted = Dense::from_function(60, 60, |row, column| {
            f64::from(u8::from(row == column)) + covariance.row(row)[column] * curvatures[column]
        }); // I + KW
        let posterior = solve(&weighted, &covariance);
        let found = numbers(marginals.variance.clone());
        assert_close(
            &format!("{what}: variances"),
            &found,
            &posterior.diagonal(),
            1e-8,
        );
        // KL = ½(tr(K⁻¹S) + (m − m₀)ᵀK⁻¹(m − m₀) − N + log|I + KW|), and K⁻¹S = I − WS.
        let square: f64 = (0..60)
            .map(|row| (means[row] - prior_mean) * slopes[row])
            .sum();
        let trace: f64 = (0..60)
            .map(|row| curvatures[row] * posterior.row(row)[row])
            .sum();
        let divergence = 0.5 * (square - trace + log_determinant(&weighted));
        let bound = numbers(ours.full_objective(x.clone(), y).unwrap());
        assert_close(&what, &bound, &[expected - divergence], 1e-8);
    }
}

/// Gaussian elimination with pivots: the solution of AX = B, and log|A|.
fn eliminated(a: &Dense, b: &Dense) -> (Vec<Vec<f64>>, f64) {
    let size = a.diagonal().len();
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|row| [a.row(row), b.row(row)].concat())
        .collect();
    let mut log = 0.0;
    for place in 0..size {
        let pivot = (place..size)
            .max_by(|&one, &other| rows[one][place].abs().total_cmp(&rows[other][place].abs()))
            .unwrap();
        rows.swap(place, pivot);
        let own = rows[place].clone();
        log += own[place].abs().ln();
        for (index, row) in rows.iter_mut().enumerate() {
            if index != place {
                let factor = row[place] / own[place];
                row.iter_mut()
                    .zip(&own)
                    .for_each(|(value, own)| *value -= factor * own);
            }
        }
        let scale = rows[place][place];
        rows[place].iter_mut().for_each(|value| *value /= scale);
    }
    (rows, log)
}

fn solve(a: &Dense, b: &Dense) -> Dense {
    let size = a.diagonal().len();
    let (rows, _) = eliminated(a, b);
    Dense::from_function(size, size, |row, column| rows[row][size + column])
}

fn log_determinant(a: &Dense) -> f64 {
    eliminated(a, a).1
}

/// The gradient reaches the kernel, the mean and the likelihood.
#[test]
fn gradients_are_central_differences() {
    let (times, _) = series(24);
    for config in likelihoods() {
        let what = format!("{config:?}");
        let build = |platform: &Platform| {
            let kernel = matern(platform, Stationary::Matern52, 0.7, 1.3);
            let mean = ConstantMean::new(platform.tensor(&[0.2], [1]));
            model(platform, kernel, mean, &config)
        };
        check_module_gradients(&what, (1e-6, 2e-2), build, |platform, model| {
            let plain = platform.without_autodiff();
            let likelihood = config.init(plain.options());
            let y = numbers(drawn(&plain, &likelihood, &times));
            let columns = y.len() / 24;
            let y = platform.tensor(&y, [24, columns]);
            model.full_objective(column(platform, &times), y).unwrap()
        });
    }
}

/// An outlier of a Student-t likelihood has a negative site, which single precision and the order of rows keep.
#[test]
fn the_order_of_rows_does_not_matter() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, _) = series(60);
    for config in [
        StudentTConfig::default().into(),
        LikelihoodConfig::poisson(),
    ] {
        let likelihood = config.init(platform.options());
        let targets = numbers(drawn(&platform, &likelihood, &times));
        let kernel = matern(&platform, Stationary::Matern52, 0.7, 1.3);
        let model = model(&platform, kernel, ZeroMean::new(1), &config);
        let at = |rows: &[usize]| {
            let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
            let (x, y) = (
                column(&platform, &of(&times)),
                column(&platform, &of(&targets)),
            );
            let bound = numbers(model.full_objective(x.clone(), y.clone()).unwrap());
            let joint = (model.condition(x, y).unwrap()).joint(column(&platform, &[0.3, 2.9]));
            [bound, numbers(joint.mean), numbers(joint.covariance)].concat()
        };
        let given: Vec<usize> = (0..60).collect();
        let reversed: Vec<usize> = (0..60).rev().collect();
        // The sites are within 1e-10 of the fixed point.
        assert_close("reversed", &at(&reversed), &at(&given), 1e-9);
    }
}

/// Joint predictions are those of all rows and new times together.
#[test]
fn joint_predictions_have_the_dense_covariance() {
    let Some(platform) = first_platform() else {
        return;
    };
    let kernel = reference_kernel(&platform);
    let poisson = LikelihoodConfig::poisson();
    let model = model(&platform, kernel.clone(), ZeroMean::new(1), &poisson);
    let (x, y) = (column(&platform, &TIMES), column(&platform, &COUNTS));
    let process = model.condition(x.clone(), y).unwrap();
    let new = column(&platform, &NEW_TIMES);
    let found = numbers(process.joint(new.clone()).covariance);
    // W = exp(m + V/2)
    let noise: Vec<f64> = (0..12)
        .map(|row| (-MEANS[row] - 0.5 * VARIANCES[row]).exp())
        .collect();
    let covariance = |a: &Tensor<2>, b: &Tensor<2>| {
        let [rows, columns] = [a.dims()[0], b.dims()[0]];
        Dense::new(
            rows,
            columns,
            numbers(kernel.covariance_at(a.clone(), b.clone())),
        )
    };
    let observed = covariance(&x, &x);
    let observed = Dense::from_function(12, 12, |row, column| {
        observed.row(row)[column] + if row == column { noise[row] } else { 0.0 }
    });
    let cross = covariance(&x, &new);
    let known = cross.transposed().times(&observed.inverse()).times(&cross);
    let expected = covariance(&new, &new).minus(&known);
    let expected: Vec<f64> = (0..8).flat_map(|row| expected.row(row).to_vec()).collect();
    assert_close("covariance", &found, &expected, 1e-8);
    let draws = numbers(process.sample(new, 3, 1).unwrap());
    assert!(draws.len() == 24 && largest(&draws) > 0.0);
}

/// A count that is no count, and a time that is no time.
#[test]
fn impossible_data_are_refused() {
    let platform = &platforms()[0];
    let poisson = LikelihoodConfig::poisson();
    let model = model(
        platform,
        reference_kernel(platform),
        ZeroMean::new(1),
        &poisson,
    );
    let error = |times: &[f64], counts: &[f64]| {
        let data = (column(platform, times), column(platform, counts));
        model.condition(data.0, data.1).err().unwrap()
    };
    assert!(matches!(
        error(&[0.0, 1.0], &[1.0, -2.0]),
        ConditionError::Target(_)
    ));
    let error = error(&[0.0, f64::INFINITY], &[1.0, 2.0]);
    assert!(matches!(error, ConditionError::Input { row: 1, .. }));
}

/// A series of zeros, counts far above the prior, and a narrow prior.
#[test]
fn unusual_counts_are_finite() {
    let Some(platform) = first_platform() else {
        return;
    };
    let poisson = LikelihoodConfig::poisson();
    for variance in [1e-3, 1.0] {
        let kernel = matern(&platform, Stationary::Matern52, 1.4, variance);
        let model = model(&platform, kernel, ZeroMean::new(1), &poisson);
        for scale in [0.0, 1.0, 1e5] {
            if variance < 1.0 && scale > 1.0 {
                continue;
            }
            let counts: Vec<f64> = COUNTS.iter().map(|count| scale * count).collect();
            let (x, y) = (column(&platform, &TIMES), column(&platform, &counts));
            let bound = numbers(model.full_objective(x.clone(), y.clone()).unwrap())[0];
            assert!(bound.is_finite(), "{variance}, {scale}: {bound}");
            let process = model.condition(x.clone(), y.clone()).unwrap();
            let marginals = process.marginals(x.clone());
            let likelihood = poisson.init(platform.autodiff().options());
            let (slopes, ..) = expectation(&likelihood, y, &marginals);
            // K⁻¹m = G, as m = KG.
            let kernel = matern(&platform, Stationary::Matern52, 1.4, variance);
            let covariance = Dense::new(12, 12, numbers(kernel.covariance_at(x.clone(), x)));
            let expected = covariance.times(&Dense::new(12, 1, slopes));
            let expected: Vec<f64> = (0..12).map(|row| expected.row(row)[0]).collect();
            // G is a difference of counts and rates.
            let bound = 1e-9 * (1.0 + variance * scale * 12.0);
            for (mean, expected) in numbers(marginals.mean).iter().zip(expected) {
                assert!((mean - expected).abs() < bound, "{mean}, {expected}");
            }
        }
    }
}
