//! The patches of models for images.

use burn_gp_core::{
    kernels::StationaryConfig,
    ops::Stationary,
    patches::{ImageShape, PatchGrid},
};
use burn_gp_models::{ConvolutionalForm, DeepGpConfig, LayerForm, PatchForm};

use crate::arguments::{ImageOption, RunOptions};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::at_least_one;

/// The patch sizes of the networks in arXiv:1910.10596, table 5.
const DEFAULT_PATCHES: [usize; 3] = [5, 4, 5];
/// The strides of these networks.
const DEFAULT_STRIDES: [usize; 3] = [1, 2, 1];

/// The lengthscale of a location kernel, in patches (arXiv:1910.10596, section 6.2).
const LOCATION_LENGTHSCALE: f64 = 3.0;

/// How a model splits images into patches.
pub(super) struct Images {
    /// The height and width of the patches in each layer.
    patches: Vec<usize>,
    /// The stride of the patches in each layer, in pixels.
    strides: Vec<usize>,
    /// Whether the response of the output layer depends on the location of the patch.
    located: bool,
}

impl Images {
    pub(super) fn new(resolved: &mut RunOptions, layers: usize) -> Result<Self, OptionError> {
        Ok(Self {
            patches: of_each_layer("--patch", &mut resolved.patch, &DEFAULT_PATCHES, layers)?,
            strides: of_each_layer("--stride", &mut resolved.stride, &DEFAULT_STRIDES, layers)?,
            located: *resolved.located.get_or_insert(true),
        })
    }

    /// The form of a hidden layer.
    pub(super) fn patches(&self, layer: usize) -> LayerForm {
        let form = PatchForm {
            size: self.patches[layer],
            stride: self.strides[layer],
        };
        form.into()
    }

    /// The form of the output layer.
    pub(super) fn convolutional(&self, layer: usize) -> LayerForm {
        let location = StationaryConfig::new(Stationary::Matern32)
            .isotropic()
            .with_lengthscale(LOCATION_LENGTHSCALE);
        let form = ConvolutionalForm {
            size: self.patches[layer],
            stride: self.strides[layer],
            location: self.located.then(|| location.into()),
        };
        form.into()
    }
}

/// One value for each layer. The defaults are the first entries of `default`.
fn of_each_layer(
    option: &'static str,
    resolved: &mut Option<Vec<usize>>,
    default: &[usize],
    layers: usize,
) -> Result<Vec<usize>, OptionError> {
    let numbers = resolved.get_or_insert_with(|| default[..layers.min(default.len())].to_vec());
    for &number in numbers.iter() {
        at_least_one(option, Some(number))?;
    }
    match numbers.len() == layers {
        true => Ok(numbers.clone()),
        false => Err(OptionError::NumberOfLayers {
            option,
            found: numbers.len(),
            layers,
        }),
    }
}

/// The shape of the images.
pub(super) fn shape(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<ImageShape, OptionError> {
    let given = resolved.image.map(|image| image.0);
    let Some(shape) = given.or(data.image) else {
        return Err(OptionError::ImageShapeMissing(resolved.model().name()));
    };
    let inputs = data.dimensions();
    if shape.len() != inputs {
        return Err(OptionError::ImageShape {
            image: shape,
            numbers: shape.len(),
            inputs,
        });
    }
    resolved.image = Some(ImageOption(shape));
    Ok(shape)
}

/// Fails if the patches of a layer do not fit into the feature maps of the previous layer.
pub(super) fn check_patches(config: &DeepGpConfig) -> Result<(), OptionError> {
    let hidden = (config.hidden.iter()).map(|hidden| (&hidden.layer, hidden.functions));
    let mut image = config.image;
    for (index, (layer, functions)) in hidden.chain([(&config.output, 1)]).enumerate() {
        let Some(((size, stride), shape)) = layer.form.patches().zip(image) else {
            continue;
        };
        let grid = PatchGrid::new(shape, size, stride);
        let grid = grid.map_err(|source| OptionError::Patches {
            layer: index + 1,
            source,
        })?;
        image = Some(grid.map(functions));
    }
    Ok(())
}
