//! Any likelihood with one latent function, by the Laplace and the nearest-neighbor (Vecchia) approximation.

mod conditionals;
mod evidence;
mod latent_precision;
mod log_determinant;
mod mode;
mod posterior_columns;
mod posterior_precision;
mod precision_slopes;
mod process;
mod target_density;

use std::sync::Arc;

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Tensor, TensorCreationOptions},
};

pub use process::VecchiaLaplaceProcess;

use super::{
    ConditionError, VecchiaSettings, check_rows,
    parts::parts,
    vecchia::{Metric, Observations},
};
use crate::{
    kernels::KernelModule,
    likelihoods::AnyLikelihood,
    means::AnyMean,
    neighbors::NeighborSets,
    ops::{NotPositiveDefinite, numbers},
    parameter::{Part, Priors, Role, defaults},
    process::WithMean,
};
pub(super) use conditionals::Rows;
use conditionals::jitter;
use evidence::{Slopes, log_evidence};
pub(super) use latent_precision::LatentPrecision;
use log_determinant::LogDeterminant;
use mode::{Mode, find_mode};
use posterior_columns::PosteriorColumns;
use posterior_precision::{PosteriorPrecision, Stop};
use target_density::TargetDensity;

defaults! {
    /// How the Laplace approximation on neighbors estimates log-determinants and variances.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    pub struct VecchiaLaplaceSettings {
        /// Up to this number of rows, the log-determinant and the variances are exact, by a dense factorization. For
        /// more rows, random vectors estimate them.
        pub exact_rows: usize = 1000,
        /// The number of random vectors for the log-determinant and its gradient, at least one. It is rounded up to a
        /// multiple of eight.
        pub probes: usize = 48,
        /// The number of draws of the latent values from which predictive variances are estimated, at least one. It is
        /// rounded up to a multiple of eight. The relative standard error of the estimated part is `√(2/draws)`.
        pub draws: usize = 200,
        /// The solves for random vectors end when their residual falls to this fraction.
        pub tolerance: f64 = 1e-3,
        /// The largest number of iterations of a solve.
        pub iterations: usize = 1000,
        /// The seed of the random vectors.
        pub seed: u64 = 0,
    }
}

/// The draws do not use the same random numbers as the probes.
const SEED_OF_DRAWS: u64 = 0x5EED;

/// A Gaussian process with any likelihood of one latent function. The prior of its latent values is Vecchia's
/// approximation, with the precision `Q = BᵀD⁻¹B` (see [`Vecchia`](super::Vecchia)), and their posterior the Laplace
/// approximation (D. Zilber and M. Katzfuss, *Vecchia-Laplace Approximations of Generalized Gaussian Processes for Big
/// Non-Gaussian Spatial Data*, arXiv:1906.07828; P. Kündig and F. Sigrist, *Iterative Methods for Vecchia-Laplace
/// Approximations for Latent Gaussian Process Models*, arXiv:2310.12000):
///
/// ```text
/// ĝ = arg max log p(y | m + g) − ½gᵀQg                   by Newton's method
/// q(g) = N(ĝ, (Q + W)⁻¹),   W = −∂²log p(y | m + ĝ)
/// log p(y) ≈ log p(y | m + ĝ) − ½ĝᵀQĝ − ½Σ log d − ½log|Q + W|
/// ```
///
/// Where the log density is not concave in the function (Student-t, beta), entries of W that are negative count as zero.
/// The gradient includes the part through ĝ. Systems are solved by conjugate gradients with the preconditioner
/// `Bᵀ(D⁻¹ + W)B`. Up to [`exact_rows`](VecchiaLaplaceSettings::exact_rows) rows, the log-determinant and the variances
/// are exact. For more, they are estimated by random vectors, which are functions of the seed, so that full-batch
/// optimizers see a deterministic function.
///
/// For N rows, the time of an evaluation is N·m³ for the weights and `K·N·m` per iteration for K probes, and memory is
/// N·(m + K). The order of the rows matters as for [`Vecchia`](super::Vecchia).
///
/// ```
/// use burn::tensor::{DType, Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inference::{VecchiaLaplace, VecchiaLaplaceSettings, VecchiaSettings},
///     kernels::StationaryKernel, likelihoods::{Likelihood, LikelihoodConfig}, means::ZeroMean,
///     ops::Stationary, process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let options = (&device, DType::F64);
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[1.0], 1.0, options);
/// let likelihood = LikelihoodConfig::poisson().init(options);
/// let (neighbors, settings) = (VecchiaSettings::default(), VecchiaLaplaceSettings::default());
/// let model = VecchiaLaplace::new(kernel, ZeroMean::new(1), likelihood, 1, neighbors, settings);
/// let column = |values: Vec<f64>| {
///     Tensor::<2>::from_data(TensorData::new(values, [40, 1]), options)
/// };
/// let x = column((0..40).map(|row| f64::from(row) / 10.0).collect());
/// let counts = column((0..40).map(|row| if row < 20 { 1.0 } else { 8.0 }).collect());
/// let process = model.condition(x, counts)?;
/// let new = Tensor::<2>::from_data([[0.5], [3.5]], options);
/// let rates = model.likelihood().predict(process.marginals(new)).mean;
/// let rates: Vec<f64> = rates.into_data().iter().collect();
/// assert!(rates[0] < 2.0 && rates[1] > 6.0);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct VecchiaLaplace<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: AnyLikelihood,
    /// The metric in which the neighbors are the nearest.
    metric: Part<Metric>,
    #[module(skip)]
    neighbors: VecchiaSettings,
    #[module(skip)]
    settings: VecchiaLaplaceSettings,
    #[module(skip)]
    priors: Priors,
}

parts!(VecchiaLaplace<K: KernelModule>, AnyLikelihood);

/// Everything at the mode that does not depend on new inputs, without autodiff.
struct Fitted {
    rows: Rows,
    /// `[1]`
    jitter: Tensor<1>,
    prior: LatentPrecision,
    density: TargetDensity,
    mode: Mode,
}

impl<K: KernelModule> VecchiaLaplace<K> {
    /// Creates a model with the given prior and likelihood for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If the likelihood has several latent functions or no curvature, or a number of neighbors, probes or draws is
    /// zero.
    #[track_caller]
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: impl Into<AnyLikelihood>,
        dimensions: usize,
        neighbors: VecchiaSettings,
        settings: VecchiaLaplaceSettings,
    ) -> Self {
        let likelihood = likelihood.into();
        let description = likelihood.description();
        assert!(
            description.latents == 1,
            "VecchiaLaplace: the {} likelihood has {} latent functions; expected one",
            description.name,
            description.latents
        );
        assert!(
            description.is_smooth,
            "VecchiaLaplace: the log density of the {} likelihood has no curvature",
            description.name
        );
        let VecchiaSettings {
            neighbors: training,
            prediction_neighbors: prediction,
        } = neighbors;
        let VecchiaLaplaceSettings { probes, draws, .. } = settings;
        assert!(
            [training, prediction, probes, draws]
                .iter()
                .all(|&count| count > 0),
            "VecchiaLaplace: {training} neighbors, {prediction} in predictions, {probes} probes, {draws} draws; \
             expected at least one each"
        );
        let place = Place::of(&kernel);
        let metric = Metric::new(&kernel, dimensions, place.options);
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            metric: Part::new(Role::Posterior, metric),
            neighbors,
            settings,
            priors: Priors::default(),
        }
    }

    /// The numbers of neighbors.
    pub fn neighbors(&self) -> VecchiaSettings {
        self.neighbors
    }

    /// The settings of the estimates.
    pub fn settings(&self) -> VecchiaLaplaceSettings {
        self.settings
    }

    /// Chooses neighbors in the metric of the present lengthscales from now on, unless no ratio of two
    /// lengthscales has moved by a tenth since the last choice. Returns whether the objective has changed.
    pub fn update_metric(&mut self) -> bool {
        self.metric.update(&self.kernel)
    }

    fn stop(&self) -> Stop {
        Stop {
            iterations: self.settings.iterations,
            tolerance: self.settings.tolerance,
        }
    }

    /// The mode of the latent values of a model without autodiff.
    fn fitted(
        &self,
        sets: Arc<NeighborSets>,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Fitted, NotPositiveDefinite> {
        let jitter = jitter(&self.kernel, inputs.clone());
        let mean = numbers(self.mean.forward(inputs.clone()));
        let rows = Rows::new(inputs, sets);
        let prior = rows.precision(&self.kernel, &jitter)?;
        let density = TargetDensity::new(self.likelihood.clone(), targets, mean);
        let start = vec![0.0; prior.rows()];
        let mode = find_mode(&prior, &density, start, self.settings.iterations);
        Ok(Fitted {
            rows,
            jitter,
            prior,
            density,
            mode,
        })
    }

    /// `log|Q + W|`, exact or estimated.
    fn log_determinant(
        &self,
        system: &PosteriorPrecision<'_>,
        like: &Tensor<2>,
    ) -> Result<LogDeterminant, NotPositiveDefinite> {
        if system.prior().rows() <= self.settings.exact_rows {
            let (columns, value) = PosteriorColumns::exact(system, like)?;
            return Ok(LogDeterminant::exact(columns, value));
        }
        let VecchiaLaplaceSettings { probes, seed, .. } = self.settings;
        Ok(LogDeterminant::estimate(system, probes, seed, self.stop()))
    }

    /// `log p(y)`, approximately; see the type. NaN if the mode was not found.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, T]` for the T columns that the likelihood takes
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When the covariance of the neighbors of a row cannot be factored, or rounding exceeds a conditional
    /// variance. The batch member is the row.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of columns.
    #[track_caller]
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        self.check_shapes(&inputs, &targets);
        let sets = self.metric.neighbors(&inputs, self.neighbors.neighbors)?;
        let this = self.valid();
        let [points, targets] = [&inputs, &targets].map(|tensor| tensor.clone().without_autodiff());
        let fitted = this.fitted(sets, points.clone(), targets)?;
        let system = PosteriorPrecision::new(&fitted.prior, &fitted.mode.curvature);
        let determinant = this.log_determinant(&system, &points)?;
        let value = match fitted.mode.has_converged {
            true => log_evidence(&fitted.prior, &fitted.mode, &determinant),
            false => f64::NAN,
        };
        let value = Tensor::<1>::from_data([value], (&points.device(), points.dtype()));
        if !Place::of(self).is_tracked {
            return Ok(value);
        }
        let iterations = self.settings.iterations;
        let slopes = Slopes::new(&system, &fitted.mode, &determinant, iterations);
        let surrogate = self.surrogate(&fitted, &slopes, points)?;
        Ok(surrogate.clone() - surrogate.detach() + value.autodiff())
    }

    /// A term with the gradient of the log evidence.
    fn surrogate(
        &self,
        fitted: &Fitted,
        slopes: &Slopes,
        points: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let Fitted {
            rows,
            density,
            mode,
            ..
        } = fitted;
        let of_kernel = rows.surrogate(&self.kernel, &fitted.jitter, &slopes.prior)?;
        let of_likelihood = density.surrogate(&self.likelihood, &mode.latent, &slopes.of_density);
        let of_mean =
            Tensor::<1>::from_data(slopes.mean.as_slice(), (&points.device(), points.dtype()));
        let mean = self.mean.forward(points.autodiff()).squeeze_dim::<1>(1);
        Ok(of_kernel + of_likelihood + (mean * of_mean.autodiff()).sum())
    }

    /// The process given the data, on the device without autodiff. [Likelihood
    /// predictions](crate::likelihoods::Likelihood::predict) turn its marginals into those of targets.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, T]` for the T columns that the likelihood takes
    ///
    /// # Errors
    ///
    /// When an input is not finite, a target is impossible, or a covariance cannot be factored.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of columns.
    #[track_caller]
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<VecchiaLaplaceProcess<K>>, ConditionError> {
        self.check_shapes(&inputs, &targets);
        ConditionError::check_inputs(&inputs)?;
        self.likelihood.description().check_tensor(&targets)?;
        let sets = self.metric.neighbors(&inputs, self.neighbors.neighbors)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let Fitted {
            jitter,
            prior,
            mode,
            ..
        } = this.fitted(sets, inputs.clone(), targets)?;
        let system = PosteriorPrecision::new(&prior, &mode.curvature);
        let VecchiaLaplaceSettings {
            exact_rows,
            draws,
            seed,
            ..
        } = self.settings;
        let columns = match prior.rows() <= exact_rows {
            true => PosteriorColumns::exact(&system, &inputs)?.0,
            false => {
                let seed = seed.wrapping_add(SEED_OF_DRAWS);
                PosteriorColumns::draws(&system, draws, seed, self.stop())
            }
        };
        let options = (&inputs.device(), inputs.dtype());
        let latent = Tensor::<1>::from_data(mode.latent.as_slice(), options).unsqueeze_dim(1);
        let values = Tensor::cat(vec![latent, columns.matrix(&inputs)], 1);
        let most = self.neighbors.prediction_neighbors;
        let observed = Observations::new(this.kernel, jitter, [inputs, values], most);
        Ok(WithMean::new(
            VecchiaLaplaceProcess::new(observed),
            this.mean,
        ))
    }

    #[track_caller]
    fn check_shapes(&self, inputs: &Tensor<2>, targets: &Tensor<2>) {
        check_rows(inputs, targets);
        let ([_, found], description) = (targets.dims(), self.likelihood.description());
        assert!(
            found == description.columns,
            "VecchiaLaplace: {found} columns of targets; the {} likelihood takes {}",
            description.name,
            description.columns
        );
    }
}

/// Where the parameters of a module are.
struct Place {
    options: TensorCreationOptions,
    is_tracked: bool,
}

impl Place {
    /// That of the first parameter; the default if there is none.
    fn of(module: &impl Module) -> Self {
        struct First(Option<Place>);
        impl ModuleVisitor for First {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                self.0.get_or_insert_with(|| {
                    let value = param.val();
                    Place {
                        options: (&value.device(), value.dtype()).into(),
                        is_tracked: value.is_autodiff(),
                    }
                });
            }
        }
        let mut first = First(None);
        module.visit(&mut first);
        first.0.unwrap_or_else(|| Self {
            options: TensorCreationOptions::default(),
            is_tracked: false,
        })
    }
}
