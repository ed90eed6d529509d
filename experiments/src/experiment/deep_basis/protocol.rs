//! What the runs on data sets have in common (sections 4 and A.4).

use serde::Serialize;

use super::method::Method;
use crate::arguments::{
    BackboneName, DtypeName, InitializerName, InputScaleName, KeepName, LikelihoodName, MeanName,
    ModelName, NetworkOptions, RunOptions, ScheduleName,
};
use crate::experiment::{CommonOptions, options::Place};

/// Share of the rows to test on, …
const TEST: f64 = 0.2;
/// … share of the rest that decides which step's model is kept: 70 % are left to train on.
const VALIDATION: f64 = 0.125;

/// What runs are told.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Protocol {
    /// How long they may train. Runs of one table can differ in it, and have folders of their own.
    #[serde(skip)]
    pub budget: Budget,
    /// Residual blocks of networks that are trained on mini-batches.
    pub blocks_in_batches: usize,
    /// Rows in a batch.
    pub batch_size: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Steps on all rows between two validations …
    pub iterations_between: usize,
    /// … passes over the rows, of models on batches …
    pub epochs_between: usize,
    /// … and validations without improvement before training stops.
    pub patience: usize,
    /// First noise variance.
    pub noise: f64,
}

/// How long runs may train.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Budget {
    /// Steps of Adam on all rows.
    pub iterations: usize,
    /// Passes over the rows of models on batches.
    pub epochs: usize,
    /// Iterations of L-BFGS.
    pub line_searches: usize,
}

impl Budget {
    /// The same but for what is given.
    pub fn with(
        self,
        iterations: Option<usize>,
        epochs: Option<usize>,
        line_searches: Option<usize>,
    ) -> Self {
        Self {
            iterations: iterations.unwrap_or(self.iterations),
            epochs: epochs.unwrap_or(self.epochs),
            line_searches: line_searches.unwrap_or(self.line_searches),
        }
    }

    /// That of the runs of `method`, as their folder is called.
    pub fn of(self, method: Method) -> String {
        let model = method.model();
        if !model.is_mini_batch() {
            return format!("{}-line-searches", self.line_searches);
        }
        match model.has_batches() {
            true => format!("{}-epochs", self.epochs),
            false => format!("{}-steps", self.iterations),
        }
    }
}

/// The network of the paper: the width of its layers, its layers for models on all rows, what deep
/// kernels see of it, and the penalty of its weights.
const UNITS: usize = 128;
const BLOCKS: usize = 2;
const FEATURES: usize = 2;
const WEIGHT_DECAY: f64 = 1e-4;

/// That of the paper.
pub(super) fn paper() -> Protocol {
    Protocol {
        budget: Budget {
            iterations: 10_000,
            epochs: 2000,
            line_searches: 200,
        },
        blocks_in_batches: 3,
        batch_size: 256,
        learning_rate: 1e-3,
        iterations_between: 100,
        epochs_between: 10,
        patience: 20,
        noise: 1e-2,
    }
}

/// The same, smaller.
pub(super) fn quick() -> Protocol {
    Protocol {
        budget: Budget {
            iterations: 200,
            epochs: 20,
            line_searches: 50,
        },
        iterations_between: 50,
        epochs_between: 5,
        ..paper()
    }
}

/// The paper's network, whatever the program's own would be.
fn network_of_paper(network: NetworkOptions, model: ModelName) -> NetworkOptions {
    NetworkOptions {
        backbone: Some(BackboneName::Normalized),
        units: Some(UNITS),
        features: model.is_deep_kernel().then_some(FEATURES),
        from_identity: model.is_deep_kernel().then_some(false),
        weight_decay: Some(WEIGHT_DECAY),
        ..network
    }
}

impl Protocol {
    /// The options of a run of `method` on inputs of `dimensions` dimensions.
    ///
    /// All train on the same rows and are tested on the same ones. L-BFGS has no use for the rows that
    /// are held out for validation. The models that it trains are in double precision.
    pub fn options(
        &self,
        method: Method,
        dimensions: usize,
        common: &CommonOptions,
        place: Place,
    ) -> RunOptions {
        let model = method.model();
        let shared = RunOptions {
            mean: Some(MeanName::Zero),
            likelihood: Some(LikelihoodName::Gaussian),
            noise: Some(self.noise),
            initializer: model.has_inducing().then_some(InitializerName::KMeans),
            data_dir: common.data_dir(),
            test_fraction: Some(TEST),
            validation_fraction: Some(VALIDATION),
            input_scale: Some(InputScaleName::Range),
            device: Some(place.device),
            ..method.with_model(RunOptions::default(), dimensions)
        };
        if !model.is_mini_batch() {
            return RunOptions {
                steps: Some(self.budget.line_searches),
                dtype: Some(DtypeName::F64),
                ..shared
            };
        }
        let batches = model.has_batches();
        RunOptions {
            epochs: batches.then_some(self.budget.epochs),
            steps: (!batches).then_some(self.budget.iterations),
            batch_size: batches.then_some(self.batch_size),
            learning_rate: Some(self.learning_rate),
            schedule: Some(ScheduleName::Constant),
            validation_epochs: Some(match batches {
                true => self.epochs_between,
                false => self.iterations_between,
            }),
            patience: Some(self.patience),
            keep: Some(KeepName::Best),
            dtype: Some(place.dtype),
            network: match model.has_network() {
                true => NetworkOptions {
                    blocks: Some(if batches {
                        self.blocks_in_batches
                    } else {
                        BLOCKS
                    }),
                    ..network_of_paper(shared.network, model)
                },
                false => shared.network,
            },
            ..shared
        }
    }
}
