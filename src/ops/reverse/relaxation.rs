//! The reverse mode of the terms of an inverse-free bound.

use burn::backend::{
    Autodiff,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops},
    },
    tensor::FloatTensor,
};

use super::Record;
use crate::ops::{extension::LinearAlgebraReverse, host::relaxation::Widths};

reverse_step!(
    TermsStep[4](state: ([FloatTensor<B>; 3], [FloatTensor<B>; 5], Widths), gradient) -> |_| {
        let (matrices, saved, widths) = state;
        B::relaxed_terms_reverse(matrices, saved, gradient, widths).map(Some)
    }
);

/// Of the matrices K_uu, s̃ and L and the columns K_uf, m̃ and the probes.
pub(super) fn terms<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    matrices: [FloatTensor<Autodiff<B, C>>; 3],
    columns: [FloatTensor<Autodiff<B, C>>; 3],
    widths: Widths,
) -> FloatTensor<Autodiff<B, C>> {
    let [kuu, variances, lower] = matrices.map(|t| t.into_parts());
    let [kuf, mean, probes] = columns.map(|t| t.into_parts());
    let matrices = [kuu.0, variances.0, lower.0];
    let columns = [kuf.0, mean.0, probes.0];
    let (output, saved) = B::relaxed_terms_saving(matrices.clone(), columns, widths);
    TermsStep.record::<C>(
        [kuu.1, variances.1, kuf.1, mean.1],
        (matrices, saved, widths),
        output,
    )
}
