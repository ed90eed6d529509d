//! What can be wrong with options.

use std::borrow::Cow;
use std::path::PathBuf;

use burn_gp::patches::{ImageShape, PatchError};

/// An option that cannot be what it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// An option of another model.
    #[error("{option} means nothing for the model {model}; leave it out")]
    NotApplicable {
        /// The option.
        option: &'static str,
        /// The model.
        model: String,
    },
    /// One value where a comparison takes several.
    #[error(
        "a comparison takes --{option}s with all of them, separated by commas, instead of --{option}"
    )]
    Plural {
        /// The option, without dashes.
        option: &'static str,
    },
    /// Another likelihood than a model can have.
    #[error(
        "the model {model} needs the gaussian likelihood; use --model svgp for other likelihoods, or --likelihood gaussian"
    )]
    NeedsGaussian {
        /// The model.
        model: String,
    },
    /// A target with too many or too few labels.
    #[error(
        "the target {target:?} has {found} different labels, but the likelihood {likelihood} takes {takes}; {advice}"
    )]
    Classes {
        /// The target.
        target: String,
        /// Its labels.
        found: usize,
        /// The likelihood.
        likelihood: String,
        /// How many labels it takes.
        takes: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Known noise without a column of it.
    #[error(
        "the likelihood fixed-noise needs --noise-column, the column of the standard deviations of each target's noise"
    )]
    NoiseColumnMissing,
    /// A column of noise that nothing uses.
    #[error(
        "--noise-column means nothing for the likelihood {likelihood}; leave it out or use --likelihood fixed-noise"
    )]
    NoiseColumnUnused {
        /// The likelihood.
        likelihood: String,
    },
    /// An order of classes for targets that are no labels.
    #[error(
        "--class-order means nothing for the likelihood {likelihood}, whose targets are no labels; leave it out, or use --likelihood ordinal"
    )]
    ClassOrderUnused {
        /// The likelihood.
        likelihood: String,
    },
    /// A first noise variance for a likelihood without noise.
    #[error("--noise means nothing for the likelihood {likelihood}; leave it out")]
    NoiseUnused {
        /// The likelihood.
        likelihood: String,
    },
    /// Two options of which at most one can be given.
    #[error("{first} and {second} exclude each other; give one of them")]
    Exclusive {
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// An option about validation rows that are not there.
    #[error("{option} needs held-out rows; give --validation-fraction or --early-stopping too")]
    WithoutValidation {
        /// The option.
        option: &'static str,
    },
    /// No policy for a model that has none of its own.
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
    /// A network that cannot begin as the identity.
    #[error(
        "--from-identity needs a residual network with as many outputs as inputs, not {features} for \
         {inputs}; leave it out, or leave --features and --backbone mlp out"
    )]
    FromIdentity {
        /// Its outputs.
        features: usize,
        /// Its inputs.
        inputs: usize,
    },
    /// A share of the rows that is none.
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
    /// Stages of a schedule without any.
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
    /// A warm-up of nothing.
    #[error("--natural-gradient-warm-up needs --natural-gradient")]
    WarmUpWithoutNaturalGradient,
    /// Options of an inversion that there is not.
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
    /// A kernel on an input that there is not.
    #[error("--kernel names input {input} but there are only {inputs}; they are counted from 1")]
    MissingInput {
        /// The input, counted from 1.
        input: usize,
        /// How many there are.
        inputs: usize,
    },
    /// Not a number for each layer.
    #[error(
        "{option} has {found} numbers for {layers} layers; give one for each, separated by commas"
    )]
    NumberOfLayers {
        /// The option.
        option: &'static str,
        /// How many numbers there are.
        found: usize,
        /// How many layers there are.
        layers: usize,
    },
    /// Images of an unknown shape.
    #[error(
        "the model {model} looks at images; give their shape with --image, such as 28x28 or \
         32x32x3 (height, width, channels)"
    )]
    ImageShapeMissing {
        /// The model.
        model: String,
    },
    /// Images of another shape than the rows.
    #[error(
        "images of {image} (height, width, channels) have {numbers} numbers, but the data have \
         {inputs} inputs; correct --image"
    )]
    ImageShape {
        /// The shape.
        image: ImageShape,
        /// The numbers of such an image.
        numbers: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// A layer without patches.
    #[error("layer {layer}: {source}; correct --patch or --stride")]
    Patches {
        /// The layer, counted from 1.
        layer: usize,
        /// What is wrong.
        source: PatchError,
    },
    /// More inducing points than rows.
    #[error(
        "--inducing is {requested} but there are only {rows} training rows; give at most {rows}"
    )]
    TooManyInducing {
        /// The number asked for.
        requested: usize,
        /// Training rows.
        rows: usize,
    },
    /// More combinations than rows.
    #[error(
        "--actions is {requested} but there are only {rows} training rows; give at most {rows}"
    )]
    TooManyActions {
        /// The number asked for.
        requested: usize,
        /// Training rows.
        rows: usize,
    },
    /// More inducing points than different rows.
    #[error(
        "--inducing is {requested} but only {distinct} training inputs are different; give at most {distinct}"
    )]
    TooFewDistinct {
        /// The number asked for.
        requested: usize,
        /// Different training inputs.
        distinct: usize,
    },
    /// More inducing points of both sets than different rows.
    #[error(
        "--inducing is {inducing} and --orthogonal is {orthogonal}, but only {distinct} training \
         inputs are different; give at most {distinct} in all"
    )]
    TooFewForBoth {
        /// Inducing points.
        inducing: usize,
        /// Orthogonal inducing points.
        orthogonal: usize,
        /// Different training inputs.
        distinct: usize,
    },
    /// More columns than orthogonal inducing points.
    #[error(
        "--columns is {columns} but there are only {orthogonal} orthogonal inducing points; give \
         at most {orthogonal}"
    )]
    TooManyColumns {
        /// The number asked for.
        columns: usize,
        /// Orthogonal inducing points.
        orthogonal: usize,
    },
    /// A device that is not in this program.
    #[error(
        "this program was built without the device {device}; build it with: cargo build --release --features {device}"
    )]
    DeviceNotBuilt {
        /// The device.
        device: String,
    },
    /// A device that is not in this machine.
    #[error("there is no {device} device on this machine; use --device flex")]
    DeviceMissing {
        /// The device.
        device: String,
    },
    /// No device at all.
    #[error(
        "this program was built without any device; build it with: cargo build --release --features flex"
    )]
    NoDevice,
    /// A type that a device does not compute in.
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
    /// It cannot be read.
    #[error("the configuration {} cannot be read ({source}); check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is not a configuration.
    #[error(
        "the configuration {} is not usable ({reason}); give the config.toml of an earlier run",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        reason: String,
    },
}
