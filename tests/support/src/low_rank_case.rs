//! Low-rank regression with dense algebra, and features for its tests.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    features::Features,
    inference::LowRankRegression,
    kernels::Basis,
    likelihoods::Gaussian,
    means::ZeroMean,
    process::{PredictedVariance, VarianceCorrection},
};

use super::{Dense, Platform};

/// The inputs themselves as features.
#[derive(Module, Debug)]
pub struct Inputs {
    #[module(skip)]
    pub rank: usize,
}

impl Features for Inputs {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        x
    }
}

/// `(½, sin 2x, x·cos x)`.
#[derive(Module, Debug)]
pub struct Waves {
    #[module(skip)]
    pub rank: usize,
}

impl Features for Waves {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let constant = x.ones_like() * 0.5;
        Tensor::cat(
            vec![constant, (x.clone() * 2.0).sin(), x.clone() * x.cos()],
            1,
        )
    }
}

/// The values of [`Waves`] without tensors, [N, 3].
pub fn waves(x: &[f64]) -> Dense {
    let rows = x.iter().flat_map(|x| [0.5, (2.0 * x).sin(), x * x.cos()]);
    Dense::new(x.len(), 3, rows.collect())
}

/// Six inputs and their targets.
pub fn wave_data() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..6).map(|i| -1.0 + 0.4 * f64::from(i)).collect();
    let sign = |i: usize| if i.is_multiple_of(2) { 0.1 } else { -0.1 };
    let y = x.iter().enumerate().map(|(i, x)| (3.0 * x).sin() + sign(i));
    let y = y.collect();
    (x, y)
}

/// Regression on the inputs themselves.
pub fn on_inputs(
    platform: &Platform,
    outputs: usize,
    noise: f64,
    correction: VarianceCorrection,
) -> LowRankRegression<Basis> {
    LowRankRegression::new(
        Basis::new(Inputs { rank: 0 }),
        ZeroMean::new(outputs),
        Gaussian::new(noise, platform.options()),
        correction,
    )
}

/// The correction in training only, or in prediction only.
pub fn correction(training: bool, prediction: PredictedVariance) -> VarianceCorrection {
    VarianceCorrection {
        training,
        prediction,
    }
}

/// `ΦΦ'ᵀ`.
pub fn products(left: &Dense, right: &Dense) -> Dense {
    left.times(&right.transposed())
}

/// A matrix with values added to its diagonal.
pub fn with_diagonal(matrix: &Dense, added: &[f64]) -> Dense {
    Dense::from_function(matrix.rows, matrix.columns, |i, j| {
        matrix[(i, j)] + if i == j { added[i] } else { 0.0 }
    })
}

/// `Σ_p log N(y_p | 0, covariance)`.
pub fn log_density(covariance: &Dense, targets: &Dense) -> f64 {
    let factor = covariance.cholesky();
    let solved = factor.solve_lower(targets);
    let squares: f64 = solved.values.iter().map(|v| v * v).sum();
    let two_pi = 2.0 * core::f64::consts::PI;
    let normalizer = targets.rows as f64 * two_pi.ln() + covariance.log_determinant();
    -0.5 * (squares + normalizer * targets.columns as f64)
}

/// `‖φ_n‖²`.
pub fn norms(features: &Dense) -> Vec<f64> {
    products(features, features).diagonal()
}

/// `max κ − κ_n`.
pub fn residuals(features: &Dense) -> Vec<f64> {
    let norms = norms(features);
    let largest = norms.iter().copied().fold(0.0, f64::max);
    norms.iter().map(|norm| largest - norm).collect()
}

/// Means, [N*, P], and variances of f at new inputs, given targets with separate noise variances.
pub fn dense_prediction(
    (features, new_features): (&Dense, &Dense),
    targets: &Dense,
    noise: &[f64],
) -> (Dense, Vec<f64>) {
    let covariance = with_diagonal(&products(features, features), noise);
    let cross = products(features, new_features); // [N, N*]
    let mean = cross.transposed().times(&covariance.solve(targets));
    let explained = cross
        .transposed()
        .times(&covariance.solve(&cross))
        .diagonal();
    let prior = norms(new_features);
    let variance = prior.iter().zip(&explained).map(|(k, q)| k - q);
    (mean, variance.collect())
}
