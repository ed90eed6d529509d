//! The mini-batch models of a benchmark, and their sizes.

use burn_gp_core::{
    features::PerceptronConfig,
    inducing::Initializer,
    likelihoods::{GaussianConfig, SoftmaxConfig},
    means::MeanConfig,
    ops::Stationary,
    patches::ImageShape,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, PosteriorConfig,
        SolveGpConfig, UnwhitenedConfig,
    },
};

use burn_gp_models::{
    BasisConfig, ConvolutionalForm, DeepGpConfig, DeepKernelConfig, InducingConfig, LayerConfig,
    LayerForm, ModelConfig, PatchForm, SvdbkConfig, SvgpConfig,
};

const KERNEL: Stationary = Stationary::Matern52;

/// The sizes of the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSizes {
    /// Inducing points in each set, M.
    pub inducing: usize,
    /// Rows in a batch, B.
    pub batch: usize,
    /// Input dimensions, D.
    pub dimensions: usize,
    /// Functions of a hidden layer.
    pub width: usize,
    /// Hidden layers of the deep model.
    pub hidden: usize,
    /// Images in a batch.
    pub images: usize,
    /// Rows and columns of an image.
    pub side: usize,
    /// Rows and columns of a patch.
    pub patch: usize,
    /// Inducing patches in each layer.
    pub patches: usize,
    /// Classes of the images.
    pub classes: usize,
    /// Units in each of the two hidden layers of a network.
    pub units: usize,
    /// Features of a deep basis kernel, R.
    pub rank: usize,
}

impl StepSizes {
    /// Sizes for a GPU.
    pub const LARGE: Self = Self {
        inducing: 1024,
        batch: 8192,
        dimensions: 8,
        width: 8,
        hidden: 2,
        images: 256,
        side: 28,
        patch: 5,
        patches: 512,
        classes: 10,
        units: 128,
        rank: 128,
    };

    /// Sizes for a device that is emulated by a CPU.
    pub const SMALL: Self = Self {
        inducing: 64,
        batch: 256,
        dimensions: 4,
        width: 2,
        hidden: 1,
        images: 16,
        side: 10,
        patch: 3,
        patches: 16,
        classes: 3,
        units: 16,
        rank: 16,
    };
}

/// A model with the data it is for.
#[derive(Clone, Debug)]
pub struct StepModel {
    /// The name.
    pub name: &'static str,
    /// The configuration.
    pub config: ModelConfig,
    /// Rows in a batch.
    pub batch: usize,
    /// Columns of an input.
    pub columns: usize,
    /// The number of classes, if targets are labels.
    pub classes: Option<usize>,
}

/// Every model that trains on mini-batches.
pub fn step_models(sizes: &StepSizes) -> Vec<StepModel> {
    let mut models: Vec<StepModel> = of_one_layer(sizes).into();
    models.extend(of_layers(sizes));
    models.extend(of_networks(sizes));
    models
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

/// Inducing points that cost nothing to choose.
fn inducing(count: usize, orthogonal: usize) -> InducingConfig {
    InducingConfig {
        initializer: Initializer::Subset,
        orthogonal,
        ..InducingConfig::new(count)
    }
}

fn svgp(sizes: &StepSizes, posterior: PosteriorConfig) -> SvgpConfig {
    let orthogonal = match posterior.has_orthogonal_set() {
        true => sizes.inducing,
        false => 0,
    };
    SvgpConfig {
        inducing: inducing(sizes.inducing, orthogonal),
        ..SvgpConfig::new(KERNEL, noise()).with_posterior(posterior)
    }
}

fn regression(name: &'static str, sizes: &StepSizes, config: ModelConfig) -> StepModel {
    StepModel {
        name,
        config,
        batch: sizes.batch,
        columns: sizes.dimensions,
        classes: None,
    }
}

fn of_one_layer(sizes: &StepSizes) -> [StepModel; 6] {
    let whitened = SvgpConfig::new(KERNEL, noise()).posterior;
    let posteriors: [(&str, PosteriorConfig); 6] = [
        ("svgp", whitened),
        ("unwhitened", UnwhitenedConfig::default().into()),
        ("solve", SolveGpConfig::default().into()),
        ("odvgp", OrthogonallyDecoupledConfig::default().into()),
        ("l-svgp", LSvgpConfig::default().into()),
        ("inverse-free", InverseFreeConfig::default().into()),
    ];
    posteriors.map(|(name, posterior)| regression(name, sizes, svgp(sizes, posterior).into()))
}

fn of_layers(sizes: &StepSizes) -> [StepModel; 3] {
    let layer = LayerConfig::new(KERNEL).with_inducing(inducing(sizes.inducing, 0));
    let hidden = (layer.clone())
        .with_mean(MeanConfig::identity())
        .with_deviation(0.01);
    let deep = (0..sizes.hidden).fold(DeepGpConfig::new(layer, noise()), |deep, _| {
        deep.with_hidden(sizes.width, hidden.clone())
    });
    let on_patches = |form: LayerForm| {
        LayerConfig::new(KERNEL)
            .with_form(form)
            .with_inducing(inducing(sizes.patches, 0))
    };
    let (size, stride) = (sizes.patch, 1);
    let convolutional = ConvolutionalForm {
        size,
        stride,
        location: None,
    };
    let output = on_patches(convolutional.into());
    let image = ImageShape::new(sizes.side, sizes.side, 1);
    let conv = DeepGpConfig::new(output, SoftmaxConfig::new(sizes.classes)).with_image(image);
    let map = on_patches(PatchForm { size, stride }.into());
    let deep_conv = conv.clone().with_hidden(1, map);
    let of_images = |name, config: DeepGpConfig| StepModel {
        name,
        config: config.into(),
        batch: sizes.images,
        columns: image.len(),
        classes: Some(sizes.classes),
    };
    [
        regression("deep", sizes, deep.into()),
        of_images("conv", conv),
        of_images("deep-conv", deep_conv),
    ]
}

fn of_networks(sizes: &StepSizes) -> [StepModel; 2] {
    let network = PerceptronConfig {
        hidden: vec![sizes.units; 2],
        ..PerceptronConfig::default()
    };
    let svdbk = SvdbkConfig {
        basis: BasisConfig::new(network.clone(), sizes.rank),
        ..SvdbkConfig::new(noise())
    };
    let whitened = SvgpConfig::new(KERNEL, noise()).posterior;
    let svdkl = DeepKernelConfig {
        network: network.into(),
        ..DeepKernelConfig::new(svgp(sizes, whitened))
    };
    [
        regression("svdbk", sizes, svdbk.into()),
        regression("svdkl", sizes, svdkl.into()),
    ]
}
