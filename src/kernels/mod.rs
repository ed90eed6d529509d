//! Covariance functions.
//!
//! A kernel is a burn module that computes covariances between points. Stationary kernels use the
//! fused operation of [`ops`](crate::ops). Sums, products, scaled, periodic and deep kernels,
//! kernels on some input dimensions and change points are built from other kernels. [`AnyKernel`]
//! is a kernel of any type, and [`KernelConfig`] is the configuration of any kernel.

/// Defines how a kernel with ARD parameters handles inputs with several columns per dimension.
macro_rules! tied {
    ($parameter:ident of $kernel:ty) => {
        impl $kernel {
            /// Ties the parameters for inputs with `coordinates` columns per dimension, arranged in
            /// blocks.
            pub(super) fn tied(mut self, coordinates: usize) -> Self {
                self.$parameter = self.$parameter.repeated(coordinates);
                self
            }
        }
    };
}

mod active_dimensions;
mod any;
mod arc_cosine;
mod change_point;
mod combination;
mod config;
mod constant;
mod convolutional;
mod cosine;
mod deep;
mod definition;
mod distances;
mod functions;
mod gibbs;
mod inputs;
mod linear;
mod low_rank;
mod parts;
mod periodic;
mod points;
mod polynomial;
mod positive_numbers;
mod prior_features;
mod rational_quadratic;
mod scaled;
mod spectral_mixture;
mod spectrum;
mod stationary;
mod white;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{IndexingUpdateOp, Int, Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

pub use active_dimensions::{ActiveDimensions, ActiveDimensionsConfig};
pub use any::AnyKernel;
pub use arc_cosine::{ArcCosine, ArcCosineConfig, ArcCosineOrder};
pub use change_point::{Change, ChangePoint, ChangePointConfig};
pub use combination::{Product, ProductConfig, Sum, SumConfig};
pub use config::KernelConfig;
pub use constant::{Constant, ConstantConfig};
pub use convolutional::Convolutional;
pub use cosine::{Cosine, CosineConfig};
pub use deep::{DeepConfig, DeepKernel};
pub use definition::KernelDefinition;
pub use functions::{KernelOfEach, Kernels};
pub use gibbs::{Gibbs, GibbsConfig};
pub use inputs::KernelInputs;
pub use linear::{Linear, LinearConfig};
pub use low_rank::{Basis, FeatureMap, LowRankKernel, RandomFourier, squared_norms};
pub use parts::{KernelParameter, KernelPart, KernelUnits, PartInputs};
pub use periodic::{Periodic, PeriodicConfig};
pub use polynomial::{Polynomial, PolynomialConfig};
#[doc(hidden)]
pub use positive_numbers::{check_positive, read_numbers, write_numbers};
pub use prior_features::{NoFunctionDraws, PriorFeatures};
pub use rational_quadratic::{RationalQuadratic, RationalQuadraticConfig};
pub use scaled::{Scaled, ScaledConfig};
pub use spectral_mixture::{SpectralComponent, SpectralMixture, SpectralMixtureConfig};
pub use spectrum::{NoSpectrum, SpectralSample};
pub use stationary::{StationaryConfig, StationaryKernel};
pub use white::{White, WhiteConfig};

use prior_features::FourierFeatures;

use crate::{
    custom::{AnyModule, of_type, of_type_mut},
    ops::{Blocks, ExactMatmul, number},
    parameter::{Hyperparameter, hyperparameters},
    patches::PatchGrid,
};

/// The prior of one or several functions: a shared kernel, or separate kernels.
pub trait FunctionPrior: Module + ModuleDisplay + Sync + 'static {
    /// The hyperparameters with their constrained values.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;

    /// The variance of the functions, averaged over `x`, `[N, D]`, if it is known.
    fn mean_variance(&self, _x: Tensor<2>) -> Option<f64> {
        None
    }
}

/// A kernel as a type parameter. Every kernel type implements it, and so does [`AnyKernel`].
pub trait KernelModule: Kernel + Module + ModuleDisplay {}

impl<K: Kernel + Module + ModuleDisplay> KernelModule for K {}

impl<K: KernelModule> FunctionPrior for K {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(number(self.diagonal(x).mean()))
    }
}

/// A covariance function `k(x, x′)`.
///
/// The covariance depends on the identity of points, not only on their locations. For the white
/// kernel, for example, [`matrix`](Self::matrix) is not `covariance(x, x)`.
pub trait Kernel: AnyModule {
    /// The covariances between two distinct sets of points.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[N1, N2]`
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2>;

    /// The symmetric covariance matrix of one set of points.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, N]`
    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        self.covariance(x.clone(), x)
    }

    /// The diagonal of [`matrix`](Self::matrix), without computing the matrix.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N]`
    fn diagonal(&self, x: Tensor<2>) -> Tensor<1>;

    /// Selected columns of [`matrix`](Self::matrix), without computing the others. The default
    /// computes [`covariance`](Self::covariance) and corrects the entries on the diagonal; kernels
    /// without an extra diagonal term can return the covariance directly.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`, `columns`: `[C]`
    /// - result: `[N, C]`
    fn matrix_columns(&self, x: Tensor<2>, columns: Tensor<1, Int>) -> Tensor<2> {
        let chosen = x.clone().select(0, columns.clone());
        let covariance = self.covariance(x, chosen.clone());
        let diagonal = columns.unsqueeze::<2>(); // [1, C]
        let missing =
            self.diagonal(chosen).unsqueeze::<2>() - covariance.clone().gather(0, diagonal.clone());
        covariance.scatter(0, diagonal, missing, IndexingUpdateOp::Add)
    }

    /// Covariances with weighted sums over the patches of images, `Σ_p A_mp·k(z_m, x_n^[p])`. The
    /// default holds the covariances with every patch in memory; stationary kernels do not.
    ///
    /// # Shapes
    ///
    /// - `patches` (z): `[M, d]`, `images` (x): `[N, H·W·C]`, `weights` (A): `[M, P]`
    /// - result: `[M, N]`
    fn patch_covariance(
        &self,
        grid: &PatchGrid,
        patches: Tensor<2>,
        images: Tensor<2>,
        weights: Tensor<2>,
    ) -> Tensor<2> {
        let ([count, _], [images_count, _]) = (patches.dims(), images.dims());
        let each = self.covariance(patches, grid.extract(images)); // [M, N·P]
        let each = each.reshape([count, images_count, grid.count()]);
        (each * weights.unsqueeze_dim(1)).sum_dim(2).squeeze_dim(2)
    }

    /// The variances of weighted sums over the patches of images,
    /// `Σ_pp′ B_pp′·k(x_n^[p], x_n^[p′])`. The default holds the covariances between the patches of
    /// all images in memory; stationary kernels do not.
    ///
    /// # Shapes
    ///
    /// - `images` (x): `[N, H·W·C]`, `weights` (B): `[P, P]`
    /// - result: `[N]`
    fn patch_variance(&self, grid: &PatchGrid, images: Tensor<2>, weights: Tensor<2>) -> Tensor<1> {
        let [count, _] = images.dims();
        let patches = grid.extract(images);
        let each = (0..count).map(|image| {
            let own = patches
                .clone()
                .narrow(0, image * grid.count(), grid.count());
            (self.matrix(own) * weights.clone()).sum()
        });
        Tensor::cat(each.collect(), 0)
    }

    /// [`matrix`](Self::matrix) times vectors, `K(x, x)·V`. The default computes the matrix in
    /// groups of columns, which autodiff keeps in memory; stationary kernels keep none of it.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`, `vectors` (V): `[N, R]`
    /// - result: `[N, R]`
    fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        let ([rows, _], device) = (x.dims(), x.device());
        let starts = (0..rows).step_by(COLUMNS);
        let parts = starts.map(|start| {
            let end = (start + COLUMNS).min(rows);
            let columns = Tensor::arange(start as i64..end as i64, &device);
            let vectors = vectors.clone().narrow(0, start, end - start);
            self.matrix_columns(x.clone(), columns)
                .exact_matmul(vectors)
        });
        sum(parts).unwrap_or(vectors.clone())
    }

    /// [`matrix_product`](Self::matrix_product) with single-precision accuracy, in the type of the
    /// arguments and without gradients. Iterations in double precision that tolerate these errors take
    /// about half the time. The default returns `None`.
    ///
    /// # Shapes
    ///
    /// As for [`matrix_product`](Self::matrix_product).
    fn rough_matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Option<Tensor<2>> {
        let _ = (x, vectors);
        None
    }

    /// [`covariance`](Self::covariance) times vectors, `K(x1, x2)·V`, the counterpart of
    /// [`matrix_product`](Self::matrix_product).
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`, `vectors` (V): `[N2, R]`
    /// - result: `[N1, R]`
    fn covariance_product(&self, x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        let ([rows, _], [_, width]) = (x1.dims(), vectors.dims());
        if rows == 0 {
            return Tensor::zeros([0, width], (&vectors.device(), vectors.dtype()));
        }
        let starts = (0..rows).step_by(COLUMNS);
        let parts = starts.map(|start| {
            let some = x1.clone().narrow(0, start, COLUMNS.min(rows - start));
            self.covariance(some, x2.clone())
                .exact_matmul(vectors.clone())
        });
        Tensor::cat(parts.collect(), 0)
    }

    /// Covariances between linear combinations of function values and the function values at the
    /// same points, `Σ_{b∈B_j} s_b·K_bn`. Each combination covers a run of consecutive points.
    /// Memory use is as for [`matrix_product`](Self::matrix_product).
    ///
    /// # Shapes
    ///
    /// - `points`: `[N, D]`, `values` (s): `[N]`
    /// - result: `[I, N]` with I the number of runs
    fn block_matrix(&self, blocks: Blocks, points: Tensor<2>, values: Tensor<1>) -> Tensor<2> {
        let device = points.device();
        let rows = blocks.ranges().map(|run| {
            let columns = Tensor::arange(run.start as i64..run.end as i64, &device);
            let values = values.clone().narrow(0, run.start, run.len());
            let covariance = self.matrix_columns(points.clone(), columns); // [N, run]
            covariance.exact_matmul(values.unsqueeze_dim(1)).transpose()
        });
        Tensor::cat(rows.collect(), 0)
    }

    /// Covariances between linear combinations of function values and function values at other
    /// points, `Σ_{b∈B_j} s_b·k(x_b, x′_n)`, the counterpart of
    /// [`block_matrix`](Self::block_matrix).
    ///
    /// # Shapes
    ///
    /// - `points`: `[N, D]`, `others` (x′): `[N′, D]`, `values` (s): `[N]`
    /// - result: `[I, N′]` with I the number of runs
    fn block_covariance(
        &self,
        blocks: Blocks,
        points: Tensor<2>,
        others: Tensor<2>,
        values: Tensor<1>,
    ) -> Tensor<2> {
        let rows = blocks.ranges().map(|run| {
            let values = values.clone().narrow(0, run.start, run.len());
            let run = points.clone().narrow(0, run.start, run.len());
            let covariance = self.covariance(run, others.clone()); // [run, N′]
            values.unsqueeze_dim::<2>(0).exact_matmul(covariance)
        });
        Tensor::cat(rows.collect(), 0)
    }

    /// The hyperparameters with their constrained values.
    fn hyperparameters(&self) -> Vec<Hyperparameter>
    where
        Self: Module,
    {
        hyperparameters(self)
    }

    /// The kernel as one of any type.
    fn boxed(self) -> AnyKernel
    where
        Self: Sized,
    {
        AnyKernel::new(
            self,
            |module| of_type::<Self>(module),
            |module| of_type_mut::<Self>(module),
        )
    }

    /// The kernel as a sum of components that have spectra, with `count` frequencies drawn from
    /// each, for inputs of `dimensions` dimensions. The default returns an error, for kernels that
    /// are not stationary or whose functions are not continuous.
    ///
    /// # Errors
    ///
    /// [`NoSpectrum`], which names the kernel.
    fn spectrum(
        &self,
        _dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        Err(NoSpectrum::of::<Self>())
    }

    /// Draws features of the kernel, from which functions are drawn, for inputs of `dimensions`
    /// dimensions: `count` random features of each kind, or all if there are finitely many. The
    /// default draws Fourier features from the [`spectrum`](Self::spectrum). Their gradients do not
    /// reach the hyperparameters.
    ///
    /// # Errors
    ///
    /// When the kernel has no features, or too many.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let components = self.spectrum(dimensions, count, random)?;
        Ok(FourierFeatures::new(components, (count, dimensions), options).into())
    }
}

/// The number of columns of a covariance matrix in memory at once.
const COLUMNS: usize = 1024;

/// The sum of the matrices, or `None` if there are none.
fn sum(parts: impl Iterator<Item = Tensor<2>>) -> Option<Tensor<2>> {
    parts.reduce(|sum, part| sum + part)
}
