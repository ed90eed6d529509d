//! Kernels as trait objects.

use burn::tensor::{Int, Tensor, TensorCreationOptions};
use rand::rngs::ChaCha8Rng;

use super::{Kernel, NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample};
use crate::{custom::AnyModule, ops::Blocks, patches::PatchGrid};

/// Passes the methods of kernels to a macro, each with its value for empty input if burn cannot
/// compute it.
macro_rules! with_methods {
    ($use:ident) => {
        $use! {
            covariance(x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2>,
                at_none: points::no_covariances(&x1, &x2);
            matrix(x: Tensor<2>) -> Tensor<2>, at_none: points::no_covariances(&x, &x);
            diagonal(x: Tensor<2>) -> Tensor<1>, at_none: points::no_variances(&x);
            matrix_columns(x: Tensor<2>, columns: Tensor<1, Int>) -> Tensor<2>, at_none: None;
            patch_covariance(
                grid: &PatchGrid,
                patches: Tensor<2>,
                images: Tensor<2>,
                weights: Tensor<2>
            ) -> Tensor<2>, at_none: None;
            patch_variance(grid: &PatchGrid, images: Tensor<2>, weights: Tensor<2>) -> Tensor<1>,
                at_none: None;
            matrix_product(x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2>,
                at_none: points::no_products(&x, &x, &vectors);
            rough_matrix_product(x: Tensor<2>, vectors: Tensor<2>) -> Option<Tensor<2>>,
                at_none: points::no_products(&x, &x, &vectors).map(Some);
            covariance_product(x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2>,
                at_none: points::no_products(&x1, &x2, &vectors);
            block_matrix(blocks: Blocks, points: Tensor<2>, values: Tensor<1>) -> Tensor<2>,
                at_none: None;
            block_covariance(
                blocks: Blocks,
                points: Tensor<2>,
                others: Tensor<2>,
                values: Tensor<1>
            ) -> Tensor<2>, at_none: None;
            spectrum(
                dimensions: usize,
                count: usize,
                random: &mut ChaCha8Rng
            ) -> Result<Vec<SpectralSample>, NoSpectrum>, at_none: None;
            prior_features(
                dimensions: usize,
                count: usize,
                random: &mut ChaCha8Rng,
                options: TensorCreationOptions
            ) -> Result<PriorFeatures, NoFunctionDraws>, at_none: None;
        }
    };
}

/// Defines [`KernelObject`] and implements it for all kernels.
macro_rules! object {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty, at_none: $none:expr;)*) => {
        /// A kernel as a trait object, with the methods of [`Kernel`] that take a single kernel.
        pub trait KernelObject {
            /// [`Kernel::in_larger_unit`].
            fn enlarged(&self, decades: i64) -> Box<dyn AnyModule>;

            $(
                #[doc = concat!("[`Kernel::", stringify!($method), "`].")]
                fn $method(&self, $($argument: $type),*) -> $result;
            )*
        }

        impl<K: Kernel> KernelObject for K {
            fn enlarged(&self, decades: i64) -> Box<dyn AnyModule> {
                Box::new(self.clone().in_larger_unit(decades))
            }

            $(
                fn $method(&self, $($argument: $type),*) -> $result {
                    Kernel::$method(self, $($argument),*)
                }
            )*
        }
    };
}

with_methods!(object);

/// Forwards the methods of kernels to `self.object()`.
macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty, at_none: $none:expr;)*) => {
        $(
            fn $method(&self, $($argument: $type),*) -> $result {
                if let Some(none) = $none {
                    return none;
                }
                self.object().$method($($argument),*)
            }
        )*
    };
}

pub(super) use {forward, with_methods};
