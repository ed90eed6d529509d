//! Linear means.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{AnyMean, Mean, MeanConfig, MeanDefinition, projected};
use crate::register;

/// Configuration of a [`LinearMean`], which starts at zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearMeanConfig {}

register!(
    Mean,
    "linear",
    LinearMeanConfig,
    "A trained linear function of the inputs"
);

impl MeanDefinition for LinearMeanConfig {
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
        LinearMean::zeros(inputs, outputs, options).into()
    }
}

impl MeanConfig {
    /// A [`LinearMean`].
    pub fn linear() -> Self {
        LinearMeanConfig {}.into()
    }
}

/// `m(x) = Wᵀx + c`, with trained weights and offsets.
///
/// Training picks a single slope, so predictions do not include its uncertainty: with few data,
/// intervals far from them are too narrow. Adding a [`Linear`](crate::kernels::Linear) kernel instead
/// gives the slope a Gaussian prior and integrates it out, and a
/// [`Constant`](crate::kernels::Constant) kernel does the same for the offset (C. Rasmussen and C.
/// Williams, *Gaussian Processes for Machine Learning*, §2.7).
#[derive(Module, Debug)]
pub struct LinearMean {
    /// W, [D, P]
    weights: Param<Tensor<2>>,
    /// c, `[P]`
    offset: Param<Tensor<1>>,
}

impl LinearMean {
    /// Creates a linear mean that starts at `weights`, `[D, P]`, and `offset`, `[P]`.
    ///
    /// # Panics
    ///
    /// If they have different numbers of functions P.
    #[track_caller]
    pub fn new(weights: Tensor<2>, offset: Tensor<1>) -> Self {
        assert!(
            weights.dims()[1] == offset.dims()[0],
            "LinearMean: weights {:?}, offset {:?}; expected [D, P], [P]",
            weights.dims(),
            offset.dims()
        );
        Self {
            weights: Param::from_tensor(weights),
            offset: Param::from_tensor(offset),
        }
    }

    /// Creates a linear mean that starts at zero, for `outputs` functions of inputs with
    /// `dimensions` dimensions.
    pub fn zeros(
        dimensions: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self::new(
            Tensor::zeros([dimensions, outputs], options.clone()),
            Tensor::zeros([outputs], options),
        )
    }

    /// The weights, `[D, P]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }

    /// The offsets, `[P]`.
    pub fn offset(&self) -> Tensor<1> {
        self.offset.val()
    }
}

impl Mean for LinearMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        projected(x, self.weights()) + self.offset().unsqueeze()
    }
}
