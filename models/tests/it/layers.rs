//! Layers of every form with every posterior and likelihood: training, saving and prediction.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    inducing::Initializer,
    kernels::StationaryConfig,
    layers::LayerNoise,
    likelihoods::{GaussianConfig, LikelihoodConfig, RobustMaxConfig},
    means::MeanConfig,
    ops::Stationary,
    patches::ImageShape,
    process::CovarianceShape,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, Parameterization,
        PosteriorConfig, SolveGpConfig, UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    AnyTrained, ConvolutionalForm, DeepGpConfig, DenseForm, InducingConfig, InitError, LayerConfig,
    LayerForm, ModelConfig, PatchForm, Precision, SavedModel, Summary, SvgpConfig, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const ROWS: usize = 60;
const IMAGE: ImageShape = ImageShape {
    height: 6,
    width: 6,
    channels: 1,
};
const CLASSES: usize = 3;

/// Noise images with a bright square. The target is its horizontal position, as a number and as a
/// class.
fn images(classes: Option<usize>) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for index in 0..ROWS {
        let (row, column) = (random.random_range(0..4), (index % CLASSES) * 2);
        for pixel in 0..IMAGE.len() {
            let (y, x) = (pixel / IMAGE.width, pixel % IMAGE.width);
            let inside = (row..row + 2).contains(&y) && (column..column + 2).contains(&x);
            let noise = 0.3 * random.random::<f64>();
            inputs.push(if inside { 1.0 - noise } else { noise });
        }
        let place = index % CLASSES;
        targets.push(match classes {
            None => place as f64 - 1.0,
            Some(2) => f64::from(place == 2),
            Some(_) => place as f64,
        });
    }
    (inputs, targets)
}

fn posteriors() -> [PosteriorConfig; 6] {
    let covariance = CovarianceShape::Full;
    [
        PosteriorConfig::from(WhitenedConfig { covariance }),
        PosteriorConfig::from(UnwhitenedConfig { covariance }),
        PosteriorConfig::from(SolveGpConfig {
            covariance,
            parameterization: Parameterization::Whitened,
        }),
        PosteriorConfig::from(OrthogonallyDecoupledConfig {
            covariance,
            parameterization: Parameterization::Unwhitened,
            columns: Some(3),
            seed: 0,
        }),
        PosteriorConfig::from(LSvgpConfig {
            observations: Default::default(),
        }),
        InverseFreeConfig::default().into(),
    ]
}

fn layer(form: impl Into<LayerForm>, posterior: &PosteriorConfig) -> LayerConfig {
    let kernel = StationaryConfig::new(Stationary::SquaredExponential)
        .isotropic()
        .with_lengthscale(2.0);
    LayerConfig::new(kernel)
        .with_form(form)
        .with_posterior(posterior.clone())
        .with_inducing(InducingConfig {
            orthogonal: if posterior.has_orthogonal_set() { 6 } else { 0 },
            ..InducingConfig::new(8)
        })
}

fn convolutional(location: bool) -> ConvolutionalForm {
    let kernel = StationaryConfig::new(Stationary::Matern32).isotropic();
    ConvolutionalForm {
        size: 2,
        stride: 1,
        location: location.then(|| kernel.with_lengthscale(3.0).into()),
    }
}

/// One layer and two layers, on points and on patches.
fn architectures(
    posterior: &PosteriorConfig,
    likelihood: &LikelihoodConfig,
) -> Vec<(&'static str, DeepGpConfig)> {
    let dense = || layer(DenseForm {}, posterior);
    let patches = PatchForm { size: 3, stride: 1 };
    let config = |output| DeepGpConfig::new(output, likelihood.clone()).with_image(IMAGE);
    let hidden = dense()
        .with_mean(MeanConfig::identity())
        .with_deviation(0.1);
    vec![
        ("dense", config(dense())),
        ("deep dense", config(dense()).with_hidden(4, hidden)),
        (
            "convolutional",
            config(layer(convolutional(false), posterior)),
        ),
        (
            "deep convolutional",
            config(layer(convolutional(true), posterior)).with_hidden(2, layer(patches, posterior)),
        ),
    ]
}

fn data(classes: Option<usize>, dtype: DType) -> TrainingData {
    let (inputs, targets) = images(classes);
    TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype)
}

/// Twenty full-batch steps. Returns the mean losses of the first five and the last five.
fn train(config: &DeepGpConfig, data: TrainingData) -> (AnyTrained, [f64; 2]) {
    let model = config.init(&data).expect("a model");
    let training = MiniBatchTraining {
        batch_size: ROWS,
        learning_rate: 0.05,
        ..MiniBatchTraining::new(20)
    };
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    let mut losses = Vec::new();
    while !trainer.is_finished() {
        losses.push(trainer.step().expect("a step").loss);
    }
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    let ends = [mean(&losses[..5]), mean(&losses[15..])];
    (trainer.model().valid().into_trained(), ends)
}

/// Every posterior × {dense, convolutional} × {single, deep} × {Gaussian, Bernoulli, robust-max}:
/// the bound increases, and the saved and loaded model makes the same predictions.
#[test]
fn every_layer_works_with_every_posterior_and_likelihood() {
    let likelihoods: [(LikelihoodConfig, Option<usize>); 3] = [
        (GaussianConfig::default().into(), None),
        (LikelihoodConfig::bernoulli(), Some(2)),
        (RobustMaxConfig::new(CLASSES).into(), Some(CLASSES)),
    ];
    for (likelihood, classes) in &likelihoods {
        let data = data(*classes, DType::F64);
        let (inputs, targets) = images(*classes);
        for posterior in &posteriors() {
            for (name, config) in architectures(posterior, likelihood) {
                let what = format!("{name}, {posterior:?}, {likelihood:?}");
                let (model, [first, last]) = train(&config, data.clone());
                assert!(last < first, "{what}: loss {first} to {last}");
                let saved = SavedModel {
                    model,
                    summary: Summary {
                        config: ModelConfig::from(config),
                        dimensions: IMAGE.len(),
                        target_columns: 1,
                        data_count: ROWS,
                        precision: Precision::F64,
                    },
                    context: (),
                };
                let folder = temp_dir::TempDir::new().expect("a folder");
                saved.save(folder.path()).expect("saved");
                let loaded =
                    SavedModel::<()>::load(folder.path(), &Device::default()).expect("loaded");
                let rows = &inputs[..5 * IMAGE.len()];
                let look = |model: &AnyTrained| {
                    let predictor = model.predictor().expect("a predictor");
                    let densities =
                        (predictor.log_density(rows, IMAGE.len(), &targets[..5])).expect("labels");
                    (predictor.predict(rows, IMAGE.len()), densities)
                };
                let (before, after) = (look(&saved.model), look(&loaded.model));
                assert_eq!(before, after, "{what}");
                assert!(before.1.iter().all(|density| density.is_finite()), "{what}");
            }
        }
    }
}

/// A deep model without hidden layers makes the same steps as a sparse variational Gaussian
/// process.
#[test]
fn one_dense_layer_is_a_sparse_variational_model() {
    let data = data(None, DType::F64);
    let training = || MiniBatchTraining {
        batch_size: 20,
        learning_rate: 0.05,
        ..MiniBatchTraining::new(15)
    };
    for posterior in posteriors() {
        let output = layer(DenseForm {}, &posterior);
        let likelihood = GaussianConfig::default();
        let single = SvgpConfig {
            inducing: output.inducing.clone(),
            ..SvgpConfig::new(output.kernel.clone(), likelihood.clone())
        };
        let single = single
            .with_posterior(posterior)
            .init(&data)
            .expect("a model");
        let deep = DeepGpConfig::new(output, likelihood);
        let deep = deep.init(&data).expect("a model");
        let mut single = MiniBatchTrainer::new(single, data.clone(), training());
        let mut deep = MiniBatchTrainer::new(deep, data.clone(), training());
        while !single.is_finished() {
            let losses = [single.step(), { deep.step() }].map(|step| step.expect("a step").loss);
            assert_eq!(losses[0], losses[1]);
        }
    }
}

/// An interrupted run continues bit for bit, including the noise of its layers.
#[test]
fn a_resumed_deep_model_goes_on_bit_for_bit() {
    // burn restores optimizers in the default type of the default device.
    let data = data(None, DType::F32);
    let whitened = &posteriors()[0];
    let hidden = layer(DenseForm {}, whitened).with_mean(MeanConfig::identity());
    let config = DeepGpConfig::new(layer(DenseForm {}, whitened), GaussianConfig::default())
        .with_hidden(3, hidden)
        .with_noise(LayerNoise {
            training: 2,
            ..LayerNoise::default()
        });
    let trainer = || {
        let model = config.init(&data).expect("a model");
        let training = MiniBatchTraining {
            batch_size: 16,
            ..MiniBatchTraining::new(12)
        };
        MiniBatchTrainer::new(model, data.clone(), training)
    };
    let losses = |trainer: &mut MiniBatchTrainer<_>, count: usize| -> Vec<f64> {
        let steps = (0..count).map(|_| trainer.step().expect("a step").loss);
        steps.collect()
    };
    let mut whole = trainer();
    let expected = losses(&mut whole, 12);
    let mut first = trainer();
    let mut found = losses(&mut first, 5);
    let folder = temp_dir::TempDir::new().expect("a folder");
    first.save(folder.path()).expect("saved");
    let mut second = trainer();
    second.restore(folder.path()).expect("restored");
    found.extend(losses(&mut second, 7));
    assert_eq!(found, expected);
}

/// A patch layer with a mean function starts as its mean. The inducing patches of the next layer
/// are patches of feature maps of the first layer.
#[test]
fn inducing_patches_are_those_of_the_maps_of_the_layer_before() {
    let posterior = &posteriors()[0];
    let patches = PatchForm { size: 3, stride: 1 };
    let hidden = layer(patches, posterior).with_mean(MeanConfig::identity());
    let output = layer(convolutional(false), posterior).with_inducing(InducingConfig {
        initializer: Initializer::Subset,
        ..InducingConfig::new(8)
    });
    let config = DeepGpConfig::new(output, GaussianConfig::default());
    let config = config.with_image(IMAGE).with_hidden(2, hidden);
    let data = data(None, DType::F64);
    let model = config.init(&data).expect("a model");
    let layers = model.layers();
    let values = layers.hidden()[0].evaluate(data.inputs.clone());
    let values = values.expect("values");
    let map = ImageShape::new(4, 4, 2);
    let maps = values.marginals.mean.reshape([ROWS, map.len()]);
    let grid = layers.output().grid().expect("patches");
    assert_eq!(grid.image(), map);
    let found = grid.extract(maps).into_data().try_to_vec::<f64>().unwrap();
    let inducing = layers.output().inducing_inputs().remove(0);
    let inducing = inducing.into_data().try_to_vec::<f64>().unwrap();
    for patch in inducing.chunks(8) {
        let distance = |other: &[f64]| -> f64 {
            let differences = patch.iter().zip(other).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        let nearest = found.chunks(8).map(distance).fold(f64::MAX, f64::min);
        // The projection is computed twice from the same sample, so the results are equal up to
        // rounding.
        assert!(nearest < 1e-12, "{nearest}");
    }
}

#[test]
fn layers_that_cannot_be_say_why() {
    let whitened = &posteriors()[0];
    let data = data(None, DType::F64);
    let gaussian = GaussianConfig::default;
    let without_image = DeepGpConfig::new(layer(convolutional(false), whitened), gaussian());
    assert!(matches!(without_image.init(&data), Err(InitError::NoImage)));
    let after_dense = (without_image.clone())
        .with_image(IMAGE)
        .with_hidden(3, layer(DenseForm {}, whitened));
    assert!(matches!(after_dense.init(&data), Err(InitError::NoImage)));
    let other_shape = without_image.clone().with_image(ImageShape::new(5, 7, 1));
    let error = other_shape.init(&data).expect_err("an error").to_string();
    let expected =
        "images of 5x7x1 (height, width, channels) have 35 values, but the number of inputs is 36";
    assert_eq!(error, expected);
    let large = PatchForm { size: 7, stride: 1 };
    let large = without_image
        .with_image(IMAGE)
        .with_hidden(2, layer(large, whitened));
    assert!(matches!(large.init(&data), Err(InitError::Patches(_))));
}
