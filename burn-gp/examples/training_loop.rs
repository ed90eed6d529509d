//! A network with a Gaussian process as its last layer, trained with burn's Adam in a hand-written
//! loop: `cargo run --release -p burn-gp --example training_loop`

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Distribution, Tensor},
};
use burn_gp::{
    layers::{GpLayer, GpLayerConfig, Layer},
    likelihoods::{Gaussian, GaussianConfig, Likelihood},
    ops::NotPositiveDefinite,
    process::Process,
};

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
    head: GpLayer,
    likelihood: Gaussian,
}

impl Net {
    fn new(device: &Device) -> Self {
        Self {
            first: LinearConfig::new(3, 32).init(device),
            second: LinearConfig::new(32, 2).init(device),
            head: GpLayerConfig::new(2, 1).with_inducing(32).init(device),
            likelihood: GaussianConfig::new(0.1).init(device),
        }
    }

    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        self.second.forward(self.first.forward(x).tanh())
    }

    /// The negative evidence lower bound per row, for training on `rows` rows.
    fn loss(
        &self,
        x: Tensor<2>,
        y: Tensor<2>,
        rows: usize,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let values = self.head.evaluate(self.features(x))?;
        Ok((self.likelihood).negative_elbo(y, values.marginals, values.kl, rows))
    }
}

/// `y = x₁·x₂ − x₃ + ε`, with noise of standard deviation 0.1.
fn data(rows: usize, device: &Device) -> (Tensor<2>, Tensor<2>) {
    let x = Tensor::<2>::random([rows, 3], Distribution::Uniform(-1.0, 1.0), device);
    let column = |index| x.clone().narrow(1, index, 1);
    let noise = Tensor::random([rows, 1], Distribution::Normal(0.0, 0.1), device);
    (x.clone(), column(0) * column(1) - column(2) + noise)
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    const ROWS: usize = 600;
    const BATCH: usize = 100;
    let device = Device::default().autodiff();
    device.seed(3);
    let (x, y) = data(ROWS, &device);
    let (mut net, mut optimizer) = (Net::new(&device), AdamConfig::new().init());
    for step in 0..600 {
        let batch = |t: &Tensor<2>| t.clone().narrow(0, step * BATCH % ROWS, BATCH);
        let gradients = net.loss(batch(&x), batch(&y), ROWS)?.backward();
        let gradients = GradientsParams::from_grads(gradients, &net);
        net = optimizer.step(0.02, net, gradients);
    }

    let net = net.valid();
    let (new_x, new_y) = data(300, &device.inner());
    let process = net.head.condition()?;
    let predicted = net
        .likelihood
        .predict(process.marginals(net.features(new_x)));
    let rmse = (predicted.mean - new_y)
        .square()
        .mean()
        .into_scalar::<f64>()
        .sqrt();
    let deviation = predicted.variance.mean().into_scalar::<f64>().sqrt();
    println!("RMSE {rmse:.3}, predicted deviation {deviation:.3}; the noise has 0.1");
    assert!(rmse < 0.15);
    assert!((0.08..0.16).contains(&deviation));
    Ok(())
}
