//! Kernels chosen at run time.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};
use rand::rngs::ChaCha8Rng;

use super::{
    ActiveDimensions, ArcCosine, ChangePoint, Constant, Cosine, DeepKernel, Gibbs, Kernel, Linear,
    NoSpectrum, Periodic, Polynomial, Product, RationalQuadratic, Scaled, SpectralMixture,
    SpectralSample, StationaryKernel, Sum, White, member, one_by_one,
    points::{no_covariances, no_variances},
};
use crate::{features::Perceptron, ops::Blocks, patches::PatchGrid};

/// Defines [`AnyKernel`] with the given kernels as variants.
macro_rules! any_kernel {
    ($($variant:ident($kernel:ty)),+ $(,)?) => {
        /// A kernel chosen at run time.
        #[derive(Module, Debug)]
        pub enum AnyKernel {
            $(
                #[doc = concat!("A [`", stringify!($kernel), "`].")]
                $variant($kernel)
            ),+
        }

        impl Kernel for AnyKernel {
            fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
                if let Some(none) = no_covariances(&x1, &x2) {
                    return none;
                }
                match self { $(Self::$variant(kernel) => kernel.covariance(x1, x2)),+ }
            }

            fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
                if let Some(none) = no_covariances(&x, &x) {
                    return none;
                }
                match self { $(Self::$variant(kernel) => kernel.matrix(x)),+ }
            }

            fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
                if let Some(none) = no_variances(&x) {
                    return none;
                }
                match self { $(Self::$variant(kernel) => kernel.diagonal(x)),+ }
            }

            fn matrix_columns(&self, x: Tensor<2>, columns: Tensor<1, Int>) -> Tensor<2> {
                match self { $(Self::$variant(kernel) => kernel.matrix_columns(x, columns)),+ }
            }

            /// Computes all covariances in one operation if the kernels are stationary and of the
            /// same kind.
            fn covariances(kernels: &[Self], x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
                match stationary(kernels) {
                    Some(kernels) => StationaryKernel::fused(&kernels, x1, x2),
                    None => one_by_one(kernels, |kernel, index| {
                        kernel.covariance(member(&x1, index), member(&x2, index))
                    }),
                }
            }

            fn matrices(kernels: &[Self], x: Tensor<3>) -> Tensor<3> {
                match stationary(kernels) {
                    Some(kernels) => StationaryKernel::fused(&kernels, x.clone(), x),
                    None => one_by_one(kernels, |kernel, index| {
                        kernel.matrix(member(&x, index))
                    }),
                }
            }

            fn in_larger_unit(self, decades: i64) -> Self {
                match self {
                    $(Self::$variant(kernel) => Self::$variant(kernel.in_larger_unit(decades))),+
                }
            }

            fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
                if x.dims()[0] == 0 {
                    return vectors;
                }
                match self { $(Self::$variant(kernel) => kernel.matrix_product(x, vectors)),+ }
            }

            fn covariance_product(
                &self,
                x1: Tensor<2>,
                x2: Tensor<2>,
                vectors: Tensor<2>,
            ) -> Tensor<2> {
                let ([rows, _], [columns, _], [_, width]) = (x1.dims(), x2.dims(), vectors.dims());
                if rows == 0 || columns == 0 {
                    return Tensor::zeros([rows, width], (&vectors.device(), vectors.dtype()));
                }
                match self {
                    $(Self::$variant(kernel) => kernel.covariance_product(x1, x2, vectors)),+
                }
            }

            fn block_matrix(
                &self,
                blocks: Blocks,
                points: Tensor<2>,
                values: Tensor<1>,
            ) -> Tensor<2> {
                match self {
                    $(Self::$variant(kernel) => kernel.block_matrix(blocks, points, values)),+
                }
            }

            fn block_covariance(
                &self,
                blocks: Blocks,
                points: Tensor<2>,
                others: Tensor<2>,
                values: Tensor<1>,
            ) -> Tensor<2> {
                match self {
                    $(Self::$variant(kernel) => {
                        kernel.block_covariance(blocks, points, others, values)
                    }),+
                }
            }

            fn patch_covariance(
                &self,
                grid: &PatchGrid,
                patches: Tensor<2>,
                images: Tensor<2>,
                weights: Tensor<2>,
            ) -> Tensor<2> {
                match self {
                    $(Self::$variant(kernel) => {
                        kernel.patch_covariance(grid, patches, images, weights)
                    }),+
                }
            }

            fn patch_variance(
                &self,
                grid: &PatchGrid,
                images: Tensor<2>,
                weights: Tensor<2>,
            ) -> Tensor<1> {
                match self {
                    $(Self::$variant(kernel) => kernel.patch_variance(grid, images, weights)),+
                }
            }

            fn spectrum(
                &self,
                dimensions: usize,
                count: usize,
                random: &mut ChaCha8Rng,
            ) -> Result<Vec<SpectralSample>, NoSpectrum> {
                match self {
                    $(Self::$variant(kernel) => kernel.spectrum(dimensions, count, random)),+
                }
            }
        }
    };
}

any_kernel! {
    Stationary(StationaryKernel),
    RationalQuadratic(RationalQuadratic),
    Linear(Linear),
    Polynomial(Polynomial),
    ArcCosine(ArcCosine),
    Cosine(Cosine),
    SpectralMixture(SpectralMixture),
    Gibbs(Gibbs<Perceptron>),
    Constant(Constant),
    White(White),
    Scaled(Scaled<BoxedKernel>),
    Sum(Sum<BoxedKernel, BoxedKernel>),
    Product(Product<BoxedKernel, BoxedKernel>),
    ActiveDimensions(ActiveDimensions<BoxedKernel>),
    Periodic(Periodic<BoxedKernel>),
    Deep(DeepKernel<BoxedKernel, Perceptron>),
    ChangePoint(ChangePoint<BoxedKernel, BoxedKernel>),
}

/// The stationary kernels, if all kernels are stationary with a fused operation.
fn stationary(kernels: &[AnyKernel]) -> Option<Vec<&StationaryKernel>> {
    let each = kernels.iter().map(|kernel| match kernel {
        AnyKernel::Stationary(kernel) => Some(kernel),
        _ => None,
    });
    each.collect()
}

/// A kernel within a kernel. It is stored in a vector with exactly one element, because modules can
/// hold vectors of modules but no boxes.
#[derive(Module, Debug)]
pub struct BoxedKernel {
    kernel: Vec<AnyKernel>,
}

impl From<AnyKernel> for BoxedKernel {
    fn from(kernel: AnyKernel) -> Self {
        Self {
            kernel: vec![kernel],
        }
    }
}

impl Kernel for BoxedKernel {
    fn in_larger_unit(self, decades: i64) -> Self {
        let kernel = self.kernel.into_iter();
        Self {
            kernel: kernel
                .map(|kernel| kernel.in_larger_unit(decades))
                .collect(),
        }
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        self.kernel[0].covariance(x1, x2)
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        self.kernel[0].matrix(x)
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        self.kernel[0].diagonal(x)
    }

    fn matrix_columns(&self, x: Tensor<2>, columns: Tensor<1, Int>) -> Tensor<2> {
        self.kernel[0].matrix_columns(x, columns)
    }

    fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        self.kernel[0].matrix_product(x, vectors)
    }

    fn covariance_product(&self, x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        self.kernel[0].covariance_product(x1, x2, vectors)
    }

    fn block_matrix(&self, blocks: Blocks, points: Tensor<2>, values: Tensor<1>) -> Tensor<2> {
        self.kernel[0].block_matrix(blocks, points, values)
    }

    fn block_covariance(
        &self,
        blocks: Blocks,
        points: Tensor<2>,
        others: Tensor<2>,
        values: Tensor<1>,
    ) -> Tensor<2> {
        self.kernel[0].block_covariance(blocks, points, others, values)
    }

    fn patch_covariance(
        &self,
        grid: &PatchGrid,
        patches: Tensor<2>,
        images: Tensor<2>,
        weights: Tensor<2>,
    ) -> Tensor<2> {
        self.kernel[0].patch_covariance(grid, patches, images, weights)
    }

    fn patch_variance(&self, grid: &PatchGrid, images: Tensor<2>, weights: Tensor<2>) -> Tensor<1> {
        self.kernel[0].patch_variance(grid, images, weights)
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        self.kernel[0].spectrum(dimensions, count, random)
    }
}
