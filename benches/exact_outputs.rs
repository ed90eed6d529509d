//! Measures the evidence of several outputs and its gradient by eigenvectors against a factor of the dense covariance.
//!
//! `cargo bench --bench exact_outputs` prints one line of JSON for each table of the intrinsic coregionalization model
//! in double precision: milliseconds for the log evidence and the gradient of all parameters, by a factor of the
//! covariance of all known targets (`dense`), by the eigenvectors of the covariances of inputs and of outputs
//! (`kronecker`), and how many times faster the latter is (`speedup`). The ways take turns, and medians count.
//! `-- ROWS OUTPUTS HOLES` runs another table.

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inference::ExactOutputs,
    kernels::{ActiveDimensions, Index, KernelModule, Product, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Stationary, kronecker_log_density, number},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;
mod median;

/// Rows, outputs and holes of the tables.
const TABLES: [[usize; 3]; 9] = [
    [300, 4, 0],
    [300, 4, 12],
    [300, 4, 120],
    [100, 4, 0],
    [100, 2, 0],
    [300, 2, 0],
    [300, 3, 0],
    [50, 8, 0],
    [100, 10, 20],
];
const DIMENSIONS: usize = 4;

/// Repetitions by turns, of which the median counts.
const REPETITIONS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let tables = match arguments::numbers()?[..] {
        [rows, outputs, holes] => vec![[rows, outputs, holes]],
        _ => TABLES.to_vec(),
    };
    for table @ [rows, outputs, holes] in tables {
        let case = Case::new(table);
        let ways: [&dyn Fn() -> Tensor<1>; 2] = [&|| case.dense(), &|| case.by_eigenvectors()];
        let values = ways.map(|way| number(way()));
        let difference = (values[0] - values[1]).abs() / values[0].abs();
        assert!(difference < 1e-9, "the ways differ by {difference:e}");
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..REPETITIONS {
            for (way, times) in ways.iter().zip(&mut times) {
                let begin = Instant::now();
                drop(way().backward());
                times.push(begin.elapsed());
            }
        }
        let [dense, kronecker] = times.map(|times| 1e3 * median::median(times).as_secs_f64());
        println!(
            r#"{{"rows": {rows}, "outputs": {outputs}, "holes": {holes}, "dense": {dense:.2}, "kronecker": {kronecker:.2}, "speedup": {:.2}}}"#,
            dense / kronecker
        );
    }
    Ok(())
}

/// A table of random targets and its model.
struct Case {
    inputs: Tensor<2>,
    targets: Tensor<2>,
    known: Tensor<2>,
    holes: Vec<usize>,
    kernel: StationaryKernel,
    outputs: Index,
    likelihood: Gaussian,
    of_entries: ExactOutputs<Product>,
}

impl Case {
    fn new([rows, outputs, holes]: [usize; 3]) -> Self {
        let device = Device::flex().autodiff();
        device.seed(0);
        let options = (&device, DType::F64);
        let random =
            |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), options);
        let cells = rows * outputs;
        let holes: Vec<usize> = (0..holes).map(|hole| hole * cells / holes).collect();
        let mut values: Vec<f64> = random([rows, outputs]).into_data().iter().collect();
        holes.iter().for_each(|&hole| values[hole] = f64::NAN);
        let known: Vec<f64> = (values.iter().copied())
            .filter(|value| !value.is_nan())
            .collect();
        let table = |values: &[f64], width: usize| {
            Tensor::<1>::from_data(values, options).reshape([values.len() / width, width])
        };
        let targets = table(&values, outputs);
        let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, options);
        let weights = random([outputs, 2]);
        let index =
            |dimension| Index::new(weights.clone(), &vec![0.3; outputs], dimension, options);
        let likelihood = Gaussian::of_outputs(&vec![0.1; outputs], options);
        let of_inputs = ActiveDimensions::new(kernel.clone(), (0..DIMENSIONS).collect());
        Self {
            inputs: random([rows, DIMENSIONS]),
            known: table(&known, 1),
            // A kernel of the number of the output, too, about which nothing is known.
            of_entries: ExactOutputs::new(
                Product::new(index(DIMENSIONS), of_inputs),
                None,
                ZeroMean::new(outputs),
                likelihood.clone(),
                &targets,
            ),
            outputs: index(0),
            targets,
            holes,
            kernel,
            likelihood,
        }
    }

    fn dense(&self) -> Tensor<1> {
        let (inputs, targets) = (self.inputs.clone(), self.targets.clone());
        match self.of_entries.full_objective(inputs, targets) {
            Ok(evidence) => evidence,
            Err(error) => panic!("{error}"),
        }
    }

    fn by_eigenvectors(&self) -> Tensor<1> {
        let evidence = kronecker_log_density(
            self.kernel.matrix_at(self.inputs.clone()),
            self.outputs.covariance_of_levels(),
            self.likelihood.noise(),
            self.known.clone(),
            &self.holes,
        );
        match evidence {
            Ok(evidence) => evidence,
            Err(error) => panic!("{error}"),
        }
    }
}
