//! The models, with what only some of them have.

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
    ActionRowsName, ActionStartName, AllRowsOptions, CovarianceName, InitializerName, KeepName,
    ModelName, PolicyName, PseudoObservationOptions, RunOptions,
};

const DEFAULT_BATCH_SIZE: usize = 256;
/// Of the other parameters of models with networks.
const RATE_BESIDE_NETWORKS: f64 = 3e-2;
const DEFAULT_PATIENCE: usize = 20;
/// Where a second training follows.
const PATIENCE_OF_SEARCH: usize = 12;
/// Pivots of the preconditioner of the policy that has one.
const POLICY_PIVOTS: usize = 256;

/// The models, with what only some of them have.
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
    /// A model made of layers, with the inducing points and the posterior of each.
    Layers(SparseSettings, Box<VariationalSettings>, Box<LayerSettings>),
    /// A model with a network in it, and its inducing points, if it has some.
    Network(
        Option<SparseSettings>,
        Box<VariationalSettings>,
        Box<NetworkSettings>,
    ),
}

impl Method {
    /// The model's name.
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

    /// The name of the model of a single layer with the same inducing points and posterior.
    pub fn single_layer(&self) -> ModelName {
        match self {
            Self::Layers(_, variational, _) => variational.family.name(),
            _ => self.name(),
        }
    }

    /// The network, for models that have one.
    pub fn network(&self) -> Option<&NetworkSettings> {
        match self {
            Self::Network(_, _, network) => Some(network),
            _ => None,
        }
    }

    /// The layers, for models made of them.
    pub fn layers(&self) -> Option<&LayerSettings> {
        match self {
            Self::Layers(_, _, layers) => Some(layers),
            _ => None,
        }
    }

    /// The inducing points, for models that have them.
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

    /// The combinations of rows, for models that have them.
    pub fn actions(&self) -> Option<&ActionSettings> {
        match self {
            Self::ComputationAware(actions) => Some(actions),
            _ => None,
        }
    }

    /// The options of models on all rows that describe what is computed of the posterior, without
    /// any default.
    pub fn all_rows_options(&self) -> AllRowsOptions {
        match self {
            Self::ComputationAware(actions) => actions.options(),
            Self::ConjugateGradients(settings) => conjugate_gradients_options(settings),
            _ => AllRowsOptions::default(),
        }
    }

    /// The posterior and its training on mini-batches, for models that have them.
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

/// The combinations of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionSettings {
    /// How many there are, unless by default.
    pub count: Option<usize>,
    /// How they are chosen.
    pub choice: ActionChoice,
}

/// How combinations of rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActionChoice {
    /// They are trained.
    Trained {
        /// Where they start.
        start: ActionStartName,
        /// Which rows one is of.
        rows: ActionRowsName,
    },
    /// By conjugate gradients.
    ConjugateGradients {
        /// The residual, as a part of the targets, where they end.
        tolerance: f64,
    },
    /// By a policy.
    Policy {
        /// Which.
        policy: PolicyName,
        /// Pivots of its preconditioner.
        rank: usize,
        /// The residual, as a part of the targets, where they end.
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
        let given = &options.all_rows;
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

    /// Where they start and which rows one is of, if they are trained.
    pub fn trained(&self) -> Option<(ActionStartName, ActionRowsName)> {
        match self.choice {
            ActionChoice::Trained { start, rows } => Some((start, rows)),
            _ => None,
        }
    }

    /// The options that describe their choice by iteration.
    pub fn options(&self) -> AllRowsOptions {
        let (policy, rank, tolerance) = match self.choice {
            ActionChoice::Trained { .. } => (None, None, None),
            ActionChoice::ConjugateGradients { tolerance } => (None, None, Some(tolerance)),
            ActionChoice::Policy {
                policy,
                rank,
                tolerance,
            } => (Some(policy), Some(rank), Some(tolerance)),
        };
        AllRowsOptions {
            policy,
            tolerance,
            pivots: rank.filter(|_| policy == Some(PolicyName::PreconditionedCg)),
            ..AllRowsOptions::default()
        }
    }
}

/// The inducing points.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSettings {
    /// How many there are, unless by default.
    pub inducing: Option<usize>,
    /// How many orthogonal ones there are, unless by default; none for models without.
    pub orthogonal: Option<usize>,
    /// How the first ones are chosen.
    pub initializer: InitializerName,
    /// The jitter on their covariances, unless by default.
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
    /// A second set that is of the mean alone, not whitened.
    Odvgp {
        /// The columns of its covariance that a step looks at, unless by default.
        columns: Option<usize>,
    },
    /// Pseudo-observations of the inducing variables.
    LSvgp(PseudoObservationsConfig),
    /// The same without a factorization.
    InverseFree(InverseFreeConfig),
}

impl Family {
    /// The model of a single layer with this posterior.
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

    /// Whether there is a second set of inducing points.
    pub fn has_orthogonal(&self) -> bool {
        matches!(self, Self::Solve { .. } | Self::Odvgp { .. })
    }

    /// The options that describe pseudo-observations, if there are such, without any default.
    pub fn pseudo_observation_options(&self) -> PseudoObservationOptions {
        match self {
            Self::LSvgp(observations) => pseudo_observation_options(observations),
            Self::InverseFree(config) => inverse_free_options(config),
            _ => PseudoObservationOptions::default(),
        }
    }
}

/// A variational posterior and its training on mini-batches.
#[derive(Clone, Debug, PartialEq)]
pub struct VariationalSettings {
    /// Which posterior.
    pub family: Family,
    /// The shape of the variational covariance.
    pub covariance: CovarianceName,
    /// Rows in a batch.
    pub batch_size: usize,
    /// The first learning rate.
    pub learning_rate: f64,
    /// How it goes down.
    pub schedule: Schedule,
    /// How it goes down where the loss does not.
    pub plateau: Option<Plateau>,
    /// The largest norm of a parameter's gradient.
    pub gradient_norm: Option<f64>,
    /// Natural gradients for the distribution of the inducing variables.
    pub natural_gradient: Option<NaturalGradient>,
    /// How the inducing points are trained, where that differs from the other parameters.
    pub inducing: Option<InducingTraining>,
    /// Passes over the training rows between two validations, unless by default.
    pub validation_epochs: Option<usize>,
    /// Validations without improvement before training stops.
    pub patience: usize,
    /// Which step's model is kept where there are validation rows.
    pub keep: KeepName,
}

impl VariationalSettings {
    /// The columns of the second set's covariance that a step looks at, where that is known.
    pub fn columns(&self) -> Option<usize> {
        match self.family {
            Family::Odvgp { columns } => columns,
            _ => None,
        }
    }
}

/// The model that `options` ask for.
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

/// The inducing points of a model that has them.
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

/// A variational posterior and its training.
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
