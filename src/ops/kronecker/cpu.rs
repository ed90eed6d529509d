//! The log density on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    KroneckerOps, Request,
    slopes::Slopes,
    solution::Solution,
    system::{System, Table},
};
use crate::ops::{
    cpu::{CpuMemory, Element, Scalar, with_element, write, write_like},
    decompositions::count_decomposition,
};

impl<B: CpuMemory> KroneckerOps for B {
    fn kronecker(
        covariance: FloatTensor<B>,
        outputs: FloatTensor<B>,
        noise: FloatTensor<B>,
        residual: FloatTensor<B>,
        request: Request<'_>,
    ) -> (
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
    ) {
        count_decomposition();
        let device = covariance.device();
        with_element!(covariance, T => {
            let values = [&covariance, &outputs, &noise, &residual].map(doubles::<B, T>);
            let (outcome, slopes) = evaluated(values.each_ref().map(Vec::as_slice), request);
            let written = |slope: Vec<f64>, like| write_like::<B, T>(rounded(&slope), like);
            let outcome = [&outcome[..], &slopes.noise].concat();
            (
                write::<B, T>(rounded(&outcome), [1, outcome.len()], &device),
                written(slopes.covariance, &covariance),
                written(slopes.outputs, &outputs),
                written(slopes.residual, &residual),
            )
        })
    }
}

/// The values of a tensor in double precision.
fn doubles<B: CpuMemory, T: Element>(tensor: &FloatTensor<B>) -> Vec<f64> {
    let values = B::read::<T>(tensor);
    values.iter().map(|value| value.to_f64()).collect()
}

fn rounded<T: Element>(values: &[f64]) -> Vec<T> {
    let round = |&value: &f64| <T as Scalar>::from_f64(value);
    values.iter().map(round).collect()
}

/// Whether the covariance is refused, the log density, and the derivatives, zero unless wanted.
pub fn evaluated(values: [&[f64]; 4], request: Request<'_>) -> ([f64; 2], Slopes) {
    let [covariance, outputs, noise, residual] = values;
    let table = Table {
        covariance,
        outputs,
        noise,
        residual,
        holes: request.holes,
    };
    let none = || {
        let [covariance, outputs, noise, residual] = values.map(|values| vec![0.0; values.len()]);
        Slopes {
            covariance,
            outputs,
            noise,
            residual,
        }
    };
    let solved = System::new(&table).and_then(|system| {
        let solution = Solution::new(&system, &table)?;
        Some((system, solution))
    });
    match solved {
        Some((system, solution)) => {
            let slopes = match request.wants_gradient {
                true => Slopes::new(&system, &solution, &table),
                false => none(),
            };
            ([0.0, solution.log_density], slopes)
        }
        None => ([1.0, 0.0], none()),
    }
}
