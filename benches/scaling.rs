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
    process::Command,
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

mod median;

use median::median;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DIMENSIONS: usize = 8;

/// B, M
const STEP: [usize; 2] = [1024, 512];

/// Rows of the predictions and of k-means.
const ROWS: usize = 20_000;

/// The number of times, whose median is reported, after some that are not counted.
const REPETITIONS: usize = 25;

const WARM_UP: usize = 3;

/// The parts that are timed.
const PARTS: [&str; 4] = [
    "training step",
    "prediction",
    "covariance product",
    "k-means",
];

/// The first argument of a process that times one part.
const MEASURE: &str = "measure";

type Regression = Svgp<StationaryKernel, ConstantMean, Gaussian, Whitened<InducingPoints>>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, part] = words.as_slice()
        && first == MEASURE
    {
        println!("{}", measure(part)?);
        return Ok(());
    }
    let filter = words.iter().find(|word| !word.starts_with('-'));
    let chosen = |part: &&str| filter.is_none_or(|filter| part.contains(filter.as_str()));
    PARTS.into_iter().filter(chosen).try_for_each(report)
}

/// The median milliseconds of a part.
fn measure(part: &str) -> Result<f64, Box<dyn Error>> {
    let options = (&Device::flex(), DType::F32);
    options.0.seed(0);
    let rows = normal([ROWS, DIMENSIONS]);
    match part {
        "training step" => {
            let mut trainer = trainer();
            milliseconds(|| Ok(trainer.step().map(|_| ())?))
        }
        "prediction" => {
            let process = trainer().into_model().valid().condition()?;
            milliseconds(|| {
                black_box(process.marginals(rows.clone()).variance.into_data());
                Ok(())
            })
        }
        "covariance product" => {
            let (points, vectors) = (normal([5000, DIMENSIONS]), normal([5000, 11]));
            let [scales, variance] = [DIMENSIONS, 1].map(|n| Tensor::<1>::ones([n], options));
            milliseconds(|| {
                let product = covariance_product(
                    Stationary::Matern32,
                    points.clone(),
                    None,
                    scales.clone(),
                    variance.clone(),
                    vectors.clone(),
                );
                black_box(product.into_data());
                Ok(())
            })
        }
        _ => milliseconds(|| {
            black_box(k_means(rows.clone(), 256, 0)?.into_data());
            Ok(())
        }),
    }
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

/// The median milliseconds of `work`, on the threads of this process.
fn milliseconds(
    mut work: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut timed = || -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed())
    };
    for _ in 0..WARM_UP {
        timed()?;
    }
    let times: Result<Vec<Duration>, _> = (0..REPETITIONS).map(|_| timed()).collect();
    Ok(median(times?).as_secs_f64() * 1e3)
}

/// Prints the times of a part by the number of threads, each in a process of its own.
fn report(part: &str) -> Result<(), Box<dyn Error>> {
    let cores = std::thread::available_parallelism()?.get();
    let powers = (0..)
        .map(|power| 1 << power)
        .take_while(|&count| count < cores);
    let mut on_one = None;
    for threads in powers.chain([cores]) {
        let mut process = Command::new(std::env::current_exe()?);
        process.env("RAYON_NUM_THREADS", threads.to_string());
        let output = process.args([MEASURE, part]).output()?;
        let text = String::from_utf8(output.stdout)?;
        let milliseconds: f64 = text.trim().parse()?;
        let one = *on_one.get_or_insert(milliseconds);
        let efficiency = one / (threads as f64 * milliseconds);
        println!(
            "{{\"part\": \"{part}\", \"threads\": {threads}, \"median_ms\": {milliseconds:.3}, \
             \"efficiency\": {efficiency:.2}}}"
        );
    }
    Ok(())
}
