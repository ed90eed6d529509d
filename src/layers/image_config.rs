//! Configurations of layers on images.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{
    GpLayer, GpLayerConfig, LayerError, PatchLayer,
    config::{function_options, spread_points},
};
use crate::{
    inducing::InducingPatches,
    kernels::{AnyKernel, Convolutional, KernelConfig, Kernels},
    ops::NotPositiveDefinite,
    parameter::tracked_like,
    patches::{ImageShape, PatchGrid},
    variational::{FirstGaussians, PosteriorInit, with_scaled_deviations},
};

/// The default side of a patch.
const SIDE: usize = 5;

/// Creates a convolutional layer from the kernel of the responses, the kernel on patch locations
/// and sets of inducing patches, `[M, d]` each, on the device of the patches. The rest comes from
/// `config`, whose inputs are the values of a patch. Locations of inducing patches are random.
///
/// # Errors
///
/// When the covariance of the inducing variables cannot be factored; never for
/// [`FirstGaussians::Skeleton`].
pub fn convolutional_layer(
    config: &GpLayerConfig,
    (kernel, location): (AnyKernel, Option<AnyKernel>),
    grid: PatchGrid,
    sets: Vec<Tensor<2>>,
    first: FirstGaussians,
) -> Result<GpLayer, NotPositiveDefinite> {
    let options = TensorCreationOptions::from((&sets[0].device(), sets[0].dtype()));
    let jitter = config.inducing.jitter_for(sets[0].dtype());
    let mut kernel = Convolutional::new(kernel, grid, options.clone());
    let mut sets: Vec<_> = sets.into_iter().map(InducingPatches::new).collect();
    if let Some(location) = location {
        kernel = kernel.with_location(location);
        let mut random = ChaCha8Rng::seed_from_u64(config.inducing.seed);
        sets = (sets.into_iter())
            .map(|patches| with_random_places(patches, &grid, &mut random))
            .collect();
    }
    let kernels = Kernels::from(kernel);
    let start = PosteriorInit {
        prior: &kernels,
        first,
        outputs: config.outputs,
        jitter,
        options: options.clone(),
    };
    let sets = sets.into_iter().map(Into::into).collect();
    let posterior = config.posterior.build(sets, &start)?;
    let posterior = with_scaled_deviations(posterior, config.deviation);
    let mean = (config.mean).init(grid.image().len(), config.outputs, options);
    Ok(GpLayer::new(kernels, mean, posterior))
}

/// Patches at random locations, uniform over the patch locations of an image.
fn with_random_places(
    patches: InducingPatches,
    grid: &PatchGrid,
    random: &mut ChaCha8Rng,
) -> InducingPatches {
    let [count, _] = patches.patches().dims();
    let sides = [grid.rows() as f64, grid.columns() as f64];
    let places = (0..2 * count).map(|index| sides[index % 2] * random.random::<f64>());
    let data = TensorData::new(places.collect::<Vec<f64>>(), [count, 2]);
    let options = (&patches.patches().device(), patches.patches().dtype());
    patches.with_places(Tensor::from_data(data, options))
}

/// Defines a configuration of functions on patches of images.
macro_rules! on_patches {
    ($(#[$attribute:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty),* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The shape of the images.
            pub image: ImageShape,
            /// The number of rows and columns of a patch.
            pub size: usize,
            /// The distance between patches in pixels.
            pub stride: usize,
            /// The functions of patches. Their inputs are the values of a patch.
            pub functions: GpLayerConfig,
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl $name {
            /// Creates a configuration of `outputs` functions, with patches of 5×5 pixels, or the
            /// whole of a smaller image, at every pixel.
            pub fn new(image: ImageShape, outputs: usize) -> Self {
                let size = SIDE.min(image.height).min(image.width);
                Self {
                    image,
                    size,
                    stride: 1,
                    functions: GpLayerConfig::new(size * size * image.channels, outputs),
                    $($field: Default::default(),)*
                }
            }

            function_options!(self => self.functions);

            /// Sets the side of the patches, and the distance between them.
            pub fn with_patches(mut self, size: usize, stride: usize) -> Self {
                (self.size, self.stride) = (size, stride);
                self.functions.inputs = size * size * self.image.channels;
                self
            }

            fn grid(&self) -> Result<PatchGrid, LayerError> {
                Ok(PatchGrid::new(self.image, self.size, self.stride)?)
            }
        }
    };
}

on_patches! {
    /// Configuration of a [`PatchLayer`]: a feature map with the values of P functions at every
    /// patch of an image.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::{layers::{PatchLayerConfig, Layer}, patches::ImageShape};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let config = PatchLayerConfig::new(ImageShape::new(6, 6, 1), 3).with_patches(3, 1).with_inducing(4);
    /// let layer = config.init(&device)?;
    /// let values = layer.evaluate(Tensor::ones([2, 36], &device))?;
    /// assert_eq!(values.marginals.mean.dims()[0], 2);
    /// # Ok(())
    /// # }
    /// ```
    PatchLayerConfig {}
}

on_patches! {
    /// Configuration of a convolutional [`GpLayer`]: functions of images that sum the responses to all
    /// patches, with inducing patches.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::{layers::{ConvGpLayerConfig, Layer}, patches::ImageShape};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let config = ConvGpLayerConfig::new(ImageShape::new(6, 6, 1), 3).with_patches(3, 1).with_inducing(4);
    /// let layer = config.init(&device)?;
    /// let values = layer.evaluate(Tensor::ones([2, 36], &device))?;
    /// assert_eq!(values.marginals.mean.dims(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ConvGpLayerConfig {
        /// The kernel on patch locations. Without it, responses do not depend on the location.
        #[serde(default)]
        location: Option<KernelConfig>
    }
}

impl PatchLayerConfig {
    /// Initializes the layer on a device, with inducing patches of standard normal pixels.
    ///
    /// # Errors
    ///
    /// When the patches do not fit the image.
    ///
    /// # Panics
    ///
    /// In the same cases as [`GpLayerConfig::init`].
    #[track_caller]
    pub fn init(
        &self,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<PatchLayer, LayerError> {
        let grid = self.grid()?;
        Ok(PatchLayer::new(self.functions.init(options), grid))
    }

    /// Initializes the layer with inducing patches chosen among the patches of `images`,
    /// `[N, H·W·C]`.
    ///
    /// # Errors
    ///
    /// When the patches do not fit the image, and in the same cases as
    /// [`GpLayerConfig::init_from`].
    #[track_caller]
    pub fn init_from(&self, images: &Tensor<2>) -> Result<PatchLayer, LayerError> {
        let grid = self.grid()?;
        let layer = self.functions.init_from(&grid.extract(images.clone()))?;
        Ok(PatchLayer::new(layer, grid))
    }
}

impl ConvGpLayerConfig {
    /// Sets the kernel on patch locations.
    pub fn with_location(mut self, location: impl Into<KernelConfig>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Initializes the layer on a device, with inducing patches of standard normal pixels.
    ///
    /// # Errors
    ///
    /// When the patches do not fit the image, the orthogonal points do not fit the posterior, or
    /// the covariance of the inducing variables cannot be factored.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Result<GpLayer, LayerError> {
        let (grid, functions) = (self.grid()?, &self.functions);
        let patches = spread_points(&functions.inducing, functions.inputs, &options.into());
        self.init_at(grid, patches)
    }

    /// Initializes the layer with inducing patches chosen among the patches of `images`,
    /// `[N, H·W·C]`, in their precision and on their device.
    ///
    /// # Errors
    ///
    /// In the same cases as [`init`](Self::init), and when there are too few distinct patches.
    #[track_caller]
    pub fn init_from(&self, images: &Tensor<2>) -> Result<GpLayer, LayerError> {
        let (grid, functions) = (self.grid()?, &self.functions);
        let options = (&images.device().inner(), images.dtype());
        let kernel = functions.kernel.init(functions.inputs, options);
        let patches = grid.extract(images.clone().inner());
        let patches = functions.inducing.select_points(&kernel, &patches)?;
        let layer = self.init_at(grid, patches)?;
        Ok(tracked_like(images, layer))
    }

    #[track_caller]
    fn init_at(&self, grid: PatchGrid, patches: Vec<Tensor<2>>) -> Result<GpLayer, LayerError> {
        let functions = &self.functions;
        (functions.inducing).check(functions.posterior.has_orthogonal_set())?;
        let first = patches[0].clone();
        let options = TensorCreationOptions::from((&first.device().inner(), first.dtype()));
        let kernel = functions.kernel.init(functions.inputs, options.clone());
        let location = (self.location.as_ref()).map(|location| location.init(2, options));
        let patches = patches.into_iter().map(Tensor::inner).collect();
        let kernels = (kernel, location);
        let first_gaussians = FirstGaussians::Prior;
        let layer = convolutional_layer(functions, kernels, grid, patches, first_gaussians)?;
        Ok(tracked_like(&first, layer))
    }
}
