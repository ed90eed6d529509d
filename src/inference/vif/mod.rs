//! Regression by inducing variables and the nearest-neighbor approximation of what they leave.

mod density;
mod process;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

pub use process::VifProcess;

use super::{
    ConditionError, VecchiaSettings, check_rows,
    low_rank::{posterior_mean, precision},
    parts::parts,
    vecchia::{Metric, ObservedRows},
};
use crate::{
    inducing::AnyInducing,
    kernels::{Kernel, Kernels},
    likelihoods::Gaussian,
    means::AnyMean,
    neighbors::NeighborSets,
    ops::{CholeskyFactor, ExactMatmul, Jitter, NeighborRows, NotPositiveDefinite, cholesky, gram},
    parameter::{Part, Priors, Role},
    process::{WhitenedCovariance, WithMean},
};
use density::{Errors, Rows, density};

/// Regression with the Vecchia-inducing-points full-scale approximation (T. Gyger, R. Furrer and F. Sigrist,
/// *Vecchia-Inducing-Points Full-Scale Approximations for Gaussian Processes*, arXiv:2507.05064): M inducing variables
/// explain what is common to all rows, and each row is conditioned on the m nearest of the rows before it for the rest.
///
/// With `K_uu = LLᵀ` and `a_i = L⁻¹k_u(x_i)`, the covariance of the targets is `AAᵀ + R` with
/// `R_ij = k(x_i, x_j) − a_iᵀa_j + σ²δ_ij`. [`Vecchia`](super::Vecchia)'s approximation of R has weights b and variances
/// d: `R⁻¹ ≈ BᵀD⁻¹B`. With `G = BA`, `e = B(y − m)` and `M₁ = I + GᵀD⁻¹G`,
///
/// ```text
/// log p(y) ≈ −½ [ N·log 2π + Σ log d + log|M₁| + eᵀD⁻¹e − hᵀM₁⁻¹h ],   h = GᵀD⁻¹e
/// ```
///
/// It is exact with m = N − 1, and if the inducing points are all inputs. With m = 0 it is the fully independent training
/// conditional (FITC, [`Collapsed`](super::Collapsed::fully_independent_training_conditional)), and if the inducing
/// variables say nothing about the data, it is [`Vecchia`](super::Vecchia). Neighbors and the order of rows are as there.
///
/// Time N·(m³ + m²·M + M²) and memory N·(m + M).
///
/// ```
/// use burn::tensor::{Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inducing::InducingPoints, inference::{VecchiaSettings, Vif},
///     kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean,
///     ops::{Jitter, Stationary}, process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[0.5], 1.0, &device);
/// let points = Tensor::from_data(TensorData::new(vec![0.5f32, 2.0, 3.5], [3, 1]), &device);
/// let model = Vif::new(
///     kernel,
///     ZeroMean::new(1),
///     Gaussian::new(0.01, &device),
///     InducingPoints::new(points),
///     1,
///     VecchiaSettings { neighbors: 10, prediction_neighbors: 20 },
///     Jitter::relative(1e-6),
/// );
/// let values: Vec<f32> = (0..40).map(|row| row as f32 / 10.0).collect();
/// let x = Tensor::<2>::from_data(TensorData::new(values, [40, 1]), &device);
/// let y = x.clone().sin();
/// let predicted = model.condition(x, y)?.marginals(Tensor::full([1, 1], 2.05, &device));
/// let mean: f32 = predicted.mean.into_scalar();
/// assert!((mean - 2.05f32.sin()).abs() < 0.02);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Vif {
    kernel: Kernels,
    mean: AnyMean,
    likelihood: Gaussian,
    inducing: AnyInducing,
    /// The metric in which the neighbors are the nearest.
    metric: Part<Metric>,
    #[module(skip)]
    settings: VecchiaSettings,
    #[module(skip)]
    jitter: Jitter,
    #[module(skip)]
    priors: Priors,
}

parts!(Vif, kernels);

impl Vif {
    /// Creates regression with the given prior, noise and inducing variables for inputs of `dimensions` dimensions.
    /// Numbers of neighbors may be zero. `jitter` is for `K_uu`.
    pub fn new(
        kernel: impl Kernel,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        inducing: impl Into<AnyInducing>,
        dimensions: usize,
        settings: VecchiaSettings,
        jitter: Jitter,
    ) -> Self {
        let noise = likelihood.noise();
        let options: TensorCreationOptions = (&noise.device(), noise.dtype()).into();
        let metric = Metric::new(&kernel, dimensions, options);
        Self {
            kernel: kernel.into(),
            mean: mean.into(),
            likelihood,
            inducing: inducing.into(),
            metric: Part::new(Role::Posterior, metric),
            settings,
            jitter,
            priors: Priors::default(),
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The numbers of neighbors.
    pub fn settings(&self) -> VecchiaSettings {
        self.settings
    }

    /// The jitter of `K_uu`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Chooses neighbors in the metric of the present lengthscales from now on, unless no ratio of two
    /// lengthscales has moved by a tenth since the last choice. Returns whether the objective has changed.
    pub fn update_metric(&mut self) -> bool {
        self.metric.update(self.kernel.first())
    }

    /// L, and `Aᵀ = L⁻¹K_uf`, [M, N].
    fn features(
        &self,
        inputs: Tensor<2>,
    ) -> Result<(CholeskyFactor<2>, Tensor<2>), NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(&self.kernel).squeeze_dim(0), self.jitter)?;
        let cross = self.inducing.kuf(&self.kernel, inputs).squeeze_dim(0);
        let features = factor.solve(cross);
        Ok((factor, features))
    }

    /// `Σ_p log p(y_p)`, approximately; see the type. Gradients reach all parameters; the inputs are constants.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored, or rounding exceeds a conditional variance. The batch member is the row.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let sets = self.metric.neighbors(&inputs, self.settings.neighbors)?;
        let residual = self.mean.residual(targets, inputs.clone()); // [N, P]
        let inputs = inputs.detach();
        let (_, features) = self.features(inputs.clone())?;
        let own = rows_of(&sets);
        density(
            self.kernel.first(),
            self.likelihood.noise(),
            inputs,
            [features, residual],
            table(&own, &sets),
        )
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<VifProcess>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let sets = this.metric.neighbors(&inputs, this.settings.neighbors)?;
        let residual = this.mean.residual(targets, inputs.clone());
        let (factor, features) = this.features(inputs.clone())?;
        let own = rows_of(&sets);
        let rows = Rows::new(inputs.clone(), [&features, &residual], table(&own, &sets));
        let noise = this.likelihood.noise();
        let errors = rows.errors(this.kernel.first(), noise.clone())?;
        let (mean, spread) = posterior(&errors)?;
        let most = this.settings.prediction_neighbors;
        let process = VifProcess {
            observed: ObservedRows::new(this.kernel.first(), &inputs, most),
            values: rows.values,
            kernels: this.kernel,
            inducing: this.inducing,
            factor,
            noise,
            inputs,
            mean,
            spread,
        };
        Ok(WithMean::new(process, this.mean))
    }
}

/// The distribution of the whitened inducing variables, `N(M₁⁻¹h, M₁⁻¹)`, with means [P, M].
fn posterior(errors: &Errors) -> Result<(Tensor<2>, WhitenedCovariance), NotPositiveDefinite> {
    let dtype = errors.variance.dtype();
    let [basis, targets] = errors.precise().standardized(); // Λ, [M, N]
    let one = Tensor::<1>::ones([1], (&basis.device(), basis.dtype()));
    let factor = cholesky(precision(gram(basis.clone()), one.clone()), Jitter::NONE)?;
    let mean = posterior_mean(&factor, basis.exact_matmul(targets), one);
    let factor = CholeskyFactor::from_triangle(factor.triangle().cast(dtype));
    let spread = WhitenedCovariance::Precision(factor);
    Ok((mean.transpose().cast(dtype), spread))
}

fn rows_of(sets: &NeighborSets) -> Vec<u32> {
    (0..sets.rows() as u32).collect()
}

fn table<'a>(own: &'a [u32], sets: &'a NeighborSets) -> NeighborRows<'a> {
    NeighborRows {
        own,
        neighbors: sets.indices(),
        counts: sets.counts(),
    }
}
