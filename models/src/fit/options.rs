//! How a model is trained.

use burn::tensor::{DType, Device, TensorCreationOptions};
use burn_gp_core::{likelihoods::TargetKind, optim::NaturalGradient};

use super::{Error, Scaling, matrix::Rows};
use crate::{
    ModelConfig, Restarts, restarts,
    training::{
        AdamRates, FullBatchOptimizer, FullBatchTraining, InducingTraining, MiniBatchTraining,
        NetworkTraining, Schedule, Training, TrainingData, TrainingDefaults,
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
#[derive(Clone, Debug, Default)]
pub struct Fit {
    optimizer: Option<Optimizer>,
    learning_rate: Option<f64>,
    network_rate: Option<f64>,
    weight_decay: Option<f64>,
    length: Option<Length>,
    batch_size: Option<usize>,
    schedule: Option<Schedule>,
    tolerance: Option<f64>,
    natural_gradient: Option<NaturalGradient>,
    inducing: Option<InducingTraining>,
    gradient_norm: Option<f64>,
    seed: Option<u64>,
    restarts: usize,
    scale_inputs: Option<bool>,
    scale_targets: Option<bool>,
    default_priors: Option<bool>,
    place: Place,
}

/// The requested device and type.
#[derive(Clone, Debug, Default)]
struct Place {
    device: Option<Device>,
    dtype: Option<DType>,
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

    /// Sets the number of rows in a mini-batch.
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = Some(rows);
        self
    }

    /// Sets the initial learning rate of Adam, or the first step size of L-BFGS line searches.
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.learning_rate = Some(rate);
        self
    }

    /// Sets the initial learning rate of network weights.
    pub fn network_rate(mut self, rate: f64) -> Self {
        self.network_rate = Some(rate);
        self
    }

    /// Sets the penalty `½λ‖θ‖²` on network weights.
    pub fn weight_decay(mut self, decay: f64) -> Self {
        self.weight_decay = Some(decay);
        self
    }

    /// Sets the schedule of Adam's learning rate. The default is half a cosine down to a hundredth.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// Sets the relative improvement per iteration below which L-BFGS stops.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Trains the Gaussians `q(u)` by natural gradients with steps of this size, smaller in the
    /// first ten steps; 0.1 is a common choice. Adam trains the other parameters.
    pub fn natural_gradients(mut self, step_size: f64) -> Self {
        let warm_up = NaturalGradient::WARM_UP;
        self.natural_gradient = Some(NaturalGradient::warming_up(step_size, warm_up));
        self
    }

    /// Sets how inducing points are trained, if differently from the other parameters.
    pub fn inducing(mut self, training: InducingTraining) -> Self {
        self.inducing = Some(training);
        self
    }

    /// Clips the gradient of each parameter to this norm.
    pub fn gradient_norm(mut self, norm: f64) -> Self {
        self.gradient_norm = Some(norm);
        self
    }

    /// Sets the seed of the mini-batches and of [`restarts`](Self::restarts). Seeds of other initial values are in
    /// the configuration.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
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

    /// Whether inputs are standardized by the training inputs: `(x − μ_d)/s_d` for column d, where a
    /// constant column is only centered. They are by default, except for images.
    ///
    /// Lengthscales and other initial values are then in units of the standardized inputs.
    pub fn scale_inputs(mut self, scale: bool) -> Self {
        self.scale_inputs = Some(scale);
        self
    }

    /// Whether targets are standardized. They are by default if any real number is a possible
    /// target. The likelihoods of labels, counts, positive numbers and fractions take unscaled
    /// targets.
    ///
    /// The noise and other initial values are then in units of the standardized targets.
    pub fn scale_targets(mut self, scale: bool) -> Self {
        self.scale_targets = Some(scale);
        self
    }

    /// Whether hyperparameters without a prior get a weak one
    /// (`add_default_priors` of [`ModelDefinition`](crate::ModelDefinition)). They do by
    /// default if the data are standardized; otherwise, hyperparameters maximize the evidence or bound
    /// alone.
    pub fn default_priors(mut self, are_added: bool) -> Self {
        self.default_priors = Some(are_added);
        self
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
        let seed = self.seed.unwrap_or(0);
        Ok(restarts(config, data, training, (count, seed), || ()))
    }

    /// The device without autodiff and the type for `inputs`.
    pub(super) fn place(&self, inputs: &Rows) -> (Device, DType) {
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

    /// The configuration with default priors, if these are enabled and the data are standardized.
    pub(super) fn with_priors(
        &self,
        mut config: ModelConfig,
        scaling: &Scaling,
        data: &TrainingData,
    ) -> ModelConfig {
        let kind = config.likelihood().target();
        let may = matches!(kind, TargetKind::Numbers | TargetKind::Measurements);
        let is_standardized = scaling.inputs.is_some() && scaling.targets.is_some() == may;
        if is_standardized && self.default_priors != Some(false) {
            config.add_default_priors(data.len(), data.inputs.dims()[1]);
        }
        config
    }

    /// The training on `rows` rows of a model whose default training is `usual`.
    pub(super) fn training(
        &self,
        usual: TrainingDefaults,
        has_draws: bool,
        rows: usize,
    ) -> Result<Training, Error> {
        self.check_ranges()?;
        let (rates, one_batch) = match (usual, self.optimizer) {
            (_, Some(Optimizer::LBfgs)) if has_draws => {
                return unused(
                    "l_bfgs",
                    "the objective of a model with hidden layers changes from step to step",
                );
            }
            (TrainingDefaults::FullBatch(usual), chosen) => {
                let is_l_bfgs = matches!(usual.optimizer, FullBatchOptimizer::LBfgs { .. });
                return Ok(match chosen {
                    Some(Optimizer::LBfgs) => self.l_bfgs_training(usual)?,
                    None if is_l_bfgs => self.l_bfgs_training(usual)?,
                    _ => self.full_batch_adam(usual)?,
                }
                .into());
            }
            (_, Some(Optimizer::LBfgs)) => {
                return Ok(self.l_bfgs_training(FullBatchTraining::L_BFGS)?.into());
            }
            (TrainingDefaults::OneBatch(rates), _) => (rates, true),
            (TrainingDefaults::MiniBatches(rates), _) => (rates, false),
        };
        Ok(self.mini_batches(rates, one_batch, rows)?.into())
    }

    fn l_bfgs_training(&self, usual: FullBatchTraining) -> Result<FullBatchTraining, Error> {
        self.refuse_mini_batches("the model is trained by L-BFGS on all data")?;
        self.refuse_network("L-BFGS trains all parameters together")?;
        if self.schedule.is_some() {
            return unused("schedule", "L-BFGS uses line searches instead");
        }
        Ok(FullBatchTraining {
            iterations: self.steps_of_all_data(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            // A given tolerance is the only one.
            nats: self.tolerance.map_or(usual.nats, |_| 0.0),
            optimizer: match self.learning_rate {
                Some(learning_rate) => FullBatchOptimizer::LBfgs { learning_rate },
                None => FullBatchOptimizer::L_BFGS,
            },
        })
    }

    fn full_batch_adam(&self, usual: FullBatchTraining) -> Result<FullBatchTraining, Error> {
        self.refuse_mini_batches("every step of this model uses all data")?;
        self.refuse_network("the model has no network")?;
        self.refuse_tolerance()?;
        let rate = match usual.optimizer {
            FullBatchOptimizer::Adam { learning_rate, .. } => learning_rate,
            FullBatchOptimizer::LBfgs { .. } => TrainingDefaults::LEARNING_RATE,
        };
        Ok(FullBatchTraining {
            iterations: self.steps_of_all_data(usual.iterations),
            optimizer: FullBatchOptimizer::Adam {
                learning_rate: self.learning_rate.unwrap_or(rate),
                schedule: self.schedule.unwrap_or(TrainingDefaults::SCHEDULE),
            },
            ..usual
        })
    }

    fn mini_batches(
        &self,
        rates: AdamRates,
        one_batch: bool,
        rows: usize,
    ) -> Result<MiniBatchTraining, Error> {
        self.refuse_tolerance()?;
        if rates.network.is_none() {
            self.refuse_network("the model has no network")?;
        }
        let reason = "every step of this model uses all data";
        let batch_size = match (one_batch, self.batch_size) {
            (true, Some(_)) => return unused("batch_size", reason),
            (true, None) if self.seed.is_some() && self.restarts == 0 => {
                return unused("seed", reason);
            }
            (true, None) => rows,
            (false, size) => size.unwrap_or(TrainingDefaults::BATCH_SIZE),
        };
        let network = rates.network;
        // If the user gives a learning rate, it applies to the network, too.
        let network_rate = network
            .filter(|_| self.learning_rate.is_none())
            .map(|network: NetworkTraining| network.learning_rate);
        let training = MiniBatchTraining {
            batch_size,
            learning_rate: self.learning_rate.unwrap_or(rates.learning_rate),
            network_rate: self.network_rate.or(network_rate),
            weight_decay: (self.weight_decay)
                .or(network.map(|network| network.weight_decay))
                .unwrap_or(0.0),
            schedule: self.schedule.unwrap_or(TrainingDefaults::SCHEDULE),
            gradient_norm: self.gradient_norm,
            natural_gradient: self.natural_gradient,
            inducing: self.inducing,
            seed: self.seed.unwrap_or(0),
            ..MiniBatchTraining::new(0)
        };
        let steps = match self.length {
            Some(Length::Steps(steps)) => steps,
            Some(Length::Epochs(epochs)) => training.steps_in_epochs(epochs, rows),
            None if one_batch => TrainingDefaults::ONE_BATCH_STEPS,
            None => TrainingDefaults::STEPS
                .max(training.steps_in_epochs(TrainingDefaults::EPOCHS, rows)),
        };
        Ok(MiniBatchTraining { steps, ..training })
    }

    fn steps_of_all_data(&self, usual: usize) -> usize {
        match self.length {
            Some(Length::Steps(count) | Length::Epochs(count)) => count,
            None => usual,
        }
    }

    fn refuse_mini_batches(&self, reason: &'static str) -> Result<(), Error> {
        let given = [
            ("batch_size", self.batch_size.is_some()),
            ("natural_gradients", self.natural_gradient.is_some()),
            ("inducing", self.inducing.is_some()),
            ("gradient_norm", self.gradient_norm.is_some()),
            ("seed", self.seed.is_some() && self.restarts == 0),
        ];
        first_given(&given, reason)
    }

    fn refuse_network(&self, reason: &'static str) -> Result<(), Error> {
        let given = [
            ("network_rate", self.network_rate.is_some()),
            ("weight_decay", self.weight_decay.is_some()),
        ];
        first_given(&given, reason)
    }

    fn refuse_tolerance(&self) -> Result<(), Error> {
        let given = [("tolerance", self.tolerance.is_some())];
        first_given(&given, "Adam has no convergence test")
    }

    fn check_ranges(&self) -> Result<(), Error> {
        let positive = [
            ("the learning rate", self.learning_rate),
            ("the learning rate of the network", self.network_rate),
            ("the gradient norm", self.gradient_norm),
            ("the batch size", self.batch_size.map(|size| size as f64)),
        ];
        for (name, value) in positive {
            let is_possible = |value: f64| value > 0.0 && value.is_finite();
            within(name, value, is_possible, "be a positive number")?;
        }
        for (name, value) in [
            ("the weight decay", self.weight_decay),
            ("the tolerance", self.tolerance),
        ] {
            let is_possible = |value: f64| value >= 0.0 && value.is_finite();
            within(name, value, is_possible, "be zero or a positive number")?;
        }
        let step_size = self.natural_gradient.map(|gradient| gradient.step_size);
        let is_possible = |value: f64| value > 0.0 && value <= 1.0;
        let range = "be greater than 0 and at most 1";
        within(
            "the step size of natural gradients",
            step_size,
            is_possible,
            range,
        )
    }
}

/// Refuses the first option that was given.
fn first_given(given: &[(&'static str, bool)], reason: &'static str) -> Result<(), Error> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => unused(option, reason),
        None => Ok(()),
    }
}

fn unused<T>(option: &'static str, reason: &'static str) -> Result<T, Error> {
    Err(Error::Unused { option, reason })
}

/// Checks the range of an optional number.
fn within(
    name: &'static str,
    value: Option<f64>,
    is_possible: impl Fn(f64) -> bool,
    range: &'static str,
) -> Result<(), Error> {
    match value {
        Some(value) if !is_possible(value) => Err(Error::OutOfRange { name, value, range }),
        _ => Ok(()),
    }
}
