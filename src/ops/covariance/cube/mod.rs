//! The covariance and its gradients on GPUs.

mod backward;
mod forward;
mod gradients;
mod tile;

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::ir::AddressType;

use super::CovarianceOps;
use crate::ops::{
    Stationary,
    cpu::{matrix_dims, with_matrix_dims},
    cube::{CubeBackend, CubeTensor, contiguous, matrices, with_shape},
};

/// The arguments of the covariance as batches. Rows and columns of the points may have any strides.
#[derive(Clone, Debug)]
struct Arguments {
    /// [P, N1, D]
    x1: CubeTensor,
    /// [P, N2, D]
    x2: CubeTensor,
    /// P·D or P values
    lengthscales: CubeTensor,
    /// P values
    variance: CubeTensor,
    /// Whether all dimensions share a lengthscale.
    shared: bool,
}

impl Arguments {
    fn new(x1: CubeTensor, x2: CubeTensor, scales: CubeTensor, variance: CubeTensor) -> Self {
        let (x1, x2) = (matrices(x1), matrices(x2));
        Self {
            shared: scales.shape().num_elements() == x1.shape()[0],
            x1,
            x2,
            lengthscales: contiguous(scales),
            variance: contiguous(variance),
        }
    }

    /// P, N1, N2
    fn sizes(&self) -> [usize; 3] {
        let (first, second) = (self.x1.shape(), self.x2.shape());
        [first[0], first[1], second[1]]
    }

    fn dimensions(&self) -> usize {
        self.x1.shape()[2]
    }

    fn address_type(&self) -> AddressType {
        let points = self.x1.required_address_type();
        points.max(self.x2.required_address_type())
    }

    /// These arguments with the two sets of points exchanged.
    fn exchanged(self) -> Self {
        Self {
            x1: self.x2,
            x2: self.x1,
            ..self
        }
    }
}

impl CovarianceOps for CubeBackend {
    fn covariance(
        x1: CubeTensor,
        x2: CubeTensor,
        lengthscales: CubeTensor,
        variance: CubeTensor,
        kind: Stationary,
    ) -> CubeTensor {
        let [(_, rows, _), (_, columns, _)] = [&x1, &x2].map(|points| matrix_dims(&points.shape()));
        let shape = with_matrix_dims(x1.shape(), rows, columns);
        let arguments = Arguments::new(x1, x2, lengthscales, variance);
        with_shape(forward::covariance(arguments, kind), shape)
    }

    fn covariance_backward(
        arguments: [CubeTensor; 4],
        gradient: CubeTensor,
        kind: Stationary,
        wanted: [bool; 4],
    ) -> [Option<CubeTensor>; 4] {
        let shapes = arguments.each_ref().map(|argument| argument.shape());
        let [x1, x2, lengthscales, variance] = arguments;
        let arguments = Arguments::new(x1, x2, lengthscales, variance);
        let gradients = gradients::gradients(arguments, matrices(gradient), kind, wanted);
        let mut shapes = shapes.into_iter();
        gradients.map(|gradient| {
            let shape = shapes.next();
            gradient
                .zip(shape)
                .map(|(gradient, shape)| with_shape(gradient, shape))
        })
    }
}
