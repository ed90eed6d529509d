//! The log-Gaussian Cox process: expectations compared with draws, integrals, and a known
//! intensity.

use crate::support::{
    Dense, Platform, Random, assert_close,
    comparison::assert_within,
    low_rank_case::{Waves, waves},
    numbers, platforms,
};
use burn::{module::Module, optim::GradientsParams, tensor::Tensor};
use burn_gp_core::{
    kernels::Basis,
    layers::GpLayer,
    means::ConstantMean,
    optim::NaturalGradient,
    point_processes::{CoxProcess, Domain, IntegrationRule, expected_intensity},
    process::{CovarianceShape, Marginals, Process, VarianceCorrection, VariationalGaussian},
    variational::WeightSpace,
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

/// The mean of the log intensity.
const OFFSET: f64 = 0.4;

fn cox(platform: &Platform, offset: f64, distribution: VariationalGaussian) -> CoxProcess {
    CoxProcess::new(GpLayer::of(
        Basis::new(Waves { rank: 3 }),
        ConstantMean::new(platform.tensor(&[offset], [1])),
        WeightSpace::new(distribution, VarianceCorrection::NONE),
    ))
}

/// `E_q[e^{μ + wᵀφ}]` compared with a million draws of w, within three standard errors.
#[test]
fn expected_intensity_is_that_of_draws() {
    let mut random = Random::new(71);
    let (mean, scale) = (
        random.matrix(1, 3).scaled(0.3),
        random.lower_triangle(3).scaled(0.4),
    );
    let x = 0.7;
    let phi = waves(&[x]);
    let draws = 1_000_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..draws {
        let standard = Dense::new(3, 1, random.normals(3));
        let weights = mean.transposed().plus(&scale.times(&standard));
        let intensity = (OFFSET + phi.times(&weights)[(0, 0)]).exp();
        sum += intensity;
        squares += intensity * intensity;
    }
    let count = f64::from(draws);
    let average = sum / count;
    let variance = squares / count - average * average;
    for platform in platforms() {
        let distribution = VariationalGaussian::full(
            platform.matrix(&mean),
            platform.batch(std::slice::from_ref(&scale)),
        );
        let process = cox(&platform, OFFSET, distribution)
            .layer()
            .condition()
            .unwrap();
        let marginals = process.marginals(platform.tensor(&[x], [1, 1]));
        let actual = expected_intensity(marginals);
        let what = format!("on {platform}");
        let error = 3.0 * (variance / count).sqrt();
        assert_within(&what, &numbers(actual.mean), &[average], error);
        // The square of a log-normal variable has heavier tails, so the tolerance is one percent.
        assert_close(&what, &numbers(actual.variance), &[variance], 0.01);
    }
}

/// `(e^{σ²} − 1)·e^{2μ + σ²}` for small or zero σ².
#[test]
fn variance_of_the_intensity_keeps_its_digits() {
    for platform in platforms() {
        let variances = [0.0, 1e-9, 1e-3, 2.0];
        let marginals = Marginals {
            mean: platform.tensor(&[0.3; 4], [4, 1]),
            variance: platform.tensor(&variances, [4, 1]),
        };
        let actual = numbers(expected_intensity(marginals).variance);
        for (actual, v) in actual.into_iter().zip(variances) {
            let expected = v.exp_m1() * (0.6 + v).exp();
            let tolerance = platform.tolerance(1e-12, 1e-5);
            assert_close(
                &format!("{v} on {platform}"),
                &[actual],
                &[expected],
                tolerance,
            );
        }
    }
}

/// Both rules integrate a constant intensity exactly: `e^{μ + m·c + ½c²l²}` times the volume.
#[test]
fn constant_intensities_are_integrated_exactly() {
    let domain = Domain::new(vec![-1.0, 2.0], vec![1.5, 2.5]).unwrap();
    assert_close("volume", &[domain.volume()], &[1.25], 1e-15);
    let (weight, deviation) = (0.6, 0.7);
    for platform in platforms() {
        let options = platform.options();
        let distribution = VariationalGaussian::full(
            platform.tensor(&[weight, 0.0], [1, 2]),
            platform.tensor(&[deviation, 0.0, 0.0, 1.0], [1, 2, 2]),
        );
        // One feature is the constant ½, the other is zero.
        let layer = GpLayer::of(
            Basis::new(HalfAndNone { rank: 2 }),
            ConstantMean::new(platform.tensor(&[OFFSET], [1])),
            WeightSpace::new(distribution, VarianceCorrection::NONE),
        );
        let kl = 0.5 * (weight * weight + deviation * deviation - 1.0) - deviation.ln();
        let log_mean = OFFSET + 0.5 * weight;
        let integral = 1.25 * (log_mean + 0.125 * deviation * deviation).exp();
        let points = platform.tensor(&[0.0, 2.1, 1.0, 2.4], [2, 2]);
        let model = CoxProcess::new(layer);
        let mut random = ChaCha8Rng::seed_from_u64(72);
        for rule in [
            IntegrationRule::quadrature(&domain, 3, options),
            IntegrationRule::monte_carlo(&domain, 17, &mut random, options),
        ] {
            // The batch has two of ten points.
            let bound = numbers(model.objective(points.clone(), 10, &rule).unwrap());
            let expected = 10.0 * log_mean - integral - kl;
            let tolerance = platform.tolerance(1e-12, 1e-5);
            assert_close(&format!("on {platform}"), &bound, &[expected], tolerance);
        }
    }
}

/// `(½, 0)`.
#[derive(Module, Debug)]
struct HalfAndNone {
    #[module(skip)]
    rank: usize,
}

impl burn_gp_core::features::Features for HalfAndNone {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let column = x.narrow(1, 0, 1);
        Tensor::cat(vec![column.ones_like() * 0.5, column.zeros_like()], 1)
    }
}

/// Three nodes per coordinate integrate polynomials of degree 5 in each of two coordinates exactly.
#[test]
fn quadrature_is_exact_for_polynomials() {
    let domain = Domain::new(vec![-1.0, 0.0], vec![2.0, 1.0]).unwrap();
    for platform in platforms() {
        let rule = IntegrationRule::quadrature(&domain, 3, platform.options());
        assert_eq!(rule.points().dims(), [9, 2]);
        let points = numbers(rule.points());
        let values: Vec<f64> = points
            .chunks(2)
            .map(|p| p[0].powi(5) * p[1].powi(4) + 2.0)
            .collect();
        let integral = numbers(rule.integral(platform.tensor(&values, [9])));
        // (2⁶ − 1)/6 · 1/5 + 2·3
        let expected = 63.0 / 30.0 + 6.0;
        let tolerance = platform.tolerance(1e-13, 1e-6);
        assert_close(&format!("on {platform}"), &integral, &[expected], tolerance);
    }
}

#[test]
fn no_box_has_ends_that_meet() {
    let error = Domain::new(vec![0.0, 1.0], vec![1.0, 1.0]).unwrap_err();
    assert!(error.to_string().contains("[0.0, 1.0] and [1.0, 1.0]"));
    assert!(Domain::new(vec![], vec![]).is_err());
    assert!(Domain::new(vec![0.0], vec![f64::NAN]).is_err());
}

/// The model recovers a known intensity from points drawn by thinning: within four posterior
/// standard deviations everywhere, and within 20% on average.
#[test]
fn a_known_intensity_is_recovered() {
    let (offset, weights) = (5.0, [0.5, 0.8, -0.6]);
    let log_intensity = |x: f64| {
        let phi = waves(&[x]);
        offset + (0..3).map(|j| weights[j] * phi[(0, j)]).sum::<f64>()
    };
    let mut random = Random::new(73);
    let (largest, length) = (1000.0, 4.0);
    let mut points = Vec::new();
    let mut place = -2.0;
    loop {
        place -= random.uniform(0.0, 1.0).ln() / largest;
        if place >= 2.0 {
            break;
        }
        let intensity = log_intensity(place).exp();
        assert!(intensity < largest);
        if random.uniform(0.0, largest) < intensity {
            points.push(place);
        }
    }
    let domain = Domain::new(vec![-2.0], vec![-2.0 + length]).unwrap();
    let grid: Vec<f64> = (0..41).map(|i| -2.0 + 0.1 * f64::from(i)).collect();
    for platform in platforms() {
        let tracked = platform.autodiff();
        let rule = IntegrationRule::quadrature(&domain, 40, tracked.options());
        let shape = CovarianceShape::Full;
        let standard = VariationalGaussian::standard(3, 1, shape, tracked.options());
        let mut model = cox(&tracked, offset, standard).train();
        let data = tracked.tensor(&points, [points.len(), 1]);
        for step in 0..60 {
            let bound = model.objective(data.clone(), points.len(), &rule).unwrap();
            let mut gradients = GradientsParams::from_grads(bound.neg().backward(), &model);
            model = NaturalGradient::new(0.3)
                .with_warm_up(1e-3, 20)
                .step(step, model, &mut gradients, 1.0)
                .unwrap()
                .module;
        }
        let process = model.layer().condition().unwrap();
        let marginals = process.marginals(platform.tensor(&grid, [41, 1]));
        let (mean, variance) = (numbers(marginals.mean), numbers(marginals.variance));
        let mut squares = 0.0;
        for (i, &x) in grid.iter().enumerate() {
            let error = mean[i] - log_intensity(x);
            assert!(
                error.abs() <= 4.0 * variance[i].sqrt(),
                "at {x} on {platform}: {error}, variance {}",
                variance[i]
            );
            squares += error * error;
        }
        assert!((squares / 41.0).sqrt() < 0.2, "{squares} on {platform}");
    }
}
