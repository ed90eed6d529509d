//! Regression on features.

use burn_gp_core::{
    inducing::Nystrom,
    inference::LowRankRegression,
    process::{PredictedVariance, VarianceCorrection},
};

use super::*;

const CORRECTIONS: [VarianceCorrection; 3] = [
    VarianceCorrection::NONE,
    VarianceCorrection {
        training: true,
        prediction: PredictedVariance::Added,
    },
    VarianceCorrection {
        training: true,
        prediction: PredictedVariance::Reweighted,
    },
];

fn plain(platform: &Platform, noise: f64, own: VarianceCorrection) -> LowRankRegression<Nystrom> {
    let z = InducingPoints::new(plane(platform, ROWS).0.narrow(0, 0, INDUCING));
    let features = Nystrom::new(kernel(platform), z, Jitter::NONE);
    let noise = Gaussian::new(noise, platform.options());
    LowRankRegression::new(features, ZeroMean::new(OUTPUTS), noise, own)
}

/// `1 − q(x, x)`
fn unexplained(x: &[[f64; 2]]) -> Vec<f64> {
    let (points, _) = points();
    let z = &points[..INDUCING];
    let cross = covariances(x, z);
    let inverse = covariances(z, z).inverse();
    let explained = cross.times(&inverse).times(&cross.transposed());
    explained.diagonal().iter().map(|own| 1.0 - own).collect()
}

/// `Σ_p log N(y_p | 0, Q + D) − P·Σ_n (1 − q_nn)/(2d_n)`, the second term with the correction.
#[test]
fn objectives_are_those_of_dense_algebra() {
    let (x, y) = points();
    let projected = log_density(&with_diagonal(&low_rank(&x), &total()), &y);
    let shares = unexplained(&x).into_iter().zip(total());
    let penalty: f64 = shares.map(|(own, total)| own / total).sum();
    for platform in &platforms() {
        for correction in CORRECTIONS {
            let expected = match correction.training {
                true => projected - 0.5 * OUTPUTS as f64 * penalty,
                false => projected,
            };
            let model = plain(platform, NOISE, correction).with_row_noise();
            let found = model.full_objective(plane(platform, ROWS).0, rows(platform));
            assert_density(
                "objective",
                platform,
                found.expect("positive definite"),
                expected,
            );
        }
    }
}

/// `k_*u S K_uf D⁻¹ y` and `k_*u S k_u*` with `S = (K_uu + K_uf D⁻¹ K_fu)⁻¹`. A correction adds `1 − q(x, x)` to the
/// variance at a new input, and a reweighted one also to D.
#[test]
fn predictions_are_those_of_dense_algebra() {
    let (x, y) = points();
    let (z, kuf) = (&x[..INDUCING], covariances(&x[..INDUCING], &x));
    let cross = covariances(&NEW, z);
    for correction in CORRECTIONS {
        let added = match correction.prediction {
            PredictedVariance::Reweighted => unexplained(&x),
            _ => vec![0.0; ROWS],
        };
        let shares: Vec<f64> = total()
            .iter()
            .zip(added)
            .map(|(a, b)| 1.0 / (a + b))
            .collect();
        let precision = with_diagonal(&Dense::identity(ROWS).scaled(0.0), &shares);
        let weighted = kuf.times(&precision);
        let system = covariances(z, z).plus(&weighted.times(&kuf.transposed()));
        let solved = cross.times(&system.inverse());
        let means = solved.times(&weighted.times(&y)).values;
        let own = solved.times(&cross.transposed()).diagonal().into_iter();
        let variances = own
            .zip(unexplained(&NEW))
            .map(|(own, more)| match correction.prediction {
                PredictedVariance::Features => own,
                _ => own + more,
            });
        let expected: Vec<f64> = means.into_iter().chain(variances).collect();
        for platform in &platforms() {
            let model = plain(platform, NOISE, correction).with_row_noise();
            let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
            let process = model
                .condition(inputs.clone(), rows.clone())
                .expect("a process");
            let found = moments(process.marginals(new(platform)));
            // Single precision loses four digits in the solves.
            let tolerance = platform.tolerance(1e-9, 1e-3);
            let what = format!("{correction:?} on {platform}");
            assert_close(&what, &found, &expected, tolerance);
            // As a posterior without data, too.
            let posterior = model.weight_space(inputs, rows).expect("a posterior");
            let mean = numbers(posterior.distribution().mean());
            assert_eq!(mean.len(), INDUCING * OUTPUTS, "{what}");
        }
    }
}

#[test]
fn equal_noise_is_trained_noise() {
    for correction in CORRECTIONS {
        let values = |platform: &Platform, noise, own: Option<&[f64]>| {
            let (inputs, targets) = plane(platform, ROWS);
            let model = plain(platform, noise, correction);
            let (model, targets) = match own {
                Some(own) => (model.with_row_noise(), rows_with(platform, own)),
                None => (model, targets),
            };
            let objective = model.full_objective(inputs.clone(), targets.clone());
            let process = model.condition(inputs, targets).expect("a process");
            let mut found = numbers(objective.expect("positive definite"));
            found.extend(moments(process.marginals(new(platform))));
            found
        };
        check_equal_noise(values, (1e-10, 1e-3));
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for correction in CORRECTIONS {
        let model = |platform: &Platform| plain(platform, NOISE, correction).with_row_noise();
        check_module_gradients("low rank", (1e-6, 1e-2), model, |platform, model| {
            let objective = model.full_objective(plane(platform, ROWS).0, rows(platform));
            objective.expect("positive definite")
        });
    }
}
