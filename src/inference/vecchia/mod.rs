//! Regression by the nearest-neighbor (Vecchia) approximation.

mod cache;
mod conditional;
mod finite_rows;
mod least_squares;
mod metric;
mod observations;
mod observed_rows;
mod parameter_slopes;
mod process;
mod system;
mod tile;
mod tiled_density;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

pub(super) use conditional::{conditional, errors, predicted_conditional, signed_weights};
use finite_rows::FiniteRows;
pub(super) use finite_rows::each_row;
pub use least_squares::LeastSquares;
pub(super) use metric::Metric;
pub(super) use observations::Observations;
pub(super) use observed_rows::ObservedRows;
pub(super) use parameter_slopes::ParameterSlopes;
pub use process::VecchiaProcess;
pub(super) use system::{System, draws_of_normals, indices, on_device};
pub(super) use tile::Tile;

use super::{
    ConditionError, check_rows, parts::parts, row_noise::NoisyRows, row_values::RowColumns,
};
use crate::{
    kernels::{Kernel, KernelModule, StationaryParameters, Structure},
    likelihoods::Gaussian,
    means::AnyMean,
    neighbors::NeighborSets,
    ops::{Jitter, NeighborRows, NotPositiveDefinite, is_on_cpu, stationary_neighbor_density},
    parameter::{Part, Priors, Role, defaults},
    process::WithMean,
};
use std::sync::Arc;
use tiled_density::tiled_density;

/// The noise acts as jitter. More is added only if rounding still makes a pivot negative.
const JITTER: Jitter = Jitter::NONE;

defaults! {
    /// The numbers of neighbors.
    #[derive(Copy, Eq)]
    #[serde(default, deny_unknown_fields)]
    pub struct VecchiaSettings {
        /// The largest number of rows that a row is conditioned on in training, m. The log density approaches
        /// that of the exact model from below on average; time grows with m³.
        pub neighbors: usize = 30,
        /// The largest number of rows that a prediction is conditioned on: half of them the nearest of all, a
        /// quarter the nearest among the first sixteenth of the rows, and the rest among the first 256th.
        pub prediction_neighbors: usize = 60,
    }
}

/// Regression where each row is conditioned on the m nearest of the rows before it:
/// `log p(y) ≈ Σ_i log N(y_i | m_i + bᵀ(y_c − m_c), d)` with `b = (K_cc + σ²I)⁻¹k_ci` and
/// `d = k_ii + σ² − k_ciᵀb` (A. Vecchia, *Estimation and model identification for continuous spatial
/// processes*, 1988; A. Datta, S. Banerjee, A. Finley and A. Gelfand, *Hierarchical Nearest-Neighbor Gaussian
/// Process Models for Large Geostatistical Datasets*, arXiv:1406.7343; J. Guinness, *Permutation and Grouping
/// Methods for Sharpening Gaussian Process Approximations*, arXiv:1609.05372). With m = N − 1 it is exact.
///
/// Time N·m³ and memory N·m. The order of the rows matters: use one in which early rows cover the inputs, such
/// as [`Ordering::Maximin`](crate::neighbors::Ordering::Maximin). Neighbors are the nearest in the metric of the
/// kernel's lengthscales. They stay the same while parameters change, until
/// [`update_metric`](Self::update_metric); a kernel without lengthscales has the nearest inputs as they are.
///
/// ```
/// use burn::tensor::{Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inference::{Vecchia, VecchiaSettings},
///     kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean, ops::Stationary,
///     process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[0.5], 1.0, &device);
/// let noise = Gaussian::new(0.01, &device);
/// let model = Vecchia::new(kernel, ZeroMean::new(1), noise, 1, VecchiaSettings::default());
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
pub struct Vecchia<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    /// The metric in which the neighbors are the nearest.
    metric: Part<Metric>,
    #[module(skip)]
    settings: VecchiaSettings,
    #[module(skip)]
    has_joint_predictions: bool,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
}

parts!(Vecchia<K: KernelModule>);
parts!(rows Vecchia<K: KernelModule>);

impl<K: KernelModule> Vecchia<K> {
    /// Creates regression with the given prior and noise for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a number of neighbors is zero.
    #[track_caller]
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        dimensions: usize,
        settings: VecchiaSettings,
    ) -> Self {
        let VecchiaSettings {
            neighbors,
            prediction_neighbors,
        } = settings;
        assert!(
            neighbors > 0 && prediction_neighbors > 0,
            "Vecchia: {neighbors} neighbors, {prediction_neighbors} in predictions; expected at least one each"
        );
        let noise = likelihood.noise();
        let options: TensorCreationOptions = (&noise.device(), noise.dtype()).into();
        let metric = Metric::new(&kernel, dimensions, options);
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            metric: Part::new(Role::Posterior, metric),
            settings,
            has_joint_predictions: true,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
        }
    }

    /// Sets whether new rows are predicted together, each given those before it, which is the default. In wide gaps
    /// between observed rows, means are then closer to those of the exact model. A row's mean depends slightly,
    /// within the error of the approximation, on the rows that are predicted with it.
    pub fn with_joint_predictions(mut self, is_joint: bool) -> Self {
        self.has_joint_predictions = is_joint;
        self
    }

    /// The numbers of neighbors.
    pub fn settings(&self) -> VecchiaSettings {
        self.settings
    }

    /// Chooses neighbors in the metric of the present lengthscales from now on, unless no ratio of two
    /// lengthscales has moved by a tenth since the last choice. Returns whether the objective has changed.
    pub fn update_metric(&mut self) -> bool {
        self.metric.update(&self.kernel)
    }

    /// The rows that each row is conditioned on.
    fn neighbors(&self, inputs: &Tensor<2>) -> Result<Arc<NeighborSets>, NotPositiveDefinite> {
        self.metric.neighbors(inputs, self.settings.neighbors)
    }

    /// `Σ_p log p(y_p)`, approximately; see the type.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When the covariance of the neighbors of a row cannot be factored, or rounding exceeds a conditional
    /// variance. The batch member is the row.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let sets = self.neighbors(&inputs)?;
        let own: Vec<u32> = (0..sets.rows() as u32).collect();
        let rows = NeighborRows {
            own: &own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        self.density(inputs, targets, rows)
    }

    /// `N/|rows|·Σ_i log p(y_i | y_c)` over some rows, an unbiased estimate of
    /// [`full_objective`](Self::full_objective) if they are drawn uniformly.
    ///
    /// # Errors
    ///
    /// Same as [`full_objective`](Self::full_objective).
    ///
    /// # Panics
    ///
    /// If there are no rows, or an index is too large.
    #[track_caller]
    pub fn batch_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        rows: &[usize],
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        assert!(!rows.is_empty(), "Vecchia::batch_objective: no rows");
        let sets = self.neighbors(&inputs)?;
        let (count, width) = (sets.rows(), sets.width());
        let table = |&row: &usize| &sets.indices()[row * width..][..width];
        let own: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
        let neighbors: Vec<u32> = rows.iter().flat_map(table).copied().collect();
        let counts: Vec<u32> = rows.iter().map(|&row| sets.counts()[row]).collect();
        let rows = NeighborRows {
            own: &own,
            neighbors: &neighbors,
            counts: &counts,
        };
        Ok(self.density(inputs, targets, rows)? * (count as f64 / own.len() as f64))
    }

    fn density(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        rows: NeighborRows<'_>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let noisy = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = (self.mean).residual(noisy.targets.clone(), inputs.clone()); // [N, P]
        let noise = self.likelihood.noise();
        let (besides, weighting) = (
            noisy.besides(noise.clone()),
            noisy.weighting(noisy.of_one(noise.clone())),
        );
        let density = match stationary_form(&self.kernel) {
            Some(stationary) if is_on_cpu(&inputs) && besides.is_none() => {
                stationary_neighbor_density(
                    stationary.profile,
                    [inputs, residual],
                    [stationary.lengthscales, stationary.variance, noise],
                    rows,
                    JITTER,
                )
            }
            _ => tiled_density(&self.kernel, (noise, besides), [inputs, residual], rows),
        }?;
        Ok(match weighting {
            Some(each) => {
                let own = indices(rows.own.iter().map(|&row| row as usize), &noisy.targets);
                density + each.select(0, own).sum()
            }
            None => density,
        })
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<VecchiaProcess<K>>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let noisy = NoisyRows::of(inputs.clone(), targets, this.row_columns);
        let residual = (this.mean).residual(noisy.targets.clone(), inputs.clone());
        let noise = this.likelihood.noise();
        let noise = (noise.clone(), noisy.besides(noise));
        let (most, is_joint) = (
            self.settings.prediction_neighbors,
            self.has_joint_predictions,
        );
        let process = VecchiaProcess::new(this.kernel, noise, [inputs, residual], most, is_joint);
        Ok(WithMean::new(process, this.mean))
    }
}

/// The kernel as a stationary one, if it is one, up to a scale.
fn stationary_form(kernel: &dyn Kernel) -> Option<StationaryParameters> {
    match kernel.structure() {
        Structure::Stationary(parameters) => Some(parameters),
        Structure::Scaled(base, scale) => {
            let mut parameters = stationary_form(base)?;
            parameters.variance = parameters.variance * scale;
            Some(parameters)
        }
        Structure::Sum(..) | Structure::ActiveDimensions(..) | Structure::General => None,
    }
}
