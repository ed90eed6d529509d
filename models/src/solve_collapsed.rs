//! Collapsed sparse regression with orthogonal inducing points.

use burn::module::Module;
use burn_gp_core::{
    inference::{CollapsedOrthogonal, ConditionError},
    likelihoods::check_finite,
    register,
    variational::{InducingSet, Parameterization, SolveGp, SolveGpConfig},
};

use crate::{
    AnyTrained, InducingConfig, InitError, ModelDefinition, Svgp, SvgpConfig, Trained,
    config::options_of,
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// A collapsed model with orthogonal inducing points, whose components are chosen at run time.
pub type AnySolveCollapsed = CollapsedOrthogonal;

model_config! {
    /// Configuration of a collapsed sparse regression model with orthogonal inducing points.
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    /// use burn_gp_models::{SolveCollapsedConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let config = SolveCollapsedConfig::new(kernel);
    /// let model = config.with_inducing(4).with_orthogonal(4).init(&data)?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    SolveCollapsedConfig {
        /// The inducing points, including the orthogonal ones.
        #[setters(skip)]
        inducing: InducingConfig = InducingConfig {
            orthogonal: 128,
            ..InducingConfig::default()
        },
    }
    /// 128 inducing points and 128 orthogonal ones, or fewer if there are fewer distinct inputs, a
    /// zero mean and a noise variance that starts at 0.1.
    new
}

impl SolveCollapsedConfig {
    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }

    /// Sets the number of inducing points that are orthogonal to the others.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.inducing.orthogonal = count;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, none are orthogonal, or a
    /// parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnySolveCollapsed, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        let (kernel, mean, likelihood) = self.parts(dimensions, &options_of(&data.inputs))?;
        let places = self.kernel.without_inactive(&data.inputs);
        let inducing = self.inducing.for_inputs(&places);
        inducing.check(true)?;
        let mut sets = inducing.select(&kernel, &places)?;
        let orthogonal = sets.swap_remove(1);
        let model = CollapsedOrthogonal::new(
            kernel,
            mean,
            likelihood,
            sets.swap_remove(0),
            orthogonal,
            self.inducing.jitter_for(data.inputs.dtype()),
        );
        let model = self.ready(model, AnySolveCollapsed::kernel, data)?;
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// The variational model that a trained collapsed model is converted to: whitened, with full
    /// covariances.
    pub fn variational(&self) -> SvgpConfig {
        let parameters = (self.parameters)
            .with_field_renamed("inducing", "posterior.sets.0.inducing")
            .with_field_renamed("orthogonal", "posterior.sets.1.inducing");
        SvgpConfig {
            mean: self.mean.clone(),
            posterior: SolveGpConfig::default().into(),
            inducing: self.inducing.clone(),
            parameters,
            ..SvgpConfig::new(self.kernel.clone(), self.likelihood.clone())
        }
    }
}

impl ModelDefinition for SolveCollapsedConfig {
    model_config!(collapsed);
}

register!(
    Model,
    "solve-collapsed",
    SolveCollapsedConfig,
    "As sgpr, with a second, orthogonal set of inducing points (SOLVE-GP)"
);

impl Model for CollapsedOrthogonal {
    full_batch!();

    /// The variational model with the optimal `q(u)` and `q(v_⊥)` given `data`.
    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let model = self.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let points = [model.inducing().clone(), model.orthogonal().clone()];
        let sets = (points.into_iter()).zip(model.optimal_distributions(inputs, targets)?);
        let sets = sets.map(|(points, distribution)| InducingSet::new(points, distribution));
        let posterior = SolveGp::new(sets.collect(), Parameterization::Whitened, model.jitter());
        let (kernel, mean) = (model.kernel().clone(), model.mean().clone());
        let model = Svgp::new(kernel, mean, model.likelihood().clone(), posterior);
        Ok(model.into_trained())
    }
}
