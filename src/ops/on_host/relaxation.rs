//! The terms of an inverse-free bound on the host.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{member, part};
use crate::ops::{
    host::relaxation::{Relaxation, Widths},
    host_access::{HostAccess, matrix_dims, with_element, write},
};

/// The outputs, one row a matrix, and what the reverse needs.
pub(super) fn forward<B: HostAccess>(
    [kuu, variances, lower]: [FloatTensor<B>; 3],
    [kuf, mean, probes]: [FloatTensor<B>; 3],
    widths: Widths,
) -> (FloatTensor<B>, [FloatTensor<B>; 5]) {
    let (batch, size, _) = matrix_dims(&kuu.shape());
    let device = kuu.device();
    with_element!(kuu, T => {
        let all = [&kuu, &variances, &lower, &kuf, &mean, &probes].map(|t| B::read::<T>(t));
        let [kuu, variances, lower, kuf, mean, probes] = &all;
        let mut outputs = Vec::with_capacity(batch * widths.outputs(size));
        let mut saved = [const { Vec::new() }; 5];
        for index in 0..batch {
            let relaxation = Relaxation {
                kuu: member(kuu, index, size, size),
                variances: part(variances, index, batch),
                lower: member(lower, index, size, size),
                widths,
            };
            let [kuf, mean, probes] = [kuf, mean, probes].map(|all| part(all, index, batch));
            let (output, kept) = relaxation.forward(kuf, mean, probes);
            outputs.extend(output);
            for (saved, kept) in saved.iter_mut().zip(kept) {
                if batch == 1 {
                    *saved = kept;
                } else {
                    saved.extend(kept);
                }
            }
        }
        let outputs = write::<B, T>(outputs, [batch, widths.outputs(size)], &device);
        let mut widths = widths.saved().into_iter();
        let saved = saved.map(|saved| {
            write::<B, T>(saved, [batch, size, widths.next().unwrap_or(0)], &device)
        });
        (outputs, saved)
    })
}

/// The gradients of K_uu, s̃, K_uf and m̃.
pub(super) fn reverse<B: HostAccess>(
    [kuu, variances, lower]: [FloatTensor<B>; 3],
    saved: [FloatTensor<B>; 5],
    gradient: FloatTensor<B>,
    widths: Widths,
) -> [FloatTensor<B>; 4] {
    let shape = kuu.shape();
    let (batch, size, _) = matrix_dims(&shape);
    let device = kuu.device();
    with_element!(kuu, T => {
        let all = [&kuu, &variances, &lower, &gradient].map(|t| B::read::<T>(t));
        let [kuu, variances, lower, gradient] = &all;
        let saved = saved.each_ref().map(|saved| B::read::<T>(saved));
        let mut gradients = [const { Vec::new() }; 4];
        for index in 0..batch {
            let relaxation = Relaxation {
                kuu: member(kuu, index, size, size),
                variances: part(variances, index, batch),
                lower: member(lower, index, size, size),
                widths,
            };
            let saved = saved.each_ref().map(|saved| part(saved, index, batch));
            let found = relaxation.reverse(saved, part(gradient, index, batch));
            for (all, found) in gradients.iter_mut().zip(found) {
                if batch == 1 {
                    *all = found;
                } else {
                    all.extend(found);
                }
            }
        }
        let columns = |count: usize| {
            let mut shape = shape.clone();
            let rank = shape.num_dims();
            shape.as_mut_slice()[rank - 1] = count;
            shape
        };
        let [kuu, variances, kuf, mean] = gradients;
        [
            write::<B, T>(kuu, columns(size), &device),
            write::<B, T>(variances, [batch * size], &device),
            write::<B, T>(kuf, columns(widths.data), &device),
            write::<B, T>(mean, columns(widths.means), &device),
        ]
    })
}
