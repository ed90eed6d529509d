//! The declaration of a run's options. The same field is the option on the command line, in
//! configuration files, in sweeps and in the tables of papers.

use std::path::PathBuf;

use burn_gp_core::{
    features::NetworkName, likelihoods::LikelihoodName, means::MeanName, variational::PosteriorName,
};
use burn_gp_datasets::{ClassOrder, KindOfColumn};

use super::declaration::{Property, options};
use super::{
    ActionRowsName, ActionStartName, AuxiliaryName, CorrectionName, CovarianceName, DateOrderName,
    DecimalName, DeviceName, DtypeName, HiddenMeanName, ImageOption, InitializerName,
    InputScaleName, InversionName, KeepName, MissingName, ModelName, OptimizerName, PolicyName,
    ScheduleName, TimeName, choices::named,
};
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::{BoundsOption, PriorOption, ValuesOption};

options! {
    /// All options of a run; an absent option has its default.
    pub struct RunOptions;

    "Model" {
        /// Model [default: auto; svgp if options of a model or of training are given]
        #[arg(short)]
        model: ModelName = "MODEL" [Everyday],
        /// Minutes of training that the model auto aims at [default: 2]
        minutes: f64 = "MINUTES" [BesideProtocol, Everyday],
        /// Covariance function, such as rbf, rbf+linear, periodic(rbf)*matern32 [default: matern52; the
        /// model auto takes linear+matern52 if that is better]
        ///
        /// Kernels: rbf, matern12, matern32, matern52, rational-quadratic, linear, polynomial,
        /// arc-cosine, cosine, spectral-mixture, gibbs, constant, white; of other kernels: periodic(K),
        /// scaled(K), deep(K) (on the outputs of a network), change-point(K, K), sums K+K and products
        /// K*K. `K[1,3]` uses only the first and the third input. Options in parentheses set initial
        /// values: rbf(lengthscale=0.5), periodic(rbf, period=12).
        kernel: KernelExpression = "KERNEL" [Everyday],
        /// Share one lengthscale (period, variance) among all inputs instead of one for each [default:
        /// false; true for conv-gp and deep-conv-gp]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        isotropic: bool = "BOOL",
        /// Mean function [default: zero; constant for counts, positive numbers and fractions]
        #[arg(value_parser = named(MeanName::all()))]
        mean: MeanName = "MEAN",
        /// Likelihood [default: bernoulli for two labels or two numbers, softmax for more labels, else
        /// gaussian]
        #[arg(value_parser = named(LikelihoodName::all()))]
        likelihood: LikelihoodName = "LIKELIHOOD" [FromData, Everyday],
        /// Initial noise variance, in squared units of the standardized target [default: 0.1]
        ///
        /// Used by the gaussian, student-t and heteroskedastic likelihoods.
        noise: f64 = "V",
        /// Number of inducing points [default: 128, or the number of distinct training inputs]
        inducing: usize = "M" [FromData, Everyday],
        /// Number of orthogonal inducing points of solve, solve-unwhitened, odvgp and solve-collapsed
        /// [default: as many as --inducing]
        orthogonal: usize = "M2" [FromData],
        /// Columns of the covariance of the orthogonal inducing points that a step of odvgp uses
        /// [default: 1024, or all if there are fewer]
        columns: usize = "COUNT" [FromData],
        /// Number of actions of cagp-opt, cagp-cg (at most) and itergp [default: 256, or the number of
        /// rows]
        actions: usize = "I" [FromData],
        /// Initial actions of cagp-opt [default: normal]
        action_start: ActionStartName = "START",
        /// Rows that an action of cagp-opt combines [default: near]
        action_rows: ActionRowsName = "ROWS",
        /// Initializer of the inducing points [default: k-means]
        #[arg(alias = "initialiser")]
        initializer: InitializerName = "METHOD",
        /// Variational covariance of the inducing variables [default: full]
        covariance: CovarianceName = "SHAPE",
        /// Jitter on the covariance of the inducing points, relative to its diagonal [default: 1e-8 in
        /// f64, 1e-6 in f32]
        jitter: f64 = "J" [FromData, FromDtype, Changeable],
    }

    "Inverse-free" {
        /// Do not precondition the mean of l-svgp and inverse-free by the inverse
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        plain_mean: bool = "BOOL",
        /// Initial variances of the pseudo-observations [default: 1e-4, in f32 2e-3]
        pseudo_noise: f64 = "V" [FromDtype],
        /// Lower bound of these variances in training [default: 1e-6, in f32 1e-3]
        pseudo_noise_floor: f64 = "V" [FromDtype],
        /// How inverse-free updates its approximate inverse [default: natural]
        auxiliary: AuxiliaryName = "HOW",
        /// Step sizes of the natural-gradient inversion of inverse-free [default: full]
        inversion: InversionName = "SIZES",
        /// Residual at which an inversion stops [default: 0.005]
        inversion_tolerance: f64 = "R",
        /// Maximum number of steps of an inversion [default: 100]
        inversion_steps: usize = "S",
        /// Probe vectors of the stochastic traces in the training bound of inverse-free [default: none,
        /// the traces are exact]
        probes: usize = "K",
    }

    "Full batch" {
        /// Optimizer [default: adam for models on mini-batches, cagp-cg and itergp; l-bfgs for others]
        optimizer: OptimizerName = "OPTIMIZER",
        /// Stop the optimization on all rows when an iteration improves the objective by less than this
        /// share, on average over ten iterations [default: 1e-9; the model auto 5e-5]
        objective_tolerance: f64 = "T",
        /// Policy that chooses the next action of itergp; cg gives cagp-cg
        policy: PolicyName = "POLICY",
        /// Relative residual at which the iterations of cagp-cg, itergp and cggp stop [default: 1e-4]
        tolerance: f64 = "T",
        /// Rank of the pivoted Cholesky preconditioner of cggp and of the policy preconditioned-cg [default: 8 times
        /// the square root of the number of rows, 256 for the policy; 0 for no preconditioner with
        /// cggp]
        pivots: usize = "R",
        /// Maximum number of iterations of a solve of cggp [default: 512]
        iterations: usize = "COUNT",
        /// Probe vectors of the stochastic log-determinant of cggp [default: 10]
        trace_probes: usize = "COUNT",
        /// Rank of the cached predictive covariance of cggp: a low rank overestimates variances, as many
        /// as there are rows make them exact [default: no cache, a solve for each prediction]
        cached_variances: usize = "R",
    }

    "Layers" {
        /// Posterior of every layer of deep-gp, conv-gp and deep-conv-gp [default: whitened]
        #[arg(value_parser = named(PosteriorName::all()))]
        posterior: PosteriorName = "POSTERIOR",
        /// Number of layers of deep-gp and deep-conv-gp [default: 2]
        layers: usize = "L",
        /// Functions of a hidden layer [default: deep-gp as many as inputs, at most 30; deep-conv-gp
        /// 10]
        width: usize = "W" [FromData],
        /// Inducing points of each hidden layer, and orthogonal inducing points if the model has them
        /// [default: as many as in the output layer]
        hidden_inducing: usize = "M",
        /// Mean functions of the hidden layers; in deep-conv-gp, functions of patches [default:
        /// identity]
        #[arg(value_enum)]
        hidden_mean: HiddenMeanName = "MEAN",
        /// Initial kernel variance of the hidden layers [default: 0.01]
        hidden_variance: f64 = "V",
        /// Initial standard deviation of the inducing variables of hidden layers, relative to the prior
        /// [default: 0.01]
        hidden_deviation: f64 = "F",
        /// Initial standard deviation of the inducing variables of the output layer, relative to the
        /// prior [default: 1]
        output_deviation: f64 = "F",
        /// Draws from the hidden layers for each row in a training step [default: 1]
        samples: usize = "S",
        /// Draws for each prediction [default: 100; deep-conv-gp 10]
        prediction_samples: usize = "S",
        /// Image shape of the inputs of conv-gp and deep-conv-gp: height x width, or height x width x
        /// channels with the channels of a pixel next to each other [default: that of the data set]
        image: ImageOption = "HxWxC" [FromData],
        /// Patch height and width in each layer [default: 5,4,5]
        #[arg(value_delimiter = ',')]
        patch: Vec<usize> = "SIZES",
        /// Stride between patches in each layer, in pixels [default: 1,2,1]
        #[arg(value_delimiter = ',')]
        stride: Vec<usize> = "PIXELS",
        /// Whether the response of the output layer depends on the location of the patch [default:
        /// true]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        located: bool = "BOOL",
    }

    "Networks" {
        /// Network of dbk, svdbk, bll, dkl, sdkl and svdkl [default: normalized]
        #[arg(value_parser = named(NetworkName::all()))]
        backbone: NetworkName = "NETWORK",
        /// Width of the network [default: 32 for fewer than 1000 training rows, 64 for fewer than
        /// 10000, else 128]
        units: usize = "COUNT" [FromData],
        /// Number of blocks of a residual network, or of hidden layers of mlp [default: 2]
        blocks: usize = "COUNT",
        /// Number of basis functions of dbk, svdbk and bll [default: 128]
        rank: usize = "R" [FromData],
        /// Number of outputs of the network of dkl, sdkl and svdkl, which are the inputs of the kernel
        /// [default: as many as inputs; mlp 2]
        features: usize = "H" [FromData],
        /// Whether the network of dkl, sdkl and svdkl starts as the identity: the last weights are zero
        /// and the inputs are added to the outputs [default: true if there are as many outputs as
        /// inputs; mlp false]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        from_identity: bool = "BOOL" [FromData],
        /// Weight decay: the penalty λ/2·‖θ‖² of the network's weights in the loss per datum [default:
        /// 1e-4]
        weight_decay: f64 = "LAMBDA",
        /// Initial learning rate of the network [default: --learning-rate if given, else 0.0003, and
        /// 0.0001 for dkl, sdkl and svdkl]
        network_rate: f64 = "R",
        /// Do not correct for the variance that the basis functions of dbk and svdbk miss, in training
        /// and in prediction
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        #[arg(conflicts_with_all = ["training_correction", "prediction_correction"])]
        no_correction: bool = "BOOL",
        /// Whether the training loss includes the penalty for the missed variance [default: true]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        training_correction: bool = "BOOL",
        /// How predictions correct for the missed variance [default: reweighted; svdbk added]
        prediction_correction: CorrectionName = "HOW",
    }

    "Parameters" {
        /// Initial value of a parameter, in standardized units: kernel.lengthscale=0.5
        ///
        /// The path of a parameter is the one in metrics.json; commas separate several values. This
        /// option and the next three can be given several times.
        set: Vec<ValuesOption> = "PATH=VALUE",
        /// Bounds of a parameter: likelihood.noise=1e-4..1, or =1e-4.. or =..1
        bound: Vec<BoundsOption> = "PATH=LOWER..UPPER",
        /// Prior of a parameter: gamma(SHAPE, RATE), log-normal(MEAN, DEVIATION), half-normal(SCALE),
        /// uniform(LOWER, UPPER)
        prior: Vec<PriorOption> = "PATH=PRIOR",
        /// Do not train a parameter, or the parameters within a field: kernel.variance, kernel,
        /// inducing
        fix: Vec<String> = "PATH",
    }

    "Data" {
        /// A file (CSV, TSV, JSON, Parquet, Arrow or Excel), a name of `datasets list`, or
        /// synthetic:sines?n=1000&noise=0.1&seed=1 [default: winequality]
        #[arg(short)]
        data: String = "DATA" [BesideProtocol, Everyday],
        /// Name or number (from 1; -1 is the last) of the column to predict [default: the last]
        #[arg(short, allow_hyphen_values = true)]
        target: String = "COLUMN" [BesideProtocol, Everyday],
        /// Name or number of the column with the noise standard deviation of each target, in the units
        /// of the target; it is not an input
        #[arg(allow_hyphen_values = true)]
        noise_column: String = "COLUMN",
        /// Name or number of a column that names the rows; it is not an input, and predictions carry it
        #[arg(allow_hyphen_values = true)]
        id: String = "COLUMN",
        /// The only columns that become inputs, separated by commas [default: all that can]
        #[arg(value_delimiter = ',')]
        inputs: Vec<String> = "COLUMNS" [Everyday],
        /// Columns that do not become inputs, separated by commas
        #[arg(value_delimiter = ',')]
        drop: Vec<String> = "COLUMNS" [Everyday],
        /// Kind of a column that is otherwise inferred: number, boolean, category or date; can be given
        /// several times
        kind: Vec<KindOfColumn> = "COLUMN=KIND" [Everyday],
        /// Treatment of missing values in inputs [default: indicator]
        missing: MissingName = "WAY" [Everyday],
        /// The only texts and numbers that stand for a missing value besides empty cells, such as NA,-999
        /// [default: NA, N/A, NaN, null, nil, none, missing, ?, -, -- and ., unless other labels of the
        /// column make them likely categories, as + does for -]
        #[arg(value_delimiter = ',', allow_hyphen_values = true)]
        missing_values: Vec<String> = "TEXTS",
        /// Treatment of dates and times [default: linear]
        time: TimeName = "WAY",
        /// Mark before the decimals of numbers, which must be said where 1,234 may be 1.234 or 1234 and no
        /// other number of the file tells
        decimal: DecimalName = "MARK",
        /// Order of day and month in dates such as 01/02/2021, which must be said where both are possible
        date_order: DateOrderName = "ORDER",
        /// Whether the file has no header; without this option its first line is one unless it holds
        /// numbers alone. --no-header=false reads numbers such as 2019,2020,2021 as a header
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        no_header: bool = "BOOL",
        /// Class labels from the lowest to the highest, such as low,medium,high; labels with commas in
        /// double quotes [default: numerical order for numbers; otherwise alphabetical, but required
        /// for the ordinal likelihood]
        class_order: ClassOrder = "LABELS",
        /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
        data_dir: PathBuf = "DIR" [BesideProtocol],
        /// File with the test rows; all rows of --data are then for training
        #[arg(conflicts_with_all = ["split", "test_fraction", "time_split"])]
        test: String = "FILE" [BesideProtocol, Everyday],
        /// File with the rows that choose the step whose model is kept (mini-batch models)
        #[arg(conflicts_with_all = ["validation_fraction", "early_stopping"])]
        validation: String = "FILE" [BesideProtocol],
        /// Number K of one of the splits that come with the data, from 0
        #[arg(conflicts_with = "test_fraction")]
        split: usize = "K",
        /// Cross-validation: divide the rows at random into K folds, make a run that tests on each of
        /// them, and show the scores in a table
        #[arg(conflicts_with_all = ["split", "test_fraction", "time_split", "test", "stream"])]
        folds: usize = "K" [BesideProtocol],
        /// The only fold to test on, from 1, if there are --folds
        #[arg(requires = "folds")]
        fold: usize = "FOLD" [BesideProtocol],
        /// Column whose equal values keep rows on the same side of the split, such as the patient; it
        /// is not an input
        #[arg(allow_hyphen_values = true, conflicts_with_all = ["split", "time_split"])]
        group: String = "COLUMN",
        /// Column with the weights of the rows in training, not negative: a row of weight 2 counts as
        /// the same row twice. It is not an input, and scores have no weights (models with inducing
        /// points on mini-batches)
        #[arg(allow_hyphen_values = true)]
        weights: String = "COLUMN",
        /// Test on the latest rows by the times in this column, which stays an input
        #[arg(allow_hyphen_values = true, conflicts_with = "split")]
        time_split: String = "COLUMN",
        /// Share of the rows held out for testing, chosen at random; 0 to train on all rows, without
        /// scores [default: 0.1]
        test_fraction: f64 = "F" [Everyday],
        /// Share of the training rows held out to choose the step whose model is kept (mini-batch
        /// models); no model of a comparison trains on them
        validation_fraction: f64 = "F",
        /// Share of the training rows held out to find the number of steps; the model is then trained
        /// on all rows for that many steps (mini-batch models; 0 for none) [default: models with
        /// networks 0.2, more for few rows, unless --steps, --epochs or --validation-fraction is given]
        early_stopping: f64 = "F",
        /// Whether the rows of a Parquet file are read while training, in shuffled blocks, instead of
        /// being kept in memory [default: true from 10⁸ values on, if the model has mini-batches]
        #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        stream: bool = "BOOL" [FromData],
        /// Scale of the inputs, by the training rows [default: standard]
        input_scale: InputScaleName = "SCALE",
    }

    "Training" {
        /// Passes over the training rows; for full-batch models, L-BFGS iterations or steps of Adam
        #[arg(conflicts_with = "steps")]
        epochs: usize = "E" [FromData, Changeable],
        /// Optimizer steps [default: 6000, or 10 epochs if that is more; full-batch models: at most
        /// 1000; dbk, dkl and sdkl: 2000]
        steps: usize = "S" [FromData, Changeable, Everyday],
        /// Rows in a mini-batch [default: 256]
        batch_size: usize = "B",
        /// Initial learning rate of Adam [default: 0.05; models with networks 0.03, cagp-cg and itergp
        /// 0.2]; for L-BFGS, the initial step of the line search relative to the full step [default: 1]
        learning_rate: f64 = "R" [Changeable],
        /// Learning rate schedule [default: cosine; constant with --plateau]
        schedule: ScheduleName = "SCHEDULE",
        /// Lower the learning rate by 5 % after this many steps without a lower loss, down to a
        /// thousandth of the initial rate
        plateau: usize = "S",
        /// Number of stages of the schedule stairs [default: 3]
        stages: usize = "COUNT",
        /// Factor of the learning rate from one stage to the next [default: 0.1]
        stage_factor: f64 = "F",
        /// Clip the norm of each parameter's gradient to this value
        gradient_norm: f64 = "NORM" [Changeable],
        /// Use natural gradients with this step size, at most 1, for the distribution of the inducing
        /// variables; Adam trains the other parameters. Common: 0.1
        natural_gradient: f64 = "GAMMA" [Changeable],
        /// Steps over which the natural-gradient step size grows from a thousandth of its final value
        /// [default: 10; 0 for none]
        natural_gradient_warm_up: usize = "S" [Changeable],
        /// Initial steps in which the inducing points are not trained [default: 0]
        inducing_frozen: usize = "S",
        /// Initial learning rate of the inducing points [default: that of the other parameters]
        inducing_rate: f64 = "R",
        /// Momentum of Adam (beta 1) for the inducing points; 0.99 damps them [default: 0.9]
        inducing_momentum: f64 = "BETA",
        /// Lower the learning rate of the inducing points by 5 % after this many steps without a lower
        /// loss, down to a thousandth of the initial rate [default: that of --plateau]
        inducing_plateau: usize = "S",
        /// Stop after this many validations without improvement [default: 20; with --early-stopping 12]
        patience: usize = "COUNT" [Changeable],
        /// Epochs between two validations [default: 1, or 50 steps if that is more; with
        /// --early-stopping 20]
        validation_epochs: usize = "E",
        /// Step whose model is kept if there are validation rows [default: best]
        keep: KeepName = "STEP",
        /// Score the test rows after every so many steps and after the last, in learning_curve.csv and a
        /// plot; a number below 1 is a share of all steps [default: only at the end]
        score_every: f64 = "S" [BesideProtocol],
        /// Steps between two checkpoints [default: as many as take half a minute]
        checkpoint_every: usize = "S" [Changeable, BesideProtocol],
    }

    "Computation" {
        /// Seed of the split, the inducing points and the mini-batches [default: 0]
        seed: u64 = "SEED" [BesideProtocol],
        /// Floating-point type [default: f64 on CPUs, f32 on GPUs]
        dtype: DtypeName = "DTYPE",
        /// Device: flex, ndarray, wgpu, vulkan, metal, cuda or rocm, with a number behind it for a GPU
        /// other than the first, as in wgpu:1; see `burn-gp devices`. remote://HOST:PORT is the device of
        /// a worker [default: the first in this program]
        device: DeviceName = "DEVICE" [Changeable, BesideProtocol, Everyday],
        /// Devices that share every mini-batch, as in wgpu:0,wgpu:1; the first has the optimizer
        /// (mini-batch models)
        #[arg(value_delimiter = ',', conflicts_with = "device")]
        devices: Vec<DeviceName> = "DEVICES" [Changeable, BesideProtocol],
    }
}
