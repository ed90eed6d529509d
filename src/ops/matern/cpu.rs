//! The Matérn profile on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    MaternOps,
    mixture::{Mixture, Slopes, Values},
};
use crate::ops::cpu::{
    CpuMemory, Scalar, in_parts, threads, vectorized, with_element, write, write_like,
};

/// Number of values from which two threads are faster than one.
const PARALLEL_FROM: usize = 1 << 8;

impl<B: CpuMemory> MaternOps for B {
    fn matern(squares: FloatTensor<B>, smoothness: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(squares, T => {
            let (values, members) = (B::read::<T>(&squares), B::read::<T>(&smoothness));
            let mut results = vec![T::default(); values.len()];
            let size = values.len() / members.len().max(1);
            for (index, smoothness) in members.iter().enumerate() {
                let own = index * size..(index + 1) * size;
                profile(smoothness.to_f64(), &values[own.clone()], &mut results[own]);
            }
            write_like::<B, T>(results, &squares)
        })
    }

    fn matern_backward(
        [squares, smoothness]: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        with_element!(squares, T => {
            let (values, members) = (B::read::<T>(&squares), B::read::<T>(&smoothness));
            let mut gradients = B::take::<T>(gradient);
            let size = values.len() / members.len().max(1);
            let mut of_smoothness = Vec::with_capacity(members.len());
            for (index, smoothness) in members.iter().enumerate() {
                let own = index * size..(index + 1) * size;
                let slopes = slopes(smoothness.to_f64(), &values[own.clone()]);
                let mut total = 0.0;
                for (gradient, [slope, other]) in gradients[own].iter_mut().zip(slopes) {
                    let cotangent = gradient.to_f64();
                    total += cotangent * other;
                    *gradient = <T as Scalar>::from_f64(cotangent * slope);
                }
                of_smoothness.push(<T as Scalar>::from_f64(total));
            }
            let device = squares.device();
            [
                write::<B, T>(gradients, squares.shape(), &device),
                write::<B, T>(of_smoothness, smoothness.shape(), &device),
            ]
        })
    }
}

/// φ at squared distances, for one smoothness.
fn profile<T: Scalar>(smoothness: f64, squares: &[T], results: &mut [T]) {
    let mixture = Mixture::new(smoothness, squares);
    let parts = threads::count_for(results.len(), PARALLEL_FROM);
    in_parts(results, 1, parts, &|results, first| {
        let squares = &squares[first..][..results.len()];
        vectorized::run(Values {
            mixture: &mixture,
            squares,
            results,
        });
    });
}

/// `dφ/dr²` and `dφ/dν` at squared distances, for one smoothness.
fn slopes<T: Scalar>(smoothness: f64, squares: &[T]) -> Vec<[f64; 2]> {
    let mixture = Mixture::new(smoothness, squares);
    let mut results = vec![[0.0; 2]; squares.len()];
    let parts = threads::count_for(results.len(), PARALLEL_FROM);
    in_parts(&mut results, 1, parts, &|results, first| {
        let squares = &squares[first..][..results.len()];
        vectorized::run(Slopes {
            mixture: &mixture,
            squares,
            results,
        });
    });
    results
}
