//! Sums and products of two kernels.

use core::ops::{Add, Mul};

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelPart, NoFunctionDraws,
    NoSpectrum, NoStateSpace, PriorFeatures, SpectralSample, StateSpace, Structure,
};
use crate::register;

/// Defines a kernel that combines two kernels elementwise, plus the methods specific to it.
macro_rules! combination {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, $part:path, $operation:path, $spectra:path, $features:path,
        { $($own:item)* }
    ) => {
        $(#[$doc])*
        #[derive(Module, Debug)]
        pub struct $name {
            first: AnyKernel,
            second: AnyKernel,
        }

        impl $name {
            /// Combines two kernels.
            pub fn new(first: impl Kernel, second: impl Kernel) -> Self {
                Self {
                    first: first.boxed(),
                    second: second.boxed(),
                }
            }
        }

        #[doc = concat!("Configuration of a [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $config {
            /// The first kernel.
            pub first: KernelConfig,
            /// The second kernel.
            pub second: KernelConfig,
        }

        impl KernelDefinition for $config {
            #[track_caller]
            fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
                let first = self.first.build(inputs, options.clone());
                let second = self.second.build(inputs, options);
                $name::new(first, second).boxed()
            }

            fn parts(&self) -> Vec<KernelPart<'_>> {
                vec![
                    $part(KernelPart::new("first", &self.first)),
                    $part(KernelPart::new("second", &self.second)),
                ]
            }

            fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
                vec![&mut self.first, &mut self.second]
            }
        }

        impl Kernel for $name {
            fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
                let first = self.first.covariance(x1.clone(), x2.clone());
                $operation(first, self.second.covariance(x1, x2))
            }

            fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
                $operation(self.first.matrix(x.clone()), self.second.matrix(x))
            }

            fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
                $operation(self.first.diagonal(x.clone()), self.second.diagonal(x))
            }

            fn spectrum(
                &self,
                dimensions: usize,
                count: usize,
                random: &mut ChaCha8Rng,
            ) -> Result<Vec<SpectralSample>, NoSpectrum> {
                let first = self.first.spectrum(dimensions, count, random)?;
                let second = self.second.spectrum(dimensions, count, random)?;
                Ok($spectra(first, second))
            }

            fn prior_features(
                &self,
                dimensions: usize,
                count: usize,
                random: &mut ChaCha8Rng,
                options: TensorCreationOptions,
            ) -> Result<PriorFeatures, NoFunctionDraws> {
                let first =
                    (self.first).prior_features(dimensions, count, random, options.clone())?;
                let second = (self.second).prior_features(dimensions, count, random, options)?;
                $features(first, second)
            }

            $($own)*
        }
    };
}

/// The components of a sum.
fn both(mut first: Vec<SpectralSample>, second: Vec<SpectralSample>) -> Vec<SpectralSample> {
    first.extend(second);
    first
}

/// The features of a sum.
fn all(first: PriorFeatures, second: PriorFeatures) -> Result<PriorFeatures, NoFunctionDraws> {
    Ok(first.plus(second))
}

/// The components of a product: every pair.
fn pairs(first: Vec<SpectralSample>, second: Vec<SpectralSample>) -> Vec<SpectralSample> {
    let with_all =
        |first: &SpectralSample| second.iter().map(|second| first.times(second)).collect();
    first.iter().flat_map::<Vec<_>, _>(with_all).collect()
}

combination!(
    /// `k(x, x′) = k₁(x, x′) + k₂(x, x′)`.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::kernels::{Constant, ConstantConfig, KernelConfig, KernelModule, Linear, LinearConfig, Sum, SumConfig};
    ///
    /// let device = Device::default();
    /// let kernel = Sum::new(Linear::new(&[1.0], &device), Constant::new(4.0, &device));
    /// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
    /// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
    /// // x·x′ + 4
    /// assert!((values[1] - 6.0).abs() < 1e-5);
    ///
    /// let config = SumConfig {
    ///     first: LinearConfig::default().into(),
    ///     second: ConstantConfig { variance: 4.0 }.into(),
    /// };
    /// let config = KernelConfig::from(config);
    /// let same = config.init(1, &device);
    /// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
    /// ```
    Sum,
    SumConfig,
    core::convert::identity,
    Add::add,
    both,
    all,
    {
        fn structure(&self) -> Structure<'_> {
            Structure::Sum(&self.first, &self.second)
        }

        fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
            Ok(self.first.state_space()?.plus(self.second.state_space()?))
        }
    }
);
register!(Kernel, "sum", SumConfig, "Sum of two kernels");

combination!(
    /// `k(x, x′) = k₁(x, x′)·k₂(x, x′)`.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::kernels::{Constant, ConstantConfig, KernelConfig, KernelModule, Linear, LinearConfig, Product, ProductConfig};
    ///
    /// let device = Device::default();
    /// let kernel = Product::new(Linear::new(&[1.0], &device), Constant::new(4.0, &device));
    /// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
    /// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
    /// // 4·x·x′
    /// assert!((values[1] - 8.0).abs() < 1e-5);
    ///
    /// let config = ProductConfig {
    ///     first: LinearConfig::default().into(),
    ///     second: ConstantConfig { variance: 4.0 }.into(),
    /// };
    /// let config = KernelConfig::from(config);
    /// let same = config.init(1, &device);
    /// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
    /// ```
    Product,
    ProductConfig,
    KernelPart::factor,
    Mul::mul,
    pairs,
    PriorFeatures::times,
    {
        fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
            let product = (self.first.state_space()?).times(&self.second.state_space()?);
            product.ok_or_else(|| NoStateSpace::named("a line times a kernel that is not constant"))
        }
    }
);

register!(Kernel, "product", ProductConfig, "Product of two kernels");
