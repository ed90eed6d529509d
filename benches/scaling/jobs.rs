//! The jobs that are timed, all in single precision with eight inputs.

use std::{error::Error, hint::black_box};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inducing::{InducingPoints, k_means},
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Blocks, Jitter, Stationary, block_covariance, covariance_product},
    process::{CovarianceShape, Process, VariationalGaussian},
    variational::Whitened,
};
use burn_gp_models::Svgp;
use rayon::{
    iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator},
    slice::{ParallelSlice, ParallelSliceMut},
};

use super::{
    cases::{CASES, TYPES},
    rows::Row,
};

const DIMENSIONS: usize = 8;

/// M of the predictions.
const INDUCING: usize = 512;

/// Rows of the predictions and of k-means.
const ROWS: usize = 20_000;

/// N of the covariance products.
const POINTS: usize = 5000;

/// The runs of points of the covariance of combinations.
const COMBINATIONS: usize = 512;

/// More steps than any measurement takes.
const STEPS: usize = 1_000_000;

/// A job that is repeated.
pub type Job = Box<dyn FnMut() -> Result<(), Box<dyn Error>> + Send>;

/// Prepares a job.
type Prepare = fn() -> Result<Job, Box<dyn Error>>;

/// The jobs by name.
pub const JOBS: [(&str, Prepare); 10] = [
    ("arithmetic", || Ok(arithmetic())),
    ("memory traffic", || Ok(memory_traffic())),
    ("training step", || training_of("F32-1024-512")),
    ("large training step", || training_of("F32-1024-1024")),
    ("prediction", prediction),
    ("covariance product", || Ok(product(11, DType::F32))),
    ("covariance product in double precision", || {
        Ok(product(11, DType::F64))
    }),
    ("gradients of a product", || Ok(gradients())),
    ("covariances of combinations", || Ok(combinations())),
    ("k-means", || Ok(centers())),
];

/// The jobs that show the limits of the machine; simulated threads do not have these limits.
pub const LIMITS: [&str; 2] = ["arithmetic", "memory traffic"];

/// Equal parts of the jobs that show the limits of the machine.
const PARTS: usize = 64;

/// Multiplications and additions in registers, the same in each part: threads share only the cores.
fn arithmetic() -> Job {
    const STEPS: usize = 50_000;
    Box::new(|| {
        (0..PARTS).into_par_iter().for_each(|part| {
            let mut values: [f32; 64] = std::array::from_fn(|lane| (part + lane) as f32);
            for _ in 0..STEPS {
                for value in &mut values {
                    *value = *value * 0.75 + 0.5;
                }
            }
            black_box(values);
        });
        Ok(())
    })
}

/// A sum of two arrays that are too large for a cache: threads share the memory.
fn memory_traffic() -> Job {
    const LENGTH: usize = 1 << 25;
    let mut sums = vec![0f32; LENGTH];
    let added = vec![1f32; LENGTH];
    Box::new(move || {
        let size = LENGTH / PARTS;
        let parts = sums.par_chunks_mut(size).zip(added.par_chunks(size));
        parts.for_each(|(sums, added)| {
            for (sum, &value) in sums.iter_mut().zip(added) {
                *sum += value;
            }
        });
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

/// The training step of a row of `svgp_step` or a case of `deep_steps`.
pub fn training_of(name: &str) -> Result<Job, Box<dyn Error>> {
    let mut step = match Row::all().into_iter().find(|row| row.name() == name) {
        Some(row) => row.training(STEPS),
        None => {
            let mut cases = CASES
                .iter()
                .flat_map(|case| TYPES.map(|dtype| (case, dtype)));
            let found = cases.find(|(case, (dtype, _))| format!("{}-{dtype}", case.name) == name);
            let (case, (_, dtype)) = found.ok_or_else(|| format!("unknown job {name}"))?;
            case.training(dtype, STEPS)?
        }
    };
    Ok(Box::new(move || step().map(|_| ())))
}

fn prediction() -> Result<Job, Box<dyn Error>> {
    let options = (&Device::flex(), DType::F32);
    let points = InducingPoints::new(normal([INDUCING, DIMENSIONS]));
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let distribution = VariationalGaussian::standard(INDUCING, 1, CovarianceShape::Full, options);
    let posterior = Whitened::new(points, distribution, Jitter::relative(1e-4));
    let model = Svgp::new(kernel, mean, Gaussian::new(1.0, options), posterior);
    let process = model.condition()?;
    let rows = normal([ROWS, DIMENSIONS]);
    Ok(Box::new(move || {
        black_box(process.marginals(rows.clone()).variance.into_data());
        Ok(())
    }))
}

/// The arguments of a product with the covariance of all points.
struct Product {
    points: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
}

impl Product {
    fn new(dtype: DType) -> Self {
        let options = (&Device::flex(), dtype);
        Self {
            points: normal([POINTS, DIMENSIONS]).cast(dtype),
            lengthscales: Tensor::ones([DIMENSIONS], options),
            variance: Tensor::ones([1], options),
        }
    }

    fn with(&self, vectors: Tensor<2>) -> Tensor<2> {
        covariance_product(
            Stationary::Matern32,
            self.points.clone(),
            None,
            self.lengthscales.clone(),
            self.variance.clone(),
            vectors,
        )
    }
}

fn product(width: usize, dtype: DType) -> Job {
    let product = Product::new(dtype);
    let vectors = normal([POINTS, width]).cast(dtype);
    Box::new(move || {
        black_box(product.with(vectors.clone()).into_data());
        Ok(())
    })
}

fn gradients() -> Job {
    let product = Product::new(DType::F32);
    let product = Product {
        points: product.points,
        lengthscales: product.lengthscales.autodiff().require_grad(),
        variance: product.variance.autodiff().require_grad(),
    };
    let vectors = normal([POINTS, 11]);
    Box::new(move || {
        let product = Product {
            points: product.points.clone().autodiff(),
            lengthscales: product.lengthscales.clone(),
            variance: product.variance.clone(),
        };
        let value = product.with(vectors.clone().autodiff()).sum();
        black_box(value.backward());
        Ok(())
    })
}

fn combinations() -> Job {
    let Product {
        points,
        lengthscales,
        variance,
    } = Product::new(DType::F32);
    let weights = normal([POINTS, 1]).squeeze_dim::<1>(1);
    let [lengthscales, variance, weights] =
        [lengthscales, variance, weights].map(|tensor| tensor.autodiff().require_grad());
    let points = points.autodiff();
    Box::new(move || {
        let covariances = block_covariance(
            Stationary::Matern32,
            Blocks::new(POINTS, COMBINATIONS),
            points.clone(),
            None,
            lengthscales.clone(),
            variance.clone(),
            weights.clone(),
        );
        black_box(covariances.sum().backward());
        Ok(())
    })
}

fn centers() -> Job {
    let rows = normal([ROWS, DIMENSIONS]);
    Box::new(move || {
        black_box(k_means(rows.clone(), 256, 0)?.into_data());
        Ok(())
    })
}
