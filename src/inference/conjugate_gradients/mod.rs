//! Regression that solves its linear systems by conjugate gradients.

mod process;
mod solve;
mod tridiagonal;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{DType, Tensor, TensorData},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

pub use process::ConjugateGradientsProcess;

use super::{
    ConditionError, Regression, check_rows, computation_aware::Preconditioner, parts::parts,
    row_noise::NoisyRows, row_values::RowColumns,
};
use crate::{
    kernels::{KernelModule, covariance_product},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{NotPositiveDefinite, number},
    parameter::{Priors, defaults},
    process::WithMean,
    random::standard_normals,
};
use process::System;
use solve::{Operator, Solved, Stop, solve};
pub(super) use tridiagonal::Tridiagonal;

/// The default number of preconditioner pivots, as a multiple of the square root of the number of
/// inputs.
const PIVOTS_OF_ROOT: f64 = 8.0;

defaults! {
    /// Settings of the solver.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    pub struct ConjugateGradientsSettings {
        /// The maximum number of iterations.
        pub iterations: usize = 512,
        /// A solve ends when its residual falls to this fraction of the right-hand side. This includes
        /// solves for variances, whose remaining error may be large compared with a small noise
        /// variance.
        pub tolerance: f64 = 1e-4,
        /// The number of pivots for caching predictive variances. The covariances of all inputs with
        /// the pivots span the directions in which predictions can reduce the prior variance. They are
        /// prepared once, by one product with the covariance. With too few pivots, as for rough
        /// functions of many inputs, variances are too large; with as many pivots as inputs they are
        /// exact, at the cost of exact regression. If absent, every prediction solves its own systems.
        #[serde(default)]
        #[setters(strip_option)]
        pub cached_variances: Option<usize> = None,
        /// The number of preconditioner pivots; 0 means no preconditioner. The default is `8·√N`, whose
        /// factorization takes about as long as ten products with the covariance. A preconditioner
        /// saves most of the iterations if the noise is small.
        #[serde(default)]
        #[setters(strip_option)]
        pub rank: Option<usize> = None,
        /// The number of random vectors for estimating the log-determinant and its gradient, at least
        /// one.
        pub probes: usize = 10,
        /// The seed for the random vectors.
        pub seed: u64 = 0,
        /// Whether iterations in double precision multiply by the covariance in single precision
        /// ([`rough_matrix_product`](crate::kernels::rough_matrix_product)). They do
        /// so if the tolerance is at least 1e-6 and the noise is large enough, which a first product
        /// in both precisions decides. Everything else is in double precision, including the last
        /// iterations if the true residual is still above the tolerance.
        #[serde(default = "enabled")]
        pub mixed_precision: bool = true,
    }
}

fn enabled() -> bool {
    true
}

/// The smallest noise variance that a line search tries, as a fraction of that at its start.
const LEAST_SHARE_OF_NOISE: f64 = 0.1;

/// For smaller tolerances, single precision has too few digits.
const LEAST_ROUGH_TOLERANCE: f64 = 1e-6;

impl ConjugateGradientsSettings {
    /// Whether iterations in this precision multiply in single precision.
    fn is_rough(&self, dtype: DType) -> bool {
        self.mixed_precision && dtype == DType::F64 && self.tolerance >= LEAST_ROUGH_TOLERANCE
    }
}

/// Regression with `v = (K + σ²I)⁻¹(y − m)` by preconditioned conjugate gradients, and the
/// log-determinant by stochastic Lanczos quadrature (J. Gardner, G. Pleiss, D. Bindel, K.
/// Weinberger and A. Wilson, *GPyTorch*, arXiv:1809.11165; J. Wenger et al., *Preconditioning for
/// Scalable Gaussian Process Hyperparameter Optimization*, arXiv:2107.00243):
/// `log|K̂| ≈ log|P| + 1/s·Σ_i z_iᵀP^{-½} log(P^{-½}K̂P^{-½}) P^{-½}z_i` with `z_i ~ N(0, P)`. Its
/// gradient is estimated by `1/s·Σ_i (K̂⁻¹z_i)ᵀ ∂K̂ (P⁻¹z_i)`.
///
/// The z are functions of the seed and the hyperparameters, so full-batch optimizers see a
/// deterministic function. Memory `N·(R + s + P)` for R preconditioner pivots; time N² per
/// iteration for the covariances, which are never stored.
///
/// Variances treat the solves as exact: they do not include the error of a mean whose solve ended
/// early, which [`ComputationAware`](super::ComputationAware) counts as uncertainty. Variances can
/// be computed from a cached low-rank root of `K̂⁻¹`, as in LOVE (G. Pleiss et al., *Constant-Time
/// Predictive Distributions for Gaussian Processes*, arXiv:1803.06058), but in the span of the
/// covariances with pivots instead of a Krylov space: a single product with R columns takes a
/// fraction of the time of R products
/// ([`cached_variances`](ConjugateGradientsSettings::cached_variances)).
#[derive(Module, Debug)]
pub struct ConjugateGradients<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    settings: ConjugateGradientsSettings,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
}

parts!(ConjugateGradients<K: KernelModule>);
parts!(rows ConjugateGradients<K: KernelModule>);

impl<K: KernelModule> ConjugateGradients<K> {
    /// Creates regression with the given prior and noise.
    ///
    /// # Panics
    ///
    /// If the number of probes is zero.
    #[track_caller]
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        settings: ConjugateGradientsSettings,
    ) -> Self {
        assert!(
            settings.probes > 0,
            "ConjugateGradients: probes must be at least 1, not 0"
        );
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            settings,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
        }
    }

    /// The noise variance of each row, `[N]`, or that of all, `[1]`.
    fn noise_of(&self, rows: &NoisyRows) -> Tensor<1> {
        let noise = self.likelihood.noise();
        rows.total(noise.clone()).unwrap_or(noise)
    }

    /// The number of preconditioner pivots for a number of inputs.
    fn rank(&self, rows: usize) -> usize {
        let usual = || (PIVOTS_OF_ROOT * (rows as f64).sqrt()).ceil() as usize;
        self.settings.rank.unwrap_or_else(usual).min(rows)
    }

    fn stop(&self) -> Stop {
        Stop {
            iterations: self.settings.iterations,
            tolerance: self.settings.tolerance,
        }
    }

    /// `K + σ²I` at the inputs, without autodiff. `noise` is σ², `[1]`, or that of each row, `[N]`.
    fn system(
        &self,
        inputs: &Tensor<2>,
        residual: &Tensor<2>,
        noise: &Tensor<1>,
    ) -> Result<System<K>, NotPositiveDefinite> {
        let this = self.valid();
        let (inputs, residual) = (inputs.clone().inner(), residual.clone().inner());
        let noise = noise.clone().inner();
        let problem = Regression {
            kernel: &this.kernel,
            noise: &noise,
            inputs: &inputs,
            residual: &residual,
        };
        let [rows, _] = inputs.dims();
        let preconditioner = match self.rank(rows) {
            0 => None,
            rank => Some(Preconditioner::new(&problem, rank)?),
        };
        Ok(System {
            is_rough: self.settings.is_rough(inputs.dtype()),
            kernel: this.kernel,
            inputs,
            noise: noise.unsqueeze_dim(1),
            preconditioner,
        })
    }

    /// Probes `z ~ N(0, P)`, [N, s].
    fn probes(&self, system: &System<K>) -> Tensor<2> {
        let ([rows, _], count) = (system.inputs.dims(), self.settings.probes);
        let mut random = ChaCha8Rng::seed_from_u64(self.settings.seed);
        let mut normal = |rows: usize| {
            let values = standard_normals(rows * count, &mut random);
            let (device, dtype) = (system.inputs.device(), system.inputs.dtype());
            let data = TensorData::new(values, [rows, count]).convert_dtype(dtype);
            Tensor::<2>::from_data(data, (&device, dtype))
        };
        let all = normal(rows);
        match &system.preconditioner {
            None => all,
            Some(preconditioner) => preconditioner.draw(all, normal(preconditioner.rank())),
        }
    }

    /// Estimates the log evidence and the ingredients of its gradient.
    fn estimate(&self, system: &System<K>, residual: Tensor<2>) -> Estimate {
        let ([rows, outputs], count) = (residual.dims(), self.settings.probes);
        let probes = self.probes(system);
        let columns = Tensor::cat(vec![residual.clone(), probes.clone()], 1);
        let Solved {
            solution,
            tridiagonals,
        } = solve(system, columns, self.stop());
        let weights = solution.clone().narrow(1, 0, outputs);
        let squares = number((residual * weights.clone()).sum());
        let quadrature: f64 = tridiagonals[outputs..]
            .iter()
            .map(Tridiagonal::logarithm)
            .sum();
        let log_determinant = system.log_determinant() + quadrature / count as f64;
        let normalizer = log_determinant + rows as f64 * (2.0 * PI).ln();
        Estimate {
            value: -0.5 * (squares + outputs as f64 * normalizer),
            weights,
            solved: solution.narrow(1, outputs, count),
            preconditioned: system.precondition(probes),
        }
    }
}

/// An estimate of the log evidence, with the ingredients of its gradient.
struct Estimate {
    value: f64,
    /// `K̂⁻¹(y − m)`, [N, P]
    weights: Tensor<2>,
    /// `K̂⁻¹z`, [N, s]
    solved: Tensor<2>,
    /// `P⁻¹z`, [N, s]
    preconditioned: Tensor<2>,
}

impl<K: KernelModule> ConjugateGradients<K> {
    /// An estimate of `Σ_p log N(y_p | m_p, K + σ²I)`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let rows = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = (self.mean).residual(rows.targets.clone(), inputs.clone());
        let [_, outputs] = residual.dims();
        let noise = self.noise_of(&rows);
        let system = self.system(&inputs, &residual, &noise)?;
        let estimate = self.estimate(&system, residual.clone().inner());
        // Not all devices have double precision.
        let place = (&system.inputs.device(), inputs.dtype());
        let value = Tensor::<1>::from_data([estimate.value], place);
        let of_all = |density| rows.log_density(density, self.likelihood.noise());
        if !noise.is_autodiff() {
            return Ok(of_all(value));
        }
        // A surrogate with value zero and the gradient of the log evidence.
        let (weights, solved) = (estimate.weights.autodiff(), estimate.solved.autodiff());
        let right = Tensor::cat(vec![weights.clone(), estimate.preconditioned.autodiff()], 1);
        let scale = -(outputs as f64) / self.settings.probes as f64;
        let left = Tensor::cat(vec![weights.clone(), solved * scale], 1);
        let inputs = if inputs.is_autodiff() {
            inputs
        } else {
            inputs.autodiff()
        };
        let products = covariance_product(&self.kernel, inputs, None, right.clone())
            + right * noise.unsqueeze_dim(1);
        let surrogate = (left * products).sum() * 0.5 - (weights * residual).sum();
        Ok(of_all(
            surrogate.clone() - surrogate.detach() + value.autodiff(),
        ))
    }

    /// Whether the noise variance is at least a tenth of that at the start. A tenth of the noise takes
    /// about four times as many iterations.
    pub fn is_within_reach(&self, start: &Self) -> bool {
        let noise = |model: &Self| number(model.likelihood.noise());
        noise(self) >= LEAST_SHARE_OF_NOISE * noise(start)
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<ConjugateGradientsProcess<K>>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let rows = NoisyRows::of(inputs.clone().inner(), targets.inner(), this.row_columns);
        let residual = (this.mean).residual(rows.targets.clone(), rows.inputs.clone());
        let system = this.system(&inputs, &residual, &this.noise_of(&rows))?;
        let directions = (self.settings.cached_variances)
            .map(|rank| system.directions(&residual, rank))
            .transpose()?;
        let weights = solve(&system, residual, self.stop()).solution;
        let process = ConjugateGradientsProcess::new(system, weights, directions, self.stop());
        Ok(WithMean::new(process, this.mean))
    }
}
