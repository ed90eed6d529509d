//! Options with a fixed set of values.

use burn_gp_core::{
    custom::{ComponentKind, ComponentName},
    features::Normalization,
    inducing::Initializer,
    inference::ActionStart,
    process::{CovarianceShape, PredictedVariance},
};
use burn_gp_datasets::{DateOrder, DecimalMark, MissingValues, Time};
use burn_gp_models::{ActionRows, Precision};
use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use serde::{Deserialize, Serialize};

use super::ModelChoice;

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

/// Parses the name of a model.
pub fn model() -> impl TypedValueParser<Value = ModelChoice> {
    let value = |model: ModelChoice| PossibleValue::new(model.name()).help(model.help());
    PossibleValuesParser::new(ModelChoice::all().map(value)).try_map(ModelChoice::try_from)
}
