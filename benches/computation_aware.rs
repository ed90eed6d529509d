//! Compares the computation-aware loss and its gradient with the rate at which this machine
//! evaluates a kernel, and reports the memory.
//!
//! `cargo bench --bench computation_aware` prints one line of JSON per case, for Matérn-3/2 with a
//! lengthscale per dimension, 9 dimensions, single precision and generated data. It contains the seconds of a
//! loss and its gradient with 512 block-sparse actions, and the seconds of only the covariances of all
//! actions with all points. Both are also given as kernel evaluations per second, with N² evaluations per
//! pass (one forward pass, one backward pass). The limit is the same rate for a 512×512 covariance matrix
//! that stays in the cache. The line also contains the ratios, and the peak memory of the process so far
//! together with the memory of the data and the N×I matrix. `-- POINTS ACTIONS` runs another size.

use std::{error::Error, hint::black_box, time::Instant};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    inference::{ActionStart, BlockActions, ComputationAware},
    kernels::{KernelModule, StationaryConfig, StationaryKernel, block_covariance},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Blocks, Stationary},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
#[path = "../runs/src/memory.rs"]
mod memory;

mod arguments;

const DIMENSIONS: usize = 9;

/// The number of points of a covariance matrix that stays in the cache.
const CACHED: usize = 512;

/// N and I, in increasing order, so that the peak memory is that of the current case.
const CASES: [(usize, usize); 3] = [(10_000, 512), (20_000, 512), (50_000, 512)];

type Model = ComputationAware<StationaryKernel, BlockActions>;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let device = Device::flex().autodiff();
    device.seed(0);
    match arguments::numbers()?[..] {
        [points, actions] => report(points, actions, &device)?,
        _ => {
            for (points, actions) in CASES {
                report(points, actions, &device)?;
            }
        }
    }
    Ok(())
}

fn kernel(device: &Device) -> StationaryKernel {
    StationaryConfig::new(Stationary::Matern32)
        .with_lengthscale(2.0)
        .init(DIMENSIONS, (device, DType::F32))
}

/// Kernel evaluations per second into a matrix that stays in the cache.
fn limit(device: &Device) -> f64 {
    let device = device.clone().inner();
    let kernel = kernel(&device);
    let x = points(CACHED, &device);
    let repetitions = 2000;
    for _ in 0..repetitions / 10 {
        black_box(kernel.covariance_at(x.clone(), x.clone()));
    }
    let start = Instant::now();
    for _ in 0..repetitions {
        black_box(kernel.covariance_at(x.clone(), x.clone()));
    }
    (repetitions * CACHED * CACHED) as f64 / start.elapsed().as_secs_f64()
}

fn points(count: usize, device: &Device) -> Tensor<2> {
    let normal = Distribution::Normal(0.0, 1.0);
    Tensor::random([count, DIMENSIONS], normal, (device, DType::F32))
}

fn report(count: usize, actions: usize, device: &Device) -> Result<(), Box<dyn Error>> {
    let limit = limit(device);
    let inputs = points(count, device);
    let targets = inputs.clone().sum_dim(1).sin(); // [N, 1]
    let blocks = Blocks::new(count, actions);
    let data = (&inputs, &targets);
    let start = BlockActions::starting(ActionStart::Normal, blocks, &kernel(device), data, 0);
    let options = (device, DType::F32);
    let model = Model::new(
        kernel(device),
        ZeroMean::new(1),
        Gaussian::new(0.1, options),
        start,
    );

    let alone = model.valid();
    let plain = inputs.clone().inner();
    let begin = Instant::now();
    black_box(block_covariance(
        alone.kernel(),
        blocks,
        plain,
        None,
        alone.policy().values(),
    ));
    let product = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let loss = model.full_objective(inputs, targets)?.neg();
    let value: f32 = loss.clone().into_scalar();
    let gradients = loss.backward();
    black_box(&gradients);
    let seconds = begin.elapsed().as_secs_f64();
    if !value.is_finite() {
        return Err("the loss is not finite".into());
    }
    let evaluations = (count * count) as f64;
    let rates = [evaluations / product, 2.0 * evaluations / seconds];
    let matrix = 4.0 * (count * (actions + DIMENSIONS)) as f64;
    println!(
        "{{\"points\": {count}, \"actions\": {actions}, \"loss_and_gradient_seconds\": {seconds:.3}, \
         \"product_seconds\": {product:.3}, \"limit_per_second\": {limit:.3e}, \
         \"product_of_limit\": {:.2}, \"loss_and_gradient_of_limit\": {:.2}, \
         \"peak_mebibytes\": {}, \"matrix_mebibytes\": {:.0}}}",
        rates[0] / limit,
        rates[1] / limit,
        memory::peak().map_or("null".to_owned(), |bytes| format!(
            "{:.0}",
            bytes as f64 / f64::from(1 << 20)
        )),
        matrix / f64::from(1 << 20),
    );
    Ok(())
}
