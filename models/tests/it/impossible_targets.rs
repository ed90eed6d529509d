//! A target without probability under the likelihood stops every kind of training and scoring.

use burn::train::SupervisedTraining;
use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, ImpossibleTarget, LikelihoodConfig, TargetKind},
    ops::Stationary,
};
use burn_gp_models::{
    ComputationAwareConfig, ConjugateGradientsConfig, DbkConfig, DeepGpConfig, DeepKernelConfig,
    ExactConfig, InitError, LastLayerConfig, LayerConfig, ModelConfig, PredictionError, SgprConfig,
    SolveCollapsedConfig, SvdbkConfig, SvgpConfig, Trained, VecchiaConfig, VifConfig,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchLearner, MiniBatchTrainer, MiniBatchTraining,
        StepRenderer, Trainer, TrainingData, TrainingError,
    },
};
use burn_gp_test_support::likelihood_cases::{self, registry};

const ROWS: usize = 12;

/// The row with the impossible value.
const WRONG_ROW: usize = 7;

/// A likelihood, a target (with its noise variance) that it accepts, and values that it does not
/// accept in a column.
struct Case {
    likelihood: LikelihoodConfig,
    possible: Vec<f64>,
    impossible: Vec<(usize, f64)>,
}

/// Every likelihood. Impossible values in the last column come last.
fn cases() -> Vec<Case> {
    let case = |case: likelihood_cases::Case| {
        let of_every_column = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let columns = 0..case.columns();
        let all = columns.flat_map(|column| of_every_column.map(|value| (column, value)));
        // An interval may lack its lower or its upper limit.
        let are_intervals = case.config.target() == TargetKind::Intervals;
        let is_no_limit = move |&(column, value): &(usize, f64)| {
            are_intervals && value == [f64::NEG_INFINITY, f64::INFINITY][column]
        };
        Case {
            possible: case.row(1).to_vec(),
            impossible: all
                .filter(|place| !is_no_limit(place))
                .chain(case.impossible)
                .collect(),
            likelihood: case.config,
        }
    };
    registry().into_iter().map(case).collect()
}

/// The likelihood with this name.
fn named(name: &str) -> Case {
    let mut cases = cases().into_iter();
    let found = cases.find(|case| case.likelihood.name() == name);
    found.expect("a registered likelihood")
}

impl Case {
    /// Row-major targets, equal in every row.
    fn targets(&self) -> Vec<f64> {
        self.possible.repeat(ROWS)
    }

    /// Same as [`targets`](Self::targets), with `value` in one column of the wrong row.
    fn with(&self, column: usize, value: f64) -> Vec<f64> {
        let mut targets = self.targets();
        targets[WRONG_ROW * self.possible.len() + column] = value;
        targets
    }

    fn data(&self, targets: &[f64], dtype: DType) -> TrainingData {
        let device = Device::default().autodiff();
        TrainingData::with_target_columns(&inputs(), targets, self.possible.len(), &device, dtype)
    }
}

fn inputs() -> Vec<f64> {
    (0..ROWS).map(|row| row as f64 / ROWS as f64).collect()
}

fn kernel() -> StationaryConfig {
    StationaryConfig::new(Stationary::Matern52)
}

#[track_caller]
fn assert_names(found: &ImpossibleTarget, column: usize, value: f64) {
    assert_eq!((found.row, found.column), (WRONG_ROW, column), "{found}");
    assert_eq!(found.value.to_bits(), value.to_bits(), "{found}");
}

#[track_caller]
fn of_init<M>(result: Result<M, InitError>) -> ImpossibleTarget {
    match result.err() {
        Some(InitError::Target(impossible)) => impossible,
        other => panic!("no word about the target: {other:?}"),
    }
}

#[track_caller]
fn of_training<T>(result: Result<T, TrainingError>) -> ImpossibleTarget {
    match result.err() {
        Some(TrainingError::Target(impossible)) => impossible,
        other => panic!("no word about the target: {other:?}"),
    }
}

#[track_caller]
fn of_score<T>(result: Result<T, PredictionError>) -> ImpossibleTarget {
    match result.err() {
        Some(PredictionError::Target(impossible)) => impossible,
        other => panic!("no word about the target: {other:?}"),
    }
}

/// Initialization, step-by-step training, training by burn's learner, and scoring, with any
/// likelihood.
#[test]
fn every_likelihood_refuses_what_it_cannot_take() {
    for dtype in [DType::F32, DType::F64] {
        for case in cases() {
            let svgp = SvgpConfig::new(kernel(), case.likelihood.clone()).with_inducing(4);
            let deep = DeepGpConfig::new(LayerConfig::new(kernel()), case.likelihood.clone());
            let weights = SvdbkConfig::new(case.likelihood.clone());
            let possible = case.data(&case.targets(), dtype);
            let model = svgp.init(&possible).expect("possible targets");
            let trained = model.valid().into_trained();
            let predictor = trained.predictor().expect("a predictor");
            for &(column, value) in &case.impossible {
                let targets = case.with(column, value);
                let data = case.data(&targets, dtype);
                assert_names(&of_init(svgp.init(&data)), column, value);
                assert_names(&of_init(deep.init(&data)), column, value);
                assert_names(&of_init(weights.init(&data)), column, value);
                let training = MiniBatchTraining::new(2);
                let mut trainer =
                    MiniBatchTrainer::new(model.clone(), data.clone(), training.clone());
                assert_names(&of_training(trainer.step()), column, value);
                let rows = (inputs(), 1);
                let density = predictor.log_density(&rows.0, rows.1, &targets);
                assert_names(&of_score(density), column, value);
                let score = predictor.score(&rows.0, rows.1, &targets);
                assert_names(&of_score(score), column, value);
            }
        }
    }
}

#[test]
fn the_learner_refuses_a_label_of_no_class() {
    let case = named("softmax");
    let svgp = SvgpConfig::new(kernel(), case.likelihood.clone()).with_inducing(4);
    let model = (svgp.init(&case.data(&case.targets(), DType::F32))).expect("possible targets");
    let data = case.data(&case.with(0, f64::NAN), DType::F32);
    let mut learner = MiniBatchLearner::new(model, data, MiniBatchTraining::new(2));
    let folder = temp_dir::TempDir::new().expect("a folder");
    let (batches, none) = (learner.batches(|_| false), learner.examinations(|_| None));
    let training = SupervisedTraining::new(folder.path(), batches, none)
        .renderer(Box::new(StepRenderer::silent()));
    assert_names(&of_training(learner.fit(training)), 0, f64::NAN);
}

/// Full-batch models and network models with Gaussian noise.
#[test]
fn models_of_normal_noise_refuse_targets_that_are_not_finite() {
    let noise = GaussianConfig::default;
    let case = named("gaussian");
    let (exact, sgpr) = (
        ExactConfig::new(kernel()).with_likelihood(noise()),
        SgprConfig::new(kernel()).with_likelihood(noise()),
    );
    let sgpr = sgpr.with_inducing(4);
    let solve = SolveCollapsedConfig::new(kernel())
        .with_likelihood(noise())
        .with_inducing(4)
        .with_orthogonal(4);
    let network = ModelConfig::from(DbkConfig::default());
    let last_layer = LastLayerConfig {
        basis: Default::default(),
        mean: Default::default(),
        likelihood: noise(),
        parameters: Default::default(),
    };
    for (column, value) in case.impossible.clone() {
        let data = case.data(&case.with(column, value), DType::F64);
        let named = |impossible: ImpossibleTarget| assert_names(&impossible, column, value);
        named(of_init(sgpr.init(&data)));
        named(of_init(solve.init(&data)));
        named(of_init(
            ConjugateGradientsConfig::new(kernel())
                .with_likelihood(noise())
                .init(&data),
        ));
        let vecchia = VecchiaConfig::new(kernel()).with_likelihood(noise());
        named(of_init(vecchia.init(&data)));
        let vif = VifConfig::new(kernel()).with_likelihood(noise());
        named(of_init(vif.with_inducing(3).init(&data)));
        let actions = ComputationAwareConfig::new(kernel()).with_likelihood(noise());
        named(of_init(actions.init(&data)));
        named(of_init(network.init(&data)));
        named(of_init(last_layer.init(&data)));
        named(of_init(DeepKernelConfig::new(exact.clone()).init(&data)));
        named(of_init(exact.init(&data)));
        // Trainers check the targets of models that others initialized.
        let possible = case.data(&case.targets(), DType::F64);
        let model = exact.init(&possible).expect("possible targets");
        let mut trainer = FullBatchTrainer::new(model, data, FullBatchTraining::default());
        named(of_training(trainer.step()));
    }
}

/// A value may be valid only in double precision: the largest number below 1 rounds to 1 in single
/// precision, and the tiny number rounds to 0.
#[test]
fn targets_are_checked_in_the_precision_they_are_used_in() {
    let fraction = named("beta");
    let number = named("gamma");
    for (case, value, rounded) in [(fraction, 1.0 - 1e-12, 1.0), (number, 1e-60, 0.0)] {
        let svgp = SvgpConfig::new(kernel(), case.likelihood.clone()).with_inducing(4);
        let targets = case.with(0, value);
        assert!(svgp.init(&case.data(&targets, DType::F64)).is_ok());
        let seen = of_init(svgp.init(&case.data(&targets, DType::F32)));
        assert_eq!((seen.row, seen.value), (WRONG_ROW, rounded));
        let model = svgp.init(&case.data(&case.targets(), DType::F32));
        let trained = model.expect("possible targets").valid().into_trained();
        let predictor = trained.predictor().expect("a predictor");
        let seen = of_score(predictor.log_density(&inputs(), 1, &targets));
        assert_eq!((seen.row, seen.value), (WRONG_ROW, value));
        assert_eq!(seen.rounded, Some((rounded, "f32")));
        let text = format!("target {value}, {rounded} in f32, in row {WRONG_ROW}, column 0 is not");
        assert!(seen.to_string().starts_with(&text), "{seen}");
    }
}
