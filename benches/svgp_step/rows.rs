//! The rows of the table of training steps.

use std::error::Error;

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary},
    optim::NaturalGradient,
    process::{CovarianceShape, VariationalGaussian},
    variational::{InducingSet, Parameterization, SolveGp, Unwhitened, Whitened},
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};

const DIMENSIONS: usize = 8;

/// A sparse variational approximation and its training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
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
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    pub dtype: DType,
    pub batch: usize,
    /// M
    pub inducing: usize,
    pub variant: Variant,
}

/// Performs a step and returns its loss.
pub type Step = Box<dyn FnMut() -> Result<f64, Box<dyn Error>> + Send>;

impl Row {
    /// All rows of the table.
    pub fn all() -> Vec<Self> {
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

    pub fn name(&self) -> String {
        let suffix = self.variant.suffix();
        format!("{:?}-{}-{}{suffix}", self.dtype, self.batch, self.inducing)
    }

    /// A training run of this many steps.
    pub fn training(self, steps: usize) -> Step {
        let device = Device::flex();
        let options = (&device, self.dtype);
        device.seed(0);
        let normal = Distribution::Normal(0.0, 1.0);
        let inputs = Tensor::<2>::random([self.batch, DIMENSIONS], normal, options);
        let targets = inputs.clone().sum_dim(1).sin();
        let points = || {
            let points = Tensor::<2>::random([self.inducing, DIMENSIONS], normal, options);
            InducingPoints::new(points)
        };
        let distribution =
            || VariationalGaussian::standard(self.inducing, 1, CovarianceShape::Full, options);
        let first = points();
        let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
        let mean = ConstantMean::new(Tensor::zeros([1], options));
        let noise = Gaussian::new(1.0, options);
        let jitter = Jitter::relative(if self.dtype == DType::F32 { 1e-4 } else { 1e-6 });
        let data = TrainingData { inputs, targets };
        match self.variant {
            Variant::Whitened | Variant::Natural => {
                let posterior = Whitened::new(first, distribution(), jitter);
                self.steps_of(Svgp::new(kernel, mean, noise, posterior), data, steps)
            }
            Variant::Unwhitened => {
                let posterior = Unwhitened::new(first, distribution(), jitter);
                self.steps_of(Svgp::new(kernel, mean, noise, posterior), data, steps)
            }
            Variant::Orthogonal => {
                let sets = [first, points()].map(|points| InducingSet::new(points, distribution()));
                let posterior = SolveGp::new(sets.into(), Parameterization::Whitened, jitter);
                self.steps_of(Svgp::new(kernel, mean, noise, posterior), data, steps)
            }
        }
    }

    fn steps_of(self, model: impl Module + Model, data: TrainingData, steps: usize) -> Step {
        let mut training = MiniBatchTraining::new(steps);
        training.batch_size = self.batch;
        if self.variant == Variant::Natural {
            training.natural_gradient = Some(NaturalGradient::new(0.1));
        }
        let mut trainer = MiniBatchTrainer::new(model.train(), data, training);
        Box::new(move || Ok(trainer.step()?.loss))
    }
}
