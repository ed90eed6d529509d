//! The zero mean.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{AnyMean, Mean, MeanConfig, MeanDefinition, require_functions};
use crate::register;

/// Configuration of a [`ZeroMean`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZeroMeanConfig {}

register!(Mean, "zero", ZeroMeanConfig, "Zero");

impl MeanDefinition for ZeroMeanConfig {
    fn init(&self, _inputs: usize, outputs: usize, _options: TensorCreationOptions) -> AnyMean {
        ZeroMean::new(outputs).into()
    }
}

impl MeanConfig {
    /// A [`ZeroMean`].
    pub fn zero() -> Self {
        ZeroMeanConfig {}.into()
    }
}

/// The zero mean.
impl Default for MeanConfig {
    fn default() -> Self {
        Self::zero()
    }
}

/// `m(x) = 0`. It costs nothing, since residuals are the targets themselves. With one output it
/// fits any number of functions.
#[derive(Module, Debug)]
pub struct ZeroMean {
    #[module(skip)]
    outputs: usize,
}

impl ZeroMean {
    /// Creates the zero mean of `outputs` functions.
    pub fn new(outputs: usize) -> Self {
        Self { outputs }
    }

    #[track_caller]
    fn require(&self, values: &Tensor<2>) {
        let [rows, functions] = values.dims();
        if self.outputs > 1 {
            require_functions([rows, functions], [rows, self.outputs]);
        }
    }
}

impl Mean for ZeroMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        Tensor::zeros([rows, self.outputs], (&x.device(), x.dtype()))
    }

    fn residual(&self, targets: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        self.require(&targets);
        targets
    }

    fn add_to(&self, values: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        self.require(&values);
        values
    }

    fn add_to_draws(&self, draws: Tensor<3>, _x: Tensor<2>) -> Tensor<3> {
        draws
    }
}
