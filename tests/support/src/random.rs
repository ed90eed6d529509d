//! Seeded random numbers.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

use super::Dense;

/// A generator with a specified stream.
pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Uniform between two numbers.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// An integer below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// Standard normals.
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// Uniform numbers.
    pub fn uniforms(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count).map(|_| self.uniform(low, high)).collect()
    }

    /// A matrix of standard normals.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Dense {
        Dense::new(rows, columns, self.normals(rows * columns))
    }

    /// Uniform points in the cube [-2, 2]^D, [N, D].
    pub fn points(&mut self, count: usize, dimensions: usize) -> Dense {
        Dense::new(
            count,
            dimensions,
            self.uniforms(count * dimensions, -2.0, 2.0),
        )
    }

    /// A symmetric positive-definite matrix with eigenvalues between 0.5 and about 4.5.
    pub fn positive_definite(&mut self, size: usize) -> Dense {
        let root = self.matrix(size, size);
        let gram = root.times(&root.transposed()).scaled(1.0 / size as f64);
        gram.plus(&Dense::identity(size).scaled(0.5))
    }

    /// A well-conditioned lower-triangular matrix. Diagonal entries have magnitudes between 0.5 and
    /// 1.5 and random signs.
    pub fn lower_triangle(&mut self, size: usize) -> Dense {
        let spread = 0.5 / (size as f64).sqrt();
        Dense::from_function(size, size, |i, j| {
            if j > i {
                0.0
            } else if i == j {
                let sign = if self.normal() < 0.0 { -1.0 } else { 1.0 };
                sign * self.uniform(0.5, 1.5)
            } else {
                spread * self.normal()
            }
        })
    }

    /// `I − (1 − λ)·vvᵀ` with a unit vector v. Every eigenvalue is 1 except for one, which is λ.
    pub fn with_eigenvalue(&mut self, size: usize, lambda: f64) -> Dense {
        let v = self.normals(size);
        let norm: f64 = v.iter().map(|x| x * x).sum();
        Dense::from_function(size, size, |i, j| {
            let identity = if i == j { 1.0 } else { 0.0 };
            identity - (1.0 - lambda) * v[i] * v[j] / norm
        })
    }
}
