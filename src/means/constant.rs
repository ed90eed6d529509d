//! Constant means.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{AnyMean, Mean, MeanConfig, MeanDefinition, require_functions};
use crate::register;

/// Configuration of a [`ConstantMean`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct ConstantMeanConfig {
    /// The initial value of every constant.
    #[serde(default)]
    pub value: f64,
}

register!(Mean, "constant", ConstantMeanConfig, "A trained constant");

impl MeanDefinition for ConstantMeanConfig {
    fn init(&self, _inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
        ConstantMean::new(Tensor::full([outputs], self.value, options)).into()
    }
}

impl MeanConfig {
    /// A [`ConstantMean`] that starts at `value`.
    pub fn constant(value: f64) -> Self {
        ConstantMeanConfig { value }.into()
    }
}

/// `m(x) = c`, with a trained constant for each function.
#[derive(Module, Debug)]
pub struct ConstantMean {
    /// c, `[P]`
    constant: Param<Tensor<1>>,
}

impl ConstantMean {
    /// Creates a constant mean that starts at `constant`, `[P]`.
    pub fn new(constant: Tensor<1>) -> Self {
        Self {
            constant: Param::from_tensor(constant),
        }
    }

    /// The constants, `[P]`.
    pub fn constant(&self) -> Tensor<1> {
        self.constant.val()
    }

    /// The constants as one row, `[1, P]`.
    fn row(&self) -> Tensor<2> {
        self.constant().unsqueeze()
    }

    /// The row of constants for values of the functions, `[N, P]`.
    #[track_caller]
    fn row_for(&self, values: &Tensor<2>) -> Tensor<2> {
        let (row, [rows, functions]) = (self.row(), values.dims());
        let [_, own] = row.dims();
        require_functions([rows, functions], [rows, own]);
        row
    }
}

impl Mean for ConstantMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let row = self.row(); // [1, P]
        let ([rows, _], [_, outputs]) = (x.dims(), row.dims());
        match rows {
            0 => Tensor::zeros([0, outputs], (&row.device(), row.dtype())),
            rows => row.expand([rows, outputs]),
        }
    }

    fn residual(&self, targets: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        targets.clone() - self.row_for(&targets)
    }

    fn add_to(&self, values: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        values.clone() + self.row_for(&values)
    }
}
