//! Exact Gaussian process regression.

use burn::{module::Module, tensor::Tensor};

use super::{
    ConditionError, check_rows, noise_at_points::has_noise_at_points, parts::parts,
    row_noise::NoisyRows, row_values::RowColumns,
};
use crate::{
    inducing::InducingPoints,
    kernels::{KernelModule, Kernels},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{
        Jitter, NotPositiveDefinite, add_diagonal, add_to_diagonal, cholesky,
        gaussian_log_densities, gaussian_log_density,
    },
    parameter::Priors,
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};

/// The noise acts as jitter. More is added only if rounding still makes a pivot negative.
const JITTER: Jitter = Jitter::NONE;

/// Exact regression: with `L` the Cholesky factor of `K + σ²I` and `r = y − m(X)`,
/// `log p(y) = −½‖L⁻¹r‖² − ½log|K + σ²I| − ½N·log 2π` (Rasmussen and Williams, *Gaussian Processes
/// for Machine Learning*, 2006, algorithm 2.1).
///
/// Time N³ and memory N².
#[derive(Module, Debug)]
pub struct Exact<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
    /// Whether rows with equal inputs are merged.
    #[module(skip)]
    merges_replicates: bool,
}

parts!(Exact<K: KernelModule>);
parts!(rows Exact<K: KernelModule>);

impl<K: KernelModule> Exact<K> {
    /// Creates exact regression with the given prior and noise.
    pub fn new(kernel: K, mean: impl Into<AnyMean>, likelihood: Gaussian) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
            merges_replicates: false,
        }
    }

    /// Merges rows with equal inputs and equal noise wherever that saves time: a rows with the mean target ȳ become one
    /// with the noise `σ²/a`. Log densities, gradients and leave-one-out predictions stay those of all rows, up to
    /// rounding (M. Binois, R. Gramacy and M. Ludkovski, *Practical Heteroscedastic Gaussian Process Modeling for Large
    /// Simulation Experiments*, 2018). With n distinct inputs, the time is n³ in the place of N³.
    ///
    /// Rows are not merged if they have weights, gradients with respect to the data are wanted, or the kernel has noise at
    /// every point.
    /// The rows of [`condition`](Self::condition)ed processes are the merged ones.
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inference::Exact, kernels::StationaryConfig, likelihoods::Gaussian, means::ZeroMean,
    /// };
    ///
    /// # fn main() -> Result<(), burn_gp_core::ops::NotPositiveDefinite> {
    /// let place = (&Device::default(), DType::F64);
    /// let model = Exact::new(StationaryConfig::rbf().init(1, place), ZeroMean::new(1), Gaussian::new(0.1, place));
    /// let x = Tensor::<2>::from_data([[0.0], [0.0], [1.0], [0.0]], place);
    /// let y = Tensor::<2>::from_data([[0.5], [0.3], [0.1], [0.6]], place);
    /// let expected = model.full_objective(x.clone(), y.clone())?;
    /// let difference = expected - model.with_merged_replicates().full_objective(x, y)?;
    /// assert!(difference.abs().into_scalar::<f64>() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_merged_replicates(mut self) -> Self {
        self.merges_replicates = true;
        self
    }

    /// The rows with their weights and noise.
    pub(super) fn rows(&self, inputs: Tensor<2>, targets: Tensor<2>) -> NoisyRows {
        let rows = NoisyRows::of(inputs.clone(), targets.clone(), self.row_columns);
        if !self.merges_replicates {
            return rows;
        }
        let merged = rows.merged();
        match merged.are_merged() && has_noise_at_points(&self.kernel, merged.inputs.clone()) {
            true => NoisyRows::of(inputs, targets, self.row_columns),
            false => merged,
        }
    }

    /// `K + σ²I`, or with the noise of `rows` `K + σ²I + diag(v)`.
    pub(super) fn covariance(&self, rows: &NoisyRows) -> Tensor<2> {
        let prior = self.kernel.matrix_at(rows.inputs.clone());
        let noise = self.likelihood.noise();
        match rows.total(noise.clone()) {
            Some(total) => add_diagonal(prior, total),
            None => add_to_diagonal(prior, noise),
        }
    }
}

impl<K: KernelModule> Exact<K> {
    /// `Σ_p log N(y_p | m_p, K + σ²I)`.
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
        let rows = self.rows(inputs, targets);
        let residual = (self.mean).residual(rows.targets.clone(), rows.inputs.clone()); // [N, P]
        let density = gaussian_log_density(self.covariance(&rows), residual, JITTER)?;
        Ok(rows.log_density(density, self.likelihood.noise()))
    }

    /// [`full_objective`](Self::full_objective) of each of B models of the same data in one call. The covariance
    /// matrices of all are in memory at once.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::{
    ///     inference::Exact, kernels::StationaryConfig, likelihoods::Gaussian, means::ZeroMean,
    /// };
    ///
    /// let device = Device::default();
    /// let models = [0.5, 1.0, 2.0].map(|lengthscale| {
    ///     let kernel = StationaryConfig::rbf().with_lengthscale(lengthscale).init(1, &device);
    ///     Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.1, &device))
    /// });
    /// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
    /// let y = Tensor::<2>::from_data([[0.5], [0.3]], &device);
    /// assert_eq!(Exact::full_objectives(&models, x, y)?.dims(), [3]);
    /// # Ok::<(), burn_gp_core::ops::NotPositiveDefinite>(())
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[B]`
    ///
    /// # Errors
    ///
    /// When one of the covariance matrices cannot be factored.
    ///
    /// # Panics
    ///
    /// If there are no models, or one has [weights or noise of rows](Self::row_columns).
    pub fn full_objectives(
        models: &[Self],
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        assert!(
            models.iter().all(|model| model.row_columns.is_empty()),
            "Exact::full_objectives: a model with weights or noise of rows; expected models without"
        );
        let merges = |model: &Self| model.rows(inputs.clone(), targets.clone()).are_merged();
        if models.first().is_some_and(merges) {
            let each = (models.iter())
                .map(|model| model.full_objective(inputs.clone(), targets.clone()))
                .collect::<Result<_, _>>()?;
            return Ok(Tensor::cat(each, 0));
        }
        let kernels = Kernels::separate(models.iter().map(|model| model.kernel.clone()));
        let noise = models.iter().map(|model| model.likelihood.noise());
        let residuals = models.iter().map(|model| {
            let residual = model.mean.residual(targets.clone(), inputs.clone());
            residual.unsqueeze::<3>() // [1, N, P]
        });
        let (noise, residuals) = (noise.collect(), residuals.collect());
        let covariances = add_to_diagonal(kernels.matrix_at(inputs.clone()), Tensor::cat(noise, 0)); // [B, N, N]
        gaussian_log_densities(covariances, Tensor::cat(residuals, 0), JITTER)
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
    ) -> Result<WithMean<ConditionedProcess>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let rows = this.rows(inputs.inner(), targets.inner());
        let residual = (this.mean).residual(rows.targets.clone(), rows.inputs.clone());
        let factor = cholesky(this.covariance(&rows), JITTER)?;
        let mean = factor.solve(residual).transpose(); // [P, N]
        let process = ConditionedProcess::new(
            this.kernel,
            InducingPoints::new(rows.inputs),
            factor,
            mean,
            WhitenedCovariance::Known,
        );
        Ok(WithMean::new(process, this.mean))
    }
}
