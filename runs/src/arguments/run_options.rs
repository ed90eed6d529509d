//! The declaration of a run's options. Each field is an option on the command line, in configuration files, in
//! sweeps and in the studies of papers.

use std::path::PathBuf;

use burn_gp_core::{
    features::{Features, NetworkName},
    likelihoods::{Likelihood, LikelihoodName},
    means::{Mean, MeanName},
    variational::{Posterior, PosteriorName},
};
use burn_gp_datasets::{ClassOrder, KindOfColumn, NoiseOfInput, RowSelection, TransformOfColumn};

use super::declaration::{Property, options};
use super::{
    ActionRowsName, ActionStartName, AuxiliaryName, CorrectionName, CovarianceName, DateOrderName,
    DecimalName, DeviceName, DtypeName, ImageOption, InitializerName, InputScaleName,
    InversionName, KeepName, MissingName, ModelChoice, NormalizationName, OptimizerName,
    PolicyName, ScheduleName, TimeName,
    choices::{component, model},
};
use crate::kernel_expression::{KernelExpression, help};
use crate::parameter_options::{BoundsOption, FieldOption, PriorOption, ValuesOption};

options! {
    /// All options of a run. `None` stands for the default.
    pub struct RunOptions;

    "Model" {
        /// Model [default: auto; svgp if you give options of a model or of training]
        #[arg(short, value_parser = model())]
        model: ModelChoice = "MODEL" [ShortHelp],
        /// Target training time in minutes of the model auto [default: 2]
        minutes: f64 = "MINUTES" in positive [IgnoredInComparison, ShortHelp],
        /// Kernel, such as rbf, rbf+linear, periodic(rbf)*matern32 [default: matern52; the model auto takes
        /// linear+matern52, or with vecchia matern12 or matern32, if that is better]
        #[arg(long_help = help())]
        kernel: KernelExpression = "KERNEL" at "kernel" [ShortHelp],
        /// Share one lengthscale (period, variance) among all inputs instead of one for each [default:
        /// false; true for conv-gp and deep-conv-gp]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        isotropic: bool = "BOOL" at "kernel",
        /// Mean function [default: zero; constant for counts, positive numbers and fractions]
        ///
        /// Intervals do not include the uncertainty of the slope of a linear mean. For a trend, add a
        /// linear kernel instead, as in --kernel matern52+linear: its slope has a Gaussian prior that is
        /// integrated out.
        #[arg(value_parser = component::<dyn Mean>())]
        mean: MeanName = "MEAN" at "mean",
        /// Likelihood [default: bernoulli for two labels or two numbers, softmax for more labels, else
        /// gaussian]
        #[arg(value_parser = component::<dyn Likelihood>())]
        likelihood: LikelihoodName = "LIKELIHOOD" [DataDependentDefault, ShortHelp],
        /// Initial noise variance, as a share of the variance of the target [default: 0.1]
        ///
        /// Used by the gaussian, student-t, censored and heteroskedastic likelihoods.
        noise: f64 = "V" in parameter,
        /// Lower detection limit of the likelihood censored, in the units of the target: targets at it may be anything
        /// below [default: 0, or none with --upper]
        #[arg(allow_negative_numbers = true)]
        lower: f64 = "V" in finite,
        /// Upper detection limit of the likelihood censored, in the units of the target: targets at it may be anything
        /// above [default: none]
        #[arg(allow_negative_numbers = true)]
        upper: f64 = "V" in finite,
        /// Number of inducing points [default: 128, or the number of distinct training inputs if smaller]
        inducing: usize = "M" at "inducing.count" in size [DataDependentDefault, ShortHelp],
        /// Number of orthogonal inducing points of solve, solve-unwhitened, odvgp and solve-collapsed
        /// [default: as many as --inducing]
        orthogonal: usize = "M2" in size [DataDependentDefault],
        /// Columns of the covariance of the orthogonal inducing points that odvgp uses in each step
        /// [default: 1024, or all if there are fewer]
        columns: usize = "COUNT" at "posterior.columns" in size [DataDependentDefault],
        /// Number of neighbors of each row in training with vecchia, vecchia-laplace, vif and
        /// vnngp [default: 30]
        neighbors: usize = "COUNT" at "settings.neighbors" in size [Field],
        /// Number of neighbors of each row in predictions with vecchia, vecchia-laplace, vif and
        /// vnngp [default: 60]
        prediction_neighbors: usize = "COUNT" at "settings.prediction_neighbors" in size [Field],
        /// Predict each row from training rows alone with vecchia, whatever other rows are predicted with it; this
        /// is less exact in wide gaps between training rows
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        independent_predictions: bool = "BOOL" at "joint_predictions",
        /// Number of actions of cagp-opt, cagp-cg (at most) and itergp [default: 256, or the number of
        /// rows if smaller]
        actions: usize = "I" at "actions.count" in size [DataDependentDefault],
        /// Initial actions of cagp-opt [default: normal]
        action_start: ActionStartName = "START" at "actions.start",
        /// Rows that an action of cagp-opt combines [default: near]
        action_rows: ActionRowsName = "ROWS" at "actions.rows",
        /// Initializer of the inducing points [default: k-means]
        initializer: InitializerName = "METHOD" at "inducing.initializer" [Field],
        /// Variational covariance of the inducing variables [default: full]
        covariance: CovarianceName = "SHAPE" at "posterior.covariance|covariance" [Field],
        /// Jitter added to the covariance of the inducing points, relative to its diagonal [default: 1e-8 in
        /// f64, 1e-6 in f32]
        jitter: f64 = "J" in jitter [DataDependentDefault, FromDtype, Changeable],
    }

    "Inverse-free" {
        /// Do not precondition the mean of l-svgp and inverse-free with the inverse
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        plain_mean: bool = "BOOL" at "posterior.observations",
        /// Initial variances of the pseudo-observations [default: 1e-4, in f32 2e-3]
        pseudo_noise: f64 = "V" at "posterior.observations.variance" in parameter [Field, FromDtype],
        /// Lower bound of the pseudo-observation variances in training [default: 1e-6, in f32 1e-3]
        pseudo_noise_floor: f64 = "V" at "posterior.observations.floor" in parameter [Field, FromDtype],
        /// How inverse-free updates its approximate inverse [default: natural]
        auxiliary: AuxiliaryName = "HOW" at "posterior.auxiliary",
        /// Step sizes of the natural-gradient inversion of inverse-free [default: full]
        inversion: InversionName = "SIZES" at "posterior.auxiliary",
        /// Residual at which the iterations of an inversion stop [default: 0.005]
        inversion_tolerance: f64 = "R" at "posterior.auxiliary" in positive,
        /// Maximum number of steps of an inversion [default: 100]
        inversion_steps: usize = "S" at "posterior.auxiliary" in size,
        /// Number of probe vectors of the stochastic traces in the training bound of inverse-free [default:
        /// none, the traces are exact]
        probes: usize = "K" at "posterior.probes" in size,
    }

    "Full batch" {
        /// Optimizer [default: adam for models on mini-batches, cagp-cg and itergp; l-bfgs for others]
        optimizer: OptimizerName = "OPTIMIZER",
        /// Stop full-batch training when the relative improvement of the objective per iteration, averaged
        /// over ten iterations, falls below this [default: 1e-9, vecchia also stops after two iterations that
        /// gain less than 0.01 nats each; model auto: 1e-5]
        objective_tolerance: f64 = "T" in positive,
        /// Policy that chooses the next action of itergp; cg makes it cagp-cg
        policy: PolicyName = "POLICY" at "actions.rule",
        /// Relative residual at which the iterations of cagp-cg, itergp and cggp stop [default: 1e-4]
        tolerance: f64 = "T" at "actions.tolerance|settings.tolerance" in positive [Field],
        /// Rank of the pivoted Cholesky preconditioner of cggp and of the policy preconditioned-cg
        /// [default: 8 times the square root of the number of rows for cggp, 256 for the policy; 0 turns
        /// it off for cggp]
        pivots: usize = "R",
        /// Maximum number of iterations of each solve of cggp [default: 512]
        iterations: usize = "COUNT" at "settings.iterations" in size [Field],
        /// Number of probe vectors of the stochastic log-determinant of cggp [default: 10]
        trace_probes: usize = "COUNT" at "settings.probes" in size [Field],
        /// Rank of the cached predictive covariance of cggp; a low rank overestimates variances, a rank
        /// equal to the number of rows is exact [default: no cache, a solve for each prediction]
        cached_variances: usize = "R" at "settings.cached_variances" in size [Field],
    }

    "Layers" {
        /// Posterior of svgp and svdkl, or of every layer of deep-gp, conv-gp and deep-conv-gp [default:
        /// whitened]
        #[arg(value_parser = component::<dyn Posterior>())]
        posterior: PosteriorName = "POSTERIOR" at "posterior",
        /// Number of layers of deep-gp and deep-conv-gp [default: 2]
        layers: usize = "L" at "hidden" in parts,
        /// Number of functions of a hidden layer [default: deep-gp as many as inputs, at most 30;
        /// deep-conv-gp 10]
        width: usize = "W" at "hidden" in size [DataDependentDefault],
        /// Inducing points of each hidden layer, and orthogonal inducing points if the model has them
        /// [default: as many as in the output layer]
        hidden_inducing: usize = "M" at "hidden" in size,
        /// Mean functions of the hidden layers; in deep-conv-gp, functions of patches [default:
        /// identity]
        #[arg(value_parser = component::<dyn Mean>())]
        hidden_mean: MeanName = "MEAN" at "hidden",
        /// Initial kernel variance of the hidden layers [default: 0.01]
        hidden_variance: f64 = "V" at "hidden" in positive,
        /// Initial standard deviation of the inducing variables of hidden layers, relative to the prior
        /// [default: 0.01]
        hidden_deviation: f64 = "F" at "hidden" in positive,
        /// Initial standard deviation of the inducing variables of the output layer, relative to the
        /// prior [default: 1]
        output_deviation: f64 = "F" at "deviation" in positive [Field],
        /// Number of draws from the hidden layers for each row in a training step [default: 1]
        samples: usize = "S" at "hidden" in parts,
        /// Number of draws for each prediction [default: 100; deep-conv-gp 10]
        prediction_samples: usize = "S" at "hidden" in parts,
        /// Image shape of the inputs of conv-gp and deep-conv-gp: height x width, or height x width x
        /// channels with the channels of each pixel side by side [default: that of the data set]
        image: ImageOption = "HxWxC" at "form.size" [DataDependentDefault],
        /// Patch height and width in each layer [default: 5,4,5]
        #[arg(value_delimiter = ',')]
        patch: Vec<usize> = "SIZES" at "form.size",
        /// Stride between patches in each layer, in pixels [default: 1,2,1]
        #[arg(value_delimiter = ',')]
        stride: Vec<usize> = "PIXELS" at "form.stride",
        /// Whether the output layer depends on the location of a patch [default: true]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        located: bool = "BOOL" at "form.location",
    }

    "Networks" {
        /// Network of dbk, svdbk, bll, dkl, sdkl and svdkl [default: residual-network]
        #[arg(value_parser = component::<dyn Features>())]
        backbone: NetworkName = "NETWORK" at "network",
        /// Normalization of a residual network [default: layer]
        #[arg(value_enum)]
        normalization: NormalizationName = "NORMALIZATION" at "network",
        /// Width of the network [default: 32 for fewer than 1000 training rows, 64 for fewer than
        /// 10000, else 128]
        units: usize = "COUNT" at "network" in size [DataDependentDefault],
        /// Number of blocks of a residual network, or of hidden layers of a perceptron [default: 2]
        blocks: usize = "COUNT" at "network" in parts,
        /// Number of basis functions of dbk, svdbk and bll [default: 128]; with --targets or --task-column,
        /// the rank of the covariance of outputs [default: 2, or one less than the number of outputs]
        rank: usize = "R" at "basis.rank" in size [DataDependentDefault],
        /// Number of outputs of the network of dkl, sdkl and svdkl, the inputs of the kernel [default: as
        /// many as inputs; perceptron 2]
        features: usize = "H" at "features" in size [DataDependentDefault],
        /// Whether the network of dkl, sdkl and svdkl starts as the identity: the last weights are zero
        /// and the inputs are added to the outputs [default: true if there are as many outputs as
        /// inputs; perceptron false]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        from_identity: bool = "BOOL" at "features" [DataDependentDefault],
        /// Weight decay: the penalty λ/2·‖θ‖² of the network's weights in the loss per datum [default:
        /// 1e-4]
        weight_decay: f64 = "LAMBDA" at "training.weight_decay" in zero_or_positive [Field],
        /// Initial learning rate of the network [default: --learning-rate if given, else 0.0003, and
        /// 0.0001 for dkl, sdkl and svdkl]
        network_rate: f64 = "R" at "training.network_rate" in positive [Field],
        /// Do not correct for the variance that the basis functions of dbk and svdbk miss, neither in
        /// training nor in prediction
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        #[arg(conflicts_with_all = ["training_correction", "prediction_correction"])]
        no_correction: bool = "BOOL" at "correction",
        /// Whether the training loss includes the penalty for the missed variance [default: true]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        training_correction: bool = "BOOL" at "correction",
        /// How predictions correct for the missed variance [default: reweighted; svdbk added]
        prediction_correction: CorrectionName = "HOW" at "correction",
    }

    "Parameters" {
        /// Initial value of a parameter, in standardized units: kernel.lengthscale=0.5
        ///
        /// Use the paths in metrics.json, and separate several values with commas. You can give this option
        /// and the next three several times. Numbers are in standardized units, as in metrics.json; add
        /// data for the units of the data, as in --kernel and `show`: --set "kernel.period=12 data".
        set: Vec<ValuesOption> = "PATH=VALUE" at "parameters",
        /// Bounds of a parameter: likelihood.noise=1e-4..1, or =1e-4.. or =..1
        bound: Vec<BoundsOption> = "PATH=LOWER..UPPER" at "parameters",
        /// Prior of a parameter: gamma(SHAPE, RATE), log-normal(MEAN, DEVIATION) with the mean and standard
        /// deviation of the logarithm, split-log-normal(MODE, BELOW, ABOVE) with the standard deviations below
        /// and above the mode of the logarithm, half-normal(SCALE), uniform(LOWER, UPPER)
        prior: Vec<PriorOption> = "PATH=PRIOR" at "parameters",
        /// Whether lengthscales, variances and the noise have weak priors, which matter when there are few
        /// rows (models without networks and layers, at most 5000 rows) [default: true]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        default_priors: bool = "BOOL" [DataDependentDefault],
        /// Do not train this parameter, or all parameters under this path: kernel.variance, kernel,
        /// posterior.inducing
        fix: Vec<String> = "PATH" at "parameters",
        /// Value of any field in the configuration of the model or of its training: model.inducing.seed=3,
        /// training.gradient_norm=10
        ///
        /// The paths are those of model.json, with model before them, and of MiniBatchTraining or FullBatchTraining in the
        /// library, with training before them. It overrides other options; for fields that these set, prefer them.
        field: Vec<FieldOption> = "PATH=VALUE",
    }

    "Data" {
        /// A file (CSV, TSV, JSON, Parquet, Arrow or Excel), a name from `datasets list`, or
        /// synthetic:sines?n=1000&noise=0.1&seed=1 [default: winequality]
        #[arg(short)]
        data: String = "DATA" [IgnoredInComparison, ShortHelp],
        /// Name or number (from 1; -1 is the last) of the column to predict [default: the last]
        #[arg(short, allow_hyphen_values = true)]
        target: String = "COLUMN" [IgnoredInComparison, ShortHelp],
        /// Name or number of the column with the noise standard deviation of each target, in the units
        /// of the target; it is not an input
        ///
        /// It is all noise of a target with the likelihood fixed-noise, which it then is by default; new rows have the column,
        /// too. With the likelihood gaussian, and with models that take no other such as exact and sgpr, it is noise of the
        /// rows besides the trained one, from zero on; new rows without the column have the trained noise alone.
        #[arg(allow_hyphen_values = true)]
        noise_column: String = "COLUMN",
        /// Standard deviation of the errors of an input, in the units of the column, such as depth=0.5; can be given
        /// several times (exact, sgpr and svgp with the likelihood gaussian or fixed-noise)
        ///
        /// An error of an input is noise of the target where the function is steep. Training repeats with the noise that
        /// follows from its slopes, at most eight times; the noise of the likelihood is then that of the target alone.
        /// Test rows are scored with the same errors, and `predict` takes inputs as exact.
        input_noise: Vec<NoiseOfInput> = "COLUMN=SD",
        /// Name or number of the column with the number of trials of each target, which counts the successes among
        /// them; it is not an input. Predictions of rows without trials are shares of successes
        #[arg(allow_hyphen_values = true)]
        trials: String = "COLUMN",
        /// Name or number of the column with the upper limit of each target, which is the lower limit of an interval that
        /// holds the number; it is not an input. Without an upper limit the number is the lower one or more, without a
        /// lower limit the upper one or less, and equal limits say it exactly
        #[arg(allow_hyphen_values = true)]
        upper_column: String = "COLUMN",
        /// Name of a column that is added to the function as it is, with the coefficient one: a known term, in
        /// the units of the target, or of its logarithm for counts and positive numbers. It is an input of
        /// predictions, but not of the kernel (models of one layer without networks)
        offset: String = "COLUMN",
        /// Name of a column with positive exposures, such as hours, kilometers or inhabitants, which counts and
        /// positive numbers are proportional to: its logarithm is added as by --offset
        exposure: String = "COLUMN",
        /// Name or number of a column that identifies the rows; it is not an input, and is copied to the
        /// predictions
        #[arg(allow_hyphen_values = true)]
        id: String = "COLUMN",
        /// Use only the rows with this value in a column, such as store=Berlin; also those of --test and
        /// --validation
        rows: RowSelection = "COLUMN=VALUE",
        /// Columns to use as inputs, separated by commas [default: all suitable columns]
        #[arg(value_delimiter = ',')]
        inputs: Vec<String> = "COLUMNS" [ShortHelp],
        /// Columns not to use as inputs, separated by commas
        #[arg(value_delimiter = ',')]
        drop: Vec<String> = "COLUMNS" [ShortHelp],
        /// Kind of a column, instead of the inferred one: number, boolean, category, date, longitude or
        /// latitude; can be given several times
        kind: Vec<KindOfColumn> = "COLUMN=KIND" [ShortHelp],
        /// Transformation of an input or of the target: log, box-cox, yeo-johnson, or for inputs quantile; can be
        /// given several times. Predictions and scores stay in the units of the data [default: none; the model auto
        /// takes log or yeo-johnson for a skewed target if that is better, unless you say TARGET=none]
        transform: Vec<TransformOfColumn> = "COLUMN=TRANSFORM",
        /// How to handle missing values of inputs [default: indicator]
        missing: MissingName = "METHOD" [ShortHelp],
        /// Texts and numbers that mean a missing value, besides empty cells, such as NA,-999; they replace
        /// the default [default: NA, N/A, NaN, null, nil, none, missing, ?, -, -- and ., unless the other
        /// labels of the column suggest a category, as + does for -]
        #[arg(value_delimiter = ',', allow_hyphen_values = true)]
        missing_values: Vec<String> = "TEXTS",
        /// How to encode dates and times [default: linear]
        time: TimeName = "METHOD",
        /// Decimal mark; needed if 1,234 can mean 1.234 or 1234 and no other number in the file decides
        decimal: DecimalName = "MARK",
        /// Order of day and month in dates such as 01/02/2021; needed if both orders are possible
        date_order: DateOrderName = "ORDER",
        /// Whether the file has no header; by default, the first line is a header unless all its fields are
        /// numbers. --no-header=false reads numbers such as 2019,2020,2021 as a header
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        no_header: bool = "BOOL",
        /// Class labels from the lowest to the highest, such as low,medium,high; put labels that contain
        /// commas in double quotes [default: numerical order for numbers; otherwise alphabetical, but
        /// required for the ordinal likelihood]
        class_order: ClassOrder = "LABELS",
        /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
        data_dir: PathBuf = "DIR" [IgnoredInComparison],
        /// File with the test rows; all rows of --data are then training rows
        #[arg(conflicts_with_all = ["split", "test_fraction", "time_split"])]
        test: String = "FILE" [IgnoredInComparison, ShortHelp],
        /// File with validation rows; the best-scoring model is kept (mini-batch models)
        #[arg(conflicts_with_all = ["validation_fraction", "early_stopping"])]
        validation: String = "FILE" [IgnoredInComparison],
        /// Use split K of those that come with the data, counted from 0
        #[arg(conflicts_with = "test_fraction")]
        split: usize = "K",
        /// Cross-validation: split the rows at random into K folds, test on each of them in a separate run,
        /// and print a table of the scores
        #[arg(conflicts_with_all = ["split", "test_fraction", "time_split", "test", "stream"])]
        folds: usize = "K" in folds [IgnoredInComparison],
        /// Run only fold FOLD (counted from 1)
        #[arg(requires = "folds")]
        fold: usize = "FOLD" [IgnoredInComparison],
        /// Rows with the same value in this column, such as the patient, stay on one side of the split; it
        /// is not an input
        #[arg(allow_hyphen_values = true, conflicts_with_all = ["split", "time_split"])]
        group: String = "COLUMN",
        /// Column with nonnegative training weights: a row of weight 2 counts like two equal rows. It is not
        /// an input, and scores are unweighted (for variational models, and regression with normal noise)
        #[arg(allow_hyphen_values = true)]
        weights: String = "COLUMN",
        /// Test on the latest rows according to the times in this column, which stays an input
        #[arg(allow_hyphen_values = true, conflicts_with = "split")]
        time_split: String = "COLUMN",
        /// Share of the rows held out at random for testing; 0 trains on all rows and gives no scores
        /// [default: 0.1]
        test_fraction: f64 = "F" [ShortHelp],
        /// Share of the training rows held out for validation; the best-scoring model is kept (mini-batch
        /// models). In a comparison, no model trains on these rows
        validation_fraction: f64 = "F",
        /// Share of the training rows held out to find the number of steps; the model is then trained
        /// on all rows for that many steps (mini-batch models; 0 for none) [default: models with
        /// networks 0.2, more for few rows, unless --steps, --epochs or --validation-fraction is given]
        early_stopping: f64 = "F" in share,
        /// Calibrate the predictions on this share of the training rows, which are drawn at random and which the model is
        /// not trained on: a temperature for class probabilities, a monotone map of the predictive distribution for
        /// numbers and counts [default: off; --calibrate alone: 0.2]
        ///
        /// predict, report, sample --targets, scores and intervals then use the calibration, which is saved with the
        /// model. Functions and hyperparameters stay as they are.
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "0.2")]
        calibrate: f64 = "F" in share,
        /// Whether to read the rows of a Parquet file during training, in shuffled blocks, instead of
        /// keeping them in memory [default: true from 10⁸ values on, if the model has mini-batches]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        stream: bool = "BOOL" [DataDependentDefault],
        /// Scaling of the inputs, computed from the training rows [default: standard]
        input_scale: InputScaleName = "SCALE",
    }

    "Training" {
        /// Passes over the training rows; for full-batch models, L-BFGS iterations or steps of Adam
        #[arg(conflicts_with = "steps")]
        epochs: usize = "E" in steps [DataDependentDefault, Changeable],
        /// Optimizer steps [default: 6000, or 10 epochs if that is more; full-batch models: at most
        /// 1000; dbk, dkl and sdkl: 2000]
        steps: usize = "S" in steps [DataDependentDefault, Changeable, ShortHelp],
        /// Also train from this many random initial values of the hyperparameters, and start from those that
        /// reach the smallest loss; N of them take about N times as long [default: 0]
        restarts: usize = "COUNT" at "parameters" in parts,
        /// Rows in a mini-batch [default: 256]
        batch_size: usize = "B" at "training.batch_size" in steps [Field],
        /// Initial learning rate of Adam [default: 0.05; models with networks 0.03, cagp-cg and itergp
        /// 0.2]; for L-BFGS, the initial step of the line search relative to the full step [default: 1]
        learning_rate: f64 = "R" in positive [Changeable],
        /// Learning rate schedule [default: cosine; constant with --plateau]
        schedule: ScheduleName = "SCHEDULE",
        /// Lower the learning rate by 5 % after this many steps without a lower loss, down to a
        /// thousandth of the initial rate
        plateau: usize = "S" at "training.plateau" in steps,
        /// Number of stages of the schedule stairs [default: 3]
        stages: usize = "COUNT" in size,
        /// Factor of the learning rate from one stage to the next [default: 0.1]
        stage_factor: f64 = "F" in positive,
        /// Clip the norm of each parameter's gradient to this value
        gradient_norm: f64 = "NORM" at "training.gradient_norm" in positive [Field, Changeable],
        /// Use natural gradients with this step size, at most 1, for the distribution of the inducing
        /// variables; Adam trains the other parameters. Common: 0.1
        natural_gradient: f64 = "GAMMA" in step_size [Changeable],
        /// Steps over which the natural-gradient step size grows from a thousandth of its final value
        /// [default: 10; 0 for none]
        natural_gradient_warm_up: usize = "S" [Changeable],
        /// Initial steps in which the inducing points are not trained [default: 0]
        inducing_frozen: usize = "S",
        /// Initial learning rate of the inducing points [default: that of the other parameters]
        inducing_rate: f64 = "R" in positive,
        /// Momentum of Adam (beta 1) for the inducing points; 0.99 damps them [default: 0.9]
        inducing_momentum: f64 = "BETA" in momentum,
        /// Lower the learning rate of the inducing points by 5 % after this many steps without a lower
        /// loss, down to a thousandth of the initial rate [default: that of --plateau]
        inducing_plateau: usize = "S" in steps,
        /// Stop after this many validations without improvement [default: 20; with --early-stopping 12]
        patience: usize = "COUNT" in steps [Changeable],
        /// Epochs between two validations [default: 1, or 50 steps if that is more; with
        /// --early-stopping 20]
        validation_epochs: usize = "E" in steps,
        /// Which step's model to keep if there are validation rows [default: best]
        keep: KeepName = "STEP",
        /// Score the test rows every S steps and after the last one, for learning_curve.csv and a plot; S
        /// below 1 is a share of all steps [default: only at the end]
        score_every: f64 = "S" in positive [IgnoredInComparison],
        /// Steps between two checkpoints [default: half a minute of steps]
        checkpoint_every: usize = "S" in steps [Changeable, IgnoredInComparison],
    }

    "Computation" {
        /// Seed of the split, the inducing points and the mini-batches [default: 0]
        seed: u64 = "SEED" [IgnoredInComparison],
        /// Floating-point type [default: f64 on CPUs, f32 on GPUs]
        dtype: DtypeName = "DTYPE",
        /// Device: flex, ndarray, wgpu, vulkan, metal, cuda or rocm; append :N to choose a GPU, for example
        /// wgpu:1; `burn-gp devices` lists the devices and marks the default. remote://HOST:PORT is the
        /// device of a worker
        device: DeviceName = "DEVICE" [Changeable, IgnoredInComparison, ShortHelp],
        /// Devices that share every mini-batch, as in wgpu:0,wgpu:1; the optimizer runs on the first
        /// (mini-batch models)
        #[arg(value_delimiter = ',', conflicts_with = "device")]
        devices: Vec<DeviceName> = "DEVICES" [Changeable, IgnoredInComparison],
    }
}
