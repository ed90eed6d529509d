//! Times of the operations behind a training step, each against the time that its multiply-adds take
//! at the rate of a matrix product measured in the same run (the covariance: against one matrix
//! product of the same output).
//!
//! `cargo bench -p burn-gp-models --bench operations` prints a line of JSON an operation.

use std::time::{Duration, Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp::ops::{
    Jitter, Stationary, cholesky, covariance, covariance_matrix, projected_moments,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rows of the square matrices, and right-hand sides.
const SIZE: usize = 1024;

const DIMENSIONS: usize = 8;

fn main() {
    for dtype in [DType::F32, DType::F64] {
        let device = Device::flex();
        device.seed(0);
        let random = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), (&device, dtype))
        };
        let ones = |count: usize| Tensor::<1>::ones([count], (&device, dtype));
        let (x, z) = (random([SIZE, DIMENSIONS]), random([SIZE, DIMENSIONS]));
        let (square, other) = (random([SIZE, SIZE]), random([SIZE, SIZE]));
        let product = median(|| square.clone().matmul(other.clone()));
        let report = |name: &str, time: Duration, products: f64| {
            let reference = product.as_secs_f64() * products;
            println!(
                "{{\"operation\": \"{name}\", \"type\": \"{dtype:?}\", \"size\": {SIZE}, \"median_ms\": {:.3}, \
                 \"reference_ms\": {:.3}, \"ratio\": {:.2}}}",
                time.as_secs_f64() * 1e3,
                reference * 1e3,
                time.as_secs_f64() / reference,
            );
        };
        let matern = Stationary::Matern52;
        let kuf = || covariance(matern, z.clone(), x.clone(), ones(DIMENSIONS), ones(1));
        report("covariance", median(kuf), 1.0);
        let tracked = z.clone().autodiff().require_grad();
        report(
            "covariance, both directions",
            median(|| {
                let inputs = x.clone().autodiff();
                let scales = (ones(DIMENSIONS).autodiff(), ones(1).autodiff());
                covariance(matern, tracked.clone(), inputs, scales.0, scales.1)
                    .sum()
                    .backward()
            }),
            1.0,
        );
        let kuu = covariance_matrix(matern, z.clone(), ones(DIMENSIONS), ones(1));
        let jitter = Jitter::relative(1e-3);
        let factorize = || cholesky(kuu.clone(), jitter).expect("the matrix is positive definite");
        report("cholesky", median(factorize), 1.0 / 6.0);
        let (factor, basis) = (factorize(), kuf());
        report(
            "triangular solve",
            median(|| factor.solve(basis.clone())),
            0.5,
        );
        let mean = random([1, SIZE]);
        let scale = factor.lower().unsqueeze::<3>();
        let moments = || projected_moments(basis.clone(), mean.clone(), scale.clone());
        report("projected moments", median(moments), 0.5);
    }
}

/// The median time of a call, its result dropped outside the measurement.
fn median<R>(mut call: impl FnMut() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..25)
        .map(|_| {
            let start = Instant::now();
            let result = call();
            let elapsed = start.elapsed();
            drop(result);
            elapsed
        })
        .skip(5)
        .collect();
    times.sort();
    times[times.len() / 2]
}
