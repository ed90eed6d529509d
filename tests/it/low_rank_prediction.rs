//! Predictions of low-rank regression with and without the variance correction, compared with dense
//! algebra.

use crate::support::{
    Dense, Platform, Random, assert_close,
    comparison::assert_within,
    double_precision_platforms,
    low_rank_case::{
        Inputs, Waves, correction, dense_prediction, log_density, norms, on_inputs, products,
        residuals, wave_data, waves, with_diagonal,
    },
    numbers, platforms,
};
use burn_gp_core::{
    inference::LowRankRegression,
    kernels::Basis,
    likelihoods::{Gaussian, Likelihood},
    means::{ConstantMean, ZeroMean},
    process::{PredictedVariance, Process, VarianceCorrection},
};

const NOISE: f64 = 0.3;

const KINDS: [PredictedVariance; 3] = [
    PredictedVariance::Features,
    PredictedVariance::Added,
    PredictedVariance::Reweighted,
];

/// The mean and variance of new targets.
fn predict(
    platform: &Platform,
    (features, targets, new): (&Dense, &Dense, &Dense),
    noise: f64,
    correction: VarianceCorrection,
) -> (Vec<f64>, Vec<f64>) {
    let model = on_inputs(platform, targets.columns, noise, correction);
    let process = model
        .condition(platform.matrix(features), platform.matrix(targets))
        .unwrap();
    let likelihood = Gaussian::new(noise, platform.options());
    let prediction = likelihood.predict(process.marginals(platform.matrix(new)));
    (numbers(prediction.mean), numbers(prediction.variance))
}

/// The same predictions from dense algebra.
fn reference(
    (features, targets, new): (&Dense, &Dense, &Dense),
    noise: f64,
    kind: PredictedVariance,
) -> (Vec<f64>, Vec<f64>) {
    let of_data = match kind {
        PredictedVariance::Reweighted => residuals(features),
        _ => vec![0.0; features.rows],
    };
    let noises: Vec<f64> = of_data.iter().map(|c| c + noise).collect();
    let (mean, variance) = dense_prediction((features, new), targets, &noises);
    let largest = norms(features).into_iter().fold(0.0, f64::max);
    let left = |norm: f64| match kind {
        PredictedVariance::Features => 0.0,
        _ => (largest - norm).max(0.0),
    };
    let new_norms = norms(new);
    let variance = variance
        .iter()
        .zip(new_norms)
        .flat_map(|(variance, norm)| vec![variance + left(norm) + noise; targets.columns]);
    (mean.values, variance.collect())
}

/// Full-batch posteriors with fewer and with more features than data (equations 6 and 12).
#[test]
fn predictions_are_those_of_dense_algebra() {
    for (rows, rank, outputs) in [(30, 4, 2), (5, 12, 1)] {
        let mut random = Random::new(rows as u64);
        let features = random.matrix(rows, rank);
        let targets = random.matrix(rows, outputs);
        let new = random.matrix(9, rank);
        let data = (&features, &targets, &new);
        for kind in KINDS {
            let (mean, variance) = reference(data, NOISE, kind);
            for platform in platforms() {
                let what = format!("{kind:?}, {rows} x {rank} on {platform}");
                let actual = predict(&platform, data, NOISE, correction(true, kind));
                let tolerance = platform.tolerance(1e-9, 1e-5);
                assert_close(&what, &actual.0, &mean, tolerance);
                assert_close(&what, &actual.1, &variance, tolerance);
            }
        }
    }
}

/// With more data than in one chunk, compared with the normal equations `B = I + Σ_n φ_nφ_nᵀ/v_n`
/// in a single sum.
#[test]
fn many_data_are_added_up() {
    let (rows, rank) = (4500, 3);
    let mut random = Random::new(77);
    let (features, targets) = (random.matrix(rows, rank), random.matrix(rows, 1));
    let new = random.matrix(5, rank);
    let noise: Vec<f64> = residuals(&features).iter().map(|c| c + NOISE).collect();
    let weighted = Dense::from_function(rows, rank, |i, j| features[(i, j)] / noise[i]);
    let precision = features.transposed().times(&weighted);
    let precision = precision.plus(&Dense::identity(rank));
    let weights = precision.solve(&weighted.transposed().times(&targets));
    let mean = new.times(&weights);
    let largest = norms(&features).into_iter().fold(0.0, f64::max);
    let explained = new.times(&precision.solve(&new.transposed())).diagonal();
    let pairs = explained.iter().zip(norms(&new));
    let variance: Vec<f64> = pairs
        .map(|(q, norm)| q + (largest - norm).max(0.0) + NOISE)
        .collect();
    for platform in platforms() {
        let data = (&features, &targets, &new);
        let actual = predict(&platform, data, NOISE, VarianceCorrection::default());
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-9, 1e-5);
        assert_close(&what, &actual.0, &mean.values, tolerance);
        assert_close(&what, &actual.1, &variance, tolerance);
    }
}

#[test]
fn joint_predictions_have_the_same_marginals() {
    let mut random = Random::new(3);
    let (features, targets) = (random.matrix(20, 4), random.matrix(20, 2));
    let new = random.matrix(6, 4);
    for platform in platforms() {
        for kind in KINDS {
            let model = on_inputs(&platform, 2, NOISE, correction(true, kind));
            let process = model
                .condition(platform.matrix(&features), platform.matrix(&targets))
                .unwrap();
            let marginals = process.marginals(platform.matrix(&new));
            let joint = process.joint(platform.matrix(&new));
            let what = format!("{kind:?} on {platform}");
            let tolerance = platform.tolerance(1e-12, 1e-5);
            assert_close(
                &what,
                &numbers(joint.mean),
                &numbers(marginals.mean),
                tolerance,
            );
            let covariance = numbers(joint.covariance);
            let diagonal: Vec<f64> = (0..6)
                .flat_map(|i| [covariance[i * 7], covariance[36 + i * 7]])
                .collect();
            assert_close(&what, &diagonal, &numbers(marginals.variance), tolerance);
        }
    }
}

/// The golden case: bound, predictions, level and penalty to all digits of the reference.
#[test]
fn golden_case() {
    let (x, y) = wave_data();
    let (features, targets) = (waves(&x), Dense::new(6, 1, y));
    let left = residuals(&features);
    assert_within("tr C", &[left.iter().sum()], &[1.867015331067], 1e-11);
    let noisy: Vec<f64> = left.iter().map(|c| c + 0.1).collect();
    let dense = log_density(
        &with_diagonal(&products(&features, &features), &noisy),
        &targets,
    );
    assert_within("dense evidence", &[dense], &[-9.385621535062], 1e-11);
    for platform in double_precision_platforms() {
        let inputs = platform.tensor(&x, [6, 1]);
        let new = platform.tensor(&[0.3, 2.0], [2, 1]);
        let likelihood = Gaussian::new(0.1, platform.options());
        let expected = [
            (
                PredictedVariance::Features,
                [0.367646025551, -0.383991030761],
                [0.124316218334, 0.262931439273],
            ),
            (
                PredictedVariance::Reweighted,
                [0.335569747727, -0.364018405326],
                [0.849612942641, 0.269929787734],
            ),
        ];
        for (kind, mean, variance) in expected {
            let model = LowRankRegression::new(
                Basis::new(Waves { rank: 3 }),
                ZeroMean::new(1),
                likelihood.clone(),
                correction(true, kind),
            );
            let y = platform.matrix(&targets);
            let bound = numbers(model.full_objective(inputs.clone(), y.clone()).unwrap());
            let what = format!("{kind:?} on {platform}");
            assert_within(&what, &bound, &[-17.126222905978], 1e-10);
            let process = model.condition(inputs.clone(), y).unwrap();
            let prediction = likelihood.predict(process.marginals(new.clone()));
            assert_within(&what, &numbers(prediction.mean), &mean, 1e-11);
            assert_within(&what, &numbers(prediction.variance), &variance, 1e-11);
            if let Some(level) = process.process().level() {
                assert_within(&what, &numbers(level), &[1.368748392158], 1e-11);
            }
        }
    }
}

/// The bound of equation 11 equals equation 5 bit for bit without its penalty. If all features have
/// the same norm, it equals the corrected evidence.
#[test]
fn penalized_evidence_bounds_the_corrected_one() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let (mut features, targets) = (random.matrix(25, 4), random.matrix(25, 2));
        if seed % 2 == 1 {
            normalize(&mut features);
        }
        let left = residuals(&features);
        let noisy: Vec<f64> = left.iter().map(|c| c + NOISE).collect();
        let covariance = products(&features, &features);
        let corrected = log_density(&with_diagonal(&covariance, &noisy), &targets);
        let plain = log_density(&with_diagonal(&covariance, &[NOISE; 25]), &targets);
        let penalty = 2.0 * left.iter().sum::<f64>() / (2.0 * NOISE);
        for platform in double_precision_platforms() {
            let bound = |training: bool| {
                let correction = correction(training, PredictedVariance::Features);
                let model = on_inputs(&platform, 2, NOISE, correction);
                let data = (platform.matrix(&features), platform.matrix(&targets));
                numbers(model.full_objective(data.0, data.1).unwrap())[0]
            };
            let what = format!("seed {seed} on {platform}");
            assert_close(&what, &[bound(false)], &[plain], 1e-9);
            assert_close(&what, &[bound(true)], &[plain - penalty], 1e-9);
            assert!(corrected - bound(true) >= -1e-9, "{what}");
            if seed % 2 == 1 {
                assert_close(&what, &[bound(true)], &[corrected], 1e-9);
            }
        }
    }
}

/// Scales each row to length one.
fn normalize(features: &mut Dense) {
    let norms = norms(features);
    for (i, norm) in norms.iter().enumerate() {
        for j in 0..features.columns {
            features[(i, j)] /= norm.sqrt();
        }
    }
}

/// If all features have the same norm, the residual variance is zero, so there is nothing to
/// correct.
#[test]
fn nothing_is_corrected_where_all_norms_are_equal() {
    let mut random = Random::new(9);
    let (mut features, targets) = (random.matrix(40, 5), random.matrix(40, 1));
    let mut new = random.matrix(7, 5);
    normalize(&mut features);
    normalize(&mut new);
    let data = (&features, &targets, &new);
    for platform in double_precision_platforms() {
        let plain = predict(&platform, data, NOISE, VarianceCorrection::NONE);
        let corrected = predict(&platform, data, NOISE, VarianceCorrection::default());
        let what = format!("on {platform}");
        assert_close(&what, &corrected.0, &plain.0, 1e-12);
        assert_close(&what, &corrected.1, &plain.1, 1e-12);
    }
}

/// At inputs unrelated to the data, predictions are the corrected prior. All variances lie within
/// `σ² + c … max(M, κ) + σ²`.
#[test]
fn variances_lie_between_noise_and_prior() {
    let mut random = Random::new(17);
    // The last coordinate of the features is zero in the data.
    let features = Dense::from_function(30, 5, |_, j| if j < 4 { random.normal() } else { 0.0 });
    let targets = random.matrix(30, 1);
    let level = norms(&features).into_iter().fold(0.0, f64::max);
    let mut new = random.matrix(8, 5);
    for j in 0..5 {
        new[(0, j)] = if j < 4 { 0.0 } else { 0.7 };
        new[(1, j)] = if j < 4 { 0.0 } else { 2.0 * level.sqrt() };
        new[(2, j)] = 0.0;
    }
    let data = (&features, &targets, &new);
    let prior = |norm: f64| level.max(norm) + NOISE;
    for platform in double_precision_platforms() {
        let (mean, variance) = predict(&platform, data, NOISE, VarianceCorrection::default());
        let what = format!("on {platform}");
        let norms = norms(&new);
        assert_within(&what, &mean[..3], &[0.0; 3], 1e-10);
        let priors = [prior(norms[0]), prior(norms[1]), level + NOISE];
        assert_within(&what, &variance[..3], &priors, 1e-10);
        for (variance, norm) in variance.iter().zip(norms) {
            let floor = NOISE + (level - norm).max(0.0);
            assert!(
                (floor - 1e-10..prior(norm) + 1e-10).contains(variance),
                "{what}"
            );
        }
        let (_, plain) = predict(&platform, data, NOISE, VarianceCorrection::NONE);
        assert_within(&what, &plain[2..3], &[NOISE], 1e-10);
    }
}

/// Another basis of the same functions gives the same predictions.
#[test]
fn predictions_depend_on_the_kernel_alone() {
    let mut random = Random::new(23);
    let (features, targets) = (random.matrix(40, 5), random.matrix(40, 1));
    let new = random.matrix(7, 5);
    let v = random.matrix(5, 1);
    let norm = v.transposed().times(&v)[(0, 0)];
    let reflection = Dense::identity(5).minus(&products(&v, &v).scaled(2.0 / norm));
    let (turned, turned_new) = (features.times(&reflection), new.times(&reflection));
    for platform in platforms() {
        for kind in KINDS {
            let correction = correction(true, kind);
            let one = predict(&platform, (&features, &targets, &new), NOISE, correction);
            let other = (&turned, &targets, &turned_new);
            let other = predict(&platform, other, NOISE, correction);
            let what = format!("{kind:?} on {platform}");
            let tolerance = platform.tolerance(1e-9, 1e-5);
            assert_close(&what, &other.0, &one.0, tolerance);
            assert_close(&what, &other.1, &one.1, tolerance);
        }
    }
}

/// The mean function is subtracted from the targets and added to the predictions.
#[test]
fn means_are_added_back() {
    let mut random = Random::new(29);
    let (features, targets) = (random.matrix(20, 3), random.matrix(20, 1));
    let shifted = Dense::from_function(20, 1, |i, _| targets[(i, 0)] + 5.0);
    let new = random.matrix(4, 3);
    for platform in platforms() {
        let (mean, _) = predict(
            &platform,
            (&features, &targets, &new),
            NOISE,
            VarianceCorrection::default(),
        );
        let model = LowRankRegression::new(
            Basis::new(Inputs { rank: 3 }),
            ConstantMean::new(platform.tensor(&[5.0], [1])),
            Gaussian::new(NOISE, platform.options()),
            VarianceCorrection::default(),
        );
        let process = model
            .condition(platform.matrix(&features), platform.matrix(&shifted))
            .unwrap();
        let actual = numbers(process.marginals(platform.matrix(&new)).mean);
        let expected: Vec<f64> = mean.iter().map(|m| m + 5.0).collect();
        let what = format!("on {platform}");
        assert_close(&what, &actual, &expected, platform.tolerance(1e-12, 1e-5));
    }
}

/// A draw is a function, with or without the correction: it has one value at a point, however often
/// the point is asked for. The joint covariance says the same.
#[test]
fn draws_have_equal_values_at_equal_inputs() {
    let (x, y) = wave_data();
    let (inputs, targets) = (Dense::new(6, 1, x), Dense::new(6, 1, y));
    // Points 0, 2 and 4 are equal, and points 1 and 5.
    let points = Dense::new(6, 1, vec![0.3, -0.7, 0.3, 1.1, 0.3, -0.7]);
    let different = Dense::new(3, 1, vec![0.3, -0.7, 1.1]);
    let places = [0, 1, 0, 2, 0, 1];
    for platform in platforms() {
        for kind in KINDS {
            let model = LowRankRegression::new(
                Basis::new(Waves { rank: 3 }),
                ZeroMean::new(1),
                Gaussian::new(NOISE, platform.options()),
                correction(true, kind),
            );
            let (inputs, targets) = (platform.matrix(&inputs), platform.matrix(&targets));
            let process = model.condition(inputs, targets).unwrap();
            let what = format!("{kind:?} on {platform}");
            let draws = |x: &Dense| numbers(process.sample(platform.matrix(x), 4, 7).unwrap());
            let (all, few) = (draws(&points), draws(&different));
            let repeated = (few.chunks_exact(3)).flat_map(|draw| places.map(|place| draw[place]));
            assert_eq!(all, repeated.collect::<Vec<_>>(), "{what}");
            let covariance = |x: &Dense| numbers(process.joint(platform.matrix(x)).covariance);
            let (all, few) = (covariance(&points), covariance(&different));
            let pairs = places
                .iter()
                .flat_map(|row| places.map(|column| few[3 * row + column]));
            assert_within(&what, &all, &pairs.collect::<Vec<_>>(), 1e-5);
        }
    }
}
