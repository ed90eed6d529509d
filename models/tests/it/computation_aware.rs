//! Computation-aware regression from a configuration: training, files and invalid settings.

use burn::{
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{DType, Device},
};
use burn_gp_core::{
    inference::{ActionLoss, ActionStart, IterationRule},
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    optim::Adam,
    parameter::numbers,
};
use burn_gp_models::{
    ActionRows, ActionsConfig, AnyComputationAware, AnyTrained, ComputationAwareConfig,
    ExactConfig, InitError, ModelConfig, ModelDefinition, Precision, Predictions, SavedModel,
    Summary,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, Model, Schedule, Trainer,
        TrainingData,
    },
};

const COUNT: usize = 150;

/// The standard deviation of the noise.
const DEVIATION: f64 = 0.2;

fn wave(x: f64) -> f64 {
    (1.7 * x).sin() + 0.3 * (4.0 * x).cos()
}

/// Standard normal numbers by the Box–Muller transform, from SplitMix64.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let normal = |_| {
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    };
    (0..count).map(normal).collect()
}

/// Shuffled inputs: a run of rows is not an interval on the line.
fn inputs() -> Vec<f64> {
    (0..COUNT)
        .map(|n| (n * 61 % COUNT) as f64 / 18.0 - 4.0)
        .collect()
}

fn data(dtype: DType) -> TrainingData {
    let targets = inputs().into_iter().zip(noise(COUNT));
    let targets: Vec<f64> = targets
        .map(|(x, noise)| wave(x) + DEVIATION * noise)
        .collect();
    TrainingData::new(&inputs(), &targets, &Device::default().autodiff(), dtype)
}

fn config(actions: ActionsConfig) -> ComputationAwareConfig {
    let kernel = StationaryConfig::new(Stationary::Matern32);
    ComputationAwareConfig::new(kernel)
        .with_likelihood(GaussianConfig { noise: 0.5 })
        .with_actions(actions)
}

fn blocks(start: ActionStart) -> ActionsConfig {
    ActionsConfig::Blocks {
        count: 30,
        at_most: false,
        start,
        seed: 1,
        rows: ActionRows::Given,
    }
}

fn residuals() -> ActionsConfig {
    ActionsConfig::Iterations {
        rule: IterationRule::Residuals,
        count: 20,
        tolerance: 1e-6,
        seed: 0,
    }
}

fn trainer(
    config: &ComputationAwareConfig,
    data: &TrainingData,
) -> FullBatchTrainer<AnyComputationAware> {
    trainer_by(FullBatchOptimizer::L_BFGS, config, data)
}

fn trainer_by(
    optimizer: FullBatchOptimizer,
    config: &ComputationAwareConfig,
    data: &TrainingData,
) -> FullBatchTrainer<AnyComputationAware> {
    let data = config.arranged(data.clone());
    let model = config.init(&data).expect("fewer actions than rows");
    let training = FullBatchTraining {
        iterations: 60,
        optimizer,
        ..FullBatchTraining::default()
    };
    FullBatchTrainer::new(model, data, training)
}

fn trained(config: &ComputationAwareConfig, data: &TrainingData) -> (AnyTrained, f64) {
    let mut trainer = trainer(config, data);
    let mut loss = f64::INFINITY;
    while !trainer.is_finished() {
        loss = trainer.step().expect("the step is sound").loss;
    }
    let data = trainer.data().clone();
    let model = trainer.into_model().trained(&data).unwrap();
    (model, loss)
}

/// The first step size of line searches affects the path to the optimum and the reported rate. An
/// exact model reaches the same optimum with both.
#[test]
fn line_searches_begin_where_they_are_told() {
    let data = data(DType::F64);
    let config = ExactConfig::new(StationaryConfig::new(Stationary::Matern32))
        .with_likelihood(GaussianConfig { noise: 0.5 });
    let losses = |learning_rate| {
        let model = config.init(&data).unwrap();
        let training = FullBatchTraining {
            iterations: 500,
            tolerance: 1e-10,
            optimizer: FullBatchOptimizer::LBfgs { learning_rate },
            ..FullBatchTraining::default()
        };
        let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
        let mut losses = Vec::new();
        while !trainer.is_finished() {
            let report = trainer.step().expect("the step is sound");
            assert_eq!(report.learning_rate, learning_rate);
            losses.push(report.loss);
        }
        losses
    };
    let (full, small) = (losses(1.0), losses(1e-4));
    // The losses after five iterations.
    assert!(small[4] > full[4] + 1e-4, "{} and {}", small[4], full[4]);
    let [full, small] = [full, small].map(|losses| losses[losses.len() - 1]);
    assert!((full - small).abs() < 1e-7, "{full} and {small}");
}

/// Configurations from before the first step size could be set keep their meaning.
#[test]
fn line_searches_begin_at_the_quasi_newton_step() {
    let read = serde_json::from_str::<FullBatchOptimizer>(r#"{"optimizer":"l-bfgs"}"#);
    assert_eq!(read.unwrap(), FullBatchOptimizer::L_BFGS);
}

/// Training ends when ten iterations together, or a single one, bring no improvement, and the next
/// ones from the direction of steepest descent bring none either.
#[test]
fn training_ends_where_steepest_descent_finds_nothing() {
    let data = data(DType::F64);
    let data = config(blocks(ActionStart::Targets)).arranged(data);
    let model = config(blocks(ActionStart::Targets)).init(&data).unwrap();
    let tolerance = 1e-7;
    let training = FullBatchTraining {
        iterations: 5000,
        tolerance,
        ..FullBatchTraining::default()
    };
    let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
    let mut losses = Vec::new();
    while !trainer.is_finished() {
        losses.push(trainer.step().expect("the step is sound").loss);
    }
    assert!(trainer.has_converged());
    let rows = data.len() as f64;
    // Whether training is over after each iteration. The tolerance is relative to the whole
    // objective, for each of ten iterations.
    let (mut start, mut before, mut length) = (f64::INFINITY, f64::INFINITY, 0);
    let mut without_memory = false;
    let mut is_over = |loss: f64| {
        length += 1;
        let in_vain = loss >= before;
        before = loss;
        if length < 10 && !in_vain {
            return false;
        }
        let allowed = 10.0 * tolerance * (rows * start).abs().max(1.0) / rows;
        let found_nothing = start.is_finite() && start - loss <= allowed;
        let is_over = found_nothing && without_memory;
        without_memory = found_nothing || in_vain;
        (start, length) = (loss, 0);
        is_over
    };
    let over = losses.iter().position(|&loss| is_over(loss));
    assert_eq!(over, Some(losses.len() - 1), "{losses:?}");
}

fn predictions(model: &AnyTrained, inputs: &[f64]) -> Predictions {
    model
        .predictor()
        .expect("it can be conditioned")
        .predict(inputs, 1)
}

/// The root mean square error of the means, and the mean negative log predictive density of new
/// targets.
fn scores(model: &AnyTrained) -> (f64, f64) {
    let inputs: Vec<f64> = (0..200).map(|n| n as f64 / 25.0 - 3.99).collect();
    let predictions = predictions(model, &inputs);
    let (mut squares, mut nlpd) = (0.0, 0.0);
    for (i, noise) in noise(200).into_iter().rev().enumerate() {
        let (mean, variance) = (predictions.mean[i], predictions.variance[i]);
        let target = wave(inputs[i]);
        squares += (mean - target).powi(2) / 200.0;
        let error = target + DEVIATION * noise - mean;
        nlpd += 0.5 * ((std::f64::consts::TAU * variance).ln() + error * error / variance) / 200.0;
    }
    (squares.sqrt(), nlpd)
}

/// Trained actions fit the function from both initializations and in both types.
#[test]
fn trained_actions_fit() {
    for dtype in [DType::F64, DType::F32] {
        for start in [
            ActionStart::Normal,
            ActionStart::Targets,
            ActionStart::Eigenvectors,
        ] {
            let (model, loss) = trained(&config(blocks(start)), &data(dtype));
            let (error, nlpd) = scores(&model);
            assert!(loss < 0.6, "{dtype:?} {start:?}: loss {loss}");
            assert!(error < 0.2, "{dtype:?} {start:?}: error {error}");
            assert!(nlpd < 0.3, "{dtype:?} {start:?}: NLPD {nlpd}");
        }
    }
}

/// Adam learns actions of unit length faster than actions whose length grows with its steps: the
/// same steps on the same model without the trainer end at a worse bound.
#[test]
fn actions_of_unit_length_are_learned_faster() {
    let (data, config) = (data(DType::F64), config(blocks(ActionStart::Normal)));
    let adam = FullBatchOptimizer::Adam {
        learning_rate: 0.1,
        schedule: Schedule::Constant,
    };
    let loss = |model: &AnyComputationAware| {
        let bound = model.full_objective(data.inputs.clone(), data.targets.clone());
        bound.expect("it is sound").neg() / COUNT as f64
    };
    let mut trainer = trainer_by(adam, &config, &data);
    let (mut model, mut optimizer) = (trainer.model().clone(), ModuleOptimizer::from(Adam::new()));
    while !trainer.is_finished() {
        trainer.step().expect("the step is sound");
        let gradients = GradientsParams::from_grads(loss(&model).backward(), &model);
        model = optimizer.step(0.1, model, gradients);
    }
    let [ours, plain] = [trainer.model(), &model].map(|model| loss(model).into_scalar::<f64>());
    assert!(
        ours < plain - 0.003,
        "{ours} of unit length, {plain} without"
    );
}

/// Actions that combine near rows explain more than the same number of actions over distant rows,
/// if each covers an interval that is short enough for the function.
#[test]
fn actions_of_near_rows_explain_more() {
    let data = data(DType::F64);
    let loss = |rows| {
        let config = config(ActionsConfig::Blocks {
            count: 20,
            at_most: false,
            start: ActionStart::Normal,
            seed: 1,
            rows,
        });
        let (_, loss) = trained(&config, &data);
        loss
    };
    let [near, given] = [ActionRows::Near, ActionRows::Given].map(loss);
    assert!(near < given - 0.05, "{near} of near rows, {given} of any");
}

/// The evidence lower bound gives the better fit and the more accurate noise (arXiv:2411.01036,
/// Figures S1 and S2).
#[test]
fn the_projected_loss_is_the_losing_one() {
    let data = data(DType::F64);
    let actions = blocks(ActionStart::Normal);
    let (evidence, _) = trained(&config(actions.clone()), &data);
    let mut projected = config(actions);
    projected.loss = ActionLoss::Projected;
    let (projected, _) = trained(&projected, &data);
    let noise = |model: &AnyTrained| {
        let all = model.hyperparameters();
        let noise = all.iter().find(|one| one.path.contains("noise"));
        noise.expect("there is a noise variance").values[0].sqrt()
    };
    let distances = [&evidence, &projected].map(|model| (noise(model).ln() - DEVIATION.ln()).abs());
    assert!(distances[0] < distances[1], "{distances:?}");
    let scores = [&evidence, &projected].map(|model| scores(model).1);
    assert!(scores[0] < scores[1], "{scores:?}");
}

#[test]
fn saved_models_predict_the_same() {
    for actions in [blocks(ActionStart::Normal), residuals()] {
        let (data, config) = (data(DType::F64), config(actions));
        let model = trainer(&config, &data).into_model();
        let model = model.trained(&data).unwrap();
        let folder = temp_dir::TempDir::new().expect("a folder");
        let saved = SavedModel {
            model: model.clone(),
            summary: Summary {
                config: ModelConfig::from(config),
                dimensions: 1,
                target_columns: 1,
                data_count: COUNT,
                precision: Precision::F64,
            },
            context: (),
        };
        saved.save(folder.path()).expect("it can be written");
        let loaded =
            SavedModel::<()>::load(folder.path(), &Device::default()).expect("it can be read");
        let inputs = [-3.0, 0.1, 7.0];
        let (ours, theirs) = (
            predictions(&model, &inputs),
            predictions(&loaded.model, &inputs),
        );
        assert_eq!(ours.mean, theirs.mean);
        assert_eq!(ours.variance, theirs.variance);
    }
}

#[test]
fn there_are_as_many_rows_as_actions() {
    let data = data(DType::F64);
    for count in [0, COUNT + 1] {
        let mut config = config(residuals());
        config.actions = ActionsConfig::Blocks {
            count,
            at_most: false,
            start: ActionStart::Normal,
            seed: 0,
            rows: ActionRows::Near,
        };
        let error = config.init(&data).expect_err("too many or none");
        assert!(
            matches!(error, InitError::Actions { rows: COUNT, .. }),
            "{error}"
        );
    }
}

/// The default number of actions is an upper limit. A number that was asked for is not.
#[test]
fn the_default_actions_follow_the_number_of_rows() {
    let default = ComputationAwareConfig::new(StationaryConfig::new(Stationary::Matern32));
    for (rows, expected) in [(1, 1), (40, 40), (255, 255), (256, 256), (300, 256)] {
        let inputs: Vec<f64> = (0..rows).map(f64::from).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
        let device = Device::default();
        let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
        let model = default
            .init(&data)
            .expect("as many actions as there can be");
        let mut chosen = default.clone();
        chosen.resolve(&data);
        assert_eq!(chosen.actions.count(), expected);
        // The number that was chosen gives the same model.
        let again = chosen.init(&data).expect("as many actions as there can be");
        let [first, second] = [model, again].map(|model| {
            let objective = model.full_objective(data.inputs.clone(), data.targets.clone());
            objective.expect("it is sound").into_scalar::<f64>()
        });
        assert_eq!(first, second);
    }
}

/// An upper limit that few rows lower arranges near rows as the lower number does, and files say
/// whether it is one.
#[test]
fn an_upper_limit_is_arranged_and_written() {
    let near = |count, at_most| {
        config(ActionsConfig::Blocks {
            count,
            at_most,
            start: ActionStart::Normal,
            seed: 0,
            rows: ActionRows::Near,
        })
    };
    let data = data(DType::F64);
    let order = |config: ComputationAwareConfig| numbers(config.arranged(data.clone()).inputs);
    assert_eq!(order(near(COUNT + 1, true)), order(near(COUNT, false)));
    assert_ne!(order(near(COUNT + 1, true)), order(near(COUNT + 1, false)));

    for at_most in [false, true] {
        let text = serde_json::to_string(&near(7, at_most)).unwrap();
        assert_eq!(text.contains("at_most"), at_most, "{text}");
        let read: ComputationAwareConfig = serde_json::from_str(&text).unwrap();
        assert_eq!(read, near(7, at_most));
    }
}

/// An interrupted and resumed run makes the same steps.
#[test]
fn training_goes_on_where_it_stopped() {
    let adam = FullBatchOptimizer::Adam {
        learning_rate: 0.1,
        schedule: Schedule::Linear {
            final_fraction: 0.1,
        },
    };
    goes_on_where_it_stopped(FullBatchOptimizer::L_BFGS, DType::F32);
    for dtype in [DType::F32, DType::F64] {
        goes_on_where_it_stopped(adam, dtype);
    }
}

/// burn restores L-BFGS in the default type, in which its history would lose digits.
#[test]
fn l_bfgs_in_another_type_than_the_default_is_not_restored() {
    let (data, config) = (data(DType::F64), config(blocks(ActionStart::Normal)));
    let mut trainer = trainer_by(FullBatchOptimizer::L_BFGS, &config, &data);
    trainer.step().expect("the step is sound");
    let folder = temp_dir::TempDir::new().expect("a folder");
    trainer.save(folder.path()).expect("it can be written");
    let error = (trainer.restore(folder.path())).expect_err("the default is f32");
    let reason = "the state of L-BFGS is f64, but burn restores it in f32";
    assert!(error.to_string().contains(reason), "{error}");
}

fn goes_on_where_it_stopped(optimizer: FullBatchOptimizer, dtype: DType) {
    let (data, config) = (data(dtype), config(blocks(ActionStart::Normal)));
    let trainer = |config: &_, data: &_| trainer_by(optimizer, config, data);
    let mut whole = trainer(&config, &data);
    let mut first = trainer(&config, &data);
    let folder = temp_dir::TempDir::new().expect("a folder");
    for _ in 0..2 {
        whole.step().expect("the step is sound");
        first.step().expect("the step is sound");
    }
    first.save(folder.path()).expect("it can be written");
    let mut second = trainer(&config, &data);
    second.restore(folder.path()).expect("it can be read");
    for _ in 0..2 {
        let expected = whole.step().expect("the step is sound").loss;
        assert_eq!(second.step().expect("the step is sound").loss, expected);
    }
    let objective = |trainer: &FullBatchTrainer<AnyComputationAware>| {
        let (inputs, targets) = (data.inputs.clone(), data.targets.clone());
        let objective = trainer.model().full_objective(inputs, targets);
        objective.expect("it is sound").into_scalar::<f64>()
    };
    assert_eq!(objective(&whole), objective(&second));
}
