//! How a model is trained.

mod input_errors;
mod row_noise;
mod row_weights;
mod training;

use burn::tensor::{DType, Device, TensorCreationOptions};
use burn_gp_core::{
    likelihoods::{AnyLikelihood, Support, TargetKind},
    optim::NaturalGradient,
    transforms::TransformName,
};
use derive_setters::Setters;

use super::{Error, Matrix, Scaling, matrix::Rows, row_values::CountedRows};
use crate::{
    ModelConfig, Restarts, restarts,
    training::{
        InducingTraining, MiniBatchTraining, Schedule, Training, TrainingData, TrainingDefaults,
    },
};

/// How a model is trained, and whether its data are scaled. Settings that are not given have the
/// model's defaults ([`TrainingDefaults`]).
///
/// | models | default training |
/// |---|---|
/// | SVGP, deep GPs | Adam on mini-batches of 256 rows with rate 0.05, for 6000 steps or 10 epochs, whichever is more |
/// | SVDBK, Bayesian last layers, SVDKL | the same with rate 0.03, smaller rates for network weights, and weight decay |
/// | DBK, DKL, SDKL | the same with all data as one batch, for 2000 steps |
/// | all others | L-BFGS on all data, at most 1000 iterations; Adam with rate 0.2 if actions are chosen by iteration |
///
/// An option that does not apply to the model is [`Error::Unused`].
///
/// ```
/// use burn_gp_models::Fit;
///
/// let fit = Fit::adam(0.01).epochs(50).batch_size(1024).seed(3);
/// # let _ = fit;
/// ```
#[derive(Clone, Debug, Default, Setters)]
#[setters(strip_option)]
pub struct Fit {
    #[setters(skip)]
    optimizer: Option<Optimizer>,
    /// Sets the initial learning rate of Adam, or the first step size of L-BFGS line searches.
    learning_rate: Option<f64>,
    /// Sets the initial learning rate of network weights.
    network_rate: Option<f64>,
    /// Sets the penalty `½λ‖θ‖²` on network weights.
    weight_decay: Option<f64>,
    #[setters(skip)]
    length: Option<Length>,
    /// Sets the settings of training on mini-batches, also those that have no method here. Other methods change single
    /// ones of them, whatever the order of the calls.
    ///
    /// ```
    /// use burn_gp_models::{Fit, training::{MiniBatchTraining, Plateau}};
    ///
    /// let training = MiniBatchTraining::new(3000).with_plateau(Plateau::new(100));
    /// let fit = Fit::new().mini_batches(training).batch_size(128);
    /// # let _ = fit;
    /// ```
    mini_batches: Option<MiniBatchTraining>,
    /// Sets the number of rows in a mini-batch.
    batch_size: Option<usize>,
    /// Sets the schedule of Adam's learning rate. The default is half a cosine down to a hundredth.
    schedule: Option<Schedule>,
    /// Sets the relative improvement per iteration below which L-BFGS stops.
    tolerance: Option<f64>,
    #[setters(skip)]
    natural_gradient: Option<NaturalGradient>,
    /// Sets how inducing points are trained, if differently from the other parameters.
    inducing: Option<InducingTraining>,
    /// Clips the gradient of each parameter to this norm.
    gradient_norm: Option<f64>,
    /// Sets the seed of the mini-batches and of [`restarts`](Self::restarts). Seeds of other initial values are in
    /// the configuration.
    seed: Option<u64>,
    #[setters(skip)]
    restarts: usize,
    #[setters(skip)]
    early_stopping: Option<EarlyStopping>,
    #[setters(skip)]
    input_errors: Option<Matrix>,
    #[setters(skip)]
    row_weights: Option<Matrix>,
    #[setters(skip)]
    row_noise: Option<Matrix>,
    /// Whether inputs are standardized by the training inputs: `(x − μ_d)/s_d` for column d, where a
    /// constant column is only centered. They are by default, except for images.
    ///
    /// Lengthscales and other initial values are then in units of the standardized inputs.
    scale_inputs: Option<bool>,
    /// Whether targets are standardized. They are by default if any real number is a possible
    /// target. The likelihoods of labels, counts, positive numbers and fractions take unscaled
    /// targets.
    ///
    /// The noise and other initial values are then in units of the standardized targets.
    scale_targets: Option<bool>,
    /// Sets a transformation of the targets before they are standardized: the logarithm, or a power whose likelihood is the
    /// highest for normal training targets ([`TransformName::fit`]), for each output its own. Positive targets with noise in
    /// proportion to their size, such as prices, are often normal after it.
    ///
    /// Predictions are those of the targets themselves: quantiles, intervals and draws are mapped back, means and variances
    /// are integrals, and log densities have the Jacobian `log g′(y)`, so that those of fits with and without a
    /// transformation can be compared. The latent functions and the hyperparameters, and known terms of the function
    /// ([`OffsetMean`](burn_gp_core::means::OffsetMean)), are those of the transformed targets.
    ///
    /// Likelihoods whose targets are any numbers take it, without limits or known noise. It is not for
    /// [quantiles](TransformName::Quantile), because densities would follow the gaps between rows.
    ///
    /// ```
    /// use burn_gp_core::{kernels::StationaryConfig, transforms::TransformName};
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// let prices: Vec<f64> = x.iter().map(|x| (3.0 + x.sin()).exp()).collect();
    /// let fit = Fit::new().transform_targets(TransformName::Log);
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &prices, &fit)?;
    /// // Far from the data, too, prices are positive.
    /// let (lower, _) = gp.predict([40.0])?.interval(0.99)?;
    /// assert!(lower.into_scalar::<f64>() > 0.0);
    /// # Ok(())
    /// # }
    /// ```
    transform_targets: Option<TransformName>,
    /// Whether hyperparameters without a prior get a weak one
    /// (`add_default_priors` of [`ModelDefinition`](crate::ModelDefinition)). They do by
    /// default if the data are standardized; otherwise, hyperparameters maximize the evidence or bound
    /// alone.
    default_priors: Option<bool>,
    #[setters(skip)]
    place: Place,
}

/// The requested device and type.
#[derive(Clone, Debug, Default)]
struct Place {
    device: Option<Device>,
    dtype: Option<DType>,
}

/// Rows that are not trained on, and when training ends.
#[derive(Clone, Debug)]
pub(super) struct EarlyStopping {
    pub inputs: Matrix,
    pub targets: Matrix,
    /// The number of validations without improvement.
    pub patience: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Optimizer {
    Adam,
    LBfgs,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Steps(usize),
    Epochs(usize),
}

impl Fit {
    /// The default training of the model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adam with an initial learning rate.
    pub fn adam(learning_rate: f64) -> Self {
        Self {
            optimizer: Some(Optimizer::Adam),
            learning_rate: Some(learning_rate),
            ..Self::default()
        }
    }

    /// L-BFGS on all data. Models that train on mini-batches by default accept it, too, unless they
    /// draw from hidden layers.
    pub fn l_bfgs() -> Self {
        Self {
            optimizer: Some(Optimizer::LBfgs),
            ..Self::default()
        }
    }

    /// Sets the number of steps; for L-BFGS the maximum number of iterations. With zero, the
    /// initial model is conditioned on the data without training.
    pub fn steps(mut self, steps: usize) -> Self {
        self.length = Some(Length::Steps(steps));
        self
    }

    /// Sets the number of passes over the data. For full-batch training, a pass is a step.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.length = Some(Length::Epochs(epochs));
        self
    }

    /// Trains the Gaussians `q(u)` by natural gradients with steps of this size, smaller in the
    /// first ten steps; 0.1 is a common choice. Adam trains the other parameters.
    pub fn natural_gradients(mut self, step_size: f64) -> Self {
        let warm_up = NaturalGradient::WARM_UP;
        self.natural_gradient = Some(NaturalGradient::warming_up(step_size, warm_up));
        self
    }

    /// Also trains from this many random initial values of the hyperparameters, and keeps the model with the
    /// smallest loss ([`restarts`](crate::restarts)). [`Fitted::restart_losses`](crate::Fitted::restart_losses)
    /// has all losses. Training takes as many times longer, plus one.
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let (x, y) = ([0.0, 0.5, 1.0, 1.5, 2.0], [0.1, 0.4, 0.8, 1.2, 1.3]);
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(x, y, &Fit::new().restarts(4))?;
    /// assert_eq!(gp.restart_losses().len(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn restarts(mut self, count: usize) -> Self {
        self.restarts = count;
        self
    }

    /// Ends training early, and keeps the model that predicts validation rows best. After every pass over the training
    /// rows, the mean log density of the validation targets, `[N, T]`, at the validation inputs, `[N, D]`, is computed.
    /// Training ends after `patience` passes without improvement. The model is not trained on these rows.
    ///
    /// Networks, which overfit if they are trained for too long, need it most. The learning rate is constant by default,
    /// because the number of steps is not known.
    ///
    /// ```
    /// use burn_gp_core::likelihoods::GaussianConfig;
    /// use burn_gp_models::{Fit, FitModel, SvdbkConfig};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let ((x, new_x), (y, new_y)) = (x.split_at(45), y.split_at(45));
    /// let fit = Fit::new().epochs(40).early_stopping(new_x, new_y, 5);
    /// let gp = SvdbkConfig::new(GaussianConfig::default()).fit(x, y, &fit)?;
    /// assert!(gp.best_step().is_some_and(|step| step <= 40));
    /// # Ok(())
    /// # }
    /// ```
    pub fn early_stopping(
        mut self,
        inputs: impl Into<Matrix>,
        targets: impl Into<Matrix>,
        patience: usize,
    ) -> Self {
        self.early_stopping = Some(EarlyStopping {
            inputs: inputs.into(),
            targets: targets.into(),
            patience,
        });
        self
    }

    /// The validation rows of early stopping.
    pub(super) fn validation_rows(&self) -> Option<&EarlyStopping> {
        self.early_stopping.as_ref()
    }

    /// The default is constant if the number of steps is not known.
    fn schedule_or_default(&self) -> Schedule {
        let given = self.mini_batches.as_ref().map(|given| given.schedule);
        self.schedule
            .or(given)
            .unwrap_or(match self.early_stopping {
                Some(_) => Schedule::Constant,
                None => TrainingDefaults::SCHEDULE,
            })
    }

    /// Sets the device, and with `(&device, DType::F64)` also the floating-point type. By default,
    /// they are those of the inputs.
    pub fn on(mut self, place: impl Into<TensorCreationOptions>) -> Self {
        let TensorCreationOptions { device, dtype } = place.into();
        self.place = Place {
            device: Some(device),
            dtype,
        };
        self
    }

    /// The initial values from which training reaches the smallest loss, if there are restarts.
    pub(super) fn best_start(
        &self,
        config: &mut ModelConfig,
        data: &TrainingData,
        training: &Training,
    ) -> Result<Restarts, Error> {
        let count = self.restarts;
        if count == 0 {
            return Ok(Restarts::default());
        }
        if config.parameters().is_none() {
            return unused("restarts", "the model has no hyperparameters to draw");
        }
        if self.early_stopping.is_some() {
            return unused(
                "early_stopping",
                "restarts compare the losses of whole trainings",
            );
        }
        let seed = self.seed.unwrap_or(0);
        Ok(restarts(config, data, training, (count, seed), || ()))
    }

    /// The device without autodiff and the type for `inputs`.
    pub(crate) fn place(&self, inputs: &Rows) -> (Device, DType) {
        let device = self.place.device.clone().or_else(|| inputs.device.clone());
        let device = device.unwrap_or_default().inner();
        let default = || device.settings().float_dtype.into();
        let asked = self.place.dtype.or(inputs.dtype).unwrap_or_else(default);
        let dtype = match asked {
            DType::F64 if device.supports_dtype(DType::F64) => DType::F64,
            _ => DType::F32,
        };
        (device, dtype)
    }

    /// Whether inputs are scaled, which is the default unless they are `images`.
    pub(super) fn scales_inputs(&self, images: bool) -> bool {
        self.scale_inputs.unwrap_or(!images)
    }

    /// Whether targets are scaled, which is the default if they `may` be.
    pub(super) fn scales_targets(&self, may: bool) -> Result<bool, Error> {
        if self.scale_targets == Some(true) && !may {
            return unused(
                "scale_targets",
                "the likelihood takes unscaled labels, counts, positive numbers or fractions",
            );
        }
        Ok(self.scale_targets.unwrap_or(may))
    }

    /// The transformation of the targets of a likelihood, if there is one.
    pub(super) fn target_transform(
        &self,
        kind: TargetKind,
        likelihood: &AnyLikelihood,
    ) -> Result<Option<TransformName>, Error> {
        let own = self.transform_targets;
        let Some(transform) = own.filter(|own| *own != TransformName::None) else {
            return Ok(None);
        };
        let support = likelihood.target_distribution().map(|own| own.support());
        let reason = match kind {
            TargetKind::Numbers if support.is_none() => {
                "the likelihood has no distribution of targets, from which predictions would be mapped back"
            }
            TargetKind::Numbers if support != Some(Support::Reals) => {
                "the likelihood has limits in the units of the targets; transform targets and limits before"
            }
            TargetKind::Numbers if transform == TransformName::Quantile => {
                "the density of a target would follow the gaps between rows; use log, box-cox or yeo-johnson"
            }
            TargetKind::Numbers => return Ok(Some(transform)),
            TargetKind::Measurements => {
                "the known noise of a target is not known noise of its transformed value"
            }
            TargetKind::Intervals => {
                "the density of an exact target would change and the probability of an interval would not; transform both limits before"
            }
            _ => "the likelihood takes labels, counts, positive numbers or fractions as they are",
        };
        Err(Error::TransformOption { transform, reason })
    }

    /// Whether targets are scaled with an offset that cannot follow their scale, which is never.
    pub(super) fn scales_targets_with_offset(&self) -> Result<bool, Error> {
        match self.scale_targets {
            Some(true) => unused(
                "scale_targets",
                "an offset is scaled with the targets of one output only, and if inputs are scaled",
            ),
            _ => Ok(false),
        }
    }

    /// The configuration with default priors, if these are enabled and the data are standardized.
    pub(super) fn with_priors(
        &self,
        mut config: ModelConfig,
        scaling: &Scaling,
        data: &TrainingData,
    ) -> ModelConfig {
        let kind = config.likelihood().target();
        let may = kind.is_any_number();
        let is_standardized = scaling.inputs.is_some() && scaling.targets.is_some() == may;
        if is_standardized && self.default_priors != Some(false) {
            config.add_default_priors(data.len(), data.inputs.dims()[1]);
        }
        config
    }
}

fn unused<T>(option: &'static str, reason: &'static str) -> Result<T, Error> {
    Err(Error::Unused { option, reason })
}
