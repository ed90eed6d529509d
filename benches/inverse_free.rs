//! The time of one training step of the inverse-free posterior, compared with posteriors that need a
//! factorization, and the share of matrix products in it.
//!
//! `cargo bench --bench inverse_free [-- FILTER]` prints one line of JSON per row
//! and posterior, with batches of 100 as in *Inverse-Free Sparse Variational Gaussian Processes*
//! (arXiv:2604.00697, §4.2). The posteriors are whitened with a full covariance, L-SVGP, and the
//! inverse-free bound with 256 probes and one natural-gradient step for its auxiliary matrix.
//! `products_ms` is the time of the products of such a step, each measured alone on matrices of the
//! same shapes. `floor_ms` is the time of their multiply-adds at the rate of a square product of
//! 1024 rows measured in the same run.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::{Stationary, congruence, transposed_triangular_product, triangular_product},
    optim::NaturalInversion,
    process::CovarianceShape,
    variational::{
        AuxiliaryUpdate, InverseFreeConfig, LSvgpConfig, PosteriorConfig, PseudoObservationsConfig,
        TraceProbes, WhitenedConfig,
    },
};
use burn_gp_models::{
    SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod median;
mod product_rate;

use median::median;
use product_rate::product_rate;

const DIMENSIONS: usize = 8;
const BATCH: usize = 100;
const PROBES: usize = 256;

/// The number of steps of a run, and of warm-up steps that are not counted.
const STEPS: usize = 25;
const WARM_UP: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let filter: String = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    for dtype in [DType::F32, DType::F64] {
        for inducing in [1000, 2000] {
            let row = format!("{dtype:?}-{BATCH}-{inducing}");
            if row.contains(&filter) {
                report(&row, dtype, inducing)?;
            }
        }
    }
    Ok(())
}

fn report(row: &str, dtype: DType, inducing: usize) -> Result<(), Box<dyn Error>> {
    let (covariance, observations) = (CovarianceShape::Full, PseudoObservationsConfig::default());
    let references = [
        (
            "whitened",
            PosteriorConfig::from(WhitenedConfig { covariance }),
        ),
        (
            "l-svgp",
            PosteriorConfig::from(LSvgpConfig { observations }),
        ),
    ];
    let mut times = Vec::new();
    for (name, config) in references {
        let time = step_time(config, dtype, inducing)?;
        println!("{{\"row\": \"{row}\", \"posterior\": \"{name}\", \"median_ms\": {time:.2}}}");
        times.push(time);
    }
    let inverse_free = PosteriorConfig::from(InverseFreeConfig {
        observations,
        auxiliary: AuxiliaryUpdate::NaturalGradient(NaturalInversion::ONE_STEP),
        probes: Some(TraceProbes {
            count: PROBES,
            seed: 0,
        }),
    });
    let time = step_time(inverse_free, dtype, inducing)?;
    let (products, operations) = step_products(dtype, inducing);
    let floor = operations / product_rate(dtype) * 1e3;
    println!(
        "{{\"row\": \"{row}\", \"posterior\": \"inverse-free\", \"median_ms\": {time:.2}, \
         \"products_ms\": {products:.2}, \"share_of_products\": {:.2}, \"floor_ms\": {floor:.2}, \
         \"ratio_to_floor\": {:.2}, \"whitened_over_it\": {:.2}, \"l_svgp_over_it\": {:.2}}}",
        products / time,
        time / floor,
        times[0] / time,
        times[1] / time,
    );
    Ok(())
}

/// The median milliseconds of a step.
fn step_time(
    posterior: PosteriorConfig,
    dtype: DType,
    inducing: usize,
) -> Result<f64, Box<dyn Error>> {
    let device = Device::flex();
    device.seed(0);
    let options = (&device.clone().autodiff(), dtype);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::<2>::random([4 * inducing, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin();
    let data = TrainingData { inputs, targets };
    let mut config = SvgpConfig::new(
        StationaryConfig::new(Stationary::SquaredExponential),
        GaussianConfig { noise: 1.0 },
    )
    .with_inducing(inducing)
    .with_posterior(posterior);
    config.inducing.initializer = burn_gp_core::inducing::Initializer::Subset;
    let model = config.init(&data)?;
    let training = MiniBatchTraining {
        batch_size: BATCH,
        learning_rate: 1e-3,
        ..MiniBatchTraining::new(STEPS)
    };
    let mut trainer = MiniBatchTrainer::new(Module::train(model), data, training);
    let mut times = Vec::new();
    for step in 0..STEPS {
        let start = Instant::now();
        trainer.step()?;
        if step >= WARM_UP {
            times.push(start.elapsed());
        }
    }
    Ok(milliseconds(median(times)))
}

/// The milliseconds of each product of an inverse-free step, and twice the number of their
/// multiply-adds.
fn step_products(dtype: DType, inducing: usize) -> (f64, f64) {
    let device = Device::flex();
    let random = |columns: usize| {
        let normal = Distribution::Normal(0.0, 1.0);
        Tensor::<2>::random([inducing, columns], normal, (&device, dtype))
    };
    let (symmetric, lower) = (random(inducing), random(inducing).tril(0));
    let size = inducing as f64;
    let mut total = (0.0, 0.0);
    let mut add = |time: Duration, operations: f64| {
        total = (total.0 + milliseconds(time), total.1 + operations);
    };
    // T is multiplied by the columns of [K_uf, m̃, z] and of [m̃ − K̃T·m̃, K̃T·z] in the forward pass, and by
    // as many columns as the former in the backward pass.
    let (first, second) = (BATCH + 1 + PROBES, 1 + PROBES);
    for columns in [first, second, first] {
        let rhs = random(columns);
        let product = || {
            let half = transposed_triangular_product(lower.clone(), rhs.clone());
            triangular_product(lower.clone(), half)
        };
        add(median_of(product), 2.0 * size * size * columns as f64);
    }
    // K_uu·[T·K_uf, T·m̃, T·z, z].
    let rhs = random(first + PROBES);
    let operations = 2.0 * size * size * (first + PROBES) as f64;
    add(
        median_of(|| symmetric.clone().matmul(rhs.clone())),
        operations,
    );
    // The gradient of K_uu.
    let transposed = rhs.clone().transpose();
    add(
        median_of(|| rhs.clone().matmul(transposed.clone())),
        operations,
    );
    // One step of the inversion.
    let cube = size * size * size;
    let curvature = congruence(symmetric.clone(), lower.clone());
    add(
        median_of(|| congruence(symmetric.clone(), lower.clone())),
        5.0 / 3.0 * cube,
    );
    add(
        median_of(|| curvature.descend(lower.clone(), 1.0)),
        cube / 3.0,
    );
    total
}

/// The median time of a call. Dropping its result is not measured.
fn median_of<R>(call: impl Fn() -> R) -> Duration {
    let times = (0..12).map(|_| {
        let start = Instant::now();
        let result = call();
        let elapsed = start.elapsed();
        drop(result);
        elapsed
    });
    median(times.collect())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
