//! Where a training step spends its time: the operations behind it, each beside the time that its
//! multiply-adds take at the rate of a matrix product measured in the same run (zero for passes
//! over the numbers, such as the covariance).
//!
//! `cargo bench -p burn-gp-models --bench operations` prints a line of JSON an operation.

use std::time::{Duration, Instant};

use burn::{
    module::{Module, Param},
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp::{
    ops::{Jitter, Stationary, cholesky, covariance, covariance_matrix, projected_moments},
    optim::Adam,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rows of the square matrices, and right-hand sides.
const SIZE: usize = 1024;

const DIMENSIONS: usize = 8;

/// What Adam is measured on.
#[derive(Module, Debug)]
struct Weights {
    matrix: Param<Tensor<2>>,
}

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
                 \"reference_ms\": {:.3}, \"above_reference_ms\": {:.3}}}",
                time.as_secs_f64() * 1e3,
                reference * 1e3,
                (time.as_secs_f64() - reference) * 1e3,
            );
        };
        let matern = Stationary::Matern52;
        let kuf = || covariance(matern, z.clone(), x.clone(), ones(DIMENSIONS), ones(1));
        report("covariance", median(kuf), 0.0);
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
            0.0,
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
        let tracked = |tensor: &Tensor<2>| tensor.clone().autodiff().require_grad();
        report(
            "cholesky and triangular solve, both directions",
            median(|| {
                let factor = cholesky(tracked(&kuu), jitter).expect("as above");
                factor.solve(tracked(&basis)).sum().backward()
            }),
            1.0 / 6.0 + 2.0,
        );
        let mean = random([1, SIZE]);
        let scale = factor.lower();
        let moments = || {
            let scale = scale.clone().unsqueeze::<3>();
            projected_moments(basis.clone(), mean.clone(), scale)
        };
        report("projected moments", median(moments), 0.5);
        report(
            "projected moments, both directions",
            median(|| {
                let scale = tracked(&scale).unsqueeze::<3>();
                let (mean, variance) = projected_moments(tracked(&basis), tracked(&mean), scale);
                (mean + variance).sum().backward()
            }),
            1.5,
        );
        let adam = |optimizer| median_adam(optimizer, &scale, &square);
        report("Adam on a square matrix", adam(Adam::new().into()), 0.0);
        let unfused = AdamConfig::new().with_epsilon(1e-8).init();
        report("burn's Adam on a square matrix", adam(unfused), 0.0);
    }
}

/// The median time in which an optimiser updates one matrix by a gradient that it may overwrite, as
/// it may a training step's.
fn median_adam(
    mut optimizer: ModuleOptimizer,
    matrix: &Tensor<2>,
    gradient: &Tensor<2>,
) -> Duration {
    let mut weights = Weights {
        matrix: Param::from_tensor(matrix.clone()),
    }
    .train();
    let gradients = |id| {
        let mut gradients = GradientsParams::new();
        gradients.register(id, gradient.clone() * 1.0);
        gradients
    };
    let id = weights.matrix.id;
    median_of(
        || gradients(id),
        |gradients| weights = optimizer.step(1e-3, weights.clone(), gradients),
    )
}

/// The median time of a call, its result dropped outside the measurement.
fn median<R>(mut call: impl FnMut() -> R) -> Duration {
    median_of(|| (), |()| call())
}

/// As [`median`], of a call on something made outside the measurement.
fn median_of<A, R>(mut prepare: impl FnMut() -> A, mut call: impl FnMut(A) -> R) -> Duration {
    let mut times: Vec<Duration> = (0..25)
        .map(|_| {
            let argument = prepare();
            let start = Instant::now();
            let result = call(argument);
            let elapsed = start.elapsed();
            drop(result);
            elapsed
        })
        .skip(5)
        .collect();
    times.sort();
    times[times.len() / 2]
}
