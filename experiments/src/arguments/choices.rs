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
        /// Regression on all rows that counts what it has not computed as uncertainty, from trained
        /// combinations of the rows (CaGP-Opt), L-BFGS
        CagpOpt,
        /// As cagp-opt, from combinations that conjugate gradients choose anew in every step
        /// (CaGP-CG), Adam
        CagpCg,
        /// As cagp-cg, from combinations by a --policy (IterGP), Adam
        Itergp,
        /// Regression on all rows by conjugate gradients with stochastic log-determinants (CGGP),
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
        /// As solve-unwhitened, where the second set is of the mean alone (orthogonally decoupled)
        Odvgp,
        /// As sgpr, with a second, orthogonal set of inducing points (SOLVE-GP)
        SolveCollapsed,
        /// Sparse variational, by pseudo-observations of the inducing variables with noise of
        /// their own
        LSvgp,
        /// As l-svgp, by matrix products alone: an approximate inverse stands for the factorization
        InverseFree,
        /// Layers of Gaussian processes, each on draws from the one before (deep Gaussian process)
        DeepGp,
        /// Sparse variational with a convolutional kernel, for images
        ConvGp,
        /// As conv-gp on feature maps of layers that look at patches
        DeepConvGp,
        /// Regression on all rows with the outputs of a network as basis functions (deep basis
        /// kernel), Adam
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

choice! {
    /// The posteriors of models made of layers.
    PosteriorName {
        /// As of the model svgp
        Whitened,
        /// As of svgp-unwhitened
        Unwhitened,
        /// As of solve
        Solve,
        /// As of solve-unwhitened
        SolveUnwhitened,
        /// As of odvgp
        Odvgp,
        /// As of l-svgp
        LSvgp,
        /// As of inverse-free
        InverseFree,
    }
}

impl PosteriorName {
    /// The model of a single layer with this posterior.
    pub fn single_layer(self) -> ModelName {
        match self {
            Self::Whitened => ModelName::Svgp,
            Self::Unwhitened => ModelName::SvgpUnwhitened,
            Self::Solve => ModelName::Solve,
            Self::SolveUnwhitened => ModelName::SolveUnwhitened,
            Self::Odvgp => ModelName::Odvgp,
            Self::LSvgp => ModelName::LSvgp,
            Self::InverseFree => ModelName::InverseFree,
        }
    }

    /// The posterior of a model of a single layer, if it has one of these.
    pub fn of(model: ModelName) -> Option<Self> {
        let all = Self::value_variants().iter().copied();
        all.into_iter().find(|name| name.single_layer() == model)
    }
}

impl ModelName {
    /// Whether it is made of layers, whose posterior is an option.
    pub fn has_layers(self) -> bool {
        matches!(self, Self::DeepGp | Self::ConvGp | Self::DeepConvGp)
    }

    /// Whether it has layers before the last.
    pub fn is_deep(self) -> bool {
        matches!(self, Self::DeepGp | Self::DeepConvGp)
    }

    /// Whether its inputs are images.
    pub fn is_of_images(self) -> bool {
        matches!(self, Self::ConvGp | Self::DeepConvGp)
    }

    /// The model of a single layer with the same posterior: for a model of layers, that of
    /// `posterior`.
    pub fn single_layer(self, posterior: Option<PosteriorName>) -> Self {
        match self.has_layers() {
            true => posterior.unwrap_or(PosteriorName::Whitened).single_layer(),
            false => self,
        }
    }

    /// Whether it has basis functions that a network gives.
    pub fn has_basis(self) -> bool {
        matches!(self, Self::Dbk | Self::Svdbk | Self::Bll)
    }

    /// Whether its kernel is of the outputs of a network.
    pub fn is_deep_kernel(self) -> bool {
        matches!(self, Self::Dkl | Self::Sdkl | Self::Svdkl)
    }

    /// Whether there is a network in it.
    pub fn has_network(self) -> bool {
        self.has_basis() || self.is_deep_kernel()
    }

    /// Whether the variance that its basis functions lack can be corrected.
    pub fn has_correction(self) -> bool {
        matches!(self, Self::Dbk | Self::Svdbk)
    }

    /// Whether Adam trains it, on mini-batches or on all rows as one.
    pub fn is_mini_batch(self) -> bool {
        !matches!(
            self,
            Self::Exact | Self::Sgpr | Self::SolveCollapsed | Self::Cggp
        ) && !self.has_actions()
    }

    /// Whether the rows of a step can be fewer than all.
    pub fn has_batches(self) -> bool {
        self.is_mini_batch() && !matches!(self, Self::Dbk | Self::Dkl | Self::Sdkl)
    }

    /// Whether it takes other likelihoods than the Gaussian.
    pub fn takes_any_likelihood(self) -> bool {
        self.has_batches() && self != Self::Bll
    }

    /// Whether it has inducing points.
    pub fn has_inducing(self) -> bool {
        !self.has_basis()
            && !self.has_actions()
            && !matches!(self, Self::Exact | Self::Cggp | Self::Dkl)
    }

    /// Whether it has combinations of the rows in their place.
    pub fn has_actions(self) -> bool {
        matches!(self, Self::CagpOpt | Self::CagpCg | Self::Itergp)
    }

    /// Whether these are chosen by iteration, not trained.
    pub fn has_iterations(self) -> bool {
        matches!(self, Self::CagpCg | Self::Itergp)
    }

    /// Whether covariances of inducing points are factored with jitter.
    pub fn has_jitter(self) -> bool {
        self.has_inducing() && !self.has_pseudo_observations()
    }

    /// Whether it has a Gaussian over inducing variables whose covariance is trained.
    pub fn has_covariance_shape(self) -> bool {
        self.takes_any_likelihood() && !self.has_pseudo_observations()
    }

    /// Whether its posterior is that after pseudo-observations.
    pub fn has_pseudo_observations(self) -> bool {
        matches!(self, Self::LSvgp | Self::InverseFree)
    }

    /// Whether it has a second set of inducing points.
    pub fn has_orthogonal(self) -> bool {
        matches!(
            self,
            Self::Solve | Self::SolveUnwhitened | Self::Odvgp | Self::SolveCollapsed
        )
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
    /// The mean functions of the layers before the last.
    HiddenMeanName {
        /// Zero
        Zero,
        /// The inputs themselves, or their principal components where there are fewer functions
        Identity,
    }
}

choice! {
    /// How the first inducing points are chosen.
    InitializerName {
        /// A random subset of the training inputs
        Subset,
        /// Centers of clusters of the training inputs
        KMeans,
        /// The training inputs of largest conditional variance, one after the other
        GreedyVariance,
    }
}

choice! {
    /// Where the combinations of rows start.
    ActionStartName {
        /// At random
        Normal,
        /// The targets of their rows
        Targets,
        /// The eigenvector of their rows' covariances with the largest eigenvalue
        Eigenvectors,
    }
}

choice! {
    /// Which rows a trained combination is of.
    ActionRowsName {
        /// Rows near each other
        Near,
        /// Any rows: consecutive ones of the shuffled data
        Given,
    }
}

choice! {
    /// How the next combination of rows is chosen.
    PolicyName {
        /// The residual of the targets: conjugate gradients
        Cg,
        /// The same times an approximate inverse
        PreconditionedCg,
        /// One row after the other: exact regression on some of them
        Unit,
        /// At random
        Random,
        /// Eigenvectors of the covariance matrix, those with the largest eigenvalues first; for few
        /// rows
        Eigenvectors,
    }
}

choice! {
    /// The optimizers of models on all rows.
    OptimizerName {
        /// Few iterations with a line search, best in double precision
        LBfgs,
        /// One evaluation a step, with a learning rate
        Adam,
    }
}

choice! {
    /// The networks of models that have one.
    BackboneName {
        /// Two hidden layers
        Mlp,
        /// Two residual blocks
        Residual,
        /// The same with sums normalized over the units, in models trained on mini-batches of inputs
        /// standardized by the training rows
        #[value(alias = "normalised")]
        #[serde(alias = "normalised")]
        Normalized,
    }
}

choice! {
    /// How predictions have the variance that basis functions lack.
    CorrectionName {
        /// Not at all
        Features,
        /// Added
        Added,
        /// As noise, of training rows too
        Reweighted,
    }
}

choice! {
    /// What inputs are scaled to.
    InputScaleName {
        /// Mean zero and variance one
        Standard,
        /// From -1 to 1
        Range,
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
    /// What keeps an approximate inverse up to date.
    AuxiliaryName {
        /// Natural-gradient inversion after every step
        Natural,
        /// Adam, with the other parameters; slower and worse, for comparison
        Adam,
    }
}

choice! {
    /// The step sizes of natural-gradient inversion.
    InversionName {
        /// 1
        Full,
        /// From 1e-5 to 1 in ten steps, then 1: for inducing points that move fast
        LogLinear,
    }
}

choice! {
    /// Which step's model is kept where there are validation rows.
    KeepName {
        /// The one that predicts the validation rows best
        Best,
        /// The last; nothing looks at the validation rows
        Last,
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
        /// In a straight line down to 10 % of the first value
        Linear,
        /// In stages of equal length, each at a part of the rate before
        Stairs,
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

choice! {
    /// How large an experiment is.
    ScaleName {
        /// Minutes on a laptop; not comparable with the paper's numbers
        Quick,
        /// As in the paper
        Paper,
    }
}

/// The text that stands for a value on the command line.
pub fn name_of<T: ValueEnum>(value: T) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}
