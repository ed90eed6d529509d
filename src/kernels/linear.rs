//! The linear kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, ExpectedProducts, Kernel, KernelDefinition, KernelInputs, KernelParameter,
    KernelUnits, NoExpectedProducts, NoFunctionDraws, NoStateSpace, PriorFeatures, StateSpace,
    definition::positive,
    inputs::Groups,
    points::{no_variances, require_fit},
    state_space::one_input,
};
use crate::{
    ops::ExactMatmul,
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = Σ_d σ_d²·x_d·x′_d`: Bayesian linear regression through the origin.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Linear, LinearConfig};
///
/// let device = Device::default();
/// let kernel = Linear::new(&[2.0], &device);
/// let x = Tensor::<2>::from_data([[1.0], [3.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // σ²·x·x′
/// assert!((values[1] - 6.0).abs() < 1e-5);
///
/// let config = LinearConfig { variance: 2.0, ..Default::default() };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Linear {
    variance: Positive,
}

defaults! {
    /// Configuration of a [`Linear`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct LinearConfig {
        /// One variance per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The group of each input dimension, counted from zero; dimensions in one group share a
        /// variance. If empty, each dimension has its own.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub groups: Vec<usize> = Vec::new(),
        /// The initial value of every variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "linear",
    LinearConfig,
    "Linear functions through the origin"
);

impl KernelDefinition for LinearConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let groups = Groups::new(self.ard, &self.groups, inputs.dimensions);
        let mut kernel = Linear::new(&vec![self.variance; groups.parameters()], options);
        kernel.variance = groups.share(kernel.variance).repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        let variance = KernelParameter::new("variance", KernelUnits::SquaredSlope);
        vec![variance.sharing(&self.groups)]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance);

    fn share_among(&mut self, groups: &[usize]) {
        self.groups = groups.to_vec();
    }
}

impl Linear {
    /// Creates a linear kernel with the given variances: one, or one per input dimension.
    ///
    /// # Panics
    ///
    /// If a variance is not positive.
    #[track_caller]
    pub fn new(variances: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        Self {
            variance: Positive::new(variances, options),
        }
    }
}

impl Kernel for Linear {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("linear", &self.variance, &[&x1, &x2]);
        let weighted = x1 * self.variance.aligned(); // [B, N1, D]
        weighted.exact_matmul(x2.transpose())
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("linear", &self.variance, &[&x]);
        if let Some(none) = no_variances(&x) {
            return none;
        }
        let squares = x.square() * self.variance.aligned(); // [B, N, D]
        squares.sum_dim(2).squeeze_dim(2)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        Ok(StateSpace::line(one_input(self.variance.value())?))
    }

    fn expected_products(&self) -> Result<ExpectedProducts, NoExpectedProducts> {
        Ok(ExpectedProducts::linear(self.variance.value()))
    }

    /// The features `σ_d·x_d`.
    fn prior_features(
        &self,
        dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
        _options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let deviations = self.variance.value().sqrt();
        Ok(PriorFeatures::exact(dimensions, move |x| {
            x * deviations.clone().unsqueeze()
        }))
    }
}
