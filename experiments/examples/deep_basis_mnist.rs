//! Classifies MNIST by a small convolutional network, with a softmax head and with a deep basis kernel:
//! `cargo run --release -p burn-gp-experiments --example deep_basis_mnist -- DATA_DIR SEED STEPS`
use burn::nn::{Linear, LinearConfig, conv::Conv2d, conv::Conv2dConfig};
use burn::{prelude::*, tensor::DType, tensor::activation::log_softmax};
use burn_gp_core::{features::Features, ops::NotPositiveDefinite as Failed, variational::*};
use burn_gp_core::{kernels::Basis, likelihoods::*, means::ZeroMean, process::*};
use burn_gp_datasets::DataSource;
use burn_gp_models::{Svgp, training::*};

#[derive(Module, Debug)]
struct Network {
    convolutions: Vec<Conv2d>,
    last: Linear,
}

impl Features for Network {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let images = x.reshape([-1, 1, 28, 28]);
        let maps = (self.convolutions.iter()).fold(images, |x, layer| layer.forward(x).tanh());
        self.last.forward(maps.flatten(1, 3)).tanh()
    }
}

#[derive(Module, Debug)]
struct Classifier {
    network: Network,
    head: Linear,
}

impl Model for Classifier {
    fn objective(&self, x: Tensor<2>, y: Tensor<2>, n: usize) -> Result<Objective, Failed> {
        let logits = self.head.forward(self.network.forward(x));
        let fit = log_softmax(logits, 1).gather(1, y.int()).mean() * n as f64;
        let kl = None;
        Ok(Objective { fit, kl })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("expected DATA_DIR SEED STEPS");
    let source = DataSource::resolve("mnist", Some(next()?.as_ref()))?;
    let data = source.load(None)?;
    let split = source.mask(data.rows())?.split(0)?;
    let device = Device::default().autodiff();
    device.seed(next()?.parse()?);
    let [train, test] = [split.train, split.test].map(|rows| {
        let y: Vec<f64> = rows.iter().map(|&row| data.targets[row]).collect();
        TrainingData::new(data.inputs.select(&rows).values(), &y, &device, DType::F32)
    });
    let (x, y) = (test.inputs.inner(), test.targets.inner());
    let layers = [[1, 8], [8, 16]].map(|channels| Conv2dConfig::new(channels, [5, 5]));
    let layer = |config: Conv2dConfig| config.with_stride([2, 2]).init(&device);
    let convolutions = layers.map(layer).into();
    let [last, head] = [[256, 64], [64, 10]].map(|[a, b]| LinearConfig::new(a, b).init(&device));
    let network = Network { convolutions, last };
    let weights = VariationalGaussian::standard(64, 10, CovarianceShape::Full, &device);
    let posterior = WeightSpace::new(weights, VarianceCorrection::NONE);
    let basis = Basis::new(network.clone()).times(0.3); // logits of standard deviation up to 0.3·√64
    let likelihood = SoftmaxConfig::new(10).init(&device);
    let model = Svgp::of(basis, ZeroMean::new(10), likelihood, posterior);
    let mut training = MiniBatchTraining::new(next()?.parse()?);
    let final_fraction = 0.01;
    training.schedule = Schedule::Cosine { final_fraction };
    let classifier = Classifier { network, head };
    let mut plain = MiniBatchTrainer::new(classifier, train.clone(), training.clone());
    let mut basis = MiniBatchTrainer::new(model, train, training);
    while !basis.is_finished() {
        plain.step()?;
        basis.step()?;
    }
    let (plain, model) = (plain.into_model().valid(), basis.into_model().valid());
    let softmax = plain.objective(x.clone(), y.clone(), 1)?.fit;
    let functions = model.posterior().condition(model.kernel())?.marginals(x);
    let densities = model.likelihood().log_predictive_density(y, functions);
    let [plain, basis] = [softmax, densities.mean()].map(|mean| -mean.into_scalar::<f64>());
    println!("NLL of the test images: softmax head {plain:.4}, deep basis kernel {basis:.4}");
    Ok(())
}
