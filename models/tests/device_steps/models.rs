//! Models that are trained on mini-batches.

use burn_gp_core::{
    features::PerceptronConfig,
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    means::MeanConfig,
    ops::Stationary,
    optim::NaturalGradient,
    patches::ImageShape,
    process::CovarianceShape,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, Parameterization,
        PosteriorConfig, PseudoObservationsConfig, SolveGpConfig, TraceProbes, UnwhitenedConfig,
        WhitenedConfig,
    },
};
use burn_gp_models::{
    BasisConfig, ConvolutionalForm, DeepGpConfig, DeepKernelConfig, DenseForm, InducingConfig,
    LayerConfig, LayerForm, ModelConfig, PatchForm, SvdbkConfig, SvgpConfig,
    training::MiniBatchTraining,
};

use crate::{STEPS, platforms::Rows};

const ROWS: usize = 48;
const BATCH: usize = 20;
const IMAGE: ImageShape = ImageShape {
    height: 5,
    width: 5,
    channels: 1,
};

/// A model and its training.
pub struct Case {
    pub name: String,
    pub config: ModelConfig,
    pub training: MiniBatchTraining,
    pub rows: Rows,
}

/// A wave over two inputs.
pub fn waves() -> Rows {
    let place = |row: usize| row as f64 / 8.0 - 3.0;
    let inputs = (0..ROWS).flat_map(|row| [place(row), (1.7 * place(row)).cos()]);
    let targets = (0..ROWS).map(|row| (1.5 * place(row)).sin() + 0.1 * (9.0 * place(row)).cos());
    Rows {
        inputs: inputs.collect(),
        targets: targets.collect(),
    }
}

/// Images with a bright stripe; the target is its place. The texture keeps patches apart: with equal
/// inducing patches, signs of gradients would be a matter of rounding, and so would Adam's steps.
fn stripes() -> Rows {
    let column = |row: usize| row % IMAGE.width;
    let pixel = |row: usize, pixel: usize| {
        let texture = 0.8 * ((7 * row + 3 * pixel + pixel * pixel) as f64).sin();
        f64::from(u8::from(pixel % IMAGE.width == column(row))) + texture
    };
    let inputs = (0..ROWS).flat_map(|row| (0..IMAGE.len()).map(move |place| pixel(row, place)));
    Rows {
        inputs: inputs.collect(),
        targets: (0..ROWS).map(|row| column(row) as f64 - 2.0).collect(),
    }
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

fn kernel() -> StationaryConfig {
    StationaryConfig::new(Stationary::Matern52)
}

/// Every posterior with its name.
pub fn posteriors() -> Vec<(&'static str, PosteriorConfig)> {
    let (covariance, parameterization) = (CovarianceShape::Full, Parameterization::Whitened);
    // The default floor is that of the precision.
    let observations = PseudoObservationsConfig {
        floor: Some(1e-3),
        ..PseudoObservationsConfig::default()
    };
    let inverse_free = |probes| InverseFreeConfig {
        observations,
        probes,
        ..InverseFreeConfig::default()
    };
    let probes = TraceProbes { count: 4, seed: 0 };
    vec![
        ("svgp", WhitenedConfig { covariance }.into()),
        (
            "svgp with a diagonal",
            WhitenedConfig {
                covariance: CovarianceShape::Diagonal,
            }
            .into(),
        ),
        ("unwhitened", UnwhitenedConfig { covariance }.into()),
        (
            "solve",
            SolveGpConfig {
                covariance,
                parameterization,
            }
            .into(),
        ),
        (
            "odvgp",
            OrthogonallyDecoupledConfig {
                covariance,
                parameterization,
                columns: Some(3),
                seed: 0,
            }
            .into(),
        ),
        ("l-svgp", LSvgpConfig { observations }.into()),
        ("inverse-free", inverse_free(None).into()),
        (
            "inverse-free with probes",
            inverse_free(Some(probes)).into(),
        ),
    ]
}

/// A model of one layer.
pub fn svgp(posterior: &PosteriorConfig) -> SvgpConfig {
    let orthogonal = if posterior.has_orthogonal_set() { 6 } else { 0 };
    SvgpConfig::new(kernel(), noise())
        .with_inducing(9)
        .with_orthogonal(orthogonal)
        .with_posterior(posterior.clone())
}

fn layer(form: impl Into<LayerForm>) -> LayerConfig {
    LayerConfig::new(kernel().isotropic())
        .with_form(form)
        .with_inducing(InducingConfig::new(6))
}

/// Deep models on points and on images.
fn deep() -> Vec<(&'static str, DeepGpConfig)> {
    let hidden = |form: LayerForm| {
        layer(form)
            .with_mean(MeanConfig::identity())
            .with_deviation(0.1)
    };
    let convolutional = || ConvolutionalForm {
        size: 2,
        stride: 1,
        location: None,
    };
    let patches = PatchForm { size: 3, stride: 1 };
    let images = |output| DeepGpConfig::new(output, noise()).with_image(IMAGE);
    vec![
        (
            "deep",
            DeepGpConfig::new(layer(DenseForm {}), noise())
                .with_hidden(2, hidden(DenseForm {}.into())),
        ),
        ("conv", images(layer(convolutional()))),
        (
            "deep-conv",
            images(layer(convolutional())).with_hidden(1, hidden(patches.into())),
        ),
    ]
}

/// Models with networks.
fn networks() -> Vec<(&'static str, ModelConfig)> {
    let network = || PerceptronConfig {
        hidden: vec![6],
        ..PerceptronConfig::default()
    };
    let (_, whitened) = posteriors().remove(0);
    let svdbk = SvdbkConfig {
        basis: BasisConfig::new(network(), 5),
        ..SvdbkConfig::new(noise())
    };
    let svdkl = DeepKernelConfig {
        network: network().into(),
        ..DeepKernelConfig::new(svgp(&whitened))
    };
    vec![("svdbk", svdbk.into()), ("svdkl", svdkl.into())]
}

/// Training with batches of some of the rows.
pub fn training() -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: BATCH,
        ..MiniBatchTraining::new(STEPS)
    }
}

/// Every model that is trained on mini-batches, and natural gradients.
pub fn cases() -> Vec<Case> {
    let case = |name: &str, config: ModelConfig, rows: Rows| Case {
        name: name.to_owned(),
        config,
        training: training(),
        rows,
    };
    let mut cases = Vec::new();
    for (name, posterior) in posteriors() {
        cases.push(case(name, svgp(&posterior).into(), waves()));
    }
    for (name, posterior) in posteriors().into_iter().take(3) {
        cases.push(Case {
            training: MiniBatchTraining {
                natural_gradient: Some(NaturalGradient::new(0.1)),
                ..training()
            },
            ..case(
                &format!("{name}, natural gradients"),
                svgp(&posterior).into(),
                waves(),
            )
        });
    }
    for (name, config) in deep() {
        let rows = if config.image.is_some() {
            stripes()
        } else {
            waves()
        };
        cases.push(case(name, config.into(), rows));
    }
    for (name, config) in networks() {
        cases.push(case(name, config, waves()));
    }
    cases
}
