//! The sparse variational Gaussian process.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inference::{ConditionError, RowColumns},
    kernels::{FunctionPrior, Kernels},
    likelihoods::{AnyLikelihood, Gaussian, ImpossibleTarget},
    means::AnyMean,
    ops::NotPositiveDefinite,
    parameter::{Part, Priors, Role},
    process::{CovarianceShape, Marginals, SamplePaths, WithMean},
    variational::{AnyPosterior, Evaluation, Whitened},
};

use crate::{
    AnyTrained, Trained, row_columns,
    training::{Model, Objective, TrainingData},
};

/// A sparse variational Gaussian process: a kernel, a mean, a likelihood and a posterior.
///
/// `ELBO = Σ_n E_{q(f_n)}[log p(y_n | f_n)] − KL[q(u) ‖ p(u)]`
/// (J. Hensman, A. Matthews, Z. Ghahramani, *Scalable Variational Gaussian Process
/// Classification*, arXiv:1411.2005, eq. 19).
#[derive(Module, Debug)]
pub struct Svgp<K: Module = Kernels> {
    kernel: K,
    mean: AnyMean,
    likelihood: AnyLikelihood,
    posterior: Part<AnyPosterior<K>>,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    rows: RowColumns,
}

impl Svgp {
    /// A model with the given components.
    pub fn new(
        kernels: impl Into<Kernels>,
        mean: impl Into<AnyMean>,
        likelihood: impl Into<AnyLikelihood>,
        posterior: impl Into<AnyPosterior>,
    ) -> Self {
        Self::of(kernels.into(), mean, likelihood, posterior)
    }
}

impl Svgp {
    /// The model given further rows, on the device without autodiff, with an updated `q(u)`; see
    /// [`Whitened::condition_on_observations`]. A trained [`Collapsed`](burn_gp_core::inference::Collapsed) model becomes
    /// that of all rows. `None` unless the likelihood is Gaussian, with one noise variance, and the posterior is
    /// [`Whitened`] with full covariances.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, or `[N, P + 1]` with known noise variances of the rows besides that of the
    ///   likelihood
    ///
    /// # Errors
    ///
    /// When a value is not finite, or a covariance cannot be factored.
    pub fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Self, ConditionError>> {
        let this = self.valid();
        let noise = this.likelihood.downcast_ref::<Gaussian>()?.noise();
        let posterior: &Whitened = this.posterior.downcast_ref()?;
        let is_full = posterior.distribution().covariance_shape() == CovarianceShape::Full;
        if !is_full || noise.dims() != [1] {
            return None;
        }
        let updated = || {
            ConditionError::check(&inputs, &targets)?;
            let (x, targets) = (inputs.without_autodiff(), targets.without_autodiff());
            let [functions, _] = posterior.distribution().mean().dims();
            let [rows, columns] = targets.dims();
            let own = RowColumns {
                noise: columns == functions + 1,
                ..RowColumns::default()
            };
            let values = own.split(targets);
            let residual = this.mean.residual(values.targets, x.clone());
            let noise = match values.noise {
                Some(own) => noise + own,
                None => noise.expand([rows]),
            };
            let prior = &this.kernel;
            let posterior = posterior.condition_on_observations(prior, x, residual, noise)?;
            let posterior = Part::new(Role::Posterior, posterior.into());
            Ok(Self {
                posterior,
                ..this.clone()
            })
        };
        Some(updated())
    }
}

impl<K: FunctionPrior> Svgp<K> {
    /// A model with a prior of any type.
    pub fn of(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: impl Into<AnyLikelihood>,
        posterior: impl Into<AnyPosterior<K>>,
    ) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            likelihood: likelihood.into(),
            posterior: Part::new(Role::Posterior, posterior.into()),
            priors: Priors::default(),
            rows: RowColumns::default(),
        }
    }

    /// Trains with row weights: the expected log density of each row is multiplied by its weight, so
    /// that a row of weight two counts twice. The weights are an additional last column of the training
    /// targets, `[N, T + 1]`. Predictions and scores do not use weights.
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
    /// use burn_gp_models::{SvgpConfig, training::{Model, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::flex().autodiff();
    /// let config = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default());
    /// let data = TrainingData::new(&[0.0, 1.0], &[0.5, -0.5], &device, DType::F64);
    /// let model = config.with_inducing(2).init(&data)?;
    /// let twice = TrainingData::new(&[0.0, 0.0, 1.0], &[0.5, 0.5, -0.5], &device, DType::F64);
    /// let expected = model.objective(twice.inputs, twice.targets, 3)?.value();
    /// let targets = [0.5, 2.0, -0.5, 1.0]; // target, weight
    /// let weighted =
    ///     TrainingData::with_target_columns(&[0.0, 1.0], &targets, 2, &device, DType::F64);
    /// let model = model.with_row_weights();
    /// let found = model.objective(weighted.inputs, weighted.targets, 2)?.value();
    /// assert!((found - expected).abs().into_scalar::<f64>() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_row_weights(mut self) -> Self {
        self.rows.weights = true;
        self
    }

    /// Sets the priors of the parameters, given by their paths. The trainer adds them to the
    /// objective.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors = priors;
        self
    }

    /// The kernels of the functions.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The mean function.
    pub fn mean(&self) -> &AnyMean {
        &self.mean
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &AnyLikelihood {
        &self.likelihood
    }

    /// The variational posterior.
    pub fn posterior(&self) -> &AnyPosterior<K> {
        &self.posterior
    }

    /// Updates everything that the posterior keeps between steps to the current parameters. Call it
    /// before the first step.
    pub fn synchronized(mut self) -> Self {
        self.posterior.synchronize(&self.kernel);
        self
    }

    /// The posterior process, ready for prediction on the device without autodiff.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn condition(&self) -> Result<WithMean<Box<dyn SamplePaths>>, NotPositiveDefinite> {
        let process = self.posterior.condition(&self.kernel)?;
        Ok(WithMean::new(process, self.mean.valid()))
    }
}

impl<K: FunctionPrior> Model for Svgp<K>
where
    Self: Trained,
{
    /// An unbiased estimate of the evidence lower bound. Only the likelihood term of the batch is
    /// scaled up to all data, not the KL divergence.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let Evaluation { marginals, kl } = self.posterior.evaluate(&self.kernel, inputs.clone())?;
        let marginals = Marginals {
            mean: self.mean.add_to(marginals.mean, inputs),
            variance: marginals.variance,
        };
        let expected =
            row_columns::expected_log_density(self.rows, &self.likelihood, targets, marginals);
        Ok(Objective {
            fit: expected.sum() * (data_count as f64 / batch as f64),
            kl: Some(kl),
        })
    }

    fn after_step(&mut self) {
        self.posterior.after_step(&self.kernel);
    }

    fn priors(&self) -> Priors {
        self.priors.clone()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        row_columns::check(self.rows, &self.likelihood, targets)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let mut model = self.valid();
        model.rows = RowColumns::default();
        model.finished(data)
    }

    fn use_row_columns(&mut self, columns: RowColumns) -> bool {
        if columns.noise && self.likelihood.downcast_ref::<Gaussian>().is_none() {
            return false;
        }
        self.rows |= columns;
        true
    }
}
