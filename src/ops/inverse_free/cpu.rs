//! The terms of an inverse-free bound on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    InverseFreeOps,
    terms::{Relaxation, Widths},
};
use crate::ops::cpu::{
    CpuMemory, Element, join_members, matrix_dims, member, part, with_element, with_matrix_dims,
    write,
};

/// One matrix of a batch with its s̃ and L.
fn relaxation<'a, T: Element>(
    [kuu, variances, lower]: [&'a [T]; 3],
    (index, batch): (usize, usize),
    widths: Widths,
) -> Relaxation<'a, T> {
    let size = variances.len() / batch.max(1);
    Relaxation {
        kuu: member(kuu, index, size, size),
        variances: part(variances, index, batch),
        lower: member(lower, index, size, size),
        widths,
    }
}

impl<B: CpuMemory> InverseFreeOps for B {
    fn relaxed_terms(
        kuu: FloatTensor<B>,
        variances: FloatTensor<B>,
        lower: FloatTensor<B>,
        kuf: FloatTensor<B>,
        mean: FloatTensor<B>,
        probes: FloatTensor<B>,
        widths: Widths,
    ) -> (FloatTensor<B>, Vec<FloatTensor<B>>) {
        let (batch, size, _) = matrix_dims(&kuu.shape());
        let device = kuu.device();
        with_element!(kuu, T => {
            let all = [&kuu, &variances, &lower, &kuf, &mean, &probes].map(|t| B::read::<T>(t));
            let [kuu, variances, lower, kuf, mean, probes] = all.each_ref().map(|t| &t[..]);
            let [outputs, saved @ ..] = join_members(batch, |index| {
                let member = (index, batch);
                let [kuf, mean, probes] = [kuf, mean, probes].map(|all| part(all, index, batch));
                let relaxation = relaxation([kuu, variances, lower], member, widths);
                let (outputs, [a, b, c, d, e]) = relaxation.forward(kuf, mean, probes);
                [outputs, a, b, c, d, e]
            });
            let saved = saved.into_iter().zip(widths.saved());
            let saved = saved.map(|(saved, width)| {
                write::<B, T>(saved, [batch, size, width], &device)
            });
            let saved = saved.collect();
            (write::<B, T>(outputs, [batch, widths.outputs(size)], &device), saved)
        })
    }

    fn relaxed_terms_backward(
        matrices: [FloatTensor<B>; 3],
        gradient: FloatTensor<B>,
        saved: Vec<FloatTensor<B>>,
        widths: Widths,
    ) -> [FloatTensor<B>; 4] {
        let shape = matrices[0].shape();
        let (batch, size, _) = matrix_dims(&shape);
        let device = gradient.device();
        with_element!(gradient, T => {
            let matrices = matrices.each_ref().map(|t| B::read::<T>(t));
            let gradient = B::read::<T>(&gradient);
            let saved: Vec<_> = saved.iter().map(|saved| B::read::<T>(saved)).collect();
            let [kuu, variances, kuf, mean] = join_members(batch, |index| {
                let saved = core::array::from_fn(|kept| part(&saved[kept], index, batch));
                let matrices = matrices.each_ref().map(|t| &t[..]);
                let gradient = part(&gradient, index, batch);
                relaxation(matrices, (index, batch), widths).backward(saved, gradient)
            });
            let columns = |count| with_matrix_dims(shape.clone(), size, count);
            [
                write::<B, T>(kuu, columns(size), &device),
                write::<B, T>(variances, [batch * size], &device),
                write::<B, T>(kuf, columns(widths.data), &device),
                write::<B, T>(mean, columns(widths.means), &device),
            ]
        })
    }
}
