//! The white-noise kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    definition::positive,
    points::{at_each, covariance_shape, expanded, require_fit},
};
use crate::{
    parameter::{Positive, defaults},
    register,
};

/// `k(x_i, x_j) = σ²·δ_ij`: independent noise at every point.
///
/// Two distinct sets of points share no noise even if their points coincide, so their covariance is
/// zero.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, White, WhiteConfig};
///
/// let device = Device::default();
/// let kernel = White::new(0.5, &device);
/// let x = Tensor::<2>::from_data([[1.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // Two observations at one place have independent noise.
/// assert!((values[0] - 0.5).abs() < 1e-6 && values[1] == 0.0);
///
/// let config = WhiteConfig { variance: 0.5 };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct White {
    variance: Positive,
}

defaults! {
    /// Configuration of a [`White`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct WhiteConfig {
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "white",
    WhiteConfig,
    "Independent noise at every point"
);

impl KernelDefinition for WhiteConfig {
    #[track_caller]
    fn build(&self, _inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        White::new(self.variance, options).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("variance", KernelUnits::Variance)]
    }

    positive!(variance);
}

impl White {
    /// Creates a white kernel with the given variance.
    ///
    /// # Panics
    ///
    /// If the variance is not positive.
    #[track_caller]
    pub fn new(variance: f64, options: impl Into<TensorCreationOptions>) -> Self {
        Self {
            variance: Positive::new(&[variance], options),
        }
    }
}

impl Kernel for White {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("white", &self.variance, &[&x1, &x2]);
        let [batch, rows, columns] = covariance_shape(&x1, &x2);
        let shape = [batch.max(self.variance.members()), rows, columns];
        Tensor::zeros(shape, (&x1.device(), x1.dtype()))
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        require_fit("white", &self.variance, &[&x]);
        let [batch, rows, _] = x.dims();
        let variance = self.variance.aligned::<3>(); // [B, 1, 1]
        let batch = batch.max(variance.dims()[0]);
        let identity = Tensor::<2>::eye(rows, &x.device()).cast(variance.dtype());
        expanded(identity.unsqueeze() * variance, batch)
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("white", &self.variance, &[&x]);
        at_each(self.variance.value(), &x)
    }
}
