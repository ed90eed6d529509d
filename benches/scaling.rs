//! The time of the parts of a program by the number of threads.
//!
//! `cargo bench --bench scaling [-- FILTER]` prints one line of JSON for each part and each number of
//! threads, 1, 2, 4, … up to the cores of the machine: the median milliseconds and the efficiency, the
//! time on one thread divided by the time on all threads together. The parts are a training step of
//! sparse variational regression (1024 rows, 512 inducing points), predictions of 20,000 rows with
//! it, a product of the covariance of 5000 points with 11 vectors, and the choice of 256 of 20,000 rows
//! by k-means; all in single precision with eight inputs.

use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    inducing::{InducingPoints, k_means},
    kernels::{StationaryConfig, StationaryKernel},
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary, covariance_product},
    process::{CovarianceShape, Process, VariationalGaussian},
    variational::Whitened,
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};
use rayon::ThreadPoolBuilder;

mod median;

use median::median;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DIMENSIONS: usize = 8;

/// B, M
const STEP: [usize; 2] = [1024, 512];

/// Rows of the predictions and of k-means.
const ROWS: usize = 20_000;

/// The number of times, whose median is reported.
const REPETITIONS: usize = 25;

type Regression = Svgp<StationaryKernel, ConstantMean, Gaussian, Whitened<InducingPoints>>;

fn main() -> Result<(), Box<dyn Error>> {
    let filter: String = (std::env::args().skip(1))
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let options = (&Device::flex(), DType::F32);
    options.0.seed(0);
    let rows = normal([ROWS, DIMENSIONS]);

    let mut trainer = trainer();
    report(&filter, "training step", || {
        trainer.step().map_err(Box::from).map(|_| ())
    })?;
    let process = trainer.into_model().valid().condition()?;
    report(&filter, "prediction", || {
        let marginals = process.marginals(rows.clone());
        black_box(marginals.variance.into_data());
        Ok(())
    })?;
    let (points, vectors) = (normal([5000, DIMENSIONS]), normal([5000, 11]));
    let [lengthscales, variance] = [DIMENSIONS, 1].map(|n| Tensor::<1>::ones([n], options));
    report(&filter, "covariance product", || {
        let (scales, variance) = (lengthscales.clone(), variance.clone());
        let (points, vectors) = (points.clone(), vectors.clone());
        let kind = Stationary::Matern32;
        let product = covariance_product(kind, points, None, scales, variance, vectors);
        black_box(product.into_data());
        Ok(())
    })?;
    report(&filter, "k-means", || {
        black_box(k_means(rows.clone(), 256, 0)?.into_data());
        Ok(())
    })
}

fn normal(shape: [usize; 2]) -> Tensor<2> {
    Tensor::random(
        shape,
        Distribution::Normal(0.0, 1.0),
        (&Device::flex(), DType::F32),
    )
}

fn trainer() -> MiniBatchTrainer<Regression> {
    let options = (&Device::flex(), DType::F32);
    let [batch, inducing] = STEP;
    let inputs = normal([batch, DIMENSIONS]);
    let targets = inputs.clone().sum_dim(1).sin();
    let points = normal([inducing, DIMENSIONS]);
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let distribution = VariationalGaussian::standard(inducing, 1, CovarianceShape::Full, options);
    let jitter = Jitter::relative(1e-4);
    let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
    let model = Svgp::new(kernel, mean, Gaussian::new(1.0, options), posterior);
    let mut training = MiniBatchTraining::new(1_000_000);
    training.batch_size = batch;
    MiniBatchTrainer::new(model.train(), TrainingData { inputs, targets }, training)
}

/// Prints the times of `work` by the number of threads.
fn report(
    filter: &str,
    name: &str,
    mut work: impl FnMut() -> Result<(), Box<dyn Error>> + Send,
) -> Result<(), Box<dyn Error>> {
    if !name.contains(filter) {
        return Ok(());
    }
    let cores = std::thread::available_parallelism()?.get();
    let powers = (0..)
        .map(|power| 1 << power)
        .take_while(|&count| count < cores);
    let mut on_one = None;
    for threads in powers.chain([cores]) {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let times: Result<Vec<Duration>, String> = pool.install(|| {
            let mut timed = || {
                let start = Instant::now();
                work().map_err(|error| error.to_string())?;
                Ok(start.elapsed())
            };
            timed()?;
            (0..REPETITIONS).map(|_| timed()).collect()
        });
        let milliseconds = median(times?).as_secs_f64() * 1e3;
        let one = *on_one.get_or_insert(milliseconds);
        let efficiency = one / (threads as f64 * milliseconds);
        println!(
            "{{\"part\": \"{name}\", \"threads\": {threads}, \"median_ms\": {milliseconds:.3}, \
             \"efficiency\": {efficiency:.2}}}"
        );
    }
    Ok(())
}
