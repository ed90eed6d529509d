//! Layer normalization on the CPU.

use burn::backend::tensor::FloatTensor;

use super::{LayerNormalizationOps, rows::LayerNormalization};
use crate::ops::cpu::{CpuMemory, with_element, write_like};

impl<B: CpuMemory> LayerNormalizationOps for B {
    fn layer_normalization(
        x: FloatTensor<B>,
        scale: FloatTensor<B>,
        shift: FloatTensor<B>,
        epsilon: f64,
    ) -> FloatTensor<B> {
        with_element!(x, T => {
            let [values, scale, shift] = [&x, &scale, &shift].map(|t| B::read::<T>(t));
            let rows = LayerNormalization { x: &values, scale: &scale, epsilon: epsilon as T };
            write_like::<B, T>(rows.values(&shift), &x)
        })
    }

    fn layer_normalization_backward(
        x: FloatTensor<B>,
        scale: FloatTensor<B>,
        gradient: FloatTensor<B>,
        epsilon: f64,
    ) -> [FloatTensor<B>; 3] {
        with_element!(x, T => {
            let (values, scales) = (B::read::<T>(&x), B::read::<T>(&scale));
            let rows = LayerNormalization { x: &values, scale: &scales, epsilon: epsilon as T };
            let gradients = rows.backward(&B::read::<T>(&gradient));
            [
                write_like::<B, T>(gradients.x, &x),
                write_like::<B, T>(gradients.scale, &scale),
                write_like::<B, T>(gradients.shift, &scale),
            ]
        })
    }
}
