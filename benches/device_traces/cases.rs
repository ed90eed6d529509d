//! The models, each with its training.

use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, SoftmaxConfig},
    means::MeanConfig,
    optim::NaturalGradient,
    patches::ImageShape,
    variational::{InverseFreeConfig, PosteriorConfig, SolveGpConfig, WhitenedConfig},
};
use burn_gp_models::{
    ConvolutionalForm, DeepGpConfig, LayerConfig, ModelConfig, SvgpConfig,
    training::MiniBatchTraining,
};

/// The data set of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    Elevators,
    /// The first rows of the training images.
    Mnist,
}

/// A model with its training.
pub struct Case {
    pub name: &'static str,
    pub config: ModelConfig,
    pub set: Set,
    pub batch_size: usize,
    pub natural_gradient: Option<NaturalGradient>,
}

impl Case {
    fn on_elevators(name: &'static str, config: impl Into<ModelConfig>) -> Self {
        Self {
            name,
            config: config.into(),
            set: Set::Elevators,
            batch_size: 128,
            natural_gradient: None,
        }
    }

    pub fn training(&self, steps: usize) -> MiniBatchTraining {
        MiniBatchTraining {
            batch_size: self.batch_size,
            natural_gradient: self.natural_gradient,
            ..MiniBatchTraining::new(steps)
        }
    }
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

fn svgp(posterior: impl Into<PosteriorConfig>, inducing: usize) -> SvgpConfig {
    SvgpConfig::new(StationaryConfig::matern52(), noise())
        .with_posterior(posterior)
        .with_inducing(inducing)
}

/// Three layers of whitened processes.
fn deep() -> DeepGpConfig {
    let layer = LayerConfig::new(StationaryConfig::matern52()).with_inducing(32);
    let hidden = (layer.clone())
        .with_mean(MeanConfig::identity())
        .with_deviation(0.01);
    DeepGpConfig::new(layer, noise())
        .with_hidden(4, hidden.clone())
        .with_hidden(4, hidden)
}

/// A convolutional process of 32 inducing patches of 5×5 pixels.
fn convolutional() -> DeepGpConfig {
    let output = LayerConfig::new(StationaryConfig::rbf())
        .with_form(ConvolutionalForm {
            size: 5,
            stride: 1,
            location: None,
        })
        .with_inducing(32);
    DeepGpConfig::new(output, SoftmaxConfig::new(10)).with_image(ImageShape::new(28, 28, 1))
}

pub fn cases() -> [Case; 5] {
    [
        Case::on_elevators(
            "solve",
            svgp(SolveGpConfig::default(), 32).with_orthogonal(32),
        ),
        Case::on_elevators("inverse-free", svgp(InverseFreeConfig::default(), 64)),
        Case {
            natural_gradient: Some(NaturalGradient::new(0.1).with_warm_up(1e-4, 10)),
            ..Case::on_elevators("natural-gradients", svgp(WhitenedConfig::default(), 64))
        },
        Case::on_elevators("three-layers", deep()),
        Case {
            set: Set::Mnist,
            batch_size: 32,
            ..Case::on_elevators("conv-gp", convolutional())
        },
    ]
}
