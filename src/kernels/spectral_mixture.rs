//! The spectral mixture kernel.

use core::f64::consts::PI;

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample,
    cosine::cosines,
    definition::positive,
    points::{at_each, covariance_shape, require_fit},
    prior_features::FourierFeatures,
    spectrum::stationary_spectrum,
    structure::StationaryParameters,
};
use crate::{
    ops::Stationary,
    parameter::{Positive, aligned, defaults, numbers, vector},
    register,
};

/// `k(x, x′) = Σ_q σ_q²·exp(−½·Σ_d τ_d²/ℓ_qd²)·cos(2π·Σ_d f_qd·τ_d)`, `τ = x − x′`.
///
/// Its spectral density is a mixture of Gaussians centered at the frequencies `±f_q` with standard
/// deviations `1/(2πℓ_qd)`. With enough components it can approximate any stationary kernel (A.
/// Wilson and R. Adams, *Gaussian Process Kernels for Pattern Discovery and Extrapolation*,
/// arXiv:1302.4245, eqs. 9–12).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{
///     KernelConfig, KernelModule, SpectralComponent, SpectralMixture, SpectralMixtureConfig,
/// };
///
/// let device = Device::default();
/// let waves = SpectralComponent::new(2.0, &[100.0], &[0.5], &device);
/// let kernel = SpectralMixture::new(vec![waves]);
/// let x = Tensor::<2>::from_data([[0.0], [1.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // A frequency of a half: the covariance changes its sign after one and again after two.
/// assert!(values[1] < -1.9 && values[2] > 1.9);
///
/// let config = SpectralMixtureConfig { components: 3, ..Default::default() };
/// assert_eq!(KernelConfig::from(config).init(1, &device).matrix_at(x).dims(), [3, 3]);
/// ```
#[derive(Module, Debug)]
pub struct SpectralMixture {
    components: Vec<SpectralComponent>,
}

/// One Gaussian of the spectral density of a [`SpectralMixture`].
#[derive(Module, Debug)]
pub struct SpectralComponent {
    variance: Positive,
    lengthscale: Positive,
    /// f, in cycles per unit of the inputs, `[D]`
    frequency: Param<Tensor<1>>,
}

impl SpectralComponent {
    /// Creates a component with the given variance, and one lengthscale ℓ and frequency f per
    /// dimension.
    ///
    /// # Panics
    ///
    /// If the variance or a lengthscale is not positive, or the numbers of lengthscales and
    /// frequencies differ.
    #[track_caller]
    pub fn new(
        variance: f64,
        lengthscales: &[f64],
        frequencies: &[f64],
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        assert!(
            lengthscales.len() == frequencies.len(),
            "a spectral component with {} lengthscales and {} frequencies",
            lengthscales.len(),
            frequencies.len()
        );
        let options = options.into();
        Self {
            variance: Positive::new(&[variance], options.clone()),
            lengthscale: Positive::new(lengthscales, options.clone()),
            frequency: Param::from_tensor(vector(frequencies, options)),
        }
    }

    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let envelope = StationaryParameters {
            profile: Stationary::SquaredExponential,
            lengthscales: self.lengthscale.value(),
            variance: self.variance.value(),
        };
        let frequency = aligned(self.frequency.val(), self.lengthscale.members()); // [B, 1, D]
        envelope.covariance(x1.clone(), x2.clone()) * cosines(x1, x2, frequency)
    }

    /// `ω = z/ℓ`, `z ~ N(0, I)`.
    fn envelope(&self, count: usize, random: &mut ChaCha8Rng) -> SpectralSample {
        let (variance, lengthscales) = (self.variance.to_vec()[0], self.lengthscale.to_vec());
        let kind = Stationary::SquaredExponential;
        stationary_spectrum(kind, variance, &lengthscales, count, random)
    }

    /// `ω = z/ℓ + 2πf`, `z ~ N(0, I)`. The sign of f does not matter under a cosine.
    fn spectrum(&self, count: usize, random: &mut ChaCha8Rng) -> SpectralSample {
        let envelope = self.envelope(count, random);
        let centers = numbers(self.frequency.val());
        let centers = centers.iter().map(|f| 2.0 * PI * f).cycle();
        let frequencies = envelope.frequencies.iter().zip(centers);
        SpectralSample {
            frequencies: frequencies.map(|(own, center)| own + center).collect(),
            precisions: None,
            variance: envelope.variance,
        }
    }

    /// Features at the frequencies of [`spectrum`](Self::spectrum).
    fn features(
        &self,
        (count, dimensions): (usize, usize),
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> FourierFeatures {
        let envelope = vec![self.envelope(count, random)];
        let features = FourierFeatures::new(envelope, (count, dimensions), options);
        (features.with_variance(self.variance.value()))
            .with_lengths(self.lengthscale.value())
            .shifted(self.frequency.val() * (2.0 * PI))
    }
}

defaults! {
    /// Configuration of a [`SpectralMixture`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct SpectralMixtureConfig {
        /// The number of components, Q.
        pub components: usize = 4,
        /// The upper end of the initial frequencies, in cycles per unit of the inputs. They are evenly
        /// spaced below it and the same in every dimension.
        pub highest_frequency: f64 = 1.0,
        /// The initial value of every lengthscale.
        pub lengthscale: f64 = 1.0,
        /// The initial variance, divided equally among the components.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "spectral-mixture",
    SpectralMixtureConfig,
    "Mixture of Gaussians in the spectral density"
);

impl KernelDefinition for SpectralMixtureConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let columns = inputs.columns();
        let components = (0..self.components).map(|index| {
            let share = (index as f64 + 0.5) / self.components as f64;
            SpectralComponent::new(
                self.variance / self.components as f64,
                &vec![self.lengthscale; columns],
                &vec![self.highest_frequency * share; columns],
                options.clone(),
            )
        });
        SpectralMixture::new(components.collect()).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        let of_component = |component| {
            let parameter = |name, units| {
                KernelParameter::new(name, units).of(format!("components.{component}"))
            };
            [
                parameter("lengthscale", KernelUnits::Distance),
                parameter("frequency", KernelUnits::PerInput).set_by("highest_frequency"),
                parameter("variance", KernelUnits::Variance),
            ]
        };
        (0..self.components).flat_map(of_component).collect()
    }

    positive!(components highest_frequency lengthscale variance);
}

impl SpectralMixture {
    /// Creates a mixture of the given components.
    ///
    /// # Panics
    ///
    /// If `components` is empty.
    #[track_caller]
    pub fn new(components: Vec<SpectralComponent>) -> Self {
        assert!(
            !components.is_empty(),
            "a spectral mixture needs at least one component"
        );
        Self { components }
    }
}

impl Kernel for SpectralMixture {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit(
            "spectral mixture",
            &self.components[0].lengthscale,
            &[&x1, &x2],
        );
        let zeros = Tensor::zeros(covariance_shape(&x1, &x2), (&x1.device(), x1.dtype()));
        (self.components.iter()).fold(zeros, |sum, component| {
            sum + component.covariance(x1.clone(), x2.clone())
        })
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("spectral mixture", &self.components[0].lengthscale, &[&x]);
        let zero = Tensor::zeros([1], (&x.device(), x.dtype()));
        let sum =
            (self.components.iter()).fold(zero, |sum, component| sum + component.variance.value());
        at_each(sum, &x)
    }

    fn spectrum(
        &self,
        _dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let components = self.components.iter();
        Ok(components
            .map(|component| component.spectrum(count, random))
            .collect())
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let components = self.components.iter();
        let mut all = components
            .map(|component| component.features((count, dimensions), random, options.clone()));
        // `new` rejects empty mixtures.
        let first = all.next().ok_or_else(NoFunctionDraws::of::<Self>)?;
        Ok(all.fold(first, FourierFeatures::plus).into())
    }
}
