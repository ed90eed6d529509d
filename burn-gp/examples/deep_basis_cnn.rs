//! Image classification with a deep basis kernel: the outputs of a small convolutional network are
//! the basis, with a Gaussian posterior over their weights:
//! `cargo run --release -p burn-gp --example deep_basis_cnn`

use burn::{
    module::Module,
    nn::{Linear, LinearConfig, conv::Conv2d, conv::Conv2dConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor},
};
use burn_gp::{
    features::Features,
    layers::{BasisLayer, BasisLayerConfig, Layer},
    likelihoods::{Likelihood, Softmax, SoftmaxConfig},
    process::Process,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

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

#[derive(Module, Debug)]
struct Classifier {
    layer: BasisLayer,
    likelihood: Softmax,
}

/// Noise with a bright square on the left, in the middle or on the right: `[N, 81]` and `[N, 1]`.
fn images(count: usize, seed: u64, device: &Device) -> (Tensor<2>, Tensor<2>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut pixels, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (class, top) = (random.random_range(0..CLASSES), random.random_range(0..6));
        for (row, column) in (0..81).map(|pixel| (pixel / 9, pixel % 9)) {
            let bright = (top..top + 3).contains(&row) && column / 3 == class;
            pixels.push(random.random::<f32>() + if bright { 0.4 } else { 0.0 });
        }
        classes.push(class as f32);
    }
    let column = |values: Vec<f32>| Tensor::<1>::from_data(values.as_slice(), device);
    (
        column(pixels).reshape([count, 81]),
        column(classes).reshape([count, 1]),
    )
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    const ROWS: usize = 1000;
    const BATCH: usize = 200;
    let device = Device::default().autodiff();
    device.seed(1);
    let ((x, y), (new_x, new_y)) = (images(ROWS, 1, &device), images(500, 2, &device));
    let network = Network {
        convolution: Conv2dConfig::new([1, 8], [3, 3]).init(&device),
        last: LinearConfig::new(8 * 7 * 7, 16).init(&device),
    };
    let mut model = Classifier {
        layer: BasisLayerConfig::new(81, 16, CLASSES).init(network, &device),
        likelihood: SoftmaxConfig::new(CLASSES).init(&device),
    };
    let mut optimizer = AdamConfig::new().init();
    for step in 0..200 {
        let batch = |t: &Tensor<2>| t.clone().narrow(0, step * BATCH % ROWS, BATCH);
        let values = model.layer.evaluate(batch(&x))?;
        let loss = (model.likelihood).negative_elbo(batch(&y), values.marginals, values.kl, ROWS);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(0.01, model, gradients);
    }

    let model = model.valid();
    // Small features would make the model overconfident, so the training images determine the prior
    // variance.
    let process = model.layer.with_level_of(x.inner())?.condition()?;
    let functions = process.marginals(new_x.inner());
    let density = (model.likelihood).log_predictive_density(new_y.inner(), functions);
    let density = density.mean().into_scalar::<f64>();
    println!("mean log probability of the class: {density:.3}");
    // Guessing gives −log 3 = −1.1.
    assert!(density > -0.3);
    Ok(())
}
