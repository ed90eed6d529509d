//! The models and the settings that only some of them have.

use burn_gp::{
    inference::ConjugateGradientsSettings,
    optim::NaturalGradient,
    variational::{InverseFreeConfig, PseudoObservationsConfig},
};
use burn_gp_models::training::{InducingTraining, Plateau, Schedule};

use super::{
    DEFAULT_LEARNING_RATE, EarlyStopping, LayerSettings, NetworkSettings, SettingError,
    at_least_one, conjugate_gradients, conjugate_gradients_options, inducing_training,
    inverse_free, inverse_free_options, natural_gradient, positive, pseudo_observation_options,
    pseudo_observations, schedule,
};
use crate::arguments::{
    ActionRowsName, ActionStartName, CovarianceName, FullBatchOptions, InitializerName, KeepName,
    ModelName, PolicyName, PseudoObservationOptions, RunOptions,
};

const DEFAULT_BATCH_SIZE: usize = 256;
/// The learning rate of the other parameters in models with networks.
const RATE_BESIDE_NETWORKS: f64 = 3e-2;
const DEFAULT_PATIENCE: usize = 20;
/// The patience of early stopping before a second training on all rows.
const PATIENCE_OF_SEARCH: usize = 12;
/// Pivots of the preconditioner of the policy `preconditioned-cg`.
const POLICY_PIVOTS: usize = 256;

/// The models and the settings that only some of them have.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Exact regression.
    Exact,
    /// Computation-aware regression.
    ComputationAware(ActionSettings),
    /// Regression by conjugate gradients.
    ConjugateGradients(ConjugateGradientsSettings),
    /// Collapsed sparse regression.
    Sgpr(SparseSettings),
    /// Collapsed sparse regression with orthogonal inducing points.
    SolveCollapsed(SparseSettings),
    /// A sparse variational model.
    Svgp(SparseSettings, Box<VariationalSettings>),
    /// A model made of layers, with the inducing points and the posterior of each layer.
    Layers(SparseSettings, Box<VariationalSettings>, Box<LayerSettings>),
    /// A model with a network, and its inducing points if it has any.
    Network(
        Option<SparseSettings>,
        Box<VariationalSettings>,
        Box<NetworkSettings>,
    ),
}

impl Method {
    /// The name of the model.
    pub fn name(&self) -> ModelName {
        match self {
            Self::Exact => ModelName::Exact,
            Self::ComputationAware(actions) => actions.choice.model(),
            Self::ConjugateGradients(_) => ModelName::Cggp,
            Self::Sgpr(_) => ModelName::Sgpr,
            Self::SolveCollapsed(_) => ModelName::SolveCollapsed,
            Self::Svgp(_, variational) => variational.family.name(),
            Self::Layers(_, _, layers) => layers.model,
            Self::Network(_, _, network) => network.model,
        }
    }

    /// The name of the single-layer model with the same inducing points and posterior.
    pub fn single_layer(&self) -> ModelName {
        match self {
            Self::Layers(_, variational, _) => variational.family.name(),
            _ => self.name(),
        }
    }

    /// The network, if the model has one.
    pub fn network(&self) -> Option<&NetworkSettings> {
        match self {
            Self::Network(_, _, network) => Some(network),
            _ => None,
        }
    }

    /// The layers, if the model is made of layers.
    pub fn layers(&self) -> Option<&LayerSettings> {
        match self {
            Self::Layers(_, _, layers) => Some(layers),
            _ => None,
        }
    }

    /// The inducing points, if the model has any.
    pub fn sparse(&self) -> Option<&SparseSettings> {
        match self {
            Self::Exact | Self::ComputationAware(_) | Self::ConjugateGradients(_) => None,
            Self::Sgpr(sparse)
            | Self::SolveCollapsed(sparse)
            | Self::Svgp(sparse, _)
            | Self::Layers(sparse, _, _) => Some(sparse),
            Self::Network(sparse, _, _) => sparse.as_ref(),
        }
    }

    /// The actions, if the model has any.
    pub fn actions(&self) -> Option<&ActionSettings> {
        match self {
            Self::ComputationAware(actions) => Some(actions),
            _ => None,
        }
    }

    /// The options of full-batch models that choose how to compute the posterior, with all defaults
    /// filled in.
    pub fn full_batch_options(&self) -> FullBatchOptions {
        match self {
            Self::ComputationAware(actions) => actions.options(),
            Self::ConjugateGradients(settings) => conjugate_gradients_options(settings),
            _ => FullBatchOptions::default(),
        }
    }

    /// The posterior and its mini-batch training, if the model has them.
    pub fn variational(&self) -> Option<&VariationalSettings> {
        match self {
            Self::Exact
            | Self::ComputationAware(_)
            | Self::ConjugateGradients(_)
            | Self::Sgpr(_)
            | Self::SolveCollapsed(_) => None,
            Self::Svgp(_, variational)
            | Self::Layers(_, variational, _)
            | Self::Network(_, variational, _) => Some(variational),
        }
    }
}

/// The actions.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionSettings {
    /// The number of actions; the default if absent.
    pub count: Option<usize>,
    /// How the actions are chosen.
    pub choice: ActionChoice,
}

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActionChoice {
    /// The actions are trained.
    Trained {
        /// The initial actions.
        start: ActionStartName,
        /// The rows that an action combines.
        rows: ActionRowsName,
    },
    /// By conjugate gradients.
    ConjugateGradients {
        /// The relative residual at which the iteration stops.
        tolerance: f64,
    },
    /// By a policy.
    Policy {
        /// The policy.
        policy: PolicyName,
        /// Pivots of the preconditioner.
        rank: usize,
        /// The relative residual at which the iteration stops.
        tolerance: f64,
    },
}

impl ActionChoice {
    /// The name of the model.
    fn model(self) -> ModelName {
        match self {
            Self::Trained { .. } => ModelName::CagpOpt,
            Self::ConjugateGradients { .. } => ModelName::CagpCg,
            Self::Policy { .. } => ModelName::Itergp,
        }
    }
}

impl ActionSettings {
    fn new(options: &RunOptions, model: ModelName) -> Result<Self, SettingError> {
        let given = &options.full_batch;
        let default = ConjugateGradientsSettings::default();
        let tolerance = given.tolerance.unwrap_or(default.tolerance);
        let tolerance = positive("--tolerance", tolerance)?;
        let rank = at_least_one("--pivots", given.pivots)?.unwrap_or(POLICY_PIVOTS);
        Ok(Self {
            count: at_least_one("--actions", options.actions)?,
            choice: match model {
                ModelName::CagpCg => ActionChoice::ConjugateGradients { tolerance },
                ModelName::Itergp => ActionChoice::Policy {
                    policy: given.policy.ok_or(SettingError::NoPolicy)?,
                    rank,
                    tolerance,
                },
                _ => ActionChoice::Trained {
                    start: options.action_start.unwrap_or(ActionStartName::Normal),
                    rows: options.action_rows.unwrap_or(ActionRowsName::Near),
                },
            },
        })
    }

    /// The initial actions and their rows, if the actions are trained.
    pub fn trained(&self) -> Option<(ActionStartName, ActionRowsName)> {
        match self.choice {
            ActionChoice::Trained { start, rows } => Some((start, rows)),
            _ => None,
        }
    }

    /// The options that define an iterative choice of actions.
    pub fn options(&self) -> FullBatchOptions {
        let (policy, rank, tolerance) = match self.choice {
            ActionChoice::Trained { .. } => (None, None, None),
            ActionChoice::ConjugateGradients { tolerance } => (None, None, Some(tolerance)),
            ActionChoice::Policy {
                policy,
                rank,
                tolerance,
            } => (Some(policy), Some(rank), Some(tolerance)),
        };
        FullBatchOptions {
            policy,
            tolerance,
            pivots: rank.filter(|_| policy == Some(PolicyName::PreconditionedCg)),
            ..FullBatchOptions::default()
        }
    }
}

/// The inducing points.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSettings {
    /// The number of inducing points; the default if absent.
    pub inducing: Option<usize>,
    /// The number of orthogonal inducing points; the default if absent, and always absent in models
    /// without them.
    pub orthogonal: Option<usize>,
    /// The method that chooses the initial inducing points.
    pub initializer: InitializerName,
    /// The jitter on their covariances; the default if absent.
    pub jitter: Option<f64>,
}

/// The variational posteriors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// One set of inducing points.
    Svgp {
        /// Whether the inducing variables are whitened.
        whitened: bool,
    },
    /// A second, orthogonal set.
    Solve {
        /// Whether the inducing variables are whitened.
        whitened: bool,
    },
    /// A second set that contributes only to the mean; not whitened.
    Odvgp {
        /// The columns of the second set's covariance that each step uses; the default if absent.
        columns: Option<usize>,
    },
    /// Pseudo-observations of the inducing variables.
    LSvgp(PseudoObservationsConfig),
    /// Pseudo-observations without a factorization.
    InverseFree(InverseFreeConfig),
}

impl Family {
    /// The name of the single-layer model with this posterior.
    fn name(&self) -> ModelName {
        match self {
            Self::Svgp { whitened: true } => ModelName::Svgp,
            Self::Svgp { whitened: false } => ModelName::SvgpUnwhitened,
            Self::Solve { whitened: true } => ModelName::Solve,
            Self::Solve { whitened: false } => ModelName::SolveUnwhitened,
            Self::Odvgp { .. } => ModelName::Odvgp,
            Self::LSvgp(_) => ModelName::LSvgp,
            Self::InverseFree(_) => ModelName::InverseFree,
        }
    }

    /// Whether there are orthogonal inducing points.
    pub fn has_orthogonal(&self) -> bool {
        matches!(self, Self::Solve { .. } | Self::Odvgp { .. })
    }

    /// Converts the pseudo-observations back to options, with all defaults filled in; empty if
    /// there are none.
    pub fn pseudo_observation_options(&self) -> PseudoObservationOptions {
        match self {
            Self::LSvgp(observations) => pseudo_observation_options(observations),
            Self::InverseFree(config) => inverse_free_options(config),
            _ => PseudoObservationOptions::default(),
        }
    }
}

/// A variational posterior and its mini-batch training.
#[derive(Clone, Debug, PartialEq)]
pub struct VariationalSettings {
    /// The posterior.
    pub family: Family,
    /// The shape of the variational covariance.
    pub covariance: CovarianceName,
    /// Rows in a batch.
    pub batch_size: usize,
    /// The initial learning rate.
    pub learning_rate: f64,
    /// The learning rate schedule.
    pub schedule: Schedule,
    /// The reduction of the learning rate on a plateau.
    pub plateau: Option<Plateau>,
    /// The largest norm of the gradient of a parameter; larger gradients are clipped.
    pub gradient_norm: Option<f64>,
    /// Natural gradients for the distribution of the inducing variables.
    pub natural_gradient: Option<NaturalGradient>,
    /// The training settings of the inducing points, if they differ from the other parameters.
    pub inducing: Option<InducingTraining>,
    /// Epochs between two validations; the default if absent.
    pub validation_epochs: Option<usize>,
    /// Validations without improvement before training stops.
    pub patience: usize,
    /// The step whose model is kept if there are validation rows.
    pub keep: KeepName,
}

impl VariationalSettings {
    /// The columns of the second set's covariance that each step uses, if known.
    pub fn columns(&self) -> Option<usize> {
        match self.family {
            Family::Odvgp { columns } => columns,
            _ => None,
        }
    }
}

/// Reads the model from `options`.
pub(super) fn method(options: &RunOptions, model: ModelName) -> Result<Method, SettingError> {
    let posterior = options.layers.posterior;
    if model.has_network() {
        let sparse = (model.has_inducing()).then(|| sparse(options, model));
        let variational = variational(options, Family::Svgp { whitened: true }, model)?;
        let network = NetworkSettings::new(options, model)?;
        let (variational, network) = (Box::new(variational), Box::new(network));
        return Ok(Method::Network(sparse.transpose()?, variational, network));
    }
    let family = match model.single_layer(posterior) {
        ModelName::Exact => return Ok(Method::Exact),
        ModelName::CagpOpt | ModelName::CagpCg | ModelName::Itergp => {
            let actions = ActionSettings::new(options, model)?;
            return Ok(Method::ComputationAware(actions));
        }
        ModelName::Cggp => {
            return Ok(Method::ConjugateGradients(conjugate_gradients(options)?));
        }
        ModelName::Sgpr => return Ok(Method::Sgpr(sparse(options, model)?)),
        ModelName::SolveCollapsed => return Ok(Method::SolveCollapsed(sparse(options, model)?)),
        ModelName::Svgp => Family::Svgp { whitened: true },
        ModelName::SvgpUnwhitened => Family::Svgp { whitened: false },
        ModelName::Solve => Family::Solve { whitened: true },
        ModelName::SolveUnwhitened => Family::Solve { whitened: false },
        ModelName::Odvgp => Family::Odvgp {
            columns: at_least_one("--columns", options.columns)?,
        },
        ModelName::LSvgp => Family::LSvgp(pseudo_observations(&options.pseudo_observations)?),
        ModelName::InverseFree => Family::InverseFree(inverse_free(options)?),
        ModelName::DeepGp | ModelName::ConvGp | ModelName::DeepConvGp => {
            unreachable!("a model of layers has the posterior of a model of one")
        }
        ModelName::Dbk
        | ModelName::Svdbk
        | ModelName::Bll
        | ModelName::Dkl
        | ModelName::Sdkl
        | ModelName::Svdkl => unreachable!("models with networks are none of these"),
    };
    let sparse = sparse(options, model.single_layer(posterior))?;
    let variational = Box::new(variational(options, family, model)?);
    if !model.has_layers() {
        return Ok(Method::Svgp(sparse, variational));
    }
    let layers = LayerSettings::new(&options.layers, model, options.seed.unwrap_or(0))?;
    Ok(Method::Layers(sparse, variational, Box::new(layers)))
}

/// The inducing points, for a model that has them.
fn sparse(options: &RunOptions, model: ModelName) -> Result<SparseSettings, SettingError> {
    if let Some(jitter) = options.jitter
        && !(0.0..1.0).contains(&jitter)
    {
        return Err(SettingError::Jitter { value: jitter });
    }
    Ok(SparseSettings {
        inducing: at_least_one("--inducing", options.inducing)?,
        orthogonal: at_least_one("--orthogonal", options.orthogonal)?
            .filter(|_| model.has_orthogonal()),
        initializer: options.initializer.unwrap_or(InitializerName::KMeans),
        jitter: options.jitter,
    })
}

/// Reads a variational posterior and its training from `options`.
fn variational(
    options: &RunOptions,
    family: Family,
    model: ModelName,
) -> Result<VariationalSettings, SettingError> {
    let batch_size = at_least_one("--batch-size", options.batch_size)?;
    let is_stopped = EarlyStopping::new(options, model)? != EarlyStopping::Off;
    let patience = at_least_one("--patience", options.patience)?;
    let default_rate = match model.has_network() {
        true => RATE_BESIDE_NETWORKS,
        false => DEFAULT_LEARNING_RATE,
    };
    let learning_rate = options.learning_rate.unwrap_or(default_rate);
    let plateau = at_least_one("--plateau", options.plateau)?.map(Plateau::new);
    Ok(VariationalSettings {
        family,
        covariance: options.covariance.unwrap_or(CovarianceName::Full),
        batch_size: batch_size.unwrap_or(DEFAULT_BATCH_SIZE),
        learning_rate: positive("--learning-rate", learning_rate)?,
        schedule: schedule(options, is_stopped)?,
        plateau,
        gradient_norm: (options.gradient_norm)
            .map(|norm| positive("--gradient-norm", norm))
            .transpose()?,
        natural_gradient: natural_gradient(options)?,
        inducing: inducing_training(options)?,
        validation_epochs: at_least_one("--validation-epochs", options.validation_epochs)?,
        patience: patience.unwrap_or(match is_stopped {
            true => PATIENCE_OF_SEARCH,
            false => DEFAULT_PATIENCE,
        }),
        keep: options.keep.unwrap_or(KeepName::Best),
    })
}
