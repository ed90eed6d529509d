//! Regression by inducing points and nearest neighbors (VIF).

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{ConditionError, VecchiaSettings, Vif},
    kernels::AnyKernel,
    likelihoods::{Gaussian, check_finite},
    means::AnyMean,
    neighbors::Ordering,
    register,
};

use crate::{
    AnyTrained, Conditioned, InducingConfig, InitError, ModelDefinition,
    config::options_of,
    model_config::{full_batch, model_config},
    row_order::in_order,
    training::{Model, TrainingData},
};

/// Regression by inducing points and nearest neighbors, whose components are chosen at run time.
pub type AnyVif = Vif;

/// The default number of inducing points.
const INDUCING: usize = 200;

model_config! {
    /// Configuration of regression by inducing points and nearest neighbors (VIF).
    ///
    /// Inducing points explain what is common to all rows, and each row is conditioned on the nearest rows before it for
    /// the rest. The result is closer to exact regression than that of [`VecchiaConfig`](crate::VecchiaConfig) for smooth
    /// kernels and for more than three inputs.
    ///
    /// ```
    /// use burn_gp_core::{inference::VecchiaSettings, kernels::StationaryConfig};
    /// use burn_gp_models::{Fit, FitModel, VifConfig};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
    /// let y: Vec<f64> = x.iter().map(|[a, b]| (0.5 * a).sin() + (0.3 * b).cos()).collect();
    /// let settings = VecchiaSettings { neighbors: 8, ..VecchiaSettings::default() };
    /// let config = VifConfig::new(StationaryConfig::matern52()).with_inducing(10);
    /// let gp = config.with_settings(settings).fit(&x, &y, &Fit::default())?;
    /// let predicted = gp.predict([[4.5, 4.5]])?;
    /// let expected = (0.5f64 * 4.5).sin() + (0.3f64 * 4.5).cos();
    /// let mean: f64 = predicted.mean().into_scalar();
    /// assert!((mean - expected).abs() < 0.1);
    /// # Ok(())
    /// # }
    /// ```
    VifConfig {
        /// The inducing points.
        #[setters(skip)]
        inducing: InducingConfig = InducingConfig {
            at_most: true,
            ..InducingConfig::new(INDUCING)
        },
        /// Whether the inducing points are trained. The log density is no bound, and rewards points at which the
        /// training rows fit better than others.
        #[serde(default)]
        train_inducing: bool = false,
        /// The numbers of neighbors, which may be zero.
        #[serde(default)]
        settings: VecchiaSettings = VecchiaSettings::default(),
        /// The order of the rows. If absent, it is maximin for up to three inputs, and random for more, for which
        /// maximin orders take long and gain little.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<Ordering> = None,
        /// The seed of a random order.
        #[serde(default)]
        seed: u64 = 0,
    }
    /// 200 inducing points that are not trained, or as many as there are distinct inputs if these are fewer, 30 neighbors
    /// in training and 60 in predictions, and a zero mean.
    new
}

impl VifConfig {
    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }

    /// Initializes the model for [`arranged`](ModelDefinition::arranged) data, in their precision and on their device with
    /// autodiff. The inducing points are chosen among the training inputs.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or a parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnyVif, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let ([_, dimensions], options) = (data.inputs.dims(), options_of(&data.inputs));
        let parts = self.parts(dimensions, &options)?;
        let places = self.kernel.without_inactive(&data.inputs);
        let inducing = self.inducing.for_inputs(&places);
        inducing.check(false)?;
        let points = inducing.select(&parts.0, &places)?.swap_remove(0);
        let model = self.with_points(parts, points, dimensions);
        let mut model = (self.with_frozen_points()).ready(model, AnyVif::kernel, data)?;
        // The initial variances of a sum are those of the data.
        model.update_metric();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// With the inducing points among the frozen parameters, unless they are trained.
    fn with_frozen_points(&self) -> Self {
        let mut config = self.clone();
        if !self.train_inducing {
            config.parameters.frozen.push("inducing".to_owned());
        }
        config
    }

    /// The model with the inducing points at the origin.
    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyVif, InitError> {
        let parts = self.parts(dimensions, &options)?;
        let points = self.inducing.at_origin(dimensions, &options).swap_remove(0);
        Ok(self.with_points(parts, InducingPoints::new(points), dimensions))
    }

    fn with_points(
        &self,
        (kernel, mean, likelihood): (AnyKernel, AnyMean, Gaussian),
        points: InducingPoints,
        dimensions: usize,
    ) -> AnyVif {
        let dtype = likelihood.noise().dtype();
        let jitter = self.inducing.jitter_for(dtype);
        Vif::new(
            kernel,
            mean,
            likelihood,
            points,
            dimensions,
            self.settings,
            jitter,
        )
    }
}

impl ModelDefinition for VifConfig {
    model_config!(keeps_data);
    model_config!(inducing);

    /// The data in the [order](Self::order). Data with an input that is not finite keep their order.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        in_order(data, &self.kernel, self.order, self.seed)
    }
}

register!(
    Model,
    "vif",
    VifConfig,
    "Regression on inducing points and nearest neighbors for smooth functions of several inputs, full batch, L-BFGS"
);

impl Model for Vif {
    full_batch!();

    fn update_approximation(&mut self) -> bool {
        self.update_metric()
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }
}
