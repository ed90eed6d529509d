//! Natural-gradient matrix inversion on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{InversionOps, products};
use crate::ops::cpu::{CpuMemory, Scalar, map_members, member, with_element, write};

impl<B: CpuMemory> InversionOps for B {
    fn congruence(matrix: FloatTensor<B>, lower: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(matrix, T => {
            let (values, triangle) = (B::read::<T>(&matrix), B::read::<T>(&lower));
            map_members::<B, T>(&matrix, |index, out| {
                let size = out.nrows();
                let triangle = member(&triangle, index, size, size);
                products::congruence(member(&values, index, size, size), triangle, out);
            })
        })
    }

    fn identity_distance(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let (squares, largest) = products::identity_distance(&B::read::<T>(&matrix), size);
            let values = [squares.sqrt(), largest].map(<T as Scalar>::from_f64);
            write::<B, T>(values.to_vec(), [2], &matrix.device())
        })
    }

    fn inversion_step(
        lower: FloatTensor<B>,
        matrix: FloatTensor<B>,
        step_size: f64,
    ) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let (triangle, values) = (B::read::<T>(&lower), B::read::<T>(&matrix));
            let next = products::descended(&triangle, &values, size, step_size as T);
            write::<B, T>(next, [size, size], &matrix.device())
        })
    }
}
