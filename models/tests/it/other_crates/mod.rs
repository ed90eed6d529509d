//! Kernels, likelihoods, posteriors, means, networks and models of another crate, as this test is one: in configurations of
//! every kind of model, in training, in files and in predictions.

mod device_checks;
mod mistakes;
mod models;
mod own_models;
mod pieces;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    features::NetworkConfig,
    inference::ConjugateGradientsSettings,
    kernels::{KernelConfig, LinearConfig, StationaryConfig},
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    ops::Stationary,
    patches::ImageShape,
    process::CovarianceShape,
    variational::{PosteriorConfig, UnwhitenedConfig, WhitenedConfig},
};
use burn_gp_models::{
    ActionsConfig, AnyTrained, BasisConfig, ComputationAwareConfig, ConjugateGradientsConfig,
    ConvolutionalForm, DbkConfig, DeepGpConfig, DeepKernelConfig, ExactConfig, InducingConfig,
    LastLayerConfig, LayerConfig, LayerForm, ModelConfig, PatchForm, Precision, Predictions,
    SavedModel, SgprConfig, SolveCollapsedConfig, Summary, SvdbkConfig, SvgpConfig, VecchiaConfig,
    VecchiaLaplaceConfig, VifConfig, VnngpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};
use temp_dir::TempDir;

use pieces::{BumpConfig, DelegatingConfig, LevelConfig, NarrowConfig, NoisyConfig, WhiteConfig};

const ROWS: usize = 40;
const IMAGE: ImageShape = ImageShape {
    height: 4,
    width: 4,
    channels: 1,
};
const LENGTHSCALE: f64 = 1.3;
const VARIANCE: f64 = 0.8;
const NOISE: f64 = 0.05;

/// The configurations of the pieces in a model.
#[derive(Clone)]
struct Pieces {
    kernel: KernelConfig,
    likelihood: LikelihoodConfig,
    posterior: PosteriorConfig,
    mean: MeanConfig,
}

/// Those of the library.
fn of_the_library() -> Pieces {
    let bump = StationaryConfig::new(Stationary::SquaredExponential)
        .isotropic()
        .with_lengthscale(LENGTHSCALE)
        .with_variance(VARIANCE);
    Pieces {
        kernel: in_a_sum(bump.into()),
        likelihood: GaussianConfig { noise: NOISE }.into(),
        posterior: WhitenedConfig::default().into(),
        mean: MeanConfig::constant(0.2),
    }
}

/// Those of this crate that compute the same.
fn own() -> Pieces {
    let bump = BumpConfig {
        lengthscale: LENGTHSCALE,
        variance: VARIANCE,
    };
    Pieces {
        kernel: in_a_sum(KernelConfig::from(bump)),
        likelihood: LikelihoodConfig::from(NoisyConfig { noise: NOISE }),
        posterior: PosteriorConfig::from(WhiteConfig {
            covariance: CovarianceShape::Full,
        }),
        mean: MeanConfig::from(LevelConfig { start: 0.2 }),
    }
}

/// Kernels of other crates are parts of kernels, too.
fn in_a_sum(kernel: KernelConfig) -> KernelConfig {
    let linear = LinearConfig {
        ard: false,
        variance: 0.1,
        ..LinearConfig::default()
    };
    kernel.plus(KernelConfig::from(linear)).scaled(1.1)
}

fn points(dtype: DType) -> TrainingData {
    let inputs: Vec<f64> = (0..ROWS).map(|row| row as f64 / 8.0 - 2.5).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (2.0 * x).sin()).collect();
    TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype)
}

fn images(dtype: DType) -> TrainingData {
    let pixel = |index: usize| ((index * 7919) % 1009) as f64 / 1009.0;
    let inputs: Vec<f64> = (0..ROWS * IMAGE.len()).map(pixel).collect();
    let targets: Vec<f64> = (inputs.chunks(IMAGE.len()))
        .map(|image| image[5] - image[0])
        .collect();
    TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype)
}

/// Models on points with these pieces: every kind that takes a kernel.
fn on_points(pieces: &Pieces) -> Vec<(&'static str, ModelConfig)> {
    let Pieces {
        kernel,
        likelihood,
        posterior,
        mean,
    } = pieces.clone();
    let noise = || GaussianConfig { noise: NOISE };
    let svgp = SvgpConfig {
        posterior: posterior.clone(),
        mean: mean.clone(),
        ..SvgpConfig::new(kernel.clone(), likelihood.clone()).with_inducing(7)
    };
    let exact = ExactConfig {
        mean: mean.clone(),
        ..ExactConfig::new(kernel.clone()).with_likelihood(noise())
    };
    let sgpr = SgprConfig {
        mean: mean.clone(),
        ..SgprConfig::new(kernel.clone())
            .with_likelihood(noise())
            .with_inducing(7)
    };
    let solve_collapsed = SolveCollapsedConfig {
        mean: mean.clone(),
        ..SolveCollapsedConfig::new(kernel.clone())
            .with_likelihood(noise())
            .with_inducing(7)
            .with_orthogonal(4)
    };
    let actions = ActionsConfig::Blocks {
        count: 6,
        at_most: false,
        start: Default::default(),
        seed: 0,
        rows: Default::default(),
    };
    let computation_aware = ComputationAwareConfig {
        mean: mean.clone(),
        ..ComputationAwareConfig::new(kernel.clone())
            .with_likelihood(noise())
            .with_actions(actions)
    };
    // A kernel of another crate has products in single precision only if it makes its own.
    let conjugate_gradients = ConjugateGradientsConfig {
        mean: mean.clone(),
        settings: ConjugateGradientsSettings::default().with_mixed_precision(false),
        ..ConjugateGradientsConfig::new(kernel.clone()).with_likelihood(noise())
    };
    let vecchia = VecchiaConfig {
        mean: mean.clone(),
        ..VecchiaConfig::new(kernel.clone()).with_likelihood(noise())
    };
    let vif = VifConfig {
        mean: mean.clone(),
        ..VifConfig::new(kernel.clone())
            .with_likelihood(noise())
            .with_inducing(7)
    };
    let vecchia_laplace = VecchiaLaplaceConfig {
        mean: mean.clone(),
        ..VecchiaLaplaceConfig::new(kernel.clone(), likelihood.clone())
    };
    let vnngp = VnngpConfig {
        mean: mean.clone(),
        ..VnngpConfig::new(kernel.clone(), likelihood.clone())
    };
    let layer = LayerConfig::new(kernel)
        .with_posterior(posterior)
        .with_inducing(InducingConfig::new(7));
    let hidden = layer.clone().with_mean(MeanConfig::identity());
    let deep = DeepGpConfig::new(layer.with_mean(mean), likelihood)
        .with_hidden(1, hidden.with_deviation(0.1));
    let separate = SvgpConfig {
        separate_kernels: true,
        ..svgp.clone()
    };
    vec![
        ("exact", exact.into()),
        ("sgpr", sgpr.into()),
        ("solve-collapsed", solve_collapsed.into()),
        ("computation-aware", computation_aware.into()),
        ("conjugate gradients", conjugate_gradients.into()),
        ("vecchia", vecchia.into()),
        ("vif", vif.into()),
        ("vecchia-laplace", vecchia_laplace.into()),
        ("vnngp", vnngp.into()),
        ("svgp", svgp.into()),
        ("svgp with separate kernels", separate.into()),
        ("deep", deep.into()),
    ]
}

/// Models on images with these pieces.
fn on_images(pieces: &Pieces) -> Vec<(&'static str, ModelConfig)> {
    let layer = |form: LayerForm| {
        LayerConfig::new(pieces.kernel.clone())
            .with_form(form)
            .with_posterior(pieces.posterior.clone())
            .with_inducing(InducingConfig::new(6))
    };
    let convolutional = || {
        let form = ConvolutionalForm {
            size: 2,
            stride: 1,
            location: None,
        };
        layer(form.into())
    };
    let config = || DeepGpConfig::new(convolutional(), pieces.likelihood.clone()).with_image(IMAGE);
    let hidden = layer(PatchForm { size: 2, stride: 1 }.into());
    vec![
        ("convolutional", config().into()),
        ("deep convolutional", config().with_hidden(2, hidden).into()),
    ]
}

/// The model after eight steps on all rows.
fn train(config: &ModelConfig, data: &TrainingData) -> AnyTrained {
    let data = config.arranged(data.clone());
    let model = config.init(&data).expect("a model");
    let training = MiniBatchTraining {
        batch_size: ROWS,
        learning_rate: 0.05,
        ..MiniBatchTraining::new(8)
    };
    let seen = data.clone();
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    while !trainer.is_finished() {
        trainer.step().expect("a step");
    }
    trainer.model().trained(&seen).expect("a trained model")
}

fn predictions(model: &AnyTrained, dimensions: usize) -> Predictions {
    let rows: Vec<f64> = (0..6 * dimensions)
        .map(|index| ((index * 31) % 17) as f64 / 8.0 - 1.0)
        .collect();
    let predictor = model.predictor().expect("a predictor");
    predictor.predict(&rows, dimensions)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Saves and loads a model, whose predictions must not change by a bit.
fn require_the_same_from_a_file(name: &str, config: ModelConfig, model: AnyTrained, dtype: DType) {
    let dimensions = if config.has_images() { IMAGE.len() } else { 1 };
    let before = predictions(&model, dimensions);
    let saved = SavedModel {
        model,
        summary: Summary {
            config,
            dimensions,
            target_columns: 1,
            data_count: ROWS,
            precision: match dtype {
                DType::F64 => Precision::F64,
                _ => Precision::F32,
            },
        },
        context: (),
    };
    let folder = TempDir::new().expect("a folder");
    saved.save(folder.path()).expect("saved");
    let loaded = SavedModel::<()>::load(folder.path(), &Device::default()).expect("loaded");
    assert_eq!(loaded.summary, saved.summary, "{name}");
    assert_eq!(predictions(&loaded.model, dimensions), before, "{name}");
}

/// Trains the same models with pieces of this crate and of the library, and compares predictions and
/// files.
fn require_the_same(dtype: DType, own: &Pieces, of_the_library: &Pieces) {
    let data = [points(dtype), images(dtype)];
    let groups = [
        (on_points(own), on_points(of_the_library)),
        (on_images(own), on_images(of_the_library)),
    ];
    for (data, (own, of_the_library)) in data.iter().zip(groups) {
        for ((name, own), (_, of_the_library)) in own.into_iter().zip(of_the_library) {
            let name = format!("{name}, {dtype:?}");
            let (model, expected) = (train(&own, data), train(&of_the_library, data));
            let [_, dimensions] = data.inputs.dims();
            let (found, expected) = (
                predictions(&model, dimensions),
                predictions(&expected, dimensions),
            );
            // The kernel sums in another order, the likelihood integrates, and eight steps of Adam
            // carry that on.
            let tolerance = if dtype == DType::F64 { 1e-7 } else { 2e-2 };
            for (what, a, b) in [
                ("mean", &found.mean, &expected.mean),
                ("variance", &found.variance, &expected.variance),
            ] {
                let difference = largest_difference(a, b);
                assert!(
                    difference < tolerance,
                    "{name}: {what} differs by {difference}"
                );
            }
            require_the_same_from_a_file(&name, own, model, dtype);
        }
    }
}

#[test]
fn a_kernel_of_another_crate_is_as_good_as_one_of_the_library() {
    for dtype in [DType::F64, DType::F32] {
        let pieces = Pieces {
            kernel: own().kernel,
            ..of_the_library()
        };
        require_the_same(dtype, &pieces, &of_the_library());
    }
}

#[test]
fn a_likelihood_of_another_crate_is_as_good_as_one_of_the_library() {
    let pieces = Pieces {
        likelihood: own().likelihood,
        ..of_the_library()
    };
    require_the_same(DType::F64, &pieces, &of_the_library());
}

#[test]
fn a_posterior_of_another_crate_is_as_good_as_one_of_the_library() {
    let pieces = Pieces {
        posterior: own().posterior,
        ..of_the_library()
    };
    require_the_same(DType::F64, &pieces, &of_the_library());
}

/// One that implements `Posterior` itself.
#[test]
fn any_posterior_of_another_crate_is_as_good_as_one_of_the_library() {
    let with = |posterior| Pieces {
        posterior,
        ..of_the_library()
    };
    let own = with(PosteriorConfig::from(DelegatingConfig {}));
    let unwhitened = with(UnwhitenedConfig::default().into());
    require_the_same(DType::F64, &own, &unwhitened);
}

#[test]
fn a_mean_of_another_crate_is_as_good_as_one_of_the_library() {
    let pieces = Pieces {
        mean: own().mean,
        ..of_the_library()
    };
    require_the_same(DType::F64, &pieces, &of_the_library());
}

/// Every model with a network trains with one of this crate, and is the same from a file.
#[test]
fn a_network_of_another_crate_is_part_of_every_model_with_a_network() {
    let network = || NetworkConfig::from(NarrowConfig { width: 5 });
    let kernel = || StationaryConfig::new(Stationary::Matern52);
    let noise = || GaussianConfig { noise: NOISE };
    let basis = || BasisConfig::new(network(), 6);
    let deep_kernel = |model| DeepKernelConfig {
        network: network(),
        features: 3,
        model,
    };
    let svgp = SvgpConfig::new(kernel(), noise()).with_inducing(7);
    let models: [(&str, ModelConfig); 5] = [
        (
            "dbk",
            ModelConfig::from(DbkConfig {
                basis: basis(),
                ..DbkConfig::default()
            }),
        ),
        (
            "svdbk",
            ModelConfig::from(SvdbkConfig {
                basis: basis(),
                ..SvdbkConfig::new(noise())
            }),
        ),
        (
            "bll",
            ModelConfig::from(LastLayerConfig {
                basis: basis(),
                mean: MeanConfig::zero(),
                likelihood: noise(),
                parameters: Default::default(),
            }),
        ),
        (
            "dkl",
            ModelConfig::from(DeepKernelConfig {
                network: network(),
                features: 3,
                model: ExactConfig::new(kernel()).with_likelihood(noise()),
            }),
        ),
        ("svdkl", ModelConfig::from(deep_kernel(svgp))),
    ];
    let data = points(DType::F64);
    for (name, config) in models {
        let text = serde_json::to_string(&config).expect("a configuration");
        assert!(text.contains(r#"{"network":"narrow","width":5}"#), "{text}");
        let read: ModelConfig = serde_json::from_str(&text).expect("a configuration");
        assert_eq!(read, config, "{name}");
        let before = {
            let data = config.arranged(data.clone());
            let model = config.init(&data).expect("a model");
            predictions(&model.trained(&data).expect("a trained model"), 1)
        };
        let model = train(&config, &data);
        assert_ne!(predictions(&model, 1).mean, before.mean, "{name}");
        require_the_same_from_a_file(name, config, model, DType::F64);
    }
}

#[test]
fn all_pieces_of_a_model_can_be_of_another_crate() {
    require_the_same(DType::F64, &own(), &of_the_library());
}

/// Draws of functions know nothing of the posterior's type.
#[test]
fn functions_of_a_posterior_of_another_crate_can_be_drawn() {
    let pieces = Pieces {
        posterior: own().posterior,
        ..of_the_library()
    };
    let find = |name: &str, pieces: &Pieces| {
        let (_, config) = on_points(pieces)
            .into_iter()
            .find(|(own, _)| *own == name)
            .expect("a model");
        let model = train(&config, &points(DType::F64));
        let predictor = model.predictor().expect("a predictor");
        let x = predictor.inputs(&[-1.0, 0.3, 2.0], 1);
        let draws = predictor.sample(x, 3, 5).expect("draws");
        burn_gp_core::parameter::numbers(draws)
    };
    let difference = largest_difference(&find("svgp", &pieces), &find("svgp", &of_the_library()));
    assert!(difference < 1e-9, "{difference}");
}
