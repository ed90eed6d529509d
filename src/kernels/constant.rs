//! The constant kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, NoSpectrum, NoStateSpace, PriorFeatures, SpectralSample, StateSpace,
    definition::positive,
    points::{at_each, covariance_shape, require_fit},
    prior_features::FourierFeatures,
};
use crate::{
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = σ²`: an unknown constant offset with variance σ².
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Constant, ConstantConfig};
///
/// let device = Device::default();
/// let kernel = Constant::new(1.5, &device);
/// let x = Tensor::<2>::from_data([[0.0], [9.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// assert!(values.iter().all(|value| (value - 1.5).abs() < 1e-6));
///
/// let config = ConstantConfig { variance: 1.5 };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Constant {
    variance: Positive,
}

defaults! {
    /// Configuration of a [`Constant`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct ConstantConfig {
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(Kernel, "constant", ConstantConfig, "Unknown offset");

impl KernelDefinition for ConstantConfig {
    #[track_caller]
    fn build(&self, _inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        Constant::new(self.variance, options).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("variance", KernelUnits::Variance)]
    }

    positive!(variance);
}

impl Constant {
    /// Creates a constant kernel with the given variance.
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

impl Kernel for Constant {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("constant", &self.variance, &[&x1, &x2]);
        let [batch, rows, columns] = covariance_shape(&x1, &x2);
        let variance = self.variance.aligned::<3>(); // [B, 1, 1]
        let [members, ..] = variance.dims();
        variance.expand([batch.max(members), rows, columns])
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("constant", &self.variance, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        Ok(StateSpace::constant(self.variance.value()))
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        _random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        Ok(vec![SpectralSample {
            variance: self.variance.to_vec()[0],
            frequencies: vec![0.0; count * dimensions],
            precisions: Some(vec![0.0; count * dimensions]),
        }])
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let component = self.spectrum(dimensions, count, random)?;
        let features = FourierFeatures::new(component, (count, dimensions), options);
        Ok(features.with_variance(self.variance.value()).into())
    }
}
