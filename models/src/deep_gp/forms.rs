//! The forms of layers.

use burn::tensor::Tensor;
use burn_gp_core::{
    custom::{AnyDefinition, ComponentConfig, ComponentKind},
    kernels::KernelConfig,
    layers::{AnyLayer, PatchLayer, convolutional_layer},
    patches::ImageShape,
    register,
};
use serde::{Deserialize, Serialize};

use super::{
    layer_config::{LayerInputs, LayerPlan},
    projection::some_images,
};
use crate::InitError;

/// The form of a layer: the domain of its functions. [`register!`](burn_gp_core::register) it, and layers of
/// deep models have it by its name.
pub type LayerForm = ComponentConfig<dyn LayerDefinition>;

/// A form of layers, which makes a layer from its kernel, mean, posterior and inducing variables.
pub trait LayerDefinition: AnyDefinition {
    /// Makes the layer for inputs like the given ones.
    ///
    /// # Errors
    ///
    /// When the layer cannot be initialized for these inputs.
    fn init(&self, plan: &LayerPlan<'_>, inputs: &LayerInputs) -> Result<AnyLayer, InitError>;

    /// Example inputs of the next layer, and their shape if they are images. By default, a row has one
    /// value of each function.
    ///
    /// # Errors
    ///
    /// When the inputs do not have the right shape.
    fn outputs(
        &self,
        plan: &LayerPlan<'_>,
        inputs: LayerInputs,
    ) -> Result<(LayerInputs, Option<ImageShape>), InitError> {
        let first = |inputs: Tensor<2>| plan.first_values(&inputs.clone(), inputs, None);
        Ok((inputs.map(plan.functions, first), None))
    }

    /// The size and the stride of the patches, if inputs are images and inducing variables are patches.
    fn patches(&self) -> Option<(usize, usize)> {
        None
    }
}

impl ComponentKind for dyn LayerDefinition {
    const TAG: &'static str = "form";
    type Definition = dyn LayerDefinition;

    fn check(_definition: &Self::Definition) -> Result<(), String> {
        Ok(())
    }
}

/// Functions of input rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenseForm {}

impl LayerDefinition for DenseForm {
    fn init(&self, plan: &LayerPlan<'_>, inputs: &LayerInputs) -> Result<AnyLayer, InitError> {
        Ok(plan.gp_layer(inputs)?.into())
    }
}

register!(
    LayerDefinition,
    "dense",
    DenseForm,
    "Functions of input rows"
);

/// Functions of patches. The output is a feature map with their values at every patch of an
/// image.
///
/// The mean [`MeanConfig::identity()`](burn_gp_core::means::MeanConfig::identity) then acts on images:
/// principal components of the patches, divided by the side of a patch. The values of the map then have the
/// same scale as the pixels of the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchForm {
    /// The number of rows and columns of a patch.
    pub size: usize,
    /// The distance between patches in pixels.
    pub stride: usize,
}

impl Default for PatchForm {
    /// Patches of three by three pixels around every pixel.
    fn default() -> Self {
        Self { size: 3, stride: 1 }
    }
}

impl LayerDefinition for PatchForm {
    fn init(&self, plan: &LayerPlan<'_>, inputs: &LayerInputs) -> Result<AnyLayer, InitError> {
        let grid = plan.grid(self.size, self.stride)?;
        let patches = (inputs.clone()).map(grid.dimensions(), |images| plan.patches(&grid, images));
        let layer = plan.on_rows(&patches, &format!("{}.layer", plan.path), Some(self.size))?;
        Ok(PatchLayer::new(layer, grid).into())
    }

    fn outputs(
        &self,
        plan: &LayerPlan<'_>,
        inputs: LayerInputs,
    ) -> Result<(LayerInputs, Option<ImageShape>), InitError> {
        let grid = plan.grid(self.size, self.stride)?;
        let map = grid.map(plan.functions);
        let outputs = inputs.map(map.len(), |images| {
            let like = plan.patches(&grid, images.clone());
            let images = some_images(images, plan.config.inducing.seed);
            let [count, _] = images.dims();
            let values = plan.first_values(&like, grid.extract(images), Some(self.size));
            values.reshape([count, map.len()])
        });
        Ok((outputs, Some(map)))
    }

    fn patches(&self) -> Option<(usize, usize)> {
        Some((self.size, self.stride))
    }
}

register!(
    LayerDefinition,
    "patches",
    PatchForm,
    "Functions of every patch of an image"
);

/// Functions of images: weighted sums of patch responses, with inducing patches. Separate kernels are not
/// supported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvolutionalForm {
    /// The number of rows and columns of a patch.
    pub size: usize,
    /// The distance between patches in pixels.
    pub stride: usize,
    /// The kernel on patch locations. Without it, responses do not depend on the location.
    #[serde(default)]
    pub location: Option<KernelConfig>,
}

impl Default for ConvolutionalForm {
    /// Patches of three by three pixels around every pixel, without a kernel on locations.
    fn default() -> Self {
        Self {
            size: 3,
            stride: 1,
            location: None,
        }
    }
}

impl LayerDefinition for ConvolutionalForm {
    fn init(&self, plan: &LayerPlan<'_>, inputs: &LayerInputs) -> Result<AnyLayer, InitError> {
        let config = plan.config;
        let (grid, options) = (plan.grid(self.size, self.stride)?, inputs.options());
        let kernel_path = format!("{}.kernel", plan.path);
        let base_path = format!("{kernel_path}.base");
        config.kernel.check_for(&base_path, grid.dimensions())?;
        config
            .posterior
            .check(&format!("{}.posterior", plan.path))?;
        if let Some(location) = &self.location {
            location.check_for(&format!("{kernel_path}.location"), 2)?;
        }
        let base = plan.kernel(&config.kernel, grid.dimensions(), &base_path, &options);
        let sets = match inputs {
            LayerInputs::Like(images) => {
                let patches = plan.patches(&grid, images.clone());
                config.inducing.select_points(&base, &patches)?
            }
            LayerInputs::Shape(_, options) => config.inducing.at_origin(grid.dimensions(), options),
        };
        let location = (self.location.as_ref())
            .map(|location| plan.kernel(location, 2, &format!("{kernel_path}.location"), &options));
        let layer = plan.on_points(grid.dimensions());
        let first = inputs.first_gaussians();
        let layer = convolutional_layer(&layer, (base, location), grid, sets, first)?;
        Ok(layer.into())
    }

    fn patches(&self) -> Option<(usize, usize)> {
        Some((self.size, self.stride))
    }
}

register!(
    LayerDefinition,
    "convolutional",
    ConvolutionalForm,
    "Functions of images: sums of responses of patches"
);
