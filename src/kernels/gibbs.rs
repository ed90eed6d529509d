//! The Gibbs kernel.

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions, TensorData},
};

use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, PriorFeatures,
    definition::positive,
    distances::differences,
    inputs::first_lengthscale,
    points::{at_each, map_points, require_fit, set_size},
    prior_features::origin,
};
use crate::{
    features::{AnyNetwork, PerceptronConfig},
    ops::{
        ExactMatmul, softplus,
        special::functions::{log_gamma, softplus_inverse},
    },
    parameter::{
        LOWER_BOUND, Part, Positive, both_tracked, defaults, require_precision, tracked_like,
        vector,
    },
    register,
};

/// `k(x, x′) = σ²·Π_d √(2·ℓ_d(x)·ℓ_d(x′)/s_d)·exp(−(x_d − x′_d)²/s_d)`, `s_d = ℓ_d(x)² + ℓ_d(x′)²`:
/// a squared exponential kernel whose lengthscales depend on the input (M. Gibbs, *Bayesian
/// Gaussian Processes for Regression and Classification*, 1997; Rasmussen and Williams, *Gaussian
/// Processes for Machine Learning*, 2006, eq. 4.32).
///
/// A network g gives the lengthscales, `ℓ(x) = ε + log(1 + exp(g(x) + c))`. The constant c makes a
/// zero output correspond to the lengthscale passed to [`new`](Self::new).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     features::PerceptronConfig,
///     kernels::{Gibbs, GibbsConfig, KernelConfig, KernelModule},
/// };
///
/// let device = Device::default();
/// let network = PerceptronConfig::default().init(1, 1, &device);
/// let kernel = Gibbs::new(network, 0.5, 2.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.diagonal_at(x.clone()).into_data().iter().collect();
/// // The lengthscale depends on the place, the variance does not.
/// assert!((values[0] - 2.0).abs() < 1e-5 && (values[1] - 2.0).abs() < 1e-5);
/// assert_eq!(kernel.lengthscales(x.clone()).dims(), [2, 1]);
/// assert_eq!(KernelConfig::from(GibbsConfig::default()).init(1, &device).matrix_at(x).dims(), [2, 2]);
/// ```
#[derive(Module, Debug)]
pub struct Gibbs {
    network: Part<AnyNetwork>,
    variance: Positive,
    #[module(skip)]
    offset: f64,
}

defaults! {
    /// Configuration of a [`Gibbs`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct GibbsConfig {
        /// The network that computes the lengthscales.
        pub network: PerceptronConfig = PerceptronConfig::default(),
        /// One lengthscale per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The typical initial lengthscale; `√D` for inputs of D dimensions if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[setters(strip_option)]
        pub lengthscale: Option<f64> = None,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "gibbs",
    GibbsConfig,
    "Squared exponential whose lengthscales depend on the input"
);

impl KernelDefinition for GibbsConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let outputs = if self.ard { inputs.columns() } else { 1 };
        let network = (self.network).init(inputs.columns(), outputs, options.clone());
        let lengthscale = first_lengthscale(self.lengthscale, inputs.dimensions);
        Gibbs::new(network, lengthscale, self.variance, options).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("variance", KernelUnits::Variance)]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance(lengthscale));

    fn check_for_build(&self) -> Result<(), String> {
        match self.lengthscale {
            Some(value) if value <= LOWER_BOUND => Err(format!(
                "the lengthscale of a Gibbs kernel is {value:e}; it must be above {LOWER_BOUND:e}"
            )),
            _ => Ok(()),
        }
    }
}

impl Gibbs {
    /// Creates a kernel with lengthscales around `lengthscale`. The network has one output for all
    /// dimensions, or one per dimension.
    ///
    /// # Panics
    ///
    /// If the lengthscale or the variance is not positive.
    #[track_caller]
    pub fn new(
        network: impl Into<AnyNetwork>,
        lengthscale: f64,
        variance: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        assert!(
            lengthscale > LOWER_BOUND && lengthscale.is_finite(),
            "lengthscales around {lengthscale}; expected a positive number"
        );
        Self {
            network: Part::network(network.into()),
            variance: Positive::new(&[variance], options),
            offset: softplus_inverse(lengthscale - LOWER_BOUND),
        }
    }

    /// The lengthscales at `x`, `[N, 1]` or `[N, D]`.
    pub fn lengthscales(&self, x: Tensor<2>) -> Tensor<2> {
        require_precision("the Gibbs kernel", &x, &*self.network);
        lengthscales(&self.network, self.offset, x)
    }
}

/// `ε + log(1 + exp(g(x) + c))`, `[N, 1]` or `[N, D]`.
fn lengthscales(network: &AnyNetwork, offset: f64, x: Tensor<2>) -> Tensor<2> {
    softplus(network.forward(x) + offset) + LOWER_BOUND
}

impl Kernel for Gibbs {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("Gibbs", &self.variance, &[&x1, &x2]);
        let [_, dimensions] = set_size(&x1);
        let lengthscales = |x: &Tensor<3>| map_points(x.clone(), |x| self.lengthscales(x));
        let scales = (lengthscales(&x1), lengthscales(&x2));
        let [_, count] = set_size(&scales.0);
        assert!(
            count == 1 || count == dimensions,
            "the network of a Gibbs kernel has {count} outputs for {dimensions} dimensions; \
             expected as many, or one"
        );
        let squares = |d| differences(x1.clone(), x2.clone(), d).square();
        let term = |output, squares, times| {
            let scale1 = scales.0.clone().narrow(2, output, 1); // [B, N1, 1]
            let scale2 = scales.1.clone().narrow(2, output, 1).transpose(); // [B, 1, N2]
            log_factor(scale1, scale2, squares, times)
        };
        let logarithm = if count == 1 {
            let all = (1..dimensions).fold(squares(0), |sum, d| sum + squares(d));
            term(0, all, dimensions)
        } else {
            let rest = 1..dimensions;
            rest.fold(term(0, squares(0), 1), |sum, d| {
                sum + term(d, squares(d), 1)
            })
        };
        logarithm.exp() * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("Gibbs", &self.variance, &[&x]);
        at_each(self.variance.value(), &x)
    }

    /// The kernel is `∫ ĝ_x(ω)·ĝ_x′(ω)·cos ωᵀ(x − x′) dω`, where `ĝ_x²` is the density of
    /// `N(0, diag ℓ(x)⁻²)`: the process convolution of the kernel with squared exponentials, in
    /// Fourier space. The frequencies are draws from a density q that has heavier tails, so the
    /// features `σ·ĝ_x(ω)/√q(ω)·cos ωᵀx`, and with sines, have a finite variance at all lengthscales.
    /// The density q is the Cauchy density in D dimensions with scales `1/ℓ(0)`.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let network = self.network.clone();
        let offset = self.offset;
        let origin = origin(dimensions, options.clone());
        let reference = self.lengthscales(origin).expand([1, dimensions]);
        let proposal = CauchyDraws::new((count, dimensions), random, options);
        let features = PriorFeatures::random([count, 2], move |x| {
            let network = tracked_like(&x, network.clone());
            let lengthscales = lengthscales(&network, offset, x.clone());
            let (reference, lengthscales) = both_tracked(reference.clone(), lengthscales);
            let amplitudes = proposal.amplitudes(lengthscales / reference.clone()); // [F, N]
            let frequencies = proposal.values.clone() / reference;
            let (frequencies, x) = both_tracked(frequencies, x);
            let phases = frequencies.exact_matmul(x.transpose());
            let waves = Tensor::stack::<3>(vec![phases.clone().cos(), phases.sin()], 1);
            waves * amplitudes.unsqueeze_dim(1)
        });
        Ok(features.scaled(self.variance.value()))
    }
}

/// `times/2·log(2·ℓ·ℓ′/s) − squares/s`, `s = ℓ² + ℓ′²`.
///
/// # Shapes
///
/// - `scale1` (ℓ): `[B, N1, 1]`, `scale2` (ℓ′): `[B, 1, N2]`, `squares`: `[B, N1, N2]`
/// - result: `[B, N1, N2]`
fn log_factor(scale1: Tensor<3>, scale2: Tensor<3>, squares: Tensor<3>, times: usize) -> Tensor<3> {
    let sum = scale1.clone().square() + scale2.clone().square();
    let ratio = scale1 * scale2 * 2.0 / sum.clone();
    ratio.log() * (0.5 * times as f64) - squares / sum
}

/// Draws z of the Cauchy distribution in D dimensions, whose density is
/// `Γ((D + 1)/2)/π^((D + 1)/2)·(1 + ‖z‖²)^(−(D + 1)/2)`.
struct CauchyDraws {
    /// z, `[F, D]`
    values: Tensor<2>,
    /// The logarithm of the density at each draw relative to that of `N(0, I)` at zero, `[F, 1]`.
    log_densities: Tensor<2>,
}

impl CauchyDraws {
    fn new(
        (count, dimensions): (usize, usize),
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Self {
        let half = 0.5 * (dimensions as f64 + 1.0);
        let at_zero =
            log_gamma(half).0 - half * PI.ln() + 0.5 * dimensions as f64 * (2.0 * PI).ln();
        let (mut values, mut log_densities) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let spread: f64 = StandardNormal.sample(random);
            let normals = StandardNormal.sample_iter(&mut *random);
            let draw: Vec<f64> = (normals.take(dimensions))
                .map(|normal: f64| normal / spread.abs())
                .collect();
            let square: f64 = draw.iter().map(|value| value.powi(2)).sum();
            log_densities.push(at_zero - half * square.ln_1p());
            values.extend(draw);
        }
        let values = TensorData::new(values, [count, dimensions]);
        Self {
            values: Tensor::from_data(values, options.clone()),
            log_densities: vector(&log_densities, options).unsqueeze_dim(1),
        }
    }

    /// `√(N(z | 0, diag ρ⁻²)/q(z))`, `[F, N]`, for ρ, `[N, 1]` or `[N, D]`.
    fn amplitudes(&self, ratios: Tensor<2>) -> Tensor<2> {
        let [_, dimensions] = self.values.dims();
        let [points, _] = ratios.dims();
        let ratios = ratios.expand([points, dimensions]);
        let squares = self.values.clone().square();
        let (squares, ratios) = both_tracked(squares, ratios);
        let exponents = squares.exact_matmul(ratios.clone().square().transpose()) * -0.5;
        let determinants = ratios.log().sum_dim(1).transpose(); // [1, N]
        ((exponents + determinants - self.log_densities.clone()) * 0.5).exp()
    }
}
