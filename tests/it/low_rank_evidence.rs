//! The evidence of low-rank regression, compared with dense algebra, closed forms and central
//! differences.

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients,
    comparison::assert_within,
    double_precision_platforms,
    low_rank_case::{
        correction, log_density, on_inputs, products, wave_data, waves, with_diagonal,
    },
    numbers, platforms,
};
use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::Tensor,
};
use burn_gp_core::{
    inference::low_rank_evidence,
    likelihoods::Gaussian,
    process::{PredictedVariance, VarianceCorrection},
};

fn evidence(platform: &Platform, features: &Dense, targets: &Dense, noise: f64) -> f64 {
    let noise = platform.tensor(&[noise], [1]);
    let evidence = low_rank_evidence(platform.matrix(features), platform.matrix(targets), noise);
    numbers(evidence.unwrap())[0]
}

fn dense_evidence(features: &Dense, targets: &Dense, noise: f64) -> f64 {
    let covariance = products(features, features);
    let noise = vec![noise; features.rows];
    log_density(&with_diagonal(&covariance, &noise), targets)
}

/// Fewer and more features than data, one and several targets.
#[test]
fn evidence_is_that_of_dense_algebra() {
    for (rows, rank, outputs) in [
        (3, 1, 1),
        (3, 8, 2),
        (3, 300, 1),
        (50, 1, 3),
        (50, 8, 1),
        (50, 300, 2),
        (200, 1, 1),
        (200, 8, 1),
        (200, 300, 1),
    ] {
        let mut random = Random::new((rows + rank) as u64);
        let features = random.matrix(rows, rank);
        let targets = random.matrix(rows, outputs);
        let expected = dense_evidence(&features, &targets, 0.3);
        for platform in platforms() {
            let what = format!("{rows} x {rank} on {platform}");
            let actual = evidence(&platform, &features, &targets, 0.3);
            // In single precision the data are rounded.
            let tolerance = platform.tolerance(1e-9, 1e-5);
            assert_close(&what, &[actual], &[expected], tolerance);
        }
    }
}

#[test]
fn evidence_has_the_golden_value_and_slopes() {
    let (x, y) = wave_data();
    let (features, targets) = (waves(&x), Dense::new(6, 1, y));
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let features = tracked.matrix(&features).require_grad();
        let noise = tracked.tensor(&[0.1], [1]).require_grad();
        let targets = tracked.matrix(&targets);
        let evidence = low_rank_evidence(features.clone(), targets, noise.clone()).unwrap();
        let gradients = evidence.clone().backward();
        let what = format!("golden case on {platform}");
        // The reference has twelve digits.
        assert_within(&what, &numbers(evidence), &[-7.791146250642], 1e-11);
        let slope = numbers(noise.grad(&gradients).unwrap());
        assert_within(&what, &slope, &[34.779222864], 1e-8);
        let slope = numbers(features.grad(&gradients).unwrap());
        let first = [-0.3125, 4.167938136, -0.941230693];
        assert_within(&what, &slope[..3], &first, 1e-8);
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    let mut random = Random::new(5);
    for (rows, rank, outputs) in [(7, 3, 2), (4, 9, 1)] {
        let inputs = [
            Input::from(&random.matrix(rows, rank)),
            Input::from(&random.matrix(rows, outputs)),
            Input::from(vec![0.4]),
        ];
        check_gradients("evidence", &inputs, 1e-4, &|_, tensors| {
            low_rank_evidence(
                tensors[0].clone().reshape([rows, rank]),
                tensors[1].clone().reshape([rows, outputs]),
                tensors[2].clone(),
            )
            .unwrap()
        });
    }
}

/// `Σ_p a_pm_pᵀ − P·ΦΛ⁻¹` with `a = Σ⁻¹y`, and the gradient with respect to the noise, from dense
/// algebra.
#[test]
fn gradients_are_the_closed_form() {
    let (noise, outputs) = (0.2, 2);
    let mut random = Random::new(8);
    let (features, targets) = (random.matrix(30, 6), random.matrix(30, outputs));
    let covariance = with_diagonal(&products(&features, &features), &[noise; 30]);
    let weighted = covariance.solve(&targets); // a
    let projected = features.transposed().times(&weighted); // Φᵀa = m
    let share = covariance.solve(&features).scaled(outputs as f64);
    let slope = products(&weighted, &projected).minus(&share);
    let squares: f64 = weighted.values.iter().map(|a| a * a).sum();
    let noise_slope = 0.5 * (squares - outputs as f64 * covariance.inverse().trace());
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let leaf = |matrix: &Dense| tracked.matrix(matrix).require_grad();
        let (phi, y) = (leaf(&features), leaf(&targets));
        let s = tracked.tensor(&[noise], [1]).require_grad();
        let gradients = low_rank_evidence(phi.clone(), y.clone(), s.clone())
            .unwrap()
            .backward();
        let what = format!("gradient on {platform}");
        let gradient = |tensor: &Tensor<2>| numbers(tensor.grad(&gradients).unwrap());
        assert_close(&what, &gradient(&phi), &slope.values, 1e-10);
        let negative = weighted.scaled(-1.0);
        assert_close(&what, &gradient(&y), &negative.values, 1e-10);
        let gradient = numbers(s.grad(&gradients).unwrap());
        assert_close(&what, &gradient, &[noise_slope], 1e-10);
    }
}

/// With more data than in one chunk, value and gradient come from R×R sums: `Λ = ΦᵀΦ + σ²I`,
/// `m = Λ⁻¹Φᵀy`, `∂Φ = (y − Φm)mᵀ/σ² − ΦΛ⁻¹`.
#[test]
fn many_data_are_added_up() {
    let (rows, rank, noise) = (4500, 4, 0.2);
    let mut random = Random::new(78);
    let (features, targets) = (random.matrix(rows, rank), random.matrix(rows, 1));
    let gram = features.transposed().times(&features);
    let shifted = gram.plus(&Dense::identity(rank).scaled(noise));
    let projected = features.transposed().times(&targets);
    let mean = shifted.solve(&projected);
    let error = targets.minus(&features.times(&mean));
    let square = |matrix: &Dense| matrix.values.iter().map(|v| v * v).sum::<f64>();
    let two_pi = 2.0 * core::f64::consts::PI;
    let value = -0.5
        * (rows as f64 * two_pi.ln()
            + (rows - rank) as f64 * noise.ln()
            + shifted.log_determinant()
            + square(&error) / noise
            + square(&mean));
    let slope = products(&error, &mean)
        .scaled(1.0 / noise)
        .minus(&features.times(&shifted.inverse()));
    for platform in platforms() {
        let tracked = platform.autodiff();
        let phi = tracked.matrix(&features).require_grad();
        let noise = tracked.tensor(&[noise], [1]);
        let evidence = low_rank_evidence(phi.clone(), tracked.matrix(&targets), noise).unwrap();
        let gradients = evidence.clone().backward();
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-10, 1e-5);
        assert_close(&what, &numbers(evidence), &[value], tolerance);
        let gradient = numbers(phi.grad(&gradients).unwrap());
        assert_close(&what, &gradient, &slope.values, tolerance);
    }
}

/// Another basis of the same functions gives the same evidence, as does a longer basis that adds no
/// function.
#[test]
fn evidence_depends_on_the_kernel_alone() {
    let mut random = Random::new(13);
    let (features, targets) = (random.matrix(40, 5), random.matrix(40, 1));
    // A Householder reflection.
    let v = random.matrix(5, 1);
    let norm = v.transposed().times(&v)[(0, 0)];
    let reflection = Dense::identity(5).minus(&products(&v, &v).scaled(2.0 / norm));
    let longer = Dense::from_function(40, 7, |i, j| if j < 5 { features[(i, j)] } else { 0.0 });
    for platform in platforms() {
        let what = format!("on {platform}");
        let expected = evidence(&platform, &features, &targets, 0.1);
        let tolerance = platform.tolerance(1e-9, 1e-5);
        for other in [features.times(&reflection), longer.clone()] {
            let actual = evidence(&platform, &other, &targets, 0.1);
            assert_close(&what, &[actual], &[expected], tolerance);
        }
    }
}

/// With the targets as the only feature the likelihood is unbounded. The penalty bounds it.
#[test]
fn evidence_of_one_feature_grows_without_bound_and_not_with_the_penalty() {
    let (_, y) = wave_data();
    let targets = Dense::new(6, 1, y);
    let noises = [1e-2, 1e-4, 1e-6];
    for platform in double_precision_platforms() {
        let actual = noises.map(|noise| evidence(&platform, &targets, &targets, noise));
        let expected = [4.99504, 16.50797, 28.02090];
        assert_within(&format!("on {platform}"), &actual, &expected, 1e-5);
        let corrected = [1e-2, 1e-4, 2e-6].map(|noise| {
            let model = on_inputs(
                &platform,
                1,
                noise,
                correction(true, PredictedVariance::Features),
            );
            let data = platform.matrix(&targets);
            numbers(model.full_objective(data.clone(), data).unwrap())[0]
        });
        assert!(corrected.is_sorted_by(|a, b| a > b), "{corrected:?}");
    }
}

/// This evidence drives the noise to zero. The noise stays above its bound and starts at its
/// configured value.
#[test]
fn noise_stays_above_its_bound() {
    let (_, y) = wave_data();
    let targets = Dense::new(6, 1, y);
    for platform in platforms() {
        let tracked = platform.autodiff();
        let data = tracked.matrix(&targets);
        let mut noise = Gaussian::new(1e-2, tracked.options());
        let first = numbers(noise.noise());
        assert_within(
            "first noise",
            &first,
            &[1e-2],
            platform.tolerance(1e-9, 1e-8),
        );
        let mut optimizer: ModuleOptimizer = AdamConfig::new().init();
        for _ in 0..300 {
            let evidence = low_rank_evidence(data.clone(), data.clone(), noise.noise()).unwrap();
            let gradients = GradientsParams::from_grads(evidence.neg().backward(), &noise);
            noise = optimizer.step(0.2, noise, gradients);
        }
        let last = numbers(noise.noise())[0];
        assert!(
            (1e-6 * (1.0 - 1e-6)..1e-3).contains(&last),
            "{last} on {platform}"
        );
    }
}

/// With low noise and many data, single precision neither fails nor loses accuracy.
#[test]
fn single_precision_keeps_the_evidence_of_double_precision() {
    let (rows, rank, noise) = (100_000, 32, 1e-6);
    let mut random = Random::new(21);
    let x = random.uniforms(rows, -1.0, 1.0);
    let features = Dense::from_function(rows, rank, |i, j| {
        ((j / 2 + 1) as f64 * x[i] + (j % 2) as f64 * 1.5).sin()
    });
    let weights = random.matrix(rank, 1);
    let mut targets = features.times(&weights);
    for value in &mut targets.values {
        *value += 1e-3 * random.normal();
    }
    let mut expected = None;
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let actual = evidence(&platform, &features, &targets, noise);
        let expected = *expected.get_or_insert(actual);
        let tolerance = platform.tolerance(1e-9, 1e-3);
        assert_close(&format!("on {platform}"), &[actual], &[expected], tolerance);
    }
}

/// With the true function as the only feature, the expected evidence is largest and the expected
/// squared error is smallest (Theorem 1). Both have closed forms there and are worse elsewhere.
#[test]
fn true_function_is_the_best_kernel() {
    let (rows, noise) = (8, 0.3);
    let mut random = Random::new(34);
    let function = random.matrix(rows, 1);
    let norm: f64 = function.values.iter().map(|f| f * f).sum();
    let two_pi = 2.0 * core::f64::consts::PI;
    let best = -0.5
        * (rows as f64 * (two_pi.ln() + 1.0)
            + (norm + noise).ln()
            + (rows as f64 - 1.0) * noise.ln());
    // Points with the mean and covariance of the data. A quadratic function of the data has the
    // same expectation under both.
    let step = (rows as f64 * noise).sqrt();
    let points = Dense::from_function(rows, 2 * rows, |i, j| {
        let sign = if j.is_multiple_of(2) { step } else { -step };
        function[(i, 0)] + if i == j / 2 { sign } else { 0.0 }
    });
    let count = points.columns as f64;
    for platform in double_precision_platforms() {
        let measures = |features: &Dense| {
            let model = on_inputs(&platform, points.columns, noise, VarianceCorrection::NONE);
            let (phi, y) = (platform.matrix(features), platform.matrix(&points));
            let expected =
                numbers(model.full_objective(phi.clone(), y.clone()).unwrap())[0] / count;
            let process = model.condition(phi.clone(), y).unwrap();
            let fitted = numbers(burn_gp_core::process::Process::marginals(&process, phi).mean);
            let fitted = Dense::new(rows, points.columns, fitted);
            let error = (0..rows).flat_map(|i| {
                let truth = function[(i, 0)];
                fitted
                    .row(i)
                    .iter()
                    .map(move |f| (f - truth).powi(2))
                    .collect::<Vec<_>>()
            });
            (expected, error.sum::<f64>() / count)
        };
        let (evidence, error) = measures(&function);
        let what = format!("Theorem 1 on {platform}");
        let expected = [best, noise * norm / (norm + noise)];
        assert_close(&what, &[evidence, error], &expected, 1e-9);
        for size in [1e-3, 1e-2, 0.3] {
            let direction = random.matrix(rows, 3).scaled(size);
            let worse = Dense::from_function(rows, 3, |i, j| {
                direction[(i, j)] + if j == 0 { function[(i, 0)] } else { 0.0 }
            });
            let (other_evidence, other_error) = measures(&worse);
            assert!(
                other_evidence < evidence && other_error > error,
                "{what}, {size}"
            );
        }
    }
}

/// A frozen model needs no gradient, nor does a module on a device without autodiff.
#[test]
fn evidence_without_autodiff_is_the_same() {
    let mut random = Random::new(55);
    let (features, targets) = (random.matrix(20, 4), random.matrix(20, 1));
    for platform in platforms() {
        let plain = on_inputs(&platform, 1, 0.1, VarianceCorrection::default());
        let tracked = plain.clone().train();
        let value = numbers(
            plain
                .full_objective(platform.matrix(&features), platform.matrix(&targets))
                .unwrap(),
        );
        let device = platform.autodiff();
        let same = numbers(
            tracked
                .full_objective(device.matrix(&features), device.matrix(&targets))
                .unwrap(),
        );
        assert_eq!(value, same, "on {platform}");
    }
}
