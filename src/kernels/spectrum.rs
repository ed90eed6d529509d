//! The spectra of stationary kernels.

use rand::rngs::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use crate::ops::Stationary;

/// One term `σ²·E_ω[cos ωᵀ(x − x′)]` of a stationary covariance, by frequencies drawn from its
/// spectral density (S. Bochner, 1932; A. Rahimi and B. Recht, *Random Features for Large-Scale
/// Kernel Machines*, 2007).
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralSample {
    /// σ²
    pub variance: f64,
    /// Independent draws of ω, row-major, `[F, D]`.
    pub frequencies: Vec<f64>,
}

/// A kernel without a spectral density.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the kernel {kernel} has no spectral density: its functions cannot be drawn by Fourier features"
)]
pub struct NoSpectrum {
    /// The kernel's type.
    pub kernel: String,
}

impl NoSpectrum {
    /// The error of kernel type `K`.
    pub fn of<K>() -> Self {
        let name = core::any::type_name::<K>();
        let plain = name.split('<').next().unwrap_or(name);
        Self {
            kernel: plain.rsplit("::").next().unwrap_or(plain).to_owned(),
        }
    }
}

impl SpectralSample {
    /// The component with its variance multiplied by `factor`.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            variance: self.variance * factor,
            ..self
        }
    }

    /// The product of two covariances: their spectral densities are convolved, their frequencies
    /// added.
    pub(super) fn times(&self, other: &Self) -> Self {
        let pairs = self.frequencies.iter().zip(&other.frequencies);
        Self {
            variance: self.variance * other.variance,
            frequencies: pairs.map(|(a, b)| a + b).collect(),
        }
    }
}

/// Draws of the frequencies of a stationary covariance with the given lengthscales, [F, D].
///
/// With `z ~ N(0, I)`: `ω = z/ℓ` for the squared exponential; Student's t with 2ν degrees of
/// freedom, `ω = z/(ℓ·√(c/2ν))`, `c ~ χ²(2ν)`, for Matérn-ν.
pub(super) fn stationary_frequencies(
    kind: Stationary,
    lengthscales: &[f64],
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<f64> {
    let degrees: Option<f64> = match kind {
        Stationary::SquaredExponential => None,
        Stationary::Matern12 => Some(1.0),
        Stationary::Matern32 => Some(3.0),
        Stationary::Matern52 => Some(5.0),
    };
    let mut frequencies = Vec::with_capacity(count * lengthscales.len());
    for _ in 0..count {
        let spread = match degrees.map(|degrees| (degrees, ChiSquared::new(degrees))) {
            Some((degrees, Ok(distribution))) => (degrees / distribution.sample(random)).sqrt(),
            _ => 1.0,
        };
        for lengthscale in lengthscales {
            let z: f64 = StandardNormal.sample(random);
            frequencies.push(z * spread / lengthscale);
        }
    }
    frequencies
}
