//! Sums and products of two kernels.

use core::ops::{Add, Mul};

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use serde::{Deserialize, Serialize};

use super::{
    BoxedKernel, Kernel, KernelConfig, NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample,
    definition::{ConfigBuild, Definition},
    inputs::Inputs,
};
use crate::{ops::Blocks, patches::PatchGrid};

/// Defines a kernel that combines two kernels elementwise, plus the methods specific to it.
macro_rules! combination {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, $operation:path, $spectra:path, $features:path,
        { $($own:item)* }
    ) => {
        $(#[$doc])*
        #[derive(Module, Debug)]
        pub struct $name<A: Module, B: Module> {
            first: A,
            second: B,
        }

        impl<A: Kernel, B: Kernel> $name<A, B> {
            /// Combines two kernels.
            pub fn new(first: A, second: B) -> Self {
                Self { first, second }
            }
        }

        #[doc = concat!("Configuration of a [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $config {
            /// The first kernel.
            pub first: Box<KernelConfig>,
            /// The second kernel.
            pub second: Box<KernelConfig>,
        }

        impl Definition for $config {
            fn parts(&self) -> Vec<(&'static str, &KernelConfig)> {
                vec![("first", &self.first), ("second", &self.second)]
            }

            fn share_parameters(&mut self) {
                self.first.share_parameters();
                self.second.share_parameters();
            }

            fn share_among(&mut self, groups: &[usize]) {
                self.first.share_among(groups);
                self.second.share_among(groups);
            }

            fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
                let first = self.first.missing_dimension(dimensions);
                first.max(self.second.missing_dimension(dimensions))
            }
        }

        impl ConfigBuild for $config {
            type Kernel = $name<BoxedKernel, BoxedKernel>;

            #[track_caller]
            fn build(&self, inputs: Inputs, options: TensorCreationOptions) -> Self::Kernel {
                let first = self.first.build(inputs, &options);
                let second = self.second.build(inputs, &options);
                $name::new(first.into(), second.into())
            }
        }

        impl<A: Kernel, B: Kernel> Kernel for $name<A, B> {
            fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
                let first = self.first.covariance(x1.clone(), x2.clone());
                $operation(first, self.second.covariance(x1, x2))
            }

            fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
                $operation(self.first.matrix(x.clone()), self.second.matrix(x))
            }

            fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
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
    /// use burn_gp_core::kernels::{Constant, ConstantConfig, Kernel, KernelConfig, Linear, LinearConfig, Sum, SumConfig};
    ///
    /// let device = Device::default();
    /// let kernel = Sum::new(Linear::new(&[1.0], &device), Constant::new(4.0, &device));
    /// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
    /// let values: Vec<f64> = kernel.matrix(x.clone()).into_data().iter().collect();
    /// // x·x′ + 4
    /// assert!((values[1] - 6.0).abs() < 1e-5);
    ///
    /// let config = SumConfig {
    ///     first: Box::new(LinearConfig::default().into()),
    ///     second: Box::new(ConstantConfig { variance: 4.0 }.into()),
    /// };
    /// let config = KernelConfig::from(config);
    /// let same = config.init(1, &device);
    /// assert_eq!(same.matrix(x.clone()).into_data(), kernel.matrix(x).into_data());
    /// ```
    Sum,
    SumConfig,
    Add::add,
    both,
    all,
    {
        fn in_larger_unit(mut self, decades: i64) -> Self {
            self.first = self.first.in_larger_unit(decades);
            self.second = self.second.in_larger_unit(decades);
            self
        }

        // Matrix-vector products distribute over sums of kernels, but not over products.
        fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
            let first = self.first.matrix_product(x.clone(), vectors.clone());
            first + self.second.matrix_product(x, vectors)
        }

        fn rough_matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Option<Tensor<2>> {
            let first = (self.first).rough_matrix_product(x.clone(), vectors.clone());
            let second = (self.second).rough_matrix_product(x.clone(), vectors.clone());
            Some(match (first, second) {
                (None, None) => return None,
                (Some(first), Some(second)) => first + second,
                (Some(first), None) => first + self.second.matrix_product(x, vectors),
                (None, Some(second)) => self.first.matrix_product(x, vectors) + second,
            })
        }

        fn covariance_product(
            &self,
            x1: Tensor<2>,
            x2: Tensor<2>,
            vectors: Tensor<2>,
        ) -> Tensor<2> {
            let first = (self.first).covariance_product(x1.clone(), x2.clone(), vectors.clone());
            first + self.second.covariance_product(x1, x2, vectors)
        }

        fn block_matrix(
            &self,
            blocks: Blocks,
            points: Tensor<2>,
            values: Tensor<1>,
        ) -> Tensor<2> {
            let first = (self.first).block_matrix(blocks, points.clone(), values.clone());
            first + self.second.block_matrix(blocks, points, values)
        }

        fn block_covariance(
            &self,
            blocks: Blocks,
            points: Tensor<2>,
            others: Tensor<2>,
            values: Tensor<1>,
        ) -> Tensor<2> {
            let first = (self.first).block_covariance(
                blocks,
                points.clone(),
                others.clone(),
                values.clone(),
            );
            first + self.second.block_covariance(blocks, points, others, values)
        }

        fn patch_covariance(
            &self,
            grid: &PatchGrid,
            patches: Tensor<2>,
            images: Tensor<2>,
            weights: Tensor<2>,
        ) -> Tensor<2> {
            let first = (self.first).patch_covariance(
                grid,
                patches.clone(),
                images.clone(),
                weights.clone(),
            );
            first + (self.second).patch_covariance(grid, patches, images, weights)
        }

        fn patch_variance(
            &self,
            grid: &PatchGrid,
            images: Tensor<2>,
            weights: Tensor<2>,
        ) -> Tensor<1> {
            let first = (self.first).patch_variance(grid, images.clone(), weights.clone());
            first + self.second.patch_variance(grid, images, weights)
        }
    }
);
combination!(
    /// `k(x, x′) = k₁(x, x′)·k₂(x, x′)`.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::kernels::{Constant, ConstantConfig, Kernel, KernelConfig, Linear, LinearConfig, Product, ProductConfig};
    ///
    /// let device = Device::default();
    /// let kernel = Product::new(Linear::new(&[1.0], &device), Constant::new(4.0, &device));
    /// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
    /// let values: Vec<f64> = kernel.matrix(x.clone()).into_data().iter().collect();
    /// // 4·x·x′
    /// assert!((values[1] - 8.0).abs() < 1e-5);
    ///
    /// let config = ProductConfig {
    ///     first: Box::new(LinearConfig::default().into()),
    ///     second: Box::new(ConstantConfig { variance: 4.0 }.into()),
    /// };
    /// let config = KernelConfig::from(config);
    /// let same = config.init(1, &device);
    /// assert_eq!(same.matrix(x.clone()).into_data(), kernel.matrix(x).into_data());
    /// ```
    Product,
    ProductConfig,
    Mul::mul,
    pairs,
    PriorFeatures::times,
    {
        /// Rescales only the first factor.
        fn in_larger_unit(mut self, decades: i64) -> Self {
            self.first = self.first.in_larger_unit(decades);
            self
        }
    }
);
