//! Options with a fixed set of values.

use burn_gp_core::{
    custom::{ComponentKind, ComponentName},
    features::Normalization,
    inducing::Initializer,
    inference::ActionStart,
    process::{CovarianceShape, PredictedVariance},
    variational::PosteriorName,
};
use burn_gp_datasets::{DateOrder, DecimalMark, MissingValues, Time};
use burn_gp_models::{ActionRows, Precision};
use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Defines the values of an option, with the same names on the command line and in files. The type after `for`
/// is the library's type with the same values.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident for $of:ty { $($(#[$doc:meta])* $value:ident),+ $(,)? }) => {
        choice! { $(#[$meta])* $name { $($(#[$doc])* $value),+ } }

        impl From<$name> for $of {
            fn from(name: $name) -> Self {
                match name { $($name::$value => Self::$value),+ }
            }
        }
    };
    ($(#[$meta:meta])* $name:ident { $($(#[$value_meta:meta])* $value:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$value_meta])* $value),+
        }
    };
}

choice! {
    /// The models.
    ModelName {
        /// Chooses exact, sgpr or svgp by the number of rows, the likelihood and --minutes, and starts from
        /// exact regression on some of the rows; `train` only
        Auto,
        /// Exact regression; cost cubic in the number of rows
        Exact,
        /// Sparse regression on the full batch (collapsed bound), L-BFGS
        Sgpr,
        /// Computation-aware regression, which counts skipped computation as uncertainty, with trained
        /// actions (CaGP-Opt), full batch, L-BFGS
        CagpOpt,
        /// As cagp-opt, with actions from conjugate gradients in every step (CaGP-CG), Adam
        CagpCg,
        /// As cagp-cg, with actions chosen by a --policy (IterGP), Adam
        Itergp,
        /// Regression by conjugate gradients with stochastic log-determinants (CGGP), full batch,
        /// L-BFGS
        Cggp,
        /// Sparse variational, whitened, Adam on mini-batches
        Svgp,
        /// As svgp, not whitened
        SvgpUnwhitened,
        /// Sparse variational with a second, orthogonal set of inducing points (SOLVE-GP), whitened
        Solve,
        /// As solve, not whitened
        SolveUnwhitened,
        /// As solve-unwhitened, but the second set only affects the mean (orthogonally decoupled)
        Odvgp,
        /// As sgpr, with a second, orthogonal set of inducing points (SOLVE-GP)
        SolveCollapsed,
        /// Sparse variational, with a pseudo-observation and a noise variance for each inducing
        /// variable
        LSvgp,
        /// As l-svgp, with matrix products only: an approximate inverse replaces the factorization
        InverseFree,
        /// Deep Gaussian process: each layer takes draws from the previous one
        DeepGp,
        /// Sparse variational with a convolutional kernel, for images
        ConvGp,
        /// As conv-gp, on feature maps of convolutional layers
        DeepConvGp,
        /// Regression with the outputs of a network as basis functions (deep basis kernel), full
        /// batch, Adam
        Dbk,
        /// As dbk, variational, on mini-batches
        Svdbk,
        /// Regression with a network whose last layer becomes Bayesian after training
        Bll,
        /// Exact regression on the outputs of a network (deep kernel learning), Adam
        Dkl,
        /// As dkl, with inducing points (collapsed bound)
        Sdkl,
        /// As sdkl, variational, on mini-batches
        Svdkl,
    }
}

impl ModelName {
    /// All models but `auto`.
    pub fn named() -> impl Iterator<Item = Self> {
        let models = Self::value_variants().iter().copied();
        models.filter(|model| *model != Self::Auto)
    }

    /// Whether the model has layers. Such models have an option for the posterior.
    pub fn has_layers(self) -> bool {
        matches!(self, Self::DeepGp | Self::ConvGp | Self::DeepConvGp)
    }

    /// Whether the inputs are images.
    pub fn is_of_images(self) -> bool {
        matches!(self, Self::ConvGp | Self::DeepConvGp)
    }

    /// The posterior, which is `chosen` for models of layers.
    pub fn posterior(self, chosen: Option<PosteriorName>) -> Option<PosteriorName> {
        match self {
            Self::Svgp | Self::Svdkl => PosteriorName::find("whitened"),
            Self::SvgpUnwhitened => PosteriorName::find("unwhitened"),
            Self::Solve | Self::SolveUnwhitened | Self::Odvgp | Self::LSvgp | Self::InverseFree => {
                PosteriorName::find(&name_of(self))
            }
            _ if self.has_layers() => chosen.or_else(|| PosteriorName::find("whitened")),
            // A registered posterior may have the name of a model.
            _ => None,
        }
    }

    /// The fields of the posterior's default configuration, which options can set.
    pub fn posterior_fields(self, chosen: Option<PosteriorName>) -> Map<String, Value> {
        let posterior = self.posterior(chosen);
        match posterior.map(|posterior| serde_json::to_value(posterior.config())) {
            Some(Ok(Value::Object(fields))) => fields,
            _ => Map::new(),
        }
    }

    /// Whether the model has orthogonal inducing points.
    pub fn has_orthogonal(self, chosen: Option<PosteriorName>) -> bool {
        let posterior = self.posterior(chosen);
        self == Self::SolveCollapsed
            || posterior.is_some_and(|posterior| posterior.config().has_orthogonal_set())
    }

    /// Whether a network computes the basis functions of the model.
    pub fn has_basis(self) -> bool {
        matches!(self, Self::Dbk | Self::Svdbk | Self::Bll)
    }

    /// Whether the kernel of the model takes the outputs of a network.
    pub fn is_deep_kernel(self) -> bool {
        matches!(self, Self::Dkl | Self::Sdkl | Self::Svdkl)
    }

    /// Whether the model has a network.
    pub fn has_network(self) -> bool {
        self.has_basis() || self.is_deep_kernel()
    }

    /// Whether the model is trained like a mini-batch model, with Adam. dbk, dkl and sdkl use all rows as one
    /// batch.
    pub fn is_mini_batch(self) -> bool {
        !matches!(
            self,
            Self::Exact | Self::Sgpr | Self::SolveCollapsed | Self::Cggp
        ) && !self.has_actions()
    }

    /// Whether L-BFGS can also train this mini-batch model: it has one layer, and its full-batch objective is
    /// deterministic.
    pub fn takes_l_bfgs(self) -> bool {
        matches!(
            self,
            Self::Svgp | Self::SvgpUnwhitened | Self::Solve | Self::SolveUnwhitened | Self::LSvgp
        )
    }

    /// Whether the model can train on mini-batches.
    pub fn has_batches(self) -> bool {
        self.is_mini_batch() && !matches!(self, Self::Dbk | Self::Dkl | Self::Sdkl)
    }

    /// Whether the rows can have weights in training.
    pub fn takes_weights(self) -> bool {
        self.is_mini_batch() && self.has_inducing() && !self.has_layers() && !self.is_deep_kernel()
    }

    /// Whether the model can train on rows that are read during training. Models with basis functions cannot,
    /// because some need all inputs again after training.
    pub fn streams(self) -> bool {
        self.has_batches() && !self.has_basis()
    }

    /// Whether the model supports likelihoods other than the Gaussian.
    pub fn takes_any_likelihood(self) -> bool {
        self.has_batches() && self != Self::Bll
    }

    /// Whether the model has inducing points.
    pub fn has_inducing(self) -> bool {
        !self.has_basis()
            && !self.has_actions()
            && !matches!(self, Self::Exact | Self::Cggp | Self::Dkl)
    }

    /// Whether the model has actions instead of inducing points.
    pub fn has_actions(self) -> bool {
        matches!(self, Self::CagpOpt | Self::CagpCg | Self::Itergp)
    }

    /// Whether the model chooses its actions by iteration instead of training them.
    pub fn has_iterations(self) -> bool {
        matches!(self, Self::CagpCg | Self::Itergp)
    }
}

choice! {
    /// The normalization of a residual network.
    NormalizationName for Normalization {
        /// No normalization, and inputs as they are
        None,
        /// Layer normalization; models on mini-batches standardize the inputs by the training rows
        Layer,
    }
}

choice! {
    /// The initializers of the inducing points.
    InitializerName for Initializer {
        /// A random subset of the training inputs
        Subset,
        /// Cluster centers of the training inputs
        KMeans,
        /// Training inputs, each with the largest conditional variance given those before it
        GreedyVariance,
    }
}

choice! {
    /// The initial actions.
    ActionStartName for ActionStart {
        /// Random
        Normal,
        /// The targets of their rows
        Targets,
        /// The eigenvector of their rows' covariances with the largest eigenvalue
        Eigenvectors,
    }
}

choice! {
    /// The rows that a trained action combines.
    ActionRowsName for ActionRows {
        /// Neighboring rows
        Near,
        /// Consecutive rows of the shuffled data
        Given,
    }
}

choice! {
    /// The policies that choose the next action.
    PolicyName {
        /// The residual of the targets (conjugate gradients)
        Cg,
        /// The residual times an approximate inverse (preconditioned conjugate gradients)
        PreconditionedCg,
        /// One row at a time (exact regression on some of the rows)
        Unit,
        /// Random
        Random,
        /// The eigenvectors of the covariance matrix with the largest eigenvalues; only for small
        /// data
        Eigenvectors,
    }
}

choice! {
    /// The optimizers.
    OptimizerName {
        /// L-BFGS on all rows: few iterations with a line search; best in double precision
        LBfgs,
        /// Adam: one evaluation in each step, with a learning rate
        Adam,
    }
}

choice! {
    /// How predictions use the variance that the basis functions miss.
    CorrectionName for PredictedVariance {
        /// Not at all
        Features,
        /// Add it to the predictive variance
        Added,
        /// Treat it as noise, also at training rows
        Reweighted,
    }
}

choice! {
    /// The scales of the inputs.
    InputScaleName {
        /// Mean 0 and variance 1
        Standard,
        /// Between -1 and 1
        Range,
    }
}

choice! {
    /// The treatments of missing values in inputs.
    MissingName for MissingValues {
        /// The mean of the training rows, and an extra input that marks missing values
        Indicator,
        /// The mean of the training rows
        Mean,
        /// The median of the training rows
        Median,
        /// Leave out rows with missing values
        Drop,
        /// Stop with an error
        Refuse,
    }
}

choice! {
    /// The decimal marks.
    DecimalName for DecimalMark {
        /// As in 1.5
        #[value(name = ".")]
        #[serde(rename = ".")]
        Point,
        /// As in 1,5
        #[value(name = ",")]
        #[serde(rename = ",")]
        Comma,
    }
}

choice! {
    /// The orders of day and month.
    DateOrderName for DateOrder {
        /// As in 31/12/2021
        DayFirst,
        /// As in 12/31/2021
        MonthFirst,
    }
}

choice! {
    /// The treatments of dates and times.
    TimeName for Time {
        /// As numbers
        Linear,
        /// As numbers, and as phases of the year, the week and the day
        Cyclic,
    }
}

choice! {
    /// The structure of the variational covariance.
    CovarianceName for CovarianceShape {
        /// Full matrix
        Full,
        /// Diagonal: independent inducing variables
        Diagonal,
    }
}

choice! {
    /// How the approximate inverse is updated.
    AuxiliaryName {
        /// By natural-gradient inversion after every step
        Natural,
        /// By Adam, with the other parameters; slower and worse, for comparison
        Adam,
    }
}

choice! {
    /// The step sizes of natural-gradient inversion.
    InversionName {
        /// Always 1
        Full,
        /// From 1e-5 to 1 in the first ten steps, then 1; for inducing points that move fast
        LogLinear,
    }
}

choice! {
    /// Which step's model to keep if there are validation rows.
    KeepName {
        /// The step with the best prediction of the validation rows
        Best,
        /// The last step; the validation rows are not used
        Last,
    }
}

choice! {
    /// The learning rate schedules.
    ScheduleName {
        /// Constant
        Constant,
        /// Cosine decay to 1 % of the initial value
        Cosine,
        /// Exponential decay to 1 % of the initial value
        Exponential,
        /// Linear decay to 10 % of the initial value
        Linear,
        /// Stages of equal length; each multiplies the rate by --stage-factor
        Stairs,
    }
}

choice! {
    /// Floating-point types.
    DtypeName for Precision {
        /// Single precision
        F32,
        /// Double precision
        F64,
    }
}

choice! {
    /// The backends.
    BackendName {
        /// CPU
        Flex,
        /// CPU, through ndarray
        Ndarray,
        /// GPU, through WebGPU
        Wgpu,
        /// GPU, through Vulkan
        Vulkan,
        /// Apple GPU, through Metal
        Metal,
        /// NVIDIA GPU, through CUDA
        Cuda,
        /// AMD GPU, through ROCm
        Rocm,
    }
}

impl BackendName {
    /// Whether the backend computes on GPUs, of which a machine may have several.
    pub fn is_gpu(self) -> bool {
        !matches!(self, Self::Flex | Self::Ndarray)
    }
}

choice! {
    /// The scales of experiments.
    ScaleName {
        /// Minutes on a laptop; not comparable with the published values
        Quick,
        /// The scale of the paper
        Paper,
    }
}

/// The name of a value on the command line.
pub fn name_of<T: ValueEnum>(value: T) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Parses the name of a component of the library, such as a mean.
pub(super) fn component<K: ComponentKind + ?Sized>()
-> impl TypedValueParser<Value = ComponentName<K>> {
    let value =
        |component: ComponentName<K>| PossibleValue::new(component.name()).help(component.help());
    PossibleValuesParser::new(ComponentName::<K>::all().map(value))
        .try_map(|name| ComponentName::find(&name).ok_or("unknown name"))
}
