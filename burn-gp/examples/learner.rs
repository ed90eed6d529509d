//! A network with a Gaussian process as its last layer in burn-train's own learner, with burn's data
//! loader: `cargo run --release -p burn-gp --example learner`

use burn::{
    data::dataloader::{DataLoader, DataLoaderBuilder, batcher::Batcher},
    data::dataset::InMemDataset,
    module::Module,
    nn::{Linear, LinearConfig},
    optim::AdamConfig,
    tensor::{Device, ExecutionError, Tensor},
    train::metric::{Adaptor, LossInput},
    train::{InferenceStep, ItemLazy, Learner, SupervisedTraining, TrainOutput, TrainStep},
};
use burn_gp::{
    layers::{GpLayer, GpLayerConfig, Layer},
    likelihoods::{Likelihood, Softmax, SoftmaxConfig},
    process::Process,
    training::StepRenderer,
};
use std::sync::Arc;

const ROWS: usize = 120;
type Row = ([f32; 2], f32);

#[derive(Module, Debug)]
struct Net {
    body: Linear,
    head: GpLayer,
    likelihood: Softmax,
}

impl Net {
    fn loss(&self, (inputs, labels): (Tensor<2>, Tensor<2>)) -> Loss {
        let values =
            (self.head.evaluate(self.body.forward(inputs))).expect("the kernel has a factor");
        let loss = (self.likelihood).negative_elbo(labels, values.marginals, values.kl, ROWS);
        Loss(loss)
    }
}

#[derive(Clone)]
struct Rows;

impl Batcher<Row, (Tensor<2>, Tensor<2>)> for Rows {
    fn batch(&self, rows: Vec<Row>, device: &Device) -> (Tensor<2>, Tensor<2>) {
        let inputs: Vec<Tensor<1>> = (rows.iter())
            .map(|row| Tensor::from_data(row.0, device))
            .collect();
        let labels: Vec<f32> = rows.iter().map(|row| row.1).collect();
        let labels = Tensor::<1>::from_data(labels.as_slice(), device);
        (Tensor::stack(inputs, 0), labels.reshape([rows.len(), 1]))
    }
}

/// The part of a step that the learner shows.
struct Loss(Tensor<1>);

impl ItemLazy for Loss {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

impl Adaptor<LossInput> for Loss {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.0.clone())
    }
}

impl TrainStep for Net {
    type Input = (Tensor<2>, Tensor<2>);
    type Output = Loss;
    fn step(&self, batch: Self::Input) -> TrainOutput<Loss> {
        let loss = self.loss(batch);
        TrainOutput::new(self, loss.0.backward(), loss)
    }
}

impl InferenceStep for Net {
    type Input = (Tensor<2>, Tensor<2>);
    type Output = Loss;
    fn step(&self, batch: Self::Input) -> Loss {
        self.loss(batch)
    }
}

/// Points around the corners of a triangle.
fn rows() -> Vec<Row> {
    let row = |index: usize| {
        let [x, y] = [[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]][index % 3];
        let wave = 0.6 * (0.9 * index as f32).sin();
        ([x + wave, y - 0.5 * wave], (index % 3) as f32)
    };
    (0..ROWS).map(row).collect()
}

fn loader(device: &Device) -> Arc<dyn DataLoader<(Tensor<2>, Tensor<2>)>> {
    let loader = DataLoaderBuilder::new(Rows).batch_size(40).shuffle(7);
    loader
        .set_device(device.clone())
        .build(InMemDataset::new(rows()))
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default().autodiff();
    device.seed(5);
    let body = LinearConfig::new(2, 2).init(&device);
    let (x, labels) = Rows.batch(rows(), &device);
    // The features of the data place the inducing points.
    let head = GpLayerConfig::new(2, 3)
        .with_inducing(12)
        .init_from(&body.forward(x.clone()))?;
    let likelihood = SoftmaxConfig::new(3).init(&device);
    let net = Net {
        body,
        head,
        likelihood,
    };
    let (training, validation) = (loader(&device), loader(&device.clone().inner()));
    let learned = SupervisedTraining::new("no-folder", training, validation)
        .num_epochs(30)
        .renderer(Box::new(StepRenderer::silent()))
        .with_application_logger(None)
        .launch(Learner::new(net, AdamConfig::new().init(), 0.05));

    let net: Net = learned.model;
    let functions = net.head.condition()?.marginals(net.body.forward(x.inner()));
    let classes = net.likelihood.predict(functions).mean.argmax(1);
    let right = classes
        .equal(labels.inner().int())
        .int()
        .sum()
        .into_scalar::<i64>();
    println!("{right} of {ROWS} labels are right");
    assert!(right > 108);
    Ok(())
}
