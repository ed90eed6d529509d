//! The time of one training step of sparse variational regression, compared with a lower limit from
//! matrix products in the same run on the same machine.
//!
//! `cargo bench --bench svgp_step [-- FILTER]` prints one line of JSON per row.
//! The step is that of `benches/peers/svgp_step.py`: whitened, ARD Matérn-5/2, Gaussian noise, full
//! covariance, all parameters trained with Adam, eight input dimensions.

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary},
    process::{CovarianceShape, VariationalGaussian},
    variational::Whitened,
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

mod median;
mod product_rate;

use median::median;
use product_rate::product_rate;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DIMENSIONS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let filter: String = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let rates = [DType::F32, DType::F64].map(|dtype| (dtype, product_rate(dtype)));
    for (dtype, rate) in rates {
        println!("{{\"gemm\": \"{dtype:?}\", \"gflops\": {:.0}}}", rate / 1e9);
    }
    for (dtype, batch, inducing) in [
        (DType::F32, 256, 128),
        (DType::F32, 1024, 512),
        (DType::F32, 1024, 1024),
        (DType::F64, 256, 128),
        (DType::F64, 1024, 512),
        (DType::F64, 1024, 1024),
    ] {
        let name = format!("{dtype:?}-{batch}-{inducing}");
        if name.contains(&filter) {
            let rate = rates
                .iter()
                .find(|(kind, _)| *kind == dtype)
                .map_or(1.0, |(_, rate)| *rate);
            report(&name, dtype, batch, inducing, rate)?;
        }
    }
    Ok(())
}

/// Twice the number of multiply-adds that no algorithm avoids: a Cholesky factorization, a
/// triangular solve and a triangular product, and about twice that in the backward pass.
fn floor_operations(batch: usize, inducing: usize) -> f64 {
    let (b, m) = (batch as f64, inducing as f64);
    m * m * m / 3.0 + 2.0 * m * m * b + (m * m * m + 4.0 * m * m * b)
}

fn report(
    name: &str,
    dtype: DType,
    batch: usize,
    inducing: usize,
    rate: f64,
) -> Result<(), Box<dyn Error>> {
    let device = Device::flex();
    let options = (&device, dtype);
    device.seed(0);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::<2>::random([batch, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin();
    let points = Tensor::<2>::random([inducing, DIMENSIONS], normal, options);
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let distribution = VariationalGaussian::standard(inducing, 1, CovarianceShape::Full, options);
    let jitter = Jitter::relative(if dtype == DType::F32 { 1e-4 } else { 1e-6 });
    let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
    let model = Svgp::new(kernel, mean, Gaussian::new(1.0, options), posterior);
    let steps = match inducing {
        ..256 => 2000,
        256..1024 => 150,
        _ => 60,
    };
    let warm_up = steps / 6;
    let mut training = MiniBatchTraining::new(steps);
    training.batch_size = batch;
    let data = TrainingData { inputs, targets };
    let mut trainer = MiniBatchTrainer::new(burn::module::Module::train(model), data, training);
    let mut times = Vec::new();
    let mut loss = f64::NAN;
    for step in 0..steps {
        let start = Instant::now();
        loss = trainer.step()?.loss;
        if step >= warm_up {
            times.push(start.elapsed());
        }
    }
    let milliseconds = median(times).as_secs_f64() * 1e3;
    let floor = floor_operations(batch, inducing) / rate * 1e3;
    println!(
        "{{\"row\": \"{name}\", \"median_ms\": {milliseconds:.3}, \"floor_ms\": {floor:.3}, \
         \"ratio_to_floor\": {:.2}, \"final_loss\": {loss:.6}}}",
        milliseconds / floor
    );
    Ok(())
}
