//! What burn-train's learner costs: the same sparse variational regression, trained for the same
//! steps by `MiniBatchTrainer` and by `SupervisedTraining`.
//!
//! `cargo bench -p burn-gp-models --features learner-benchmark --bench learner_overhead` prints a
//! line of JSON: the median milliseconds of a step of `MiniBatchTrainer`, which looks at the loss of
//! every step (`own_ms`), of the learner's bare loop (`learner_ms`), and of the learner with a loss
//! metric that it writes to a file (`learner_with_loss_ms`). Batches of 256, 128 inducing points,
//! eight input dimensions, f32. The learner has no checkpoints and a renderer that draws nothing,
//! and its batches are taken from data on the device as those of `MiniBatchTrainer` are.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderBuilder, batcher::Batcher},
        dataset::InMemDataset,
    },
    module::Module,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler},
    tensor::{DType, Device, Distribution, ExecutionError, Int, Tensor},
    train::{
        InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
        logger::{EvaluationProgressLogger, TrainingProgressLogger},
        metric::{Adaptor, ItemLazy, LossInput, LossMetric, MetricDefinition},
        renderer::{
            EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
            MetricsRendererTraining,
        },
    },
};
use burn_gp::{
    inducing::InducingPoints,
    kernels::{StationaryConfig, StationaryKernel},
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary},
    variational::{CovarianceShape, VariationalGaussian, Whitened},
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchModel, MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DIMENSIONS: usize = 8;
const BATCH: usize = 256;
const INDUCING: usize = 128;
const STEPS: usize = 600;
const WARM_UP: usize = 100;
/// Runs of each loop, in turns, so that a machine's other load meets both alike.
const ROUNDS: usize = 5;
const LEARNING_RATE: f64 = 0.01;

type Model = Svgp<StationaryKernel, ConstantMean, Gaussian, Whitened<InducingPoints>>;

fn main() {
    let data = data();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        times[0].push(own_step(&data));
        times[1].push(learner_step(&data, false));
        times[2].push(learner_step(&data, true));
    }
    let [own, bare, with_loss] = times.map(|times| median(times).as_secs_f64() * 1e3);
    println!(
        "{{\"batch\": {BATCH}, \"inducing\": {INDUCING}, \"dtype\": \"F32\", \"steps\": {STEPS}, \
         \"own_ms\": {own:.3}, \"learner_ms\": {bare:.3}, \"learner_with_loss_ms\": {with_loss:.3}, \
         \"ratio\": {:.3}, \"ratio_with_loss\": {:.3}}}",
        bare / own,
        with_loss / own
    );
}

/// Data for an epoch of [`STEPS`] batches.
fn data() -> TrainingData {
    let options = (&Device::flex(), DType::F32);
    options.0.seed(0);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::<2>::random([STEPS * BATCH, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin();
    TrainingData { inputs, targets }
}

fn model() -> Model {
    let options = (&Device::flex(), DType::F32);
    options.0.seed(1);
    let normal = Distribution::Normal(0.0, 1.0);
    let points = Tensor::<2>::random([INDUCING, DIMENSIONS], normal, options);
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let distribution = VariationalGaussian::standard(INDUCING, 1, CovarianceShape::Full, options);
    let jitter = Jitter::relative(1e-4);
    let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
    Svgp::new(kernel, mean, Gaussian::new(1.0, options), posterior).train()
}

/// The median time of a step of `MiniBatchTrainer`.
fn own_step(data: &TrainingData) -> Duration {
    let mut training = MiniBatchTraining::new(STEPS);
    training.batch_size = BATCH;
    training.learning_rate = LEARNING_RATE;
    let mut trainer = MiniBatchTrainer::new(model(), data.clone(), training);
    let mut starts = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        starts.push(Instant::now());
        trainer.step().expect("the step is sound");
    }
    median_interval(&starts)
}

/// The median time of a step of `SupervisedTraining`, with or without a metric of the loss.
fn learner_step(data: &TrainingData, with_loss: bool) -> Duration {
    let starts = Arc::new(Mutex::new(Vec::with_capacity(STEPS)));
    let batcher = RowBatcher {
        data: data.clone(),
        starts: Arc::clone(&starts),
    };
    let rows = (0..data.len() as i64).collect();
    let train = DataLoaderBuilder::new(batcher.clone())
        .batch_size(BATCH)
        .shuffle(0)
        .build(InMemDataset::new(rows));
    let valid: Arc<dyn DataLoader<Batch>> =
        DataLoaderBuilder::new(batcher).build(InMemDataset::new(Vec::new()));
    let folder = std::env::temp_dir().join(format!("burn-gp-learner-{}", std::process::id()));
    let learned = Learned {
        model: model(),
        data_count: data.len(),
    };
    let optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    let mut training = SupervisedTraining::new(&folder, train, valid)
        .num_epochs(1)
        .with_application_logger(None)
        .renderer(Box::new(Silent));
    if with_loss {
        training = training.metric_train_numeric(LossMetric::new());
    }
    training.launch(Learner::new(learned, optimizer, LEARNING_RATE));
    std::fs::remove_dir_all(&folder).expect("the learner's folder can be removed");
    let starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(starts.len(), STEPS, "a batch is made in every step");
    median_interval(&starts)
}

fn median_interval(starts: &[Instant]) -> Duration {
    let pairs = starts[WARM_UP..].windows(2);
    median(pairs.map(|pair| pair[1] - pair[0]).collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Inputs `[B, D]` and targets `[B, 1]`.
#[derive(Clone, Debug)]
struct Batch {
    inputs: Tensor<2>,
    targets: Tensor<2>,
}

/// Takes the rows of a batch and notes the time: a step starts with its batch.
#[derive(Clone)]
struct RowBatcher {
    data: TrainingData,
    starts: Arc<Mutex<Vec<Instant>>>,
}

impl Batcher<i64, Batch> for RowBatcher {
    fn batch(&self, rows: Vec<i64>, _device: &Device) -> Batch {
        let now = Instant::now();
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.push(now);
        let inputs = self.data.inputs.clone();
        let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &inputs.device());
        Batch {
            inputs: inputs.select(0, rows.clone()),
            targets: self.data.targets.clone().select(0, rows),
        }
    }
}

/// The model as the learner takes it.
#[derive(Module, Debug)]
struct Learned {
    model: Model,
    data_count: usize,
}

impl TrainStep for Learned {
    type Input = Batch;
    type Output = Loss;

    fn step(&self, batch: Batch) -> TrainOutput<Loss> {
        let objective = self
            .model
            .objective(batch.inputs, batch.targets, self.data_count)
            .expect("the covariance is positive definite");
        let loss = objective.value() * (-1.0 / self.data_count as f64);
        let gradients = loss.backward();
        TrainOutput::new(self, gradients, Loss(loss.inner()))
    }

    fn optimize(
        self,
        optimizer: &mut ModuleOptimizer,
        rate: module_lr_scheduler::ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        let stepped = optimizer.step(rate, self, gradients);
        Self {
            model: stepped.model.after_step(),
            ..stepped
        }
    }
}

/// The loss of a step, `[1]`.
struct Loss(Tensor<1>);

impl ItemLazy for Loss {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

impl Adaptor<LossInput> for Loss {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.0.clone())
    }
}

impl InferenceStep for Learned {
    type Input = Batch;
    type Output = ();

    fn step(&self, _batch: Batch) {}
}

/// A renderer that draws nothing.
struct Silent;

impl MetricsRendererTraining for Silent {
    fn update_train(&mut self, _state: MetricState) {}
    fn update_valid(&mut self, _state: MetricState) {}
}

impl MetricsRendererEvaluation for Silent {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl MetricsRenderer for Silent {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

impl TrainingProgressLogger for Silent {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _epoch: usize) {}
    fn start_split(&mut self, _split: &str, _total_items: usize) {}
    fn update_split(&mut self, _items_processed: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _event: String) {}
}

impl EvaluationProgressLogger for Silent {
    fn start_global_progress(&mut self, _total_tests: usize) {}
    fn start_test(&mut self, _name: &str, _total_items: usize) {}
    fn update_test_progress(&mut self, _items_processed: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _event: String) {}
}
