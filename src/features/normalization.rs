//! Normalization between layers.

use burn::{
    module::Param,
    nn,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use crate::ops::layer_normalization;

/// The normalization of a layer's sums before the activation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// No normalization.
    #[default]
    None,
    /// Layer normalization: the sums of each data point are normalized to mean 0 and variance 1,
    /// then scaled and shifted by trained parameters (J. Ba, J. Kiros and G. Hinton, *Layer
    /// Normalization*, arXiv:1607.06450, eq. 3 and 4). The outputs for a data point do not depend
    /// on its batch, so they are valid basis functions.
    Layer,
}

/// The default value of ε.
const EPSILON: f64 = 1e-5;

/// Applies `norm` to the sums of a layer, [N, D].
pub(super) fn normalize(norm: &nn::LayerNorm, sums: Tensor<2>) -> Tensor<2> {
    let scale = norm.gamma.val();
    let shift = match &norm.beta {
        Some(shift) => shift.val(),
        None => scale.zeros_like(),
    };
    layer_normalization(sums, scale, shift, EPSILON)
}

impl Normalization {
    /// Creates the normalization of `width` values, which initially neither scales nor shifts.
    pub(super) fn layer(width: usize, options: &TensorCreationOptions) -> nn::LayerNorm {
        let mut layer = nn::LayerNormConfig::new(width)
            .with_epsilon(EPSILON)
            .init(&options.device);
        layer.gamma = Param::from_tensor(Tensor::ones([width], options.clone()));
        layer.beta = Some(Param::from_tensor(Tensor::zeros([width], options.clone())));
        layer
    }
}
