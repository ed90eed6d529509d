//! Random Fourier features.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions, TensorData},
};
use rand::rngs::ChaCha8Rng;

use super::{FeatureMap, LowRankKernel, squared_norms_of};
use crate::{
    kernels::{Kernel, NoFunctionDraws, NoSpectrum, PriorFeatures, points::map_points},
    ops::{ExactMatmul, NotPositiveDefinite},
    parameter::{Part, Role, require_precision, tracked_like, vector},
};

/// `k(x, x′) = Σ_f a_f²·cos ω_fᵀ(x − x′)`, an approximation of a stationary kernel. Each component
/// of the kernel contributes F frequencies ω from its spectral density, with `a² = σ²/F` of its
/// variance. The 2F features are `a_f·cos ω_fᵀx` and `a_f·sin ω_fᵀx` (A. Rahimi and B. Recht,
/// *Random Features for Large-Scale Kernel Machines*, 2007). They are not trained.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{KernelModule, RandomFourier, StationaryConfig},
///     ops::Stationary,
///     rand::{SeedableRng, rngs::ChaCha8Rng},
/// };
///
/// # fn main() -> Result<(), burn_gp_core::kernels::NoSpectrum> {
/// let device = Device::default();
/// let exact = StationaryConfig::new(Stationary::SquaredExponential).init(1, &device);
/// let mut random = ChaCha8Rng::seed_from_u64(0);
/// let kernel = RandomFourier::new(&exact, 1, 4000, &mut random, &device)?;
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let error = (kernel.matrix_at(x.clone()) - exact.matrix_at(x)).abs().max();
/// assert!(error.into_scalar::<f64>() < 0.1);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct RandomFourier {
    spectrum: Part<FixedSpectrum>,
}

/// Frequencies and amplitudes that are not trained.
#[derive(Module, Debug)]
struct FixedSpectrum {
    /// ω, [F, D]
    frequencies: Param<Tensor<2>>,
    /// a of every feature, `[2F]`
    amplitudes: Param<Tensor<1>>,
}

impl RandomFourier {
    /// Draws the features of `kernel` for inputs of `dimensions` dimensions, with `count`
    /// frequencies per component.
    ///
    /// # Errors
    ///
    /// When the kernel has no spectrum.
    pub fn new(
        kernel: &impl Kernel,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<Self, NoSpectrum> {
        let basis = FourierBasis::draw(kernel, dimensions, count, random, options)?;
        let spectrum = FixedSpectrum {
            frequencies: Param::from_tensor(basis.frequencies).set_require_grad(false),
            amplitudes: Param::from_tensor(basis.amplitudes).set_require_grad(false),
        };
        Ok(Self {
            spectrum: Part::new(Role::Features, spectrum),
        })
    }
}

/// Frequencies drawn from the spectral density of a kernel.
struct FourierBasis {
    /// ω, [F, D]
    frequencies: Tensor<2>,
    /// a of every feature, `[2F]`
    amplitudes: Tensor<1>,
}

impl FourierBasis {
    /// Draws `count` frequencies for every component of the kernel.
    fn draw(
        kernel: &impl Kernel,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<Self, NoSpectrum> {
        let options = options.into();
        let components = kernel.spectrum(dimensions, count, random)?;
        let amplitudes: Vec<f64> = (components.iter())
            .flat_map(|component| vec![(component.variance / count as f64).sqrt(); count])
            .collect();
        let shape = [amplitudes.len(), dimensions];
        let frequencies: Vec<f64> = (components.into_iter())
            .flat_map(|component| component.frequencies)
            .collect();
        let amplitudes = [amplitudes.as_slice(), &amplitudes].concat();
        let frequencies = TensorData::new(frequencies, shape);
        Ok(Self {
            frequencies: Tensor::from_data(frequencies, options.clone()),
            amplitudes: vector(&amplitudes, options),
        })
    }
}

/// `cos ω_fᵀx` and `sin ω_fᵀx` for every frequency, `[2F, N]`, at `x`, `[N, D]`.
fn fourier_basis(frequencies: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
    let phases = frequencies.exact_matmul(x.transpose()); // [F, N]
    Tensor::cat(vec![phases.clone().cos(), phases.sin()], 0)
}

impl Kernel for RandomFourier {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let [first, second] = [x1, x2].map(|x| map_points(x, |x| self.features(x)));
        first.exact_matmul(second.transpose())
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        squared_norms_of(self, x)
    }

    /// Returns its own features and draws no others.
    fn prior_features(
        &self,
        _dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
        _options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let kernel = self.clone();
        let [count] = kernel.spectrum.amplitudes.dims();
        Ok(PriorFeatures::exact(count, move |x| {
            tracked_like(&x, kernel.clone()).features(x)
        }))
    }
}

impl FeatureMap for RandomFourier {
    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        let spectrum = &*self.spectrum;
        require_precision("RandomFourier", &x, spectrum);
        let basis = fourier_basis(spectrum.frequencies.val(), x).transpose(); // [N, 2F]
        basis * spectrum.amplitudes.val().unsqueeze()
    }
}

impl LowRankKernel for RandomFourier {
    type Map = Self;

    fn feature_map(&self) -> Result<Self, NotPositiveDefinite> {
        Ok(self.clone())
    }
}
