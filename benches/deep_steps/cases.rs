//! The models of the benchmark.

use std::error::Error;

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    features::{FirstWeights, PerceptronConfig},
    inducing::Initializer,
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, RobustMaxConfig},
    means::MeanConfig,
    ops::{Stationary, numbers},
    patches::ImageShape,
};
use burn_gp_datasets::SyntheticFunction;
use burn_gp_models::{
    BasisConfig, ConvolutionalForm, DbkConfig, DeepGpConfig, InducingConfig, LayerConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};

pub const SIDE: usize = 28;
pub const PATCH: usize = 5;
pub const CLASSES: usize = 10;
pub const WIDTH: usize = 8;

/// The hidden units of each layer of the deep basis kernel, and its features.
pub const UNITS: usize = 128;
pub const RANK: usize = 128;
const NOISE: f64 = 0.1;

/// A model to time.
pub struct Case {
    pub name: &'static str,
    pub batch: usize,
    /// The number of inducing points, zero if there are none.
    pub inducing: usize,
}

pub const CASES: [Case; 3] = [
    Case {
        name: "deep",
        batch: 1000,
        inducing: 500,
    },
    Case {
        name: "conv",
        batch: 200,
        inducing: 750,
    },
    Case {
        name: "deep-kernel",
        batch: 10_000,
        inducing: 0,
    },
];

pub const TYPES: [(&str, DType); 2] = [("f32", DType::F32), ("f64", DType::F64)];

/// Performs a step and returns its loss.
pub type Step = Box<dyn FnMut() -> Result<f64, Box<dyn Error>> + Send>;

impl Case {
    fn config(&self) -> DeepGpConfig {
        let kernel = StationaryConfig::new(Stationary::SquaredExponential);
        let inducing = InducingConfig {
            initializer: Initializer::Subset,
            ..InducingConfig::new(self.inducing)
        };
        let layer = |kernel| LayerConfig::new(kernel).with_inducing(inducing.clone());
        if self.name == "deep" {
            let output = layer(kernel.with_lengthscale(2.0));
            let hidden = (output.clone())
                .with_mean(MeanConfig::identity())
                .with_deviation(0.01);
            return DeepGpConfig::new(output, GaussianConfig { noise: 0.1 })
                .with_hidden(WIDTH, hidden.clone())
                .with_hidden(WIDTH, hidden);
        }
        let form = ConvolutionalForm {
            size: PATCH,
            stride: 1,
            location: None,
        };
        let output = layer(kernel.isotropic()).with_form(form);
        DeepGpConfig::new(output, RobustMaxConfig::new(CLASSES))
            .with_image(ImageShape::new(SIDE, SIDE, 1))
    }

    fn deep_kernel() -> DbkConfig {
        let network = PerceptronConfig {
            hidden: vec![UNITS; 2],
            first_weights: FirstWeights::FanIn,
            ..PerceptronConfig::default()
        };
        DbkConfig::new().with_basis(BasisConfig::integrated(network, RANK))
    }

    fn data(&self, dtype: DType) -> TrainingData {
        let device = Device::flex();
        device.seed(0);
        let options = (&device.clone().autodiff(), dtype);
        if self.name == "deep" {
            let normal = Distribution::Normal(0.0, 1.0);
            let inputs = Tensor::<2>::random([self.batch, WIDTH], normal, options);
            let targets = inputs.clone().sum_dim(1).sin();
            return TrainingData { inputs, targets };
        }
        if self.name == "deep-kernel" {
            let domain = Distribution::Uniform(-1.0, 1.0);
            let inputs = Tensor::<2>::random([self.batch, 1], domain, options);
            let noise = Distribution::Normal(0.0, NOISE);
            let noise = Tensor::<2>::random([self.batch, 1], noise, options);
            let levels: Vec<f64> = (numbers(inputs.clone()).iter())
                .map(|&x| SyntheticFunction::Levels.evaluate(&[x]))
                .collect();
            let levels = Tensor::<1>::from_data(levels.as_slice(), options);
            let targets = levels.reshape([self.batch, 1]) + noise;
            return TrainingData { inputs, targets };
        }
        let pixels = Distribution::Uniform(0.0, 1.0);
        let inputs = Tensor::<2>::random([self.batch, SIDE * SIDE], pixels, options);
        let labels: Vec<f64> = (0..self.batch).map(|row| (row % CLASSES) as f64).collect();
        let targets = Tensor::<1>::from_data(labels.as_slice(), options);
        TrainingData {
            inputs,
            targets: targets.reshape([self.batch, 1]),
        }
    }

    /// A training run of this many steps.
    pub fn training(&self, dtype: DType, steps: usize) -> Result<Step, Box<dyn Error>> {
        let data = self.data(dtype);
        let training = MiniBatchTraining {
            batch_size: self.batch,
            learning_rate: 1e-3,
            ..MiniBatchTraining::new(steps)
        };
        Ok(if self.name == "deep-kernel" {
            let training = training.with_weight_decay(1e-4);
            steps_of(Self::deep_kernel().init(&data)?, data, training)
        } else {
            steps_of(self.config().init(&data)?.train(), data, training)
        })
    }
}

fn steps_of(model: impl Module + Model, data: TrainingData, training: MiniBatchTraining) -> Step {
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    Box::new(move || Ok(trainer.step()?.loss))
}
