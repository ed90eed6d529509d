//! Computation-aware regression.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inference::{
        ActionLoss, ActionPolicy, ActionStart, AnyActionPolicy, BlockActions, ComputationAware,
        ConditionError, IterationRule, Iterations, RowColumns, near_order,
    },
    kernels::{AnyKernel, KernelModule},
    likelihoods::check_finite,
    ops::Blocks,
    register,
};
use serde::{Deserialize, Serialize};

use crate::{
    AnyModel, AnyTrained, Conditioned, DataShape, InitError, ModelDefinition,
    config::options_of,
    model_config::{full_batch, model_config},
    training::{FullBatchOptimizer, FullBatchTraining, Model, TrainingData, TrainingDefaults},
};

/// Computation-aware regression whose components are chosen at run time.
pub type AnyComputationAware = ComputationAware<AnyKernel, AnyActionPolicy>;

/// The rows that a trained action combines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionRows {
    /// Consecutive rows in the order of the data (arXiv:2411.01036).
    #[default]
    Given,
    /// Rows near each other in the order of [`near_order`].
    Near,
}

/// The actions of the posterior: the combinations of the data that it conditions on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "actions", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ActionsConfig {
    /// Trained actions. Each is supported on one run of rows.
    Blocks {
        /// The number of actions, I.
        count: usize,
        /// Whether `count` is an upper limit. If there are fewer rows, there are as many actions as
        /// rows. Otherwise too few rows are an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_most: bool,
        /// The initial values of the actions.
        start: ActionStart,
        /// The seed of the initial values.
        seed: u64,
        /// The rows in a run.
        #[serde(default)]
        rows: ActionRows,
    },
    /// Actions computed iteratively for the hyperparameters of every step.
    Iterations {
        /// The rule that gives the next action.
        rule: IterationRule,
        /// The largest number of actions, I.
        count: usize,
        /// The iteration stops when the residual is at most this fraction of the targets.
        tolerance: f64,
        /// The seed of random actions.
        seed: u64,
    },
}

impl Default for ActionsConfig {
    /// 256 trained actions over consecutive rows, or as many as there are rows if these are fewer.
    fn default() -> Self {
        Self::Blocks {
            count: 256,
            at_most: true,
            start: ActionStart::default(),
            seed: 0,
            rows: ActionRows::default(),
        }
    }
}

impl ActionsConfig {
    /// The largest number of actions, I.
    pub fn count(&self) -> usize {
        match self {
            Self::Blocks { count, .. } | Self::Iterations { count, .. } => *count,
        }
    }

    /// The actions for `rows` rows: an upper limit becomes a number of at most `rows`.
    pub fn for_rows(&self, rows: usize) -> Self {
        let mut chosen = self.clone();
        if let Self::Blocks { count, at_most, .. } = &mut chosen
            && std::mem::take(at_most)
        {
            *count = rows.min(*count);
        }
        chosen
    }

    /// The same actions with initial values that need no covariance, because a record replaces them.
    fn without_start(&self) -> Self {
        let mut actions = self.clone();
        if let Self::Blocks { start, .. } = &mut actions {
            *start = ActionStart::Targets;
        }
        actions
    }

    /// The action policy for a kernel and data, without autodiff.
    fn init(&self, kernel: &AnyKernel, data: &TrainingData) -> AnyActionPolicy {
        let rows = data.len();
        match *self {
            Self::Blocks {
                count, start, seed, ..
            } => {
                let blocks = Blocks::new(rows, count);
                let data = (&data.inputs, &data.targets);
                AnyActionPolicy::Blocks(BlockActions::starting(start, blocks, kernel, data, seed))
            }
            Self::Iterations {
                rule,
                count,
                tolerance,
                seed,
            } => {
                AnyActionPolicy::Iterations(Iterations::new(rule, count, tolerance).with_seed(seed))
            }
        }
    }
}

model_config! {
    /// Configuration of computation-aware regression (J. Wenger et al., *Computation-Aware Gaussian
    /// Processes: Model Selection And Linear-Time Inference*, arXiv:2411.01036).
    ///
    /// ```
    /// use burn_gp_core::{
    ///     inference::ActionStart, kernels::StationaryConfig, ops::Stationary,
    /// };
    /// use burn_gp_models::{ActionRows, ActionsConfig, ComputationAwareConfig, ModelConfig};
    ///
    /// let actions = ActionsConfig::Blocks {
    ///     count: 32,
    ///     at_most: false,
    ///     start: ActionStart::default(),
    ///     seed: 0,
    ///     rows: ActionRows::Near,
    /// };
    /// let kernel = StationaryConfig::new(Stationary::Matern32);
    /// let config = ComputationAwareConfig::new(kernel);
    /// let config = config.with_actions(actions);
    /// assert_eq!(config.actions.count(), 32);
    ///
    /// let model = ModelConfig::from(config.clone());
    /// assert_eq!(model, config.into());
    /// ```
    ComputationAwareConfig {
        /// The actions.
        actions: ActionsConfig = ActionsConfig::default(),
        /// The training loss.
        #[serde(default)]
        loss: ActionLoss = ActionLoss::default(),
    }
    /// 256 trained actions, or as many as there are rows if these are fewer, and a zero mean.
    new
}

impl ComputationAwareConfig {
    /// Initializes the model for [`arranged`](ModelDefinition::arranged) data, in their precision and on their
    /// device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the number of actions is zero or larger than the number of
    /// rows, or a parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnyComputationAware, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let plain = TrainingData {
            inputs: data.inputs.clone().inner(),
            targets: data.targets.clone().inner(),
        };
        let model = self.assemble(&plain, options_of(&data.inputs))?;
        let model = self.ready(model, AnyComputationAware::kernel, data)?;
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    fn assemble(
        &self,
        data: &TrainingData,
        options: TensorCreationOptions,
    ) -> Result<AnyComputationAware, InitError> {
        let [rows, dimensions] = data.inputs.dims();
        let actions = self.actions.for_rows(rows);
        let count = actions.count();
        if !(1..=rows).contains(&count) {
            return Err(InitError::Actions { count, rows });
        }
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        let policy = actions.init(&kernel, data);
        let model = ComputationAware::new(kernel, mean, likelihood, policy);
        Ok(model.with_loss(self.loss))
    }
}

impl ModelDefinition for ComputationAwareConfig {
    model_config!();

    /// Rows near each other are in one run if so configured ([`ActionRows::Near`]). Otherwise the order does not change.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        match self.actions.for_rows(data.len()) {
            ActionsConfig::Blocks {
                count,
                rows: ActionRows::Near,
                ..
            } if (1..=data.len()).contains(&count) => {
                let blocks = Blocks::new(data.len(), count);
                data.reordered(&near_order(&data.inputs, blocks))
            }
            _ => data,
        }
    }

    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
        Ok(self.init(data)?.boxed())
    }

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn resolve(&mut self, data: &TrainingData) {
        self.actions = self.actions.for_rows(data.len());
    }

    fn default_training(&self) -> TrainingDefaults {
        match self.actions {
            ActionsConfig::Blocks { .. } => TrainingDefaults::L_BFGS,
            ActionsConfig::Iterations { .. } => TrainingDefaults::FullBatch(FullBatchTraining {
                optimizer: FullBatchOptimizer::Adam {
                    learning_rate: TrainingDefaults::RATE_OF_ITERATIONS,
                    schedule: TrainingDefaults::SCHEDULE,
                },
                ..FullBatchTraining::L_BFGS
            }),
        }
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        let config = Self {
            actions: self.actions.without_start(),
            ..self.clone()
        };
        let model = config.assemble(&shape.zeros(), shape.options.clone())?;
        let model = self.parameters.apply_to_skeleton(model)?;
        Ok(Conditioned::skeleton(&model, shape))
    }
}

register!(
    Model,
    "computation-aware",
    ComputationAwareConfig,
    "Regression that counts skipped computation as uncertainty, full batch"
);

impl<K: KernelModule, A: ActionPolicy + Sync + 'static> Model for ComputationAware<K, A> {
    full_batch!(rows);

    fn after_step(&mut self) {
        self.after_step();
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }
}
