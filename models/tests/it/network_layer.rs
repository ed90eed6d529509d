//! The gradients of a network with a GP layer. The example `learner` trains one in burn's own learner.

use burn::{
    module::{Module, ModuleVisitor, Param},
    nn::{Linear, LinearConfig},
    optim::GradientsParams,
    tensor::{Device, Tensor},
};
use burn_gp_core::{
    layers::{GpLayer, GpLayerConfig, Layer},
    likelihoods::{Likelihood, Softmax, SoftmaxConfig},
};

const ROWS: i64 = 96;

#[derive(Module, Debug)]
struct Net {
    body: Linear,
    head: GpLayer,
    likelihood: Softmax,
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
    let rows = Tensor::<1, burn::tensor::Int>::arange(0..ROWS, &device);
    let labels = rows.clone().remainder_scalar(3).float().unsqueeze_dim(1);
    let rows = rows.float();
    let inputs = Tensor::stack(vec![(rows.clone() * 0.9).sin(), (rows * 0.7).cos()], 1);
    let values = net
        .head
        .evaluate(net.body.forward(inputs))
        .expect("a factor");
    let loss = (net.likelihood).negative_elbo(labels, values.marginals, values.kl, ROWS as usize);
    let gradients = GradientsParams::from_grads(loss.backward(), &net.head);
    // The units of positive parameters are whole numbers, which have no gradients.
    let mut parameters = Trained(0);
    net.head.visit(&mut parameters);
    assert_eq!((gradients.len(), parameters.0), (5, 5));
}
