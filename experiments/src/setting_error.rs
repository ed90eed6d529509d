//! Errors in options.

use std::borrow::Cow;
use std::path::PathBuf;

use burn_gp::patches::{ImageShape, PatchError};

/// An invalid option or combination of options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// An option that the model does not use.
    #[error("{option} means nothing for the model {model}; leave it out")]
    NotApplicable {
        /// The option.
        option: &'static str,
        /// The model.
        model: String,
    },
    /// A single value where a comparison takes several.
    #[error(
        "a comparison takes --{option}s with all of them, separated by commas, instead of --{option}"
    )]
    Plural {
        /// The option without dashes.
        option: &'static str,
    },
    /// A likelihood that the model does not support.
    #[error(
        "the model {model} needs the gaussian likelihood; use --model svgp for other likelihoods, or --likelihood gaussian"
    )]
    NeedsGaussian {
        /// The model.
        model: String,
    },
    /// A target with too many or too few classes.
    #[error(
        "the target {target:?} has {found} different labels, but the likelihood {likelihood} takes {takes}; {advice}"
    )]
    Classes {
        /// The target.
        target: String,
        /// The number of different labels.
        found: usize,
        /// The likelihood.
        likelihood: &'static str,
        /// The number of labels that the likelihood takes.
        takes: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// A likelihood with known noise, but no noise column.
    #[error(
        "the likelihood fixed-noise needs --noise-column, the column of the standard deviations of each target's noise"
    )]
    NoiseColumnMissing,
    /// An option that the likelihood does not use.
    #[error("{option} means nothing for the likelihood {likelihood}{advice}")]
    NotForLikelihood {
        /// The option.
        option: &'static str,
        /// The likelihood.
        likelihood: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// Two options that exclude each other.
    #[error("{first} and {second} exclude each other; give one of them")]
    Exclusive {
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// An option about validation rows without validation rows.
    #[error("{option} needs held-out rows; give --validation-fraction or --early-stopping too")]
    WithoutValidation {
        /// The option.
        option: &'static str,
    },
    /// A posterior of another crate that does not take a value of an option.
    #[error("the posterior does not take these options ({reason}); leave some of them out")]
    Posterior {
        /// The reason.
        reason: String,
    },
    /// A missing policy, for a model without a default policy.
    #[error(
        "--model itergp needs --policy: unit, random, eigenvectors, preconditioned-cg, or cg, which makes it \
         cagp-cg"
    )]
    NoPolicy,
    /// A count of zero.
    #[error("{option} is 0 but must be at least 1")]
    Zero {
        /// The option.
        option: Cow<'static, str>,
    },
    /// A number that must be positive.
    #[error("{option} is {value} but must be a positive number")]
    NotPositive {
        /// The option.
        option: Cow<'static, str>,
        /// Its value.
        value: f64,
    },
    /// A network that cannot start as the identity.
    #[error(
        "--from-identity needs a residual network with as many outputs as inputs, not {features} for \
         {inputs}; leave it out, or leave --features and --backbone mlp out"
    )]
    FromIdentity {
        /// The number of outputs.
        features: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// A share of the rows that is not in `[0, 1)`.
    #[error("{option} is {value} but must lie between 0 and 1, 1 excluded")]
    Share {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("{option} is {value} but must be zero or a positive number")]
    Negative {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// A variance below the lower bound.
    #[error("{option} is {value} but must be a number above {lower:e}")]
    BelowLowerBound {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The lower bound.
        lower: f64,
    },
    /// Options about stages for a schedule without stages.
    #[error("{option} means nothing without --schedule stairs; give that too or leave it out")]
    WithoutStages {
        /// The option.
        option: &'static str,
    },
    /// A jitter out of range.
    #[error(
        "--jitter is {value} but must lie between 0 and 1, 1 excluded; 1e-8 is usual in \
         f64, 1e-6 in f32"
    )]
    Jitter {
        /// Its value.
        value: f64,
    },
    /// A probability out of range.
    #[error("--level is {value} but must lie between 0 and 1, both excluded; 0.95 is usual")]
    Level {
        /// Its value.
        value: f64,
    },
    /// A step size out of range.
    #[error("--natural-gradient is {value} but must lie between 0, excluded, and 1; 0.1 is usual")]
    NaturalGradient {
        /// Its value.
        value: f64,
    },
    /// A warm-up without natural gradients.
    #[error("--natural-gradient-warm-up needs --natural-gradient")]
    WarmUpWithoutNaturalGradient,
    /// Inversion options without an inversion.
    #[error(
        "--inversion, --inversion-tolerance and --inversion-steps mean nothing with --auxiliary \
         adam; leave them out"
    )]
    InversionByAdam,
    /// A momentum out of range.
    #[error("--inducing-momentum is {value} but must be at least 0 and below 1; 0.99 is usual")]
    Momentum {
        /// Its value.
        value: f64,
    },
    /// A kernel on an input that does not exist.
    #[error("--kernel names input {input} but there are only {inputs}; they are counted from 1")]
    MissingInput {
        /// The input, counted from 1.
        input: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// A wrong count of numbers in a list for the layers.
    #[error(
        "{option} has {found} numbers for {layers} layers; give one for each, separated by commas"
    )]
    NumberOfLayers {
        /// The option.
        option: &'static str,
        /// The count of numbers.
        found: usize,
        /// The number of layers.
        layers: usize,
    },
    /// Images without a known shape.
    #[error(
        "the model {model} looks at images; give their shape with --image, such as 28x28 or \
         32x32x3 (height, width, channels)"
    )]
    ImageShapeMissing {
        /// The model.
        model: String,
    },
    /// An image shape that does not match the rows.
    #[error(
        "images of {image} (height, width, channels) have {numbers} numbers, but the data have \
         {inputs} inputs; correct --image"
    )]
    ImageShape {
        /// The image shape.
        image: ImageShape,
        /// The number of values in such an image.
        numbers: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// A layer whose patches do not fit.
    #[error("layer {layer}: {source}; correct --patch or --stride")]
    Patches {
        /// The layer, counted from 1.
        layer: usize,
        /// The reason.
        source: PatchError,
    },
    /// More inducing points than rows.
    #[error(
        "--inducing is {requested} but there are only {rows} training rows; give at most {rows}"
    )]
    TooManyInducing {
        /// The requested number.
        requested: usize,
        /// The number of training rows.
        rows: usize,
    },
    /// More actions than training rows.
    #[error(
        "--actions is {requested} but there are only {rows} training rows; give at most {rows}"
    )]
    TooManyActions {
        /// The requested number.
        requested: usize,
        /// The number of training rows.
        rows: usize,
    },
    /// More inducing points than distinct training inputs.
    #[error(
        "--inducing is {requested} but only {distinct} training inputs are different; give at most {distinct}"
    )]
    TooFewDistinct {
        /// The requested number.
        requested: usize,
        /// The number of distinct training inputs.
        distinct: usize,
    },
    /// More inducing points in both sets than distinct training inputs.
    #[error(
        "--inducing is {inducing} and --orthogonal is {orthogonal}, but only {distinct} training \
         inputs are different; give at most {distinct} in all"
    )]
    TooFewForBoth {
        /// The number of inducing points.
        inducing: usize,
        /// The number of orthogonal inducing points.
        orthogonal: usize,
        /// The number of distinct training inputs.
        distinct: usize,
    },
    /// More columns than orthogonal inducing points.
    #[error(
        "--columns is {columns} but there are only {orthogonal} orthogonal inducing points; give \
         at most {orthogonal}"
    )]
    TooManyColumns {
        /// The requested number.
        columns: usize,
        /// The number of orthogonal inducing points.
        orthogonal: usize,
    },
    /// A device that this program was built without.
    #[error(
        "this program was built without the device {device}; build it with: cargo build --release --features {device}"
    )]
    DeviceNotBuilt {
        /// The device.
        device: String,
    },
    /// A device that this machine does not have.
    #[error("there is no {device} device on this machine; use --device flex")]
    DeviceMissing {
        /// The device.
        device: String,
    },
    /// A program built without any device.
    #[error(
        "this program was built without any device; build it with: cargo build --release --features flex"
    )]
    NoDevice,
    /// A floating-point type that the device does not support.
    #[error("the device {device} does not compute in {dtype}; use --dtype f32 or --device flex")]
    DtypeUnsupported {
        /// The device.
        device: String,
        /// The floating-point type.
        dtype: String,
    },
    /// An option that a resumed run cannot change.
    #[error("{option} cannot be changed when a run is resumed; leave it out or start a new run")]
    FixedOnResume {
        /// The option.
        option: String,
    },
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file cannot be read.
    #[error("the configuration {} cannot be read ({source}); check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a configuration.
    #[error(
        "the configuration {} is not usable ({reason}); give the config.toml of an earlier run",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason, with line and column.
        reason: String,
    },
}
