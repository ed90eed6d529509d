//! The outputs of a perceptron in plain Rust.

use burn_gp_core::features::{Activation, PerceptronConfig};

use super::{parameter_values, platforms};

/// The outputs of the network by sums of products. The weights are read from the module.
pub fn perceptron(config: &PerceptronConfig, x: &[f64], outputs: usize) -> Vec<f64> {
    let module = config.init(x.len(), outputs, platforms()[0].options());
    let parameters = parameter_values(&module);
    let layers = parameters.len() / 2;
    let mut values = x.to_vec();
    for (layer, pair) in parameters.chunks(2).enumerate() {
        let (weights, biases) = (&pair[0], &pair[1]);
        let sums = biases.iter().enumerate().map(|(column, bias)| {
            let products = values.iter().enumerate();
            bias + products
                .map(|(row, value)| value * weights[row * biases.len() + column])
                .sum::<f64>()
        });
        let activate = |sum: f64| match config.activation {
            _ if layer + 1 == layers => sum,
            Activation::Tanh => sum.tanh(),
            Activation::Relu => sum.max(0.0),
            Activation::Silu => sum / (1.0 + (-sum).exp()),
        };
        values = sums.map(activate).collect();
    }
    values
}
