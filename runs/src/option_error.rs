//! Errors in options.

use std::borrow::Cow;
use std::path::PathBuf;

use burn_gp_core::patches::{ImageShape, PatchError};
use burn_gp_datasets::{agreeing, counted};
use burn_gp_models::CheckError;

use crate::kernel_expression::KernelExpressionError;

/// The environment variable with the secret that a worker and its clients share.
pub const TOKEN_VARIABLE: &str = "BURN_GP_TOKEN";

/// An invalid option or combination of options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// An option that the model does not use.
    #[error("--{option} does not apply to model '{model}'; remove it")]
    NotApplicable {
        /// The option.
        option: String,
        /// The model.
        model: &'static str,
    },
    /// `--noise-column` beside trained noise with a model that has no noise of rows.
    #[error(
        "--noise-column does not apply to model '{0}', which takes no known noise besides the trained one; use exact, sgpr \
         or svgp, or remove it"
    )]
    NoRowNoise(&'static str),
    /// `--stream` with a model whose rows are conditioned on neighbors.
    #[error(
        "--stream does not apply to model '{0}', which looks for neighbors among all rows in memory; take svgp, or \
         remove it"
    )]
    StreamedNeighbors(&'static str),
    /// `--model auto` outside of `train`.
    #[error("--model auto only works with `train`; name a model")]
    AutomaticModel,
    /// A field of a configuration without a named model.
    #[error("--field needs --model: which fields there are depends on the model")]
    FieldOfAutomaticModel,
    /// A field that does not exist, or does not accept its value.
    #[error("--field {path}: {reason}")]
    Field {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A training time without `--model auto`.
    #[error("--minutes only works with --model auto; remove it, or remove the options of a model")]
    MinutesOfNamedModel,
    /// Several starts with rows that they do not support.
    #[error("--restarts does not work with {0}; remove one of them")]
    RestartsWith(&'static str),
    /// A fold without the number of folds.
    #[error("--fold needs the number of folds; add --folds")]
    WithoutFolds,
    /// Cross-validation outside of `train`.
    #[error(
        "cross-validation only works with `train`; choose one test fold with --fold, or sweep it: --grid fold=1,2,3"
    )]
    OpenFold,
    /// Scores of test rows without test rows.
    #[error("{0} needs test rows, but --test-fraction 0 leaves none")]
    NoTestRows(&'static str),
    /// A single value where a comparison takes several.
    #[error("for a comparison, use --{0}s with values separated by commas instead of --{0}")]
    Plural(&'static str),
    /// A likelihood that the model does not support.
    #[error(
        "the model {model} needs the {likelihood} likelihood; use --model svgp for other likelihoods, or --likelihood {likelihood}"
    )]
    NeedsLikelihood {
        /// The model.
        model: &'static str,
        /// Its likelihood.
        likelihood: &'static str,
    },
    /// A target with too many or too few classes.
    #[error(
        "the target {target:?} has {}, but the likelihood {likelihood} takes {takes}; {advice}",
        counted(*.found, "distinct label")
    )]
    Classes {
        /// The target.
        target: String,
        /// The number of distinct labels.
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
        "the likelihood fixed-noise needs --noise-column, the column with the noise standard deviation of each target"
    )]
    NoiseColumnMissing,
    /// Errors of an input that does not exist.
    #[error(
        "--input-noise {column}: no input has this name{}; correct it",
        (nearest.as_ref()).map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
    )]
    NoNoisyInput {
        /// The name.
        column: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// Errors of an input that is no number.
    #[error(
        "--input-noise {0}: only columns of plain numbers have errors, and this one is read as another kind; remove it"
    )]
    NoisyCategory(String),
    /// Errors of an input that is transformed.
    #[error(
        "--input-noise {0} and --transform {0} cannot be used together, because the error of a transformed value \
         depends on the value; remove one of them"
    )]
    TransformedNoisyInput(String),
    /// Errors of an input that are given twice.
    #[error("--input-noise gives two standard deviations of {0:?}; keep one")]
    InputNoiseTwice(String),
    /// A likelihood of successes, but no column with the trials.
    #[error(
        "the likelihood {likelihood} needs --trials, the column with the number of trials of each target"
    )]
    TrialsMissing {
        /// The likelihood.
        likelihood: &'static str,
    },
    /// A likelihood of intervals, but no column with the upper limits.
    #[error(
        "the likelihood interval-censored needs --upper-column, the column with the upper limit of each target"
    )]
    UpperColumnMissing,
    /// A mean that adds inputs, without their column.
    #[error(
        "the mean offset needs a column: name it with --offset or --exposure, which go with any other --mean"
    )]
    OffsetWithoutColumn,
    /// An option that the likelihood does not use.
    #[error("{option} does not apply to likelihood '{likelihood}'{advice}")]
    NotForLikelihood {
        /// The option.
        option: &'static str,
        /// The likelihood.
        likelihood: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// Two options that exclude each other.
    #[error(
        "{} and {} cannot be used together; give only one",
        typed(first),
        typed(second)
    )]
    Exclusive {
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// Too few rows to calibrate predictions on.
    #[error("--calibrate holds out {}, but needs at least {fewest}; use more data or a larger share", counted(*rows, "row"))]
    FewCalibrationRows {
        /// The number of rows.
        rows: usize,
        /// The fewest rows.
        fewest: usize,
    },
    /// An option about validation rows without validation rows.
    #[error("{0} needs held-out rows; add --validation-fraction or --early-stopping")]
    WithoutValidation(&'static str),
    /// A configuration that rejects a value of an option.
    #[error("the {component} does not accept these options ({reason}); remove some of them")]
    Rejected {
        /// What has the configuration: "posterior".
        component: &'static str,
        /// The reason.
        reason: String,
    },
    /// A missing policy, for a model without a default policy.
    #[error(
        "--model itergp needs --policy: unit, random, eigenvectors, preconditioned-cg, or cg, which makes it \
         cagp-cg"
    )]
    NoPolicy,
    /// A number out of range.
    #[error("{option} is {value} but must {range}")]
    OutOfRange {
        /// The option.
        option: Cow<'static, str>,
        /// Its value.
        value: String,
        /// The range: "be a positive number".
        range: Cow<'static, str>,
    },
    /// A number that is larger than what the data allow.
    #[error("{option} is {requested} but {bound}; give at most {most}")]
    TooMany {
        /// The option.
        option: &'static str,
        /// Its value.
        requested: usize,
        /// The reason: "there are only 5 training rows".
        bound: String,
        /// The largest possible value.
        most: usize,
    },
    /// A network that cannot start as the identity.
    #[error(
        "--from-identity needs a residual network with as many outputs as inputs, not \
         {features} for {inputs}; remove it, or remove --features and --backbone perceptron"
    )]
    FromIdentity {
        /// The number of outputs.
        features: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// Options about stages for a schedule without stages.
    #[error("{0} only works with --schedule stairs; add that or remove {0}")]
    WithoutStages(&'static str),
    /// A warm-up without natural gradients.
    #[error("--natural-gradient-warm-up needs --natural-gradient")]
    WarmUpWithoutNaturalGradient,
    /// Inversion options without an inversion.
    #[error(
        "--inversion, --inversion-tolerance and --inversion-steps do not apply with \
         --auxiliary adam; remove them"
    )]
    InversionByAdam,
    /// A kernel on an input that does not exist.
    #[error(
        "--kernel uses input {input}, but there {} only {}, counted from 1",
        agreeing(*.inputs, ["is", "are"]),
        counted(*.inputs, "input")
    )]
    MissingInput {
        /// The input, counted from 1.
        input: usize,
        /// The number of inputs.
        inputs: usize,
    },
    /// A kernel that does not take the number of inputs.
    #[error("--kernel: {0}; name its inputs in square brackets, as K[1,2], or change the columns")]
    KernelInputs(String),
    /// A number of a kernel that is out of range in standardized units.
    #[error("--kernel: {0}")]
    Kernel(#[from] KernelExpressionError),
    /// Numbers in the units of the data for inputs that share them and have several scales.
    #[error(
        "{option} is in the units of the data, but the inputs {inputs} share it and differ in scale; {advice}"
    )]
    SharedNumber {
        /// The option with its number.
        option: String,
        /// The names of the inputs.
        inputs: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// Numbers in the units of the data for a parameter without such units.
    #[error("{option} has no units of the data in the model {model}; remove \"data\"")]
    WithoutUnits {
        /// The option with the path of the parameter.
        option: String,
        /// The model.
        model: &'static str,
    },
    /// A list for the layers with the wrong number of values.
    #[error(
        "{option} has {} for {}; give one for each, separated by commas",
        counted(*.found, "value"),
        counted(*.layers, "layer")
    )]
    NumberOfLayers {
        /// The option.
        option: &'static str,
        /// The number of values.
        found: usize,
        /// The number of layers.
        layers: usize,
    },
    /// Images without a known shape.
    #[error(
        "the .0 {0} needs images; give their shape with --image, such as 28x28 or \
         32x32x3 (height, width, channels)"
    )]
    ImageShapeMissing(&'static str),
    /// An image shape that does not match the rows.
    #[error(
        "images of {image} (height, width, channels) have {}, but the data have {}; \
         correct --image",
        counted(*.numbers, "value"),
        counted(*.inputs, "input")
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
    /// More inducing points in both sets than distinct training inputs.
    #[error(
        "--inducing is {inducing} and --orthogonal is {orthogonal}, but there are only {distinct} \
         distinct training inputs; give at most {distinct} in total"
    )]
    TooFewForBoth {
        /// The number of inducing points.
        inducing: usize,
        /// The number of orthogonal inducing points.
        orthogonal: usize,
        /// The number of distinct training inputs.
        distinct: usize,
    },
    /// Noise that is fixed at less than rows with equal inputs show.
    #[error(
        "the standard deviation of the noise is fixed at {noise:.4}, but the targets of {} that {} the \
         inputs of others differ by a standard deviation of {deviation:.4}, which that noise cannot make; fix it \
         at a larger value, or let it be trained",
        counted(*.rows, "row"),
        agreeing(*.rows, ["repeats", "repeat"])
    )]
    ImpossibleNoise {
        /// The standard deviation of the noise, in the units of the target.
        noise: f64,
        /// The number of rows that repeat the inputs of another row.
        rows: usize,
        /// The standard deviation of the targets of rows with equal inputs.
        deviation: f64,
    },
    /// A device that this program was built without.
    #[error(
        "this program was built without the device {0}; build it with: cargo build --release --features {0}"
    )]
    DeviceNotBuilt(String),
    /// A device that this machine does not have.
    #[error("there is no device {device} on this machine: {}", match count {
        0 => format!("it has no {backend} device; use --device flex"),
        1 => format!("it has one {backend} device; use --device {backend}"),
        count => format!(
            "it has {count} {backend} devices; use --device {backend}:0 to {backend}:{}",
            count - 1
        ),
    })]
    DeviceMissing {
        /// The device.
        device: String,
        /// Its backend.
        backend: String,
        /// The number of devices of the backend.
        count: usize,
    },
    /// More devices than a mini-batch has rows.
    #[error(
        "{devices} devices cannot share mini-batches of {}; give fewer --devices or a larger --batch-size",
        counted(*.rows, "row")
    )]
    MoreDevicesThanRows {
        /// The number of devices.
        devices: usize,
        /// The rows of a mini-batch.
        rows: usize,
    },
    /// A worker that cannot be reached.
    #[error("no worker answers at {address} ({reason}); start one there with: burn-gp worker")]
    NoWorker {
        /// The worker's host and port.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A worker that requires another token, or any token at all.
    #[error(
        "the worker at {0} refuses this token; set {token} to the token with which the worker \
         was started",
        token = TOKEN_VARIABLE
    )]
    WrongToken(String),
    /// A worker with several devices in use by another program.
    #[error(
        "another program uses several devices of the worker at {0}, and only one program at a time \
         can; wait until it ends, or name a single device of the worker"
    )]
    WorkerBusy(String),
    /// A device that a worker does not have.
    #[error("the worker at {address} has no device {index}; it has {count}, counted from 0")]
    WorkerDeviceMissing {
        /// The worker's host and port.
        address: String,
        /// The number of the device.
        index: usize,
        /// The number of devices of the worker.
        count: usize,
    },
    /// A worker that is incompatible with this program.
    #[error(
        "the worker at {address} is incompatible with this program ({reason}); use the same version \
         of burn-gp on both sides"
    )]
    OtherWorker {
        /// The worker's host and port.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A worker that other machines can reach, without a token.
    #[error(
        "other machines can reach {address}, and anyone who can connect can use this worker; set {token} to a secret here and where you train, or use --listen 127.0.0.1:{port}",
        token = TOKEN_VARIABLE
    )]
    OpenWorker {
        /// The address.
        address: String,
        /// Its port.
        port: u16,
    },
    /// An address that a worker cannot listen on.
    #[error("a worker cannot listen on {address} ({reason}); choose another address with --listen")]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// Devices of several backends, which one worker cannot serve.
    #[error("a worker serves devices of one backend; start another worker for the others")]
    MixedDevices,
    /// A text that no case has in its name.
    #[error("no case has {0:?} in its name; remove --only to run all cases")]
    NoSuchCase(String),
    /// A program built without any device.
    #[error(
        "this program was built without any device; build it with: cargo build --release --features flex"
    )]
    NoDevice,
    /// A floating-point type that the device does not support.
    #[error("the device {device} does not support {dtype}; use --dtype f32 or --device flex")]
    DtypeUnsupported {
        /// The device.
        device: String,
        /// The floating-point type.
        dtype: String,
    },
    /// An option that a resumed run cannot change.
    #[error("{0} cannot be changed when a run is resumed; remove it or start a new run")]
    FixedOnResume(String),
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
    /// The file of a run has changed since the run.
    #[error("{0}; to use a changed configuration, copy it to another folder")]
    Damaged(CheckError),
    /// The file is not a configuration.
    #[error(
        "the configuration {} is invalid ({reason}); give a file like the config.toml of an earlier run",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason, with line and column.
        reason: String,
    },
}

/// An option as it is typed, from its name in files.
fn typed(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}
