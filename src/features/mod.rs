//! Networks that turn inputs into features.
//!
//! Any burn module becomes the inside of a kernel by implementing [`Features`]; [`Perceptron`] is
//! one that is made from a configuration.

mod perceptron;

use burn::{
    module::{Module, ModuleDisplay},
    nn,
    tensor::Tensor,
};

pub use perceptron::{Activation, Perceptron, PerceptronConfig};

/// A map from inputs to features.
pub trait Features: Module + ModuleDisplay {
    /// The features of each point.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, Q]`
    fn forward(&self, x: Tensor<2>) -> Tensor<2>;
}

impl Features for nn::Linear {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        Self::forward(self, x)
    }
}
