//! The time of one training step of sparse variational regression, compared with a lower limit from
//! matrix products in the same run on the same machine.
//!
//! `cargo bench --bench svgp_step [-- FILTER]` prints one line of JSON per row whose name contains the
//! filter, or of the row with exactly that name. A row without a suffix is the step of
//! `benches/peers/svgp_step.py`: whitened, ARD Matérn-5/2, Gaussian noise, full covariance, all
//! parameters trained with Adam, eight input dimensions. The suffixes stand for one change each:
//! `-unwhitened` coordinates; `-natural` gradients for `q(u)`; `-orthogonal`, a second set of as many
//! inducing points (SOLVE-GP).

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary},
    optim::NaturalGradient,
    process::{CovarianceShape, VariationalGaussian},
    variational::{Coordinates, InducingSet, Orthogonal, Unwhitened, Whitened},
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};

mod median;
mod product_rate;

use median::median;
use product_rate::product_rate;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DIMENSIONS: usize = 8;

/// A sparse variational approximation and its training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Whitened,
    Unwhitened,
    Natural,
    Orthogonal,
}

impl Variant {
    const ALL: [Self; 4] = [
        Self::Whitened,
        Self::Unwhitened,
        Self::Natural,
        Self::Orthogonal,
    ];

    fn suffix(self) -> &'static str {
        match self {
            Self::Whitened => "",
            Self::Unwhitened => "-unwhitened",
            Self::Natural => "-natural",
            Self::Orthogonal => "-orthogonal",
        }
    }

    /// Twice the number of multiply-adds that no algorithm avoids.
    ///
    /// - Whitened: a Cholesky factorization, a triangular solve and a triangular product, and about
    ///   twice that in the backward pass.
    /// - Unwhitened: also `L⁻¹W` for the factor W of the covariance, and twice that in the backward pass.
    /// - Natural gradients: also `Wᵀ·∂ℓ/∂W`, a factorization and a solve, all of triangles.
    /// - Orthogonal: the same for both sets; also a solve for the covariances between the sets, half a
    ///   product for the remainder of the second set's own covariances, and a whole one for those with
    ///   the data.
    fn floor_operations(self, batch: usize, inducing: usize) -> f64 {
        let (b, m) = (batch as f64, inducing as f64);
        let cube = m * m * m;
        let whitened = cube / 3.0 + 2.0 * m * m * b + (cube + 4.0 * m * m * b);
        match self {
            Self::Whitened => whitened,
            Self::Unwhitened | Self::Natural => whitened + cube,
            Self::Orthogonal => {
                let between = 2.0 * cube + 2.0 * m * m * b;
                2.0 * whitened + 3.0 * between
            }
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy)]
struct Row {
    dtype: DType,
    batch: usize,
    inducing: usize,
    variant: Variant,
}

impl Row {
    fn all() -> Vec<Self> {
        let sizes = [(256, 128), (1024, 512), (1024, 1024)];
        let dtypes = [DType::F32, DType::F64];
        let mut rows = Vec::new();
        for dtype in dtypes {
            for (batch, inducing) in sizes {
                rows.extend(Variant::ALL.map(|variant| Self {
                    dtype,
                    batch,
                    inducing,
                    variant,
                }));
            }
        }
        rows
    }

    fn name(&self) -> String {
        let suffix = self.variant.suffix();
        format!("{:?}-{}-{}{suffix}", self.dtype, self.batch, self.inducing)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let filter: String = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let rates = [DType::F32, DType::F64].map(|dtype| (dtype, product_rate(dtype)));
    for (dtype, rate) in rates {
        println!("{{\"gemm\": \"{dtype:?}\", \"gflops\": {:.0}}}", rate / 1e9);
    }
    let rows = Row::all();
    let exact = rows.iter().any(|row| row.name() == filter);
    for row in rows {
        let name = row.name();
        if name == filter || !exact && name.contains(&filter) {
            let rate = (rates.iter())
                .find(|(dtype, _)| *dtype == row.dtype)
                .map_or(1.0, |(_, rate)| *rate);
            report(row, rate)?;
        }
    }
    Ok(())
}

/// Measures a row and prints it.
fn report(row: Row, rate: f64) -> Result<(), Box<dyn Error>> {
    let device = Device::flex();
    let options = (&device, row.dtype);
    device.seed(0);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::<2>::random([row.batch, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin();
    let points = || {
        let points = Tensor::<2>::random([row.inducing, DIMENSIONS], normal, options);
        InducingPoints::new(points)
    };
    let distribution =
        || VariationalGaussian::standard(row.inducing, 1, CovarianceShape::Full, options);
    let first = points();
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let noise = Gaussian::new(1.0, options);
    let jitter = Jitter::relative(if row.dtype == DType::F32 { 1e-4 } else { 1e-6 });
    let data = TrainingData { inputs, targets };
    let (loss, milliseconds) = match row.variant {
        Variant::Whitened | Variant::Natural => {
            let posterior = Whitened::new(first, distribution(), jitter);
            time_steps(row, Svgp::new(kernel, mean, noise, posterior), data)?
        }
        Variant::Unwhitened => {
            let posterior = Unwhitened::new(first, distribution(), jitter);
            time_steps(row, Svgp::new(kernel, mean, noise, posterior), data)?
        }
        Variant::Orthogonal => {
            let sets = [first, points()].map(|points| InducingSet::new(points, distribution()));
            let posterior = Orthogonal::new(sets.into(), Coordinates::Whitened, jitter);
            time_steps(row, Svgp::new(kernel, mean, noise, posterior), data)?
        }
    };
    let floor = row.variant.floor_operations(row.batch, row.inducing) / rate * 1e3;
    println!(
        "{{\"row\": \"{}\", \"median_ms\": {milliseconds:.3}, \"floor_ms\": {floor:.3}, \
         \"ratio_to_floor\": {:.2}, \"final_loss\": {loss:.6}}}",
        row.name(),
        milliseconds / floor
    );
    Ok(())
}

/// The last loss and the median time of a step in milliseconds.
fn time_steps<M: Model>(
    row: Row,
    model: M,
    data: TrainingData,
) -> Result<(f64, f64), Box<dyn Error>> {
    let steps = match row.inducing {
        ..256 => 2000,
        256..1024 => 150,
        _ => 60,
    };
    let warm_up = steps / 6;
    let mut training = MiniBatchTraining::new(steps);
    training.batch_size = row.batch;
    if row.variant == Variant::Natural {
        training.natural_gradient = Some(NaturalGradient::new(0.1));
    }
    let mut trainer = MiniBatchTrainer::new(model.train(), data, training);
    let mut times = Vec::new();
    let mut loss = f64::NAN;
    for step in 0..steps {
        let start = Instant::now();
        loss = trainer.step()?.loss;
        if step >= warm_up {
            times.push(start.elapsed());
        }
    }
    Ok((loss, median(times).as_secs_f64() * 1e3))
}
