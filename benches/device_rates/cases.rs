//! The operations that are timed.

use std::error::Error;

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inference::Exact,
    kernels::{KernelModule, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{ExactMatmul, Jitter, Stationary, cholesky, covariance_product},
};

/// One call.
type Work = Box<dyn Fn() -> Result<(), Box<dyn Error>>>;

/// Makes the inputs of a call.
type Preparation = Box<dyn Fn(&Device, DType) -> Work>;

/// An operation.
pub struct Case {
    pub name: String,
    /// The most rows or columns of a matrix.
    pub rows: usize,
    /// Floating-point operations of a call, zero if they are not counted.
    pub operations: f64,
    pub prepare: Preparation,
}

/// Rows, terms and columns of products: those of a training step, and squares.
const PRODUCTS: [[usize; 3]; 6] = [
    [128, 128, 256],
    [512, 512, 1024],
    [1024, 1024, 8192],
    [1024, 8192, 1024],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
];

/// Rows of factored matrices.
const FACTORS: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];

/// Input dimensions.
const DIMENSIONS: usize = 8;

pub fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = PRODUCTS.map(product).into();
    all.extend(FACTORS.map(|rows| factor(rows, false)));
    all.extend([512, 1024, 2048].map(|rows| factor(rows, true)));
    all.extend([[128, 256], [1024, 8192]].map(solve));
    all.extend([1_000, 10_000].map(exact));
    all.extend([10_000, 100_000].map(matrix_free));
    all
}

fn normal(shape: [usize; 2], place: (&Device, DType)) -> Tensor<2> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), place)
}

/// Points in a cube.
fn points(rows: usize, place: (&Device, DType)) -> Tensor<2> {
    Tensor::random([rows, DIMENSIONS], Distribution::Uniform(-2.0, 2.0), place)
}

/// A Matérn-5/2 covariance with noise.
fn covariance(rows: usize, place: (&Device, DType)) -> Tensor<2> {
    let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, place);
    let matrix = kernel.matrix_at(points(rows, place));
    let identity = Tensor::<2>::eye(rows, place.0).cast(place.1);
    matrix + identity * 0.1
}

fn product([rows, terms, columns]: [usize; 3]) -> Case {
    Case {
        name: format!("product {rows}x{terms} · {terms}x{columns}"),
        rows: rows.max(terms).max(columns),
        operations: 2.0 * rows as f64 * terms as f64 * columns as f64,
        prepare: Box::new(move |device, dtype| {
            let place = (device, dtype);
            let (a, b) = (
                normal([rows, terms], place),
                normal([terms, columns], place),
            );
            Box::new(move || {
                drop(a.clone().exact_matmul(b.clone()));
                Ok(())
            })
        }),
    }
}

fn factor(rows: usize, with_gradient: bool) -> Case {
    let of_gradient = if with_gradient {
        ", log-determinant and gradient"
    } else {
        ""
    };
    let count = if with_gradient { 3.0 } else { 1.0 };
    Case {
        name: format!("Cholesky {rows}{of_gradient}"),
        rows,
        operations: count * (rows as f64).powi(3) / 3.0,
        prepare: Box::new(move |device, dtype| {
            let matrix = covariance(rows, (device, dtype));
            match with_gradient {
                // A factorization in training, which does not wait for its outcome.
                true => {
                    let matrix = matrix.autodiff().require_grad();
                    Box::new(move || {
                        let factor = cholesky(matrix.clone(), Jitter::NONE)?;
                        drop(factor.log_determinant().sum().backward());
                        Ok(())
                    })
                }
                false => Box::new(move || {
                    drop(cholesky(matrix.clone(), Jitter::NONE)?);
                    Ok(())
                }),
            }
        }),
    }
}

fn solve([rows, columns]: [usize; 2]) -> Case {
    Case {
        name: format!("triangular solve {rows}x{columns}"),
        rows: rows.max(columns),
        operations: (rows * rows) as f64 * columns as f64,
        prepare: Box::new(move |device, dtype| {
            let place = (device, dtype);
            let factor = cholesky(covariance(rows, place), Jitter::NONE);
            let right = normal([rows, columns], place);
            Box::new(move || {
                let factor = factor.as_ref().map_err(ToString::to_string)?;
                drop(factor.solve(right.clone()));
                Ok(())
            })
        }),
    }
}

/// The loss of exact regression with its gradient: a factorization, the weights, and the covariance's inverse.
fn exact(rows: usize) -> Case {
    Case {
        name: format!("exact regression, {rows} rows, gradient"),
        rows,
        operations: (rows as f64).powi(3),
        prepare: Box::new(move |device, dtype| {
            let device = device.clone().autodiff();
            let place = (&device, dtype);
            let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0; 8], 1.0, place);
            let model = Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.1, place));
            let (x, y) = (points(rows, place), normal([rows, 1], place));
            Box::new(move || {
                let loss = model.full_objective(x.clone(), y.clone())?;
                drop(loss.backward());
                Ok(())
            })
        }),
    }
}

fn matrix_free(rows: usize) -> Case {
    Case {
        name: format!("covariance product, {rows} points"),
        rows,
        operations: 0.0,
        prepare: Box::new(move |device, dtype| {
            let place = (device, dtype);
            let (x, vector) = (points(rows, place), normal([rows, 1], place));
            let scales = Tensor::<1>::ones([DIMENSIONS], place);
            let variance = Tensor::<1>::ones([1], place);
            Box::new(move || {
                drop(covariance_product(
                    Stationary::Matern52,
                    x.clone(),
                    None,
                    scales.clone(),
                    variance.clone(),
                    vector.clone(),
                ));
                Ok(())
            })
        }),
    }
}
