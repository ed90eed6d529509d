//! A network with a GP layer in burn's own learner, with the user's own data loader.

use burn::{
    data::{
        dataloader::{DataLoaderBuilder, batcher::Batcher},
        dataset::InMemDataset,
    },
    module::{Module, ModuleVisitor, Param},
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, ExecutionError, Tensor, TensorData},
    train::{
        InferenceStep, ItemLazy, Learner, SupervisedTraining, TrainOutput, TrainStep,
        metric::{Adaptor, LossInput},
    },
};
use burn_gp_core::{
    layers::{GpLayer, GpLayerConfig, Layer},
    likelihoods::{Likelihood, Softmax, SoftmaxConfig},
    parameter::numbers,
    process::Process,
};
use burn_gp_models::training::StepRenderer;

const ROWS: usize = 96;

#[derive(Module, Debug)]
struct Net {
    body: Linear,
    head: GpLayer,
    likelihood: Softmax,
}

impl Net {
    fn loss(&self, batch: Labeled) -> Tensor<1> {
        let features = self.body.forward(batch.inputs);
        let values = self.head.evaluate(features).expect("a factor");
        (self.likelihood).negative_elbo(batch.labels, values.marginals, values.kl, ROWS)
    }
}

#[derive(Clone, Debug)]
struct Labeled {
    inputs: Tensor<2>,
    labels: Tensor<2>,
}

#[derive(Clone)]
struct Rows;

type Row = ([f32; 2], f32);

impl Batcher<Row, Labeled> for Rows {
    fn batch(&self, rows: Vec<Row>, device: &Device) -> Labeled {
        let count = rows.len();
        let inputs: Vec<f32> = rows.iter().flat_map(|(x, _)| *x).collect();
        let labels: Vec<f32> = rows.iter().map(|(_, label)| *label).collect();
        Labeled {
            inputs: Tensor::from_data(TensorData::new(inputs, [count, 2]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count, 1]), device),
        }
    }
}

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
    type Input = Labeled;
    type Output = Loss;

    fn step(&self, batch: Labeled) -> TrainOutput<Loss> {
        let loss = self.loss(batch);
        TrainOutput::new(self, loss.backward(), Loss(loss))
    }
}

impl InferenceStep for Net {
    type Input = Labeled;
    type Output = Loss;

    fn step(&self, batch: Labeled) -> Loss {
        Loss(self.loss(batch))
    }
}

/// Points around three corners of a triangle.
fn rows() -> Vec<Row> {
    let corner = |index: usize| [[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]][index % 3];
    let row = |index: usize| {
        let wave = (index as f32 * 0.9).sin() * 0.6;
        let [x, y] = corner(index);
        ([x + wave, y - wave * 0.5], (index % 3) as f32)
    };
    (0..ROWS).map(row).collect()
}

#[test]
fn burns_learner_trains_a_network_with_a_layer() {
    let device = Device::default().autodiff();
    device.seed(5);
    let body = LinearConfig::new(2, 2).init(&device);
    let all = Rows.batch(rows(), &device);
    // The first batch places the inducing points.
    let features = body.forward(all.inputs.clone().narrow(0, 0, 32));
    let head = GpLayerConfig::new(2, 3).with_inducing(12);
    let net = Net {
        body,
        head: head.init_from(&features).expect("distinct features"),
        likelihood: SoftmaxConfig::new(3).init(&device),
    };
    let before = numbers(net.loss(all.clone()))[0];
    let loader = |device: &Device| {
        DataLoaderBuilder::new(Rows)
            .batch_size(32)
            .shuffle(7)
            .set_device(device.clone())
            .build(InMemDataset::new(rows()))
    };
    let (training, validation) = (loader(&device), loader(&device.clone().inner()));
    let learned = SupervisedTraining::new("no-folder", training, validation)
        .num_epochs(30)
        .renderer(Box::new(StepRenderer::silent()))
        .with_application_logger(None)
        .launch(Learner::new(net, AdamConfig::new().init(), 0.05));
    let net: Net = learned.model.train();
    let after = numbers(net.loss(all.clone()))[0];
    assert!(after < 0.6 * before, "{before} → {after}");
    let net = net.valid();
    let process = net.head.condition().expect("a factor");
    let features = net.body.forward(all.inputs.inner());
    let probabilities = net.likelihood.predict(process.marginals(features)).mean;
    let predicted = numbers(probabilities);
    let rows = rows();
    let right = rows
        .iter()
        .zip(predicted.chunks(3))
        .filter(|((_, label), row)| {
            let own = row[*label as usize];
            row.iter().all(|&other| other <= own)
        });
    let right = right.count();
    assert!(right > ROWS * 9 / 10, "{right} of {ROWS}");
}

/// Counts parameters that are trained.
struct Trained(usize);

impl ModuleVisitor for Trained {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0 += usize::from(param.is_require_grad());
    }
}

/// A gradient of one batch moves every parameter of the layer.
#[test]
fn every_parameter_of_the_layer_has_a_gradient() {
    let device = Device::default().autodiff();
    let net = Net {
        body: LinearConfig::new(2, 2).init(&device),
        head: GpLayerConfig::new(2, 3).with_inducing(12).init(&device),
        likelihood: SoftmaxConfig::new(3).init(&device),
    };
    let gradients = net.loss(Rows.batch(rows(), &device)).backward();
    let gradients = GradientsParams::from_grads(gradients, &net.head);
    // The units of positive parameters are whole numbers, which have no gradients.
    let mut parameters = Trained(0);
    net.head.visit(&mut parameters);
    assert_eq!((gradients.len(), parameters.0), (5, 5));
}
