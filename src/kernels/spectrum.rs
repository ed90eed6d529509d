//! Spectra of stationary kernels.

use core::f64::consts::PI;

use cdflib::special::try_gamma_inc;
use rand::rngs::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, Gamma, Poisson, StandardNormal};

use crate::ops::{Stationary, special::functions::log_gamma};

/// One term `σ²·E_ω[cos ωᵀ(x − x′)]` of a stationary covariance, represented by frequencies drawn
/// from its spectral density (S. Bochner, 1932; A. Rahimi and B. Recht, *Random Features for
/// Large-Scale Kernel Machines*, 2007).
///
/// Most kernels have a continuous spectrum; kernels of periodic functions have discrete lines. Both
/// kinds are represented by draws of ω.
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralSample {
    /// σ²
    pub variance: f64,
    /// Independent draws of ω, row-major, `[F, D]`.
    pub frequencies: Vec<f64>,
    /// Independent draws of λ, row-major, `[F, D]`, if the covariance is a mixture of squared
    /// exponentials `σ²·E_λ[exp(−½·Σ_d λ_d(x_d − x′_d)²)]`, where ω given λ is `N(0, diag λ)`. The
    /// periodic version of a kernel has a spectrum only if the kernel has these.
    pub precisions: Option<Vec<f64>>,
}

/// A kernel without a spectrum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("random Fourier features need a spectrum, which the kernel {kernel} does not have")]
pub struct NoSpectrum {
    /// The kernel's type.
    pub kernel: String,
}

impl NoSpectrum {
    /// Creates the error for kernel type `K`.
    pub fn of<K: ?Sized>() -> Self {
        Self {
            kernel: plain_name::<K>(),
        }
    }
}

/// The name of a type without its path and parameters.
pub(super) fn plain_name<T: ?Sized>() -> String {
    let name = core::any::type_name::<T>();
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

impl SpectralSample {
    /// Multiplies the variance of the component by `factor`.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            variance: self.variance * factor,
            ..self
        }
    }

    /// The product of two covariances. It convolves the spectra, so the drawn frequencies are
    /// added.
    pub(super) fn times(&self, other: &Self) -> Self {
        let sums = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let precisions = self.precisions.as_ref().zip(other.precisions.as_ref());
        Self {
            variance: self.variance * other.variance,
            frequencies: sums(&self.frequencies, &other.frequencies),
            precisions: precisions.map(|(own, others)| sums(own, others)),
        }
    }

    /// Extends the component to `dimensions` input dimensions, of which the kernel uses those in
    /// `active`, in that order.
    pub(super) fn spread(self, active: &[usize], dimensions: usize) -> Self {
        let spread = |values: Vec<f64>| {
            let rows = values.chunks_exact(active.len());
            let mut all = vec![0.0; rows.len() * dimensions];
            for (row, values) in all.chunks_exact_mut(dimensions).zip(rows) {
                for (&dimension, value) in active.iter().zip(values) {
                    row[dimension] += value;
                }
            }
            all
        };
        Self {
            variance: self.variance,
            frequencies: spread(self.frequencies),
            precisions: self.precisions.map(spread),
        }
    }

    /// Draws the precisions λ = s/ℓ² of a mixture of squared exponentials, with s drawn by `scale`,
    /// and the corresponding frequencies.
    fn mixture(
        variance: f64,
        lengthscales: &[f64],
        count: usize,
        random: &mut ChaCha8Rng,
        mut scale: impl FnMut(&mut ChaCha8Rng) -> f64,
    ) -> Self {
        let size = count * lengthscales.len();
        let mut frequencies = Vec::with_capacity(size);
        let mut precisions = Vec::with_capacity(size);
        for _ in 0..count {
            let scale = scale(random);
            let spread = scale.sqrt();
            for lengthscale in lengthscales {
                let z: f64 = StandardNormal.sample(random);
                frequencies.push(z * spread / lengthscale);
                precisions.push(scale / lengthscale.powi(2));
            }
        }
        Self {
            variance,
            frequencies,
            precisions: Some(precisions),
        }
    }
}

/// The spectrum of a stationary covariance with the given variance and one lengthscale per
/// dimension.
///
/// With `z ~ N(0, I)`: `ω = z/ℓ` for the squared exponential. For Matérn-ν, ω follows a Student's t
/// distribution with 2ν degrees of freedom, `ω = z/(ℓ·√(c/2ν))`, `c ~ χ²(2ν)`.
pub(super) fn stationary_spectrum(
    kind: Stationary,
    variance: f64,
    lengthscales: &[f64],
    count: usize,
    random: &mut ChaCha8Rng,
) -> SpectralSample {
    let degrees: Option<f64> = match kind {
        Stationary::SquaredExponential => None,
        Stationary::Matern12 => Some(1.0),
        Stationary::Matern32 => Some(3.0),
        Stationary::Matern52 => Some(5.0),
    };
    let scale = degrees.and_then(|degrees| Some((degrees, ChiSquared::new(degrees).ok()?)));
    SpectralSample::mixture(variance, lengthscales, count, random, |random| {
        scale.map_or(1.0, |(degrees, chi_squared)| {
            degrees / chi_squared.sample(random)
        })
    })
}

/// The spectrum of a Matérn covariance of smoothness ν: `φ(r²) = E_g[exp(−½·r²/g)]`, `g ~ Γ(ν, rate ν)`, so that ω follows
/// a Student's t distribution with 2ν degrees of freedom.
pub(super) fn matern_spectrum(
    smoothness: f64,
    variance: f64,
    lengthscales: &[f64],
    count: usize,
    random: &mut ChaCha8Rng,
) -> SpectralSample {
    let gamma = Gamma::new(smoothness, smoothness.recip()).ok();
    SpectralSample::mixture(variance, lengthscales, count, random, |random| {
        // If ν is too large for the gamma distribution, use the limit, the squared exponential.
        gamma.map_or(1.0, |gamma| gamma.sample(random).recip())
    })
}

/// The spectrum of a rational quadratic with shape α and one lengthscale per dimension:
/// `(1 + r²/(2α))^(−α) = E_s[exp(−½·s·r²)]`, `s ~ Γ(α, rate α)` (Rasmussen and Williams, *Gaussian
/// Processes for Machine Learning*, 2006, eq. 4.20).
pub(super) fn rational_quadratic_spectrum(
    shape: f64,
    variance: f64,
    lengthscales: &[f64],
    count: usize,
    random: &mut ChaCha8Rng,
) -> SpectralSample {
    let scale = Gamma::new(shape, shape.recip()).ok();
    SpectralSample::mixture(variance, lengthscales, count, random, |random| {
        // If α is too large for the gamma distribution, use the limit, the squared exponential.
        scale.map_or(1.0, |gamma| gamma.sample(random))
    })
}

/// `d log s/dα` of a draw `s ~ Γ(α, rate α)`. With `x = α·s` and the distribution function P of `Γ(α)`,
/// `dx/dα = −(∂P/∂α)/(∂P/∂x)` (M. Figurnov, S. Mohamed and A. Mnih, *Implicit Reparameterization
/// Gradients*, arXiv:1805.08498, eq. 6).
pub(super) fn log_scale_slope(shape: f64, scale: f64) -> f64 {
    let x = shape * scale;
    // The error of a central difference of this step is about 1e-8, as is that of rounding.
    let step = 1e-4 * shape;
    let at = |shape: f64| try_gamma_inc(shape, x).unwrap_or((f64::NAN, f64::NAN));
    let ((below, above), (next_below, next_above)) = (at(shape - step), at(shape + step));
    // The smaller of the two tails has more digits.
    let change = if below < above {
        next_below - below
    } else {
        above - next_above
    };
    let log_density = (shape - 1.0) * x.ln() - x - log_gamma(shape).0;
    let slope = -change / (2.0 * step) / log_density.exp();
    // In the far tails, and at the limit of a large α, neither has digits.
    let slope = slope / x - shape.recip();
    if slope.is_finite() { slope } else { 0.0 }
}

/// The lines of the periodic version of a component. The component must be a mixture of squared
/// exponentials with two columns per dimension, a sine and a cosine. Returns `None` if it is not,
/// or if the lengthscales of a sine and its cosine differ.
///
/// `exp(−½·λ·sin²(πτ/p)) = Σ_k e^(−c)·I_k(c)·cos(2πkτ/p)` over all integers k with `c = λ/4`: the
/// multiple k of the fundamental frequency is the difference of two Poisson variables with mean c/2
/// (J. Skellam, 1946).
pub(super) fn periodic_spectrum(
    base: &SpectralSample,
    periods: &[f64],
    random: &mut ChaCha8Rng,
) -> Option<SpectralSample> {
    let dimensions = periods.len();
    let mut frequencies = Vec::new();
    for row in base.precisions.as_ref()?.chunks_exact(2 * dimensions) {
        let (sines, cosines) = row.split_at(dimensions);
        if sines != cosines {
            return None;
        }
        for (precision, period) in sines.iter().zip(periods) {
            frequencies.push(2.0 * PI * skellam(precision / 8.0, random) / period);
        }
    }
    Some(SpectralSample {
        variance: base.variance,
        frequencies,
        precisions: None,
    })
}

/// The difference of two independent Poisson variables with the given mean.
fn skellam(mean: f64, random: &mut ChaCha8Rng) -> f64 {
    match Poisson::new(mean) {
        Ok(poisson) => poisson.sample(random) - poisson.sample(random),
        // The mean is zero, so every draw is zero.
        Err(_) => 0.0,
    }
}
