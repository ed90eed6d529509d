//! Rows of mean zero and variance one, on the host where its memory is.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use crate::ops::{
    host::layer_normalization::LayerNormalization,
    host_access::{HostAccess, with_element, write},
};

pub(super) fn forward<B: HostAccess>(
    x: FloatTensor<B>,
    scale: FloatTensor<B>,
    shift: FloatTensor<B>,
    epsilon: f64,
) -> FloatTensor<B> {
    if !B::IN_PLACE {
        return B::layer_norm(x, scale, Some(shift), epsilon);
    }
    with_element!(x, T => {
        let (values, scale, shift) = (B::read::<T>(&x), B::read::<T>(&scale), B::read::<T>(&shift));
        let rows = LayerNormalization {
            x: &values,
            scale: &scale,
            epsilon: epsilon as T,
        };
        write::<B, T>(rows.values(&shift), x.shape(), &x.device())
    })
}

pub(super) fn reverse<B: HostAccess>(
    x: FloatTensor<B>,
    scale: FloatTensor<B>,
    gradient: FloatTensor<B>,
    epsilon: f64,
) -> [FloatTensor<B>; 3] {
    if !B::IN_PLACE {
        return reverse_composed::<B>(x, scale, gradient, epsilon);
    }
    with_element!(x, T => {
        let (values, scales) = (B::read::<T>(&x), B::read::<T>(&scale));
        let rows = LayerNormalization {
            x: &values,
            scale: &scales,
            epsilon: epsilon as T,
        };
        let gradients = rows.reverse(&B::read::<T>(&gradient));
        let write = |values, of: &FloatTensor<B>| write::<B, T>(values, of.shape(), &of.device());
        [
            write(gradients.x, &x),
            write(gradients.scale, &scale),
            write(gradients.shift, &scale),
        ]
    })
}

/// Of the backend's own operations: `x̄ = (h − mean h − n·mean(h·n))/√(v + ε)` with `h = γ·G`.
fn reverse_composed<B: HostAccess>(
    x: FloatTensor<B>,
    scale: FloatTensor<B>,
    gradient: FloatTensor<B>,
    epsilon: f64,
) -> [FloatTensor<B>; 3] {
    let (shape, width) = (scale.shape(), scale.shape()[0]);
    let row = B::float_reshape(scale, [1, width].into());
    let centered = B::float_sub(x.clone(), B::float_mean_dim(x, 1));
    let variance = B::float_mean_dim(B::float_mul(centered.clone(), centered.clone()), 1);
    let deviation = B::float_sqrt(B::float_add_scalar(variance, epsilon.into()));
    let normal = B::float_div(centered, deviation.clone());
    let columns = |sums: FloatTensor<B>| B::float_reshape(B::float_sum_dim(sums, 0), shape.clone());
    let scales = columns(B::float_mul(gradient.clone(), normal.clone()));
    let shifts = columns(gradient.clone());
    let pulled = B::float_mul(gradient, row);
    let mean = B::float_mean_dim(pulled.clone(), 1);
    let along = B::float_mean_dim(B::float_mul(pulled.clone(), normal.clone()), 1);
    let rest = B::float_sub(B::float_sub(pulled, mean), B::float_mul(normal, along));
    [B::float_div(rest, deviation), scales, shifts]
}
