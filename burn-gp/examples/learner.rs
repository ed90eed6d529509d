//! Trains a network with a Gaussian process as its last layer in burn-train's learner, with burn's
//! data loader: `cargo run --release -p burn-gp --example learner`

use burn::{
    data::dataloader::{DataLoaderBuilder, batcher::Batcher},
    data::dataset::InMemDataset,
    module::Module,
    nn::{Linear, LinearConfig},
    optim::AdamConfig,
    train::{ClassificationOutput, InferenceStep, Learner, SupervisedTraining},
    train::{TrainOutput, TrainStep},
};
use burn_gp::{
    layers::{GpLayer, GpLayerConfig, Layer},
    likelihoods::{Likelihood, Softmax},
    prelude::*,
    process::Process,
    training::StepRenderer,
};

const ROWS: usize = 120;
type Row = ([f32; 2], f32);
type Batch = (Tensor<2>, Tensor<2>);

#[derive(Module, Debug)]
struct Net {
    body: Linear,
    head: GpLayer,
    likelihood: Softmax,
}

impl InferenceStep for Net {
    type Input = Batch;
    type Output = ClassificationOutput;
    fn step(&self, (x, labels): Batch) -> ClassificationOutput {
        let values = (self.head.evaluate(self.body.forward(x))).expect("the kernel has a factor");
        let (scores, targets) = (values.marginals.mean.clone(), labels.clone().int());
        let loss = (self.likelihood).negative_elbo(labels, values.marginals, values.kl, ROWS);
        ClassificationOutput::new(loss, scores, targets.squeeze_dim(1))
    }
}

impl TrainStep for Net {
    type Input = Batch;
    type Output = ClassificationOutput;
    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

#[derive(Clone)]
struct Rows;

impl Batcher<Row, Batch> for Rows {
    fn batch(&self, rows: Vec<Row>, device: &Device) -> Batch {
        let (x, labels): (Vec<[f32; 2]>, Vec<f32>) = rows.into_iter().unzip();
        let column = |values: &[f32]| Tensor::<1>::from_data(values, device).unsqueeze_dim(1);
        (column(x.as_flattened()).reshape([-1, 2]), column(&labels))
    }
}

/// Points on a circle, with a label for each third of it.
fn rows() -> Vec<Row> {
    let row = |index: usize| {
        let angle = std::f32::consts::TAU * index as f32 / ROWS as f32;
        ([angle.cos(), angle.sin()], (3 * index / ROWS) as f32)
    };
    (0..ROWS).map(row).collect()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default().autodiff();
    device.seed(5);
    let (x, labels) = Rows.batch(rows(), &device);
    let body = LinearConfig::new(2, 2).init(&device);
    let net = Net {
        // The inducing points are placed among the features of the data.
        head: (GpLayerConfig::new(2, 3).with_inducing(12)).init_from(&body.forward(x.clone()))?,
        likelihood: SoftmaxConfig::new(3).init(&device),
        body,
    };
    let loader = |device: &Device| {
        let loader = DataLoaderBuilder::new(Rows).batch_size(40).shuffle(7);
        (loader.set_device(device.clone())).build(InMemDataset::new(rows()))
    };
    let training = SupervisedTraining::new("no-folder", loader(&device), loader(&device.inner()))
        .num_epochs(30)
        .renderer(Box::new(StepRenderer::silent()))
        .with_application_logger(None);
    let net: Net = (training.launch(Learner::new(net, AdamConfig::new().init(), 0.05))).model;

    let functions = net.head.condition()?.marginals(net.body.forward(x.inner()));
    let classes = net.likelihood.predict(functions).mean.argmax(1);
    let right = classes.equal(labels.inner().int()).argwhere().dims()[0];
    println!("{right} of {ROWS} labels are right");
    assert!(right > 108);
    Ok(())
}
