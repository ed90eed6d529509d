//! Collapsed sparse regression.

use burn::module::Module;
use burn_gp_core::{
    inference::{Collapsed, ConditionError, LeaveOneOut, RowColumns},
    likelihoods::check_finite,
    ops::NotPositiveDefinite,
    register,
    variational::{Whitened, WhitenedConfig},
};

use crate::{
    AnyTrained, InducingConfig, InitError, ModelDefinition, Svgp, SvgpConfig, Trained,
    config::options_of,
    data::merges_replicates,
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// A collapsed model whose components are chosen at run time.
pub type AnySgpr = Collapsed;

model_config! {
    /// Configuration of a collapsed sparse regression model.
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    /// use burn_gp_models::{SgprConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let model = SgprConfig::new(kernel).with_inducing(6).init(&data)?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    SgprConfig {
        /// The inducing points.
        #[setters(skip)]
        inducing: InducingConfig = InducingConfig::default(),
    }
    /// 128 inducing points, or as many as there are distinct inputs if these are fewer, a zero mean
    /// and a noise variance that starts at 0.1.
    new
}

impl SgprConfig {
    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or a parameter setting is
    /// invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnySgpr, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        let (kernel, mean, likelihood) = self.parts(dimensions, &options_of(&data.inputs))?;
        let places = self.kernel.without_inactive(&data.inputs);
        let inducing = self.inducing.for_inputs(&places);
        inducing.check(false)?;
        let inducing = inducing.select(&kernel, &places)?.swap_remove(0);
        let jitter = self.inducing.jitter_for(data.inputs.dtype());
        let model = Collapsed::new(kernel, mean, likelihood, inducing, jitter);
        let model = match merges_replicates(data) {
            true => model.with_merged_replicates(),
            false => model,
        };
        let model = self.ready(model, AnySgpr::kernel, data)?;
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// The variational model that a trained collapsed model is converted to: whitened, with a full
    /// covariance.
    pub fn variational(&self) -> SvgpConfig {
        SvgpConfig {
            mean: self.mean.clone(),
            posterior: WhitenedConfig::default().into(),
            inducing: self.inducing.clone(),
            parameters: (self.parameters).with_field_renamed("inducing", "posterior.inducing"),
            ..SvgpConfig::new(self.kernel.clone(), self.likelihood.clone())
        }
    }
}

impl ModelDefinition for SgprConfig {
    model_config!(collapsed);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn takes_input_errors(&self) -> bool {
        true
    }
}

register!(
    Model,
    "sgpr",
    SgprConfig,
    "Sparse regression on the full batch (collapsed bound), L-BFGS"
);

impl Model for Collapsed {
    full_batch!(rows);

    /// The variational model with the optimal `q(u)` given `data`.
    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let model = self.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let distribution = model.optimal_distribution(inputs, targets)?;
        let posterior = Whitened::new(model.inducing().clone(), distribution, model.jitter());
        let (kernel, mean) = (model.kernel().clone(), model.mean().clone());
        let model = Svgp::new(kernel, mean, model.likelihood().clone(), posterior);
        Ok(model.into_trained())
    }

    fn leave_one_out(
        &self,
        data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        Some(self.leave_one_out(data.inputs.clone(), data.targets.clone()))
    }
}
