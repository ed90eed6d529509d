//! A sparse posterior small enough for dense formulas, and comparisons of its predictions.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{Kernels, StationaryConfig},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig},
    ops::{Jitter, Stationary},
    process::{Joint, Marginals, VariationalGaussian},
    variational::{Evaluation, Unwhitened, Whitened},
};

use super::{Dense, Platform, Random, assert_close, numbers};

pub const POINTS: usize = 50;
pub const INDUCING: usize = 10;
pub const DIMENSIONS: usize = 2;

/// The values of one posterior: its inducing points and its whitened distribution.
pub struct Case {
    pub x: Dense,
    pub z: Dense,
    /// b′, [P, M]
    pub mean: Dense,
    /// W′, P lower triangles
    pub scale: Vec<Dense>,
    pub y: Dense,
}

impl Case {
    pub fn new(outputs: usize) -> Self {
        let mut random = Random::new(191);
        Self {
            x: random.points(POINTS, DIMENSIONS),
            z: random.points(INDUCING, DIMENSIONS),
            mean: random.matrix(outputs, INDUCING),
            scale: (0..outputs)
                .map(|_| random.lower_triangle(INDUCING).scaled(0.6))
                .collect(),
            y: random.matrix(POINTS, outputs),
        }
    }

    pub fn x(&self, platform: &Platform) -> Tensor<2> {
        platform.matrix(&self.x)
    }

    pub fn inducing(&self, platform: &Platform) -> InducingPoints {
        InducingPoints::new(platform.matrix(&self.z))
    }

    pub fn distribution(&self, platform: &Platform) -> VariationalGaussian {
        VariationalGaussian::full(platform.matrix(&self.mean), platform.batch(&self.scale))
    }

    pub fn whitened(&self, platform: &Platform) -> Whitened {
        let distribution = self.distribution(platform);
        Whitened::new(self.inducing(platform), distribution, Jitter::INDUCING)
    }

    /// The same distribution over u itself: `b = L·b′`, `W = L·W′`.
    pub fn unwhitened(&self, platform: &Platform) -> Unwhitened {
        let factor = self.kuu().cholesky();
        let mean = self.mean.times(&factor.transposed());
        let scale: Vec<Dense> = self.scale.iter().map(|scale| factor.times(scale)).collect();
        let distribution =
            VariationalGaussian::full(platform.matrix(&mean), platform.batch(&scale));
        Unwhitened::new(self.inducing(platform), distribution, Jitter::INDUCING)
    }

    /// `K_uu` with the jitter of the posteriors, by the formula of the kernel.
    pub fn kuu(&self) -> Dense {
        let jitter = Dense::identity(self.z.rows).scaled(1e-6 * VARIANCE);
        covariances(&self.z, &self.z).plus(&jitter)
    }
}

pub const VARIANCE: f64 = 1.4;
pub const LENGTHSCALE: f64 = 0.9;

pub fn kernel(platform: &Platform) -> Kernels {
    StationaryConfig::new(Stationary::Matern52)
        .with_lengthscale(LENGTHSCALE)
        .with_variance(VARIANCE)
        .init(DIMENSIONS, platform.options())
        .into()
}

/// The covariances of the kernel by its formula.
pub fn covariances(x1: &Dense, x2: &Dense) -> Dense {
    Dense::from_function(x1.rows, x2.rows, |i, j| {
        let pairs = x1.row(i).iter().zip(x2.row(j));
        let s = (5.0 * pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>()).sqrt() / LENGTHSCALE;
        VARIANCE * (1.0 + s + s * s / 3.0) * (-s).exp()
    })
}

pub fn likelihood(platform: &Platform) -> AnyLikelihood {
    LikelihoodConfig::from(GaussianConfig { noise: 0.2 }).init(platform.options())
}

/// `(N/|batch|)·Σ E[log p(y|f)] − KL`.
pub fn elbo(
    evaluation: Evaluation,
    likelihood: &AnyLikelihood,
    y: Tensor<2>,
    total: usize,
) -> Tensor<1> {
    let [batch, _] = y.dims();
    let expected = likelihood
        .expected_log_density(y, evaluation.marginals)
        .sum();
    expected * (total as f64 / batch as f64) - evaluation.kl
}

#[track_caller]
pub fn assert_same_marginals(what: &str, actual: &Marginals, expected: &Marginals, tolerance: f64) {
    assert_eq!(actual.mean.dims(), expected.mean.dims(), "{what}");
    let values = |tensor: &Tensor<2>| numbers(tensor.clone());
    let what_mean = format!("{what}: mean");
    assert_close(
        &what_mean,
        &values(&actual.mean),
        &values(&expected.mean),
        tolerance,
    );
    let what = format!("{what}: variance");
    assert_close(
        &what,
        &values(&actual.variance),
        &values(&expected.variance),
        tolerance,
    );
}

#[track_caller]
pub fn assert_same_joint(what: &str, actual: Joint, expected: Joint, tolerance: f64) {
    assert_eq!(
        actual.covariance.dims(),
        expected.covariance.dims(),
        "{what}"
    );
    assert_close(
        what,
        &numbers(actual.mean),
        &numbers(expected.mean),
        tolerance,
    );
    assert_close(
        what,
        &numbers(actual.covariance),
        &numbers(expected.covariance),
        tolerance,
    );
}
