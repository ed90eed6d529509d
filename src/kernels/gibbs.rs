//! The Gibbs kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    Kernel,
    definition::{Build, ard},
    distances::differences,
    inputs::{Inputs, first_lengthscale},
    points::{at_each, require_dimensions},
};
use crate::{
    features::{Features, Perceptron, PerceptronConfig},
    ops::{softplus, special::functions::softplus_inverse},
    parameter::{LOWER_BOUND, Part, Positive, defaults},
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
///     kernels::{Gibbs, GibbsConfig, Kernel, KernelConfig},
/// };
///
/// let device = Device::default();
/// let network = PerceptronConfig::default().init(1, 1, &device);
/// let kernel = Gibbs::new(network, 0.5, 2.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.diagonal(x.clone()).into_data().iter().collect();
/// // The lengthscale depends on the place, the variance does not.
/// assert!((values[0] - 2.0).abs() < 1e-5 && (values[1] - 2.0).abs() < 1e-5);
/// assert_eq!(kernel.lengthscales(x.clone()).dims(), [2, 1]);
/// assert_eq!(KernelConfig::from(GibbsConfig::default()).init(1, &device).matrix(x).dims(), [2, 2]);
/// ```
#[derive(Module, Debug)]
pub struct Gibbs<F: Module> {
    network: Part<F>,
    variance: Positive,
    #[module(skip)]
    offset: f64,
}

defaults! {
    /// Configuration of a [`Gibbs`] kernel.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
    #[serde(default, deny_unknown_fields)]
    #[setters(prefix = "with_")]
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

ard!(GibbsConfig);

impl Build for GibbsConfig {
    type Kernel = Gibbs<Perceptron>;

    #[track_caller]
    fn build(&self, inputs: Inputs, options: TensorCreationOptions) -> Gibbs<Perceptron> {
        let outputs = if self.ard { inputs.columns() } else { 1 };
        let network = (self.network).init(inputs.columns(), outputs, options.clone());
        let lengthscale = first_lengthscale(self.lengthscale, inputs.dimensions);
        Gibbs::new(network, lengthscale, self.variance, options)
    }
}

impl<F: Features> Gibbs<F> {
    /// Creates a kernel with lengthscales around `lengthscale`. The network has one output for all
    /// dimensions, or one per dimension.
    ///
    /// # Panics
    ///
    /// If the lengthscale or the variance is not positive.
    #[track_caller]
    pub fn new(
        network: F,
        lengthscale: f64,
        variance: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        assert!(
            lengthscale > LOWER_BOUND && lengthscale.is_finite(),
            "lengthscales around {lengthscale}"
        );
        Self {
            network: Part::network(network),
            variance: Positive::new(&[variance], options),
            offset: softplus_inverse(lengthscale - LOWER_BOUND),
        }
    }

    /// The lengthscales at `x`, `[N, 1]` or `[N, D]`.
    pub fn lengthscales(&self, x: Tensor<2>) -> Tensor<2> {
        softplus(self.network.forward(x) + self.offset) + LOWER_BOUND
    }
}

impl<F: Features> Kernel for Gibbs<F> {
    scaled_by!(variance);

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        require_dimensions("Gibbs", 1, &[&x1, &x2]);
        let [_, dimensions] = x1.dims();
        let scales = (self.lengthscales(x1.clone()), self.lengthscales(x2.clone()));
        let [_, count] = scales.0.dims();
        assert!(
            count == 1 || count == dimensions,
            "the network of a Gibbs kernel has {count} outputs for {dimensions} dimensions; \
             expected as many, or one"
        );
        let squares = |d| differences(x1.clone(), x2.clone(), d).square();
        let term = |output, squares, times| {
            let scale1 = scales.0.clone().narrow(1, output, 1); // [N1, 1]
            let scale2 = scales.1.clone().narrow(1, output, 1).transpose(); // [1, N2]
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
        logarithm.exp() * self.variance.value().unsqueeze()
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        at_each(self.variance.value(), &x)
    }
}

/// `times/2·log(2·ℓ·ℓ′/s) − squares/s`, `s = ℓ² + ℓ′²`.
///
/// # Shapes
///
/// - `scale1` (ℓ): `[N1, 1]`, `scale2` (ℓ′): `[1, N2]`, `squares`: `[N1, N2]`
/// - result: `[N1, N2]`
fn log_factor(scale1: Tensor<2>, scale2: Tensor<2>, squares: Tensor<2>, times: usize) -> Tensor<2> {
    let sum = scale1.clone().square() + scale2.clone().square();
    let ratio = scale1 * scale2 * 2.0 / sum.clone();
    ratio.log() * (0.5 * times as f64) - squares / sum
}
