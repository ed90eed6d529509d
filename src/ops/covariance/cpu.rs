//! The covariance on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{CovarianceOps, differences};
use crate::ops::{
    Stationary,
    cpu::{
        CpuMemory, join_members, matrix_dims, part, with_element, with_matrix_dims, write,
        write_like,
    },
    stationary::expand,
};

impl<B: CpuMemory> CovarianceOps for B {
    fn covariance(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        kind: Stationary,
    ) -> FloatTensor<B> {
        let (batch, rows, dimensions) = matrix_dims(&x1.shape());
        let (_, columns, _) = matrix_dims(&x2.shape());
        let shape = with_matrix_dims(x1.shape(), rows, columns);
        with_element!(x1, T => {
            let (first, second) = (B::read::<T>(&x1), B::read::<T>(&x2));
            let (scales, variances) = (B::read::<T>(&lengthscales), B::read::<T>(&variance));
            let [values] = join_members(batch, |index| {
                let scales = expand(part(&scales, index, batch), dimensions);
                let (x1, x2) = (part(&first, index, batch), part(&second, index, batch));
                [differences::covariance(kind, x1, x2, &scales, variances[index])]
            });
            write::<B, T>(values, shape, &x1.device())
        })
    }

    fn covariance_backward(
        arguments: [FloatTensor<B>; 4],
        gradient: FloatTensor<B>,
        kind: Stationary,
        _: [bool; 4],
    ) -> [Option<FloatTensor<B>>; 4] {
        let (batch, _, dimensions) = matrix_dims(&arguments[0].shape());
        with_element!(gradient, T => {
            let all = arguments.each_ref().map(|argument| B::read::<T>(argument));
            let gradient = B::read::<T>(&gradient);
            let gradients = join_members(batch, |index| {
                let [x1, x2, given, variance] =
                    all.each_ref().map(|values| part(values, index, batch));
                let gradients = differences::covariance_backward(
                    kind,
                    x1,
                    x2,
                    &expand(given, dimensions),
                    variance[0],
                    part(&gradient, index, batch),
                );
                let mut scales = gradients.lengthscales;
                if given.len() != scales.len() {
                    scales = vec![scales.iter().fold(T::default(), |sum, &value| sum + value)];
                }
                [gradients.x1, gradients.x2, scales, vec![gradients.variance]]
            });
            let ([x1, x2, scales, variance], write) = (gradients, write_like::<B, T>);
            let [of_x1, of_x2, of_scales, of_variance] = &arguments;
            [
                write(x1, of_x1),
                write(x2, of_x2),
                write(scales, of_scales),
                write(variance, of_variance),
            ]
            .map(Some)
        })
    }
}
