//! Options with a fixed set of values.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Defines an option's values, which are the same on the command line and in files.
macro_rules! choice {
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
        /// Exact regression: all rows, cubic in their number
        Exact,
        /// Sparse regression on all rows at once (collapsed bound), L-BFGS
        Sgpr,
        /// Sparse variational, whitened, Adam on mini-batches
        Svgp,
        /// As svgp, not whitened
        SvgpUnwhitened,
    }
}

choice! {
    /// The mean functions.
    MeanName {
        /// Zero
        Zero,
        /// A trained constant
        Constant,
        /// A trained linear function of the inputs
        Linear,
    }
}

choice! {
    /// How the first inducing points are chosen.
    InitialiserName {
        /// A random subset of the training inputs
        Subset,
        /// Centres of clusters of the training inputs
        KMeans,
        /// The training inputs of largest conditional variance, one after the other
        GreedyVariance,
    }
}

choice! {
    /// The shape of the variational covariance.
    CovarianceName {
        /// A full matrix
        Full,
        /// Independent inducing variables
        Diagonal,
    }
}

choice! {
    /// How the learning rate goes down.
    ScheduleName {
        /// It does not
        Constant,
        /// Half a cosine down to 1 % of the first value
        Cosine,
        /// Geometrically down to 1 % of the first value
        Exponential,
    }
}

choice! {
    /// The likelihoods.
    LikelihoodName {
        /// Numbers with normal noise
        Gaussian,
        /// Numbers with normal noise whose size depends on the inputs
        Heteroskedastic,
        /// Numbers whose noise is known, from --noise-column
        FixedNoise,
        /// Numbers with outliers
        StudentT,
        /// Two classes, probit link
        Bernoulli,
        /// Two classes, logit link
        BernoulliLogit,
        /// Classes without order, one function each
        Softmax,
        /// Classes without order, where the largest function wins but for rare errors
        RobustMax,
        /// Classes in order
        Ordinal,
        /// Counts
        Poisson,
        /// Counts that vary more than a Poisson distribution allows
        NegativeBinomial,
        /// Waiting times
        Exponential,
        /// Positive numbers
        Gamma,
        /// Numbers between 0 and 1
        Beta,
    }
}

choice! {
    /// Floating-point types.
    DtypeName {
        /// Single precision
        F32,
        /// Double precision
        F64,
    }
}

choice! {
    /// Where to compute.
    DeviceName {
        /// The processor
        Flex,
        /// The processor, through ndarray
        Ndarray,
        /// A graphics processor, through WebGPU
        Wgpu,
        /// A graphics processor, through Vulkan
        Vulkan,
        /// An NVIDIA graphics processor
        Cuda,
    }
}

/// The text that stands for a value on the command line.
pub fn name_of<T: ValueEnum>(value: T) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}
