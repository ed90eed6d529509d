//! Image classification by a deep basis kernel on a small convolutional network:
//! `cargo run --release -p burn-gp-models --example deep_basis_images`

use burn::{
    module::Module,
    nn::{Linear, LinearConfig, conv::Conv2d, conv::Conv2dConfig},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::Features,
    kernels::Basis,
    likelihoods::{Likelihood, SoftmaxConfig},
    means::ZeroMean,
    process::{CovarianceShape, Process, VarianceCorrection, VariationalGaussian},
    variational::{Posterior, WeightSpace},
};
use burn_gp_models::{Svgp, training::*};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const CLASSES: usize = 3;

/// Any network that maps each image to a row of features.
#[derive(Module, Debug)]
struct Network {
    convolution: Conv2d,
    last: Linear,
}

impl Features for Network {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [images, _] = x.dims();
        let maps = self.convolution.forward(x.reshape([images, 1, 9, 9])); // [N, 8, 7, 7]
        self.last.forward(maps.tanh().flatten(1, 3))
    }
}

/// Noise with a bright square on the left, in the middle or on the right.
fn images(count: usize, seed: u64, device: &Device) -> TrainingData {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut pixels, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (class, top) = (random.random_range(0..CLASSES), random.random_range(0..6));
        for (row, column) in (0..81).map(|pixel| (pixel / 9, pixel % 9)) {
            let bright = (top..top + 3).contains(&row) && column / 3 == class;
            pixels.push(random.random::<f64>() + f64::from(u8::from(bright)) * 0.4);
        }
        classes.push(class as f64);
    }
    TrainingData::new(&pixels, &classes, device, DType::F32)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default().autodiff();
    let (train, test) = (images(1000, 1, &device), images(500, 2, &device));
    let kernel = Basis::new(Network {
        convolution: Conv2dConfig::new([1, 8], [3, 3]).init(&device),
        last: LinearConfig::new(8 * 7 * 7, 16).init(&device),
    });
    let weights = VariationalGaussian::standard(16, CLASSES, CovarianceShape::Full, &device);
    let posterior = WeightSpace::new(weights, VarianceCorrection::default());
    let softmax = SoftmaxConfig::new(CLASSES).init(&device);
    let model = Svgp::new(kernel, ZeroMean::new(CLASSES), softmax, posterior);
    let mut trainer = MiniBatchTrainer::new(model, train.clone(), MiniBatchTraining::new(400));
    while !trainer.is_finished() {
        trainer.step()?;
    }
    let model = trainer.into_model().valid();
    // Small features would make the model overconfident, so the training images set the variance
    // level.
    let posterior = (model.posterior().clone()).with_level_of(model.kernel(), train.inputs)?;
    let process = posterior.condition(model.kernel())?;
    let functions = process.marginals(test.inputs.inner());
    let likelihood = model.likelihood();
    let density = likelihood.log_predictive_density(test.targets.inner(), functions);
    let mean: f64 = density.mean().into_scalar();
    println!("mean log probability of the class: {mean:.3}");
    Ok(())
}
