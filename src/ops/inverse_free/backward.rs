//! The terms of an inverse-free bound under autodiff.

use burn::backend::{Autodiff, AutodiffBackend, tensor::FloatTensor};

use super::{InverseFreeBackward, InverseFreeOps, terms::Widths};
use crate::ops::backward::{CheckpointStrategy, Record, backward_step, split};

backward_step!(
    TermsStep: InverseFreeBackward [4](
        state: ([FloatTensor<B>; 3], Vec<FloatTensor<B>>, Widths),
        gradient
    ) -> |_| {
        let (matrices, saved, widths) = state;
        B::relaxed_terms_backward(matrices, saved, gradient, widths).map(Some)
    }
);

impl<B: InverseFreeBackward, C: CheckpointStrategy> InverseFreeOps for Autodiff<B, C> {
    fn relaxed_terms(
        kuu: FloatTensor<Self>,
        variances: FloatTensor<Self>,
        lower: FloatTensor<Self>,
        kuf: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        probes: FloatTensor<Self>,
        widths: Widths,
    ) -> (FloatTensor<Self>, Vec<FloatTensor<Self>>) {
        let ([kuu, variances, kuf, mean], nodes) = split::<B, C, _>([kuu, variances, kuf, mean]);
        let [lower, probes] = [lower, probes].map(|tensor| tensor.into_primitive());
        let matrices = [kuu, variances, lower];
        let [kuu, variances, lower] = matrices.clone();
        let (terms, saved) = B::relaxed_terms(kuu, variances, lower, kuf, mean, probes, widths);
        let state = (matrices, saved.clone(), widths);
        let terms = TermsStep.record::<C>(nodes, state, terms);
        (terms, saved.into_iter().map(Self::from_inner).collect())
    }
}
