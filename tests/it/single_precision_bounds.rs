//! Bounds and evidences in single precision compared with double precision, for points so close
//! together and noise so small that rounding errors matter.

use crate::support::{
    Platform, Random, numbers, platforms,
    textbook::{Matrix, Real},
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Jitter, Stationary},
};

/// The largest excess of a single-precision bound over the evidence, relative to the evidence.
const ABOVE: f64 = 1e-3;

/// The largest error allowed, as a multiple of the error of the textbook loops.
const ALLOWED: f64 = 3.0;

const ROWS: usize = 300;

const KINDS: [Stationary; 2] = [Stationary::SquaredExponential, Stationary::Matern52];

/// Points on a line, with targets that both precisions represent exactly.
struct Line {
    kind: Stationary,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    noise: f64,
}

impl Line {
    /// `rough` is the amplitude of a wave that a kernel with unit lengthscale does not follow.
    fn new(kind: Stationary, inducing: usize, noise: f64, rough: f64) -> Self {
        let mut random = Random::new(26);
        let single = |value: f64| f64::from(value as f32);
        let mut x: Vec<f64> = random
            .uniforms(ROWS, 0.0, 10.0)
            .into_iter()
            .map(single)
            .collect();
        x.sort_by(f64::total_cmp);
        let deviation = noise.sqrt();
        let target =
            |&x: &f64| single(x.sin() + rough * (9.0 * x).sin() + deviation * random.normal());
        let y = x.iter().map(target).collect();
        let step = 10.0 / (inducing.max(2) - 1) as f64;
        let z = (0..inducing).map(|i| single(i as f64 * step)).collect();
        Self {
            kind,
            x,
            y,
            z,
            noise: single(noise),
        }
    }

    fn kernel(&self, platform: &Platform) -> StationaryKernel {
        StationaryKernel::new(self.kind, &[1.0], 1.0, platform.options())
    }

    fn data(&self, platform: &Platform) -> (Tensor<2>, Tensor<2>) {
        let column = |values: &[f64]| platform.tensor(values, [values.len(), 1]);
        (column(&self.x), column(&self.y))
    }

    fn sparse(&self, platform: &Platform) -> Collapsed {
        Collapsed::new(
            self.kernel(platform),
            ZeroMean::new(1),
            Gaussian::new(self.noise, platform.options()),
            InducingPoints::new(platform.tensor(&self.z, [self.z.len(), 1])),
            Jitter::INDUCING,
        )
    }

    /// The bound, and `tr(K − Q)`, which determines its gap to the evidence under Q.
    fn bound(&self, platform: &Platform) -> (f64, f64) {
        let (x, y) = self.data(platform);
        let model = self.sparse(platform);
        let bound = numbers(model.full_objective(x.clone(), y.clone()).unwrap())[0];
        let conditional = numbers(model.deterministic_training_conditional(x, y).unwrap())[0];
        (bound, 2.0 * self.noise * (conditional - bound))
    }

    fn evidence(&self, platform: &Platform) -> f64 {
        let (x, y) = self.data(platform);
        let likelihood = Gaussian::new(self.noise, platform.options());
        let model = Exact::new(self.kernel(platform), ZeroMean::new(1), likelihood);
        numbers(model.full_objective(x, y).unwrap())[0]
    }

    /// The kernel between points. Every entry is accurate to the last digit.
    fn covariance<T: Real>(&self, first: &[f64], second: &[f64]) -> Matrix<T> {
        Matrix::from_function(first.len(), second.len(), |i, j| {
            let distance = (first[i] - second[j]).abs();
            let scaled = 5f64.sqrt() * distance;
            T::from_f64(match self.kind {
                Stationary::SquaredExponential => (-0.5 * distance * distance).exp(),
                _ => (1.0 + scaled + scaled * scaled / 3.0) * (-scaled).exp(),
            })
        })
    }

    /// The log-density of the targets under `K + σ²I` with textbook loops.
    fn textbook_evidence<T: Real>(&self) -> f64 {
        let noisy = added(&self.covariance::<T>(&self.x, &self.x), self.noise);
        let factor = noisy.upper_factor().expect("positive definite");
        let whitened = factor.solve(&Matrix::rounded(ROWS, 1, &self.y));
        let logarithms: f64 = (0..ROWS).map(|i| factor.0.at(i, i).to_f64().ln()).sum();
        let constant = 0.5 * ROWS as f64 * (2.0 * std::f64::consts::PI).ln();
        -0.5 * whitened.norm().powi(2) - logarithms - constant
    }

    /// `tr(K − Q)` with textbook loops.
    fn textbook_trace<T: Real>(&self) -> f64 {
        let kuu = added(
            &self.covariance::<T>(&self.z, &self.z),
            Jitter::INDUCING.initial,
        );
        let factor = kuu.upper_factor().expect("positive definite");
        let features = factor.solve(&self.covariance(&self.z, &self.x));
        let mut rest = Matrix::from_function(1, ROWS, |_, _| T::from_f64(1.0));
        for i in 0..features.rows {
            for j in 0..ROWS {
                let feature = features.at(i, j);
                rest.values[j] = rest.values[j] - feature * feature;
            }
        }
        rest.numbers().iter().sum()
    }
}

/// The matrix with a number added to its diagonal.
fn added<T: Real>(matrix: &Matrix<T>, value: f64) -> Matrix<T> {
    Matrix::from_function(matrix.rows, matrix.columns, |i, j| {
        let entry = matrix.at(i, j);
        if i == j {
            entry + T::from_f64(value)
        } else {
            entry
        }
    })
}

/// The single-precision platforms on the host, each with its double-precision platform.
fn pairs() -> Vec<(Platform, Platform)> {
    let host = platforms().into_iter().filter(Platform::is_host);
    let single = host.filter(|platform| !platform.is_double());
    let with_double = |platform: Platform| {
        let double = Platform {
            dtype: DType::F64,
            ..platform.clone()
        };
        (platform, double)
    };
    single.map(with_double).collect()
}

#[track_caller]
fn assert_not_above(what: &str, bound: f64, evidence: f64) {
    println!("{what}: {bound:.3}, evidence {evidence:.3}");
    assert!(
        bound <= evidence + ABOVE * evidence.abs(),
        "{what}: {bound} is above the evidence {evidence}"
    );
}

#[test]
fn sparse_bounds_are_below_the_evidence() {
    for (single, double) in pairs() {
        for kind in KINDS {
            for (inducing, noise, rough) in [
                (20, 1e-3, 0.0),
                (20, 1e-3, 0.1),
                (60, 1e-3, 0.1),
                (60, 1e-4, 0.02),
            ] {
                let line = Line::new(kind, inducing, noise, rough);
                let what = format!("{single}, {kind:?}, {inducing} points, noise {noise}");
                let ((bound, trace), (exact_bound, exact_trace)) =
                    (line.bound(&single), line.bound(&double));
                let textbook = line.textbook_trace::<f32>();
                println!(
                    "{what}: trace {trace:.3e}, textbook {textbook:.3e}, in double precision \
                     {exact_trace:.3e}; bound in double precision {exact_bound:.3}"
                );
                // The bound itself has an error of one unit in the last place.
                let last_place = 4.0 * noise * f64::from(f32::EPSILON) * exact_bound.abs();
                let rounding = ABOVE * exact_trace + last_place;
                let allowed = ALLOWED * (textbook - exact_trace).abs() + rounding;
                assert!(
                    (trace - exact_trace).abs() <= allowed,
                    "{what}: trace {trace}"
                );
                assert!(
                    (bound - exact_bound).abs() <= ABOVE * exact_bound.abs(),
                    "{what}: {bound}, in double precision {exact_bound}"
                );
                assert_not_above(&what, bound, line.evidence(&double));
            }
        }
    }
}

/// The tolerance is a thousandth of the evidence, or three times the error of the textbook loops.
/// The noise is as small as the rounding errors of the covariance in single precision.
#[test]
fn evidences_are_as_close_to_double_precision_as_the_textbook() {
    for (single, double) in pairs() {
        for kind in KINDS {
            for (noise, rough) in [(1e-3, 0.1), (1e-4, 0.1), (1e-5, 0.1), (1e-5, 0.02)] {
                let line = Line::new(kind, 0, noise, rough);
                let what = format!("{single}, {kind:?}, noise {noise}, rough {rough}");
                let (ours, exact) = (line.evidence(&single), line.evidence(&double));
                let textbook = line.textbook_evidence::<f32>();
                println!(
                    "{what}: {ours:.2}, textbook {textbook:.2}, in double precision {exact:.2}"
                );
                let allowed = ALLOWED * (textbook - exact).abs() + ABOVE * exact.abs();
                assert!(
                    (ours - exact).abs() <= allowed,
                    "{what}: {ours}, not {exact}"
                );
            }
        }
    }
}
