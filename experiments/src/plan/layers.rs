//! The layers that settings and data ask for.

use burn_gp::{
    kernels::{KernelConfig, ScaledConfig, StationaryConfig},
    likelihoods::LikelihoodConfig,
    means::MeanConfig,
    ops::Stationary,
    parameter::ParameterConfig,
    patches::{ImageShape, PatchGrid},
    variational::{OrthogonallyDecoupledConfig, PosteriorConfig},
};
use burn_gp_models::{DeepGpConfig, HiddenLayerConfig, InducingConfig, LayerConfig, LayerForm};

use crate::arguments::{HiddenMeanName, name_of};
use crate::preparation::PreparedData;
use crate::settings::{ImageSettings, LayerSettings, SettingError};

/// The lengthscale of a location kernel, in patches (arXiv:1910.10596, section 6.2).
const LOCATION_LENGTHSCALE: f64 = 3.0;

/// The parts that all layers of a model share.
pub(super) struct Pieces {
    pub kernel: KernelConfig,
    /// Of the last layer.
    pub mean: MeanConfig,
    pub posterior: PosteriorConfig,
    /// Those of the last layer …
    pub output: InducingConfig,
    /// … and of those before.
    pub hidden: InducingConfig,
    pub likelihood: LikelihoodConfig,
    pub parameters: ParameterConfig,
}

/// The model of `pieces`; the shape of the images is written into `settings`.
pub(super) fn deep_gp(
    pieces: Pieces,
    settings: &mut LayerSettings,
    data: &PreparedData,
) -> Result<DeepGpConfig, SettingError> {
    let image = image(settings, data)?;
    let (count, width) = (settings.count, settings.width(data.dimensions()));
    settings.width = (count > 1).then_some(width);
    let layer = |form, kernel, inducing: &InducingConfig| LayerConfig {
        form,
        kernel,
        mean: MeanConfig::Zero,
        posterior: with_columns_of(pieces.posterior.clone(), inducing.orthogonal),
        inducing: inducing.clone(),
        separate_kernels: false,
        deviation: 1.0,
    };
    let hidden = (0..count - 1).map(|index| {
        let kernel = with_variance(pieces.kernel.clone(), settings.hidden_variance);
        let form = match &settings.images {
            None => LayerForm::Dense,
            Some(images) => patches(images, index),
        };
        let mean = match settings.hidden_mean {
            HiddenMeanName::Zero => MeanConfig::Zero,
            HiddenMeanName::Identity => MeanConfig::Identity,
        };
        HiddenLayerConfig {
            functions: width,
            layer: layer(form, kernel, &pieces.hidden)
                .with_mean(mean)
                .with_deviation(settings.hidden_deviation),
        }
    });
    let form = match &settings.images {
        None => LayerForm::Dense,
        Some(images) => convolutional(images, count - 1),
    };
    let config = DeepGpConfig {
        hidden: hidden.collect(),
        output: layer(form, pieces.kernel.clone(), &pieces.output)
            .with_mean(pieces.mean)
            .with_deviation(settings.output_deviation),
        likelihood: pieces.likelihood,
        image,
        noise: settings.noise,
        parameters: pieces.parameters,
    };
    check_patches(&config)?;
    Ok(config)
}

/// The shape of the images, if the model looks at images.
fn image(
    settings: &mut LayerSettings,
    data: &PreparedData,
) -> Result<Option<ImageShape>, SettingError> {
    let Some(images) = &mut settings.images else {
        return Ok(None);
    };
    let shape = images.shape.or(data.image);
    let Some(shape) = shape else {
        return Err(SettingError::ImageShapeMissing {
            model: name_of(settings.model),
        });
    };
    let inputs = data.dimensions();
    if shape.len() != inputs {
        return Err(SettingError::ImageShape {
            image: shape,
            numbers: shape.len(),
            inputs,
        });
    }
    images.shape = Some(shape);
    Ok(Some(shape))
}

fn patches(images: &ImageSettings, layer: usize) -> LayerForm {
    LayerForm::Patches {
        size: images.patches[layer],
        stride: images.strides[layer],
    }
}

fn convolutional(images: &ImageSettings, layer: usize) -> LayerForm {
    let location = StationaryConfig::new(Stationary::Matern32)
        .isotropic()
        .with_lengthscale(LOCATION_LENGTHSCALE);
    LayerForm::Convolutional {
        size: images.patches[layer],
        stride: images.strides[layer],
        location: images.located.then(|| location.into()),
    }
}

/// Fails when a layer finds no patches in the maps of the one before.
fn check_patches(config: &DeepGpConfig) -> Result<(), SettingError> {
    let hidden = (config.hidden.iter()).map(|hidden| (&hidden.layer, hidden.functions));
    let mut image = config.image;
    for (index, (layer, functions)) in hidden.chain([(&config.output, 1)]).enumerate() {
        let (LayerForm::Patches { size, stride } | LayerForm::Convolutional { size, stride, .. }) =
            layer.form
        else {
            continue;
        };
        let Some(shape) = image else { continue };
        let grid = PatchGrid::new(shape, size, stride);
        let grid = grid.map_err(|source| SettingError::Patches {
            layer: index + 1,
            source,
        })?;
        image = Some(grid.map(functions));
    }
    Ok(())
}

/// The posterior for as many orthogonal points: all columns of their covariance, where there are no
/// more than a step looks at.
fn with_columns_of(mut posterior: PosteriorConfig, orthogonal: usize) -> PosteriorConfig {
    if let PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig { columns, .. }) = &mut posterior {
        *columns = columns.filter(|&columns| columns < orthogonal);
    }
    posterior
}

/// The kernel with another first variance.
fn with_variance(kernel: KernelConfig, variance: f64) -> KernelConfig {
    match kernel {
        KernelConfig::Stationary(kernel) => kernel.with_variance(variance).into(),
        other => KernelConfig::Scaled(ScaledConfig {
            base: Box::new(other),
            outputscale: variance,
        }),
    }
}
