//! Normalization between layers.

use burn::{
    module::Param,
    nn,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use crate::ops::layer_normalization;

/// What is done to the sums of a layer before its function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// They are left as they are.
    #[default]
    None,
    /// The sums of each datum are brought to mean 0 and variance 1, then scaled and shifted by trained
    /// numbers (J. Ba, J. Kiros and G. Hinton, *Layer Normalization*, arXiv:1607.06450, eq. 3 and 4). The
    /// outputs for a datum do not depend on the batch it is in, so that they are basis functions.
    Layer,
}

/// ε, as elsewhere.
const EPSILON: f64 = 1e-5;

/// What `norm` makes of the sums of a layer, [N, D].
pub(super) fn normalize(norm: &nn::LayerNorm, sums: Tensor<2>) -> Tensor<2> {
    let scale = norm.gamma.val();
    let shift = match &norm.beta {
        Some(shift) => shift.val(),
        None => scale.zeros_like(),
    };
    layer_normalization(sums, scale, shift, EPSILON)
}

impl Normalization {
    /// The normalization of `width` numbers, which neither scales nor shifts at first.
    pub(super) fn layer(width: usize, options: &TensorCreationOptions) -> nn::LayerNorm {
        let mut layer = nn::LayerNormConfig::new(width)
            .with_epsilon(EPSILON)
            .init(&options.device);
        layer.gamma = Param::from_tensor(Tensor::ones([width], options.clone()));
        layer.beta = Some(Param::from_tensor(Tensor::zeros([width], options.clone())));
        layer
    }
}
