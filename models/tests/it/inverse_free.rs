//! Training of inverse-free models: they follow the reference with a factorization, the auxiliary
//! matrix follows the parameters, and restored runs continue bit for bit.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    ops::{Stationary, add_diagonal, congruence},
    optim::{InversionStop, NaturalGradient, NaturalInversion, StepSizes},
    parameter::{Parameters, numbers},
    variational::{
        AuxiliaryUpdate, InverseFree, InverseFreeConfig, LSvgpConfig, MeanForm, PosteriorConfig,
        PseudoObservationsConfig, TraceProbes,
    },
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, TrainingError},
};

const COUNT: usize = 120;

fn inputs() -> Vec<f64> {
    (0..COUNT).map(|n| n as f64 / 20.0 - 3.0).collect()
}

fn data(dtype: DType) -> TrainingData {
    // The second wave is too fast for the inducing points, so it acts as noise.
    let wave = |x: &f64| (1.7 * x).sin() + 0.3 * (23.0 * x).cos();
    let targets: Vec<f64> = inputs().iter().map(wave).collect();
    TrainingData::new(&inputs(), &targets, &Device::default().autodiff(), dtype)
}

fn config(posterior: PosteriorConfig) -> SvgpConfig {
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    SvgpConfig::new(kernel, GaussianConfig { noise: 1.0 })
        .with_inducing(10)
        .with_posterior(posterior)
}

/// The same configuration with fixed inducing points.
fn fixed(mut config: SvgpConfig) -> SvgpConfig {
    config.parameters.frozen = vec!["posterior.inducing".to_owned()];
    config
}

fn observations(mean: MeanForm) -> PseudoObservationsConfig {
    PseudoObservationsConfig::default().with_mean(mean)
}

fn l_svgp(mean: MeanForm) -> PosteriorConfig {
    PosteriorConfig::from(LSvgpConfig {
        observations: observations(mean),
    })
}

fn inverse_free(mean: MeanForm, auxiliary: AuxiliaryUpdate) -> PosteriorConfig {
    PosteriorConfig::from(InverseFreeConfig {
        observations: observations(mean),
        auxiliary,
        probes: None,
    })
}

fn natural(inversion: NaturalInversion) -> AuxiliaryUpdate {
    AuxiliaryUpdate::NaturalGradient(inversion)
}

fn trainer(config: &SvgpConfig, dtype: DType, steps: usize) -> MiniBatchTrainer<AnySvgp> {
    let data = data(dtype);
    let training = MiniBatchTraining {
        batch_size: 40,
        learning_rate: 0.02,
        ..MiniBatchTraining::new(steps)
    };
    MiniBatchTrainer::new(config.init(&data).expect("distinct inputs"), data, training)
}

/// The losses of all remaining steps.
fn losses(trainer: &mut MiniBatchTrainer<AnySvgp>) -> Vec<f64> {
    let mut losses = Vec::new();
    while !trainer.is_finished() {
        losses.push(trainer.step().expect("the step is sound").loss);
    }
    losses
}

/// T20: with fixed inducing points, one inversion step per training step follows the factorization
/// within 1% in every loss and 0.1% in the last.
#[test]
fn training_follows_the_factorization() {
    for mean in [MeanForm::Plain, MeanForm::Preconditioned] {
        let steps = 600;
        let reference = losses(&mut trainer(
            &fixed(config(l_svgp(mean))),
            DType::F64,
            steps,
        ));
        let ours = inverse_free(mean, natural(NaturalInversion::ONE_STEP));
        let ours = losses(&mut trainer(&fixed(config(ours)), DType::F64, steps));
        // Losses pass through zero, so errors are relative to the largest loss.
        let scale = reference
            .iter()
            .fold(0.0f64, |largest, loss| loss.abs().max(largest));
        for (step, (ours, reference)) in ours.iter().zip(&reference).enumerate() {
            let error = (ours - reference).abs();
            assert!(
                error <= 1e-2 * scale,
                "{mean:?}, step {step}: {ours}, {reference}"
            );
        }
        let (ours, reference) = (ours[steps - 1], reference[steps - 1]);
        assert!(
            (ours - reference).abs() <= 1e-3 * scale,
            "{mean:?}: {ours}, {reference}"
        );
        assert!(reference < 0.9, "{mean:?}: it trains, to {reference}");
    }
}

/// A T trained by the optimizer cannot follow the parameters.
#[test]
fn a_trained_auxiliary_is_worse() {
    let mean = MeanForm::Preconditioned;
    let last = |auxiliary| {
        let config = fixed(config(inverse_free(mean, auxiliary)));
        let losses = losses(&mut trainer(&config, DType::F64, 600));
        losses[losses.len() - 30..].iter().sum::<f64>() / 30.0
    };
    let natural = last(natural(NaturalInversion::ONE_STEP));
    let trained = last(AuxiliaryUpdate::TRAINED);
    assert!(natural < trained - 0.05, "{natural} against {trained}");
}

/// The inverse-free posterior of a model.
fn inverse_free_of(model: &AnySvgp) -> &InverseFree {
    let posterior = model.posterior().downcast_ref();
    posterior.expect("an inverse-free posterior")
}

/// `‖LᵀK̃L − I‖_F/√M` for the current parameters of a model.
fn residual(model: &AnySvgp) -> f64 {
    let model = model.valid();
    let posterior = inverse_free_of(&model);
    let kuu = posterior.inducing().kuu(model.kernel()).squeeze_dim::<2>(0);
    let noisy = add_diagonal(kuu, posterior.observations().variances());
    let lower = posterior.auxiliary().squeeze_dim::<2>(0);
    let (distance, _) = congruence(noisy, lower).distance_from_identity();
    distance / 10f64.sqrt()
}

/// Before the first step and after every step, T is the inverse for the current parameters,
/// including parameters set manually.
#[test]
fn the_auxiliary_follows_the_parameters() {
    for dtype in [DType::F64, DType::F32] {
        for step_sizes in [StepSizes::FULL, StepSizes::LOG_LINEAR] {
            let inversion = NaturalInversion {
                step_sizes,
                ..NaturalInversion::default()
            };
            let posterior = inverse_free(MeanForm::Preconditioned, natural(inversion));
            let mut config = config(posterior);
            let values = &mut config.parameters.values;
            values.insert("kernel.variance".to_owned(), vec![3.0]);
            values.insert("posterior.observations.variances".to_owned(), vec![0.02]);
            let mut trainer = trainer(&config, dtype, 30);
            for step in 0..30 {
                let residual = residual(trainer.model());
                let what = format!("{dtype:?}, {step_sizes:?}, step {step}: {residual}");
                assert!(residual < 6e-3, "{what}");
                let loss = trainer.step().expect("the step is sound").loss;
                assert!(loss.is_finite(), "{what}: {loss}");
                let posterior = inverse_free_of(trainer.model());
                let [report] = posterior.reports() else {
                    panic!("one matrix");
                };
                assert_eq!(report.stop, InversionStop::Converged, "{what}: {report:?}");
            }
        }
    }
}

/// Single precision reaches the result of double precision, with trained inducing points, a cold
/// start and estimated traces.
#[test]
fn single_precision_trains_as_double_does() {
    let posterior = PosteriorConfig::from(InverseFreeConfig {
        observations: PseudoObservationsConfig {
            floor: Some(1e-3),
            ..Default::default()
        },
        probes: Some(TraceProbes { count: 8, seed: 2 }),
        ..Default::default()
    });
    let last = |dtype| {
        let losses = losses(&mut trainer(&config(posterior.clone()), dtype, 400));
        assert!(losses.iter().all(|loss| loss.is_finite()));
        losses[380..].iter().sum::<f64>() / 20.0
    };
    let (double, single) = (last(DType::F64), last(DType::F32));
    assert!((double - single).abs() < 0.02, "{double}, {single}");
}

/// A restored trainer continues bit for bit: L and the position in the probes are part of the
/// record.
#[test]
fn a_restored_trainer_goes_on_bit_for_bit() {
    let with_probes = InverseFreeConfig {
        probes: Some(TraceProbes { count: 3, seed: 9 }),
        ..Default::default()
    };
    let log_linear = NaturalInversion {
        step_sizes: StepSizes::LOG_LINEAR,
        ..NaturalInversion::default()
    };
    for posterior in [
        PosteriorConfig::from(with_probes),
        inverse_free(MeanForm::Plain, natural(NaturalInversion::ONE_STEP)),
        inverse_free(MeanForm::Preconditioned, natural(log_linear)),
        inverse_free(MeanForm::Preconditioned, AuxiliaryUpdate::TRAINED),
        l_svgp(MeanForm::Preconditioned),
    ] {
        for stopped_after in [0, 1, 8] {
            let folder = temp_dir::TempDir::new().expect("a folder");
            // burn restores optimizers in the default type of the default device.
            let new = || trainer(&config(posterior.clone()), DType::F32, 15);
            let undisturbed = losses(&mut new());
            let mut stopped = new();
            for _ in 0..stopped_after {
                stopped.step().expect("the step is sound");
            }
            stopped.save(folder.path()).expect("the folder is writable");
            let mut resumed = new();
            resumed.restore(folder.path()).expect("its own checkpoint");
            let rest = losses(&mut resumed);
            assert_eq!(rest, undisturbed[stopped_after..], "{posterior:?}");
        }
    }
}

/// The short forms in the program's files, with defaults for all other settings.
#[test]
fn short_configurations_are_read() {
    for (text, expected) in [
        (
            r#"{"posterior": "l-svgp"}"#,
            l_svgp(MeanForm::Preconditioned),
        ),
        (
            r#"{"posterior": "inverse-free"}"#,
            PosteriorConfig::from(InverseFreeConfig::default()),
        ),
        (
            r#"{"posterior": "inverse-free", "observations": {"mean": "plain"},
                "auxiliary": {"by": "natural-gradient", "max_steps": 1, "tolerance": 0.0,
                              "patience": null}}"#,
            inverse_free(MeanForm::Plain, natural(NaturalInversion::ONE_STEP)),
        ),
        (
            r#"{"posterior": "inverse-free", "auxiliary": {"by": "optimizer", "start": 1e-3}}"#,
            inverse_free(MeanForm::Preconditioned, AuxiliaryUpdate::TRAINED),
        ),
    ] {
        let read: PosteriorConfig = serde_json::from_str(text).expect(text);
        assert_eq!(read, expected, "{text}");
    }
}

/// Variances have a path, human-readable values and a floor. L has a path, but no gradient.
#[test]
fn parameters_have_paths() {
    for dtype in [DType::F64, DType::F32] {
        let posterior = inverse_free(MeanForm::Preconditioned, AuxiliaryUpdate::default());
        let mut trainer = trainer(&config(posterior), dtype, 60);
        while !trainer.is_finished() {
            trainer.step().expect("the step is sound");
        }
        let model = trainer.into_model();
        let variances = model
            .parameter("posterior.observations.variances")
            .expect("a path");
        let floor = if dtype == DType::F64 { 1e-6 } else { 1e-3 };
        assert_eq!(variances.len(), 10);
        assert!(
            variances.iter().all(|variance| *variance > floor),
            "{variances:?}"
        );
        let posterior = inverse_free_of(&model);
        assert_eq!(numbers(posterior.observations().variances()), variances);
        let lower = posterior.auxiliary();
        let bound = posterior.observations().mean().sum() + lower.clone().detach().sum();
        assert!(lower.grad(&bound.backward()).is_none());
    }
}

/// Frozen inducing points do not move, and move again when they are no longer frozen. L is never
/// trained.
#[test]
fn inducing_points_are_frozen_and_thawed() {
    let posterior = inverse_free(MeanForm::Preconditioned, AuxiliaryUpdate::default());
    let places = |model: &AnySvgp| {
        model
            .parameter("posterior.inducing.points")
            .expect("a path")
    };
    let mut frozen = trainer(&fixed(config(posterior)), DType::F64, 5);
    let first = places(frozen.model());
    losses(&mut frozen);
    assert_eq!(places(frozen.model()), first);
    let thawed = frozen
        .into_model()
        .with_thawed("posterior")
        .expect("a path");
    let training = MiniBatchTraining::new(5);
    let mut moving = MiniBatchTrainer::new(thawed, data(DType::F64), training);
    losses(&mut moving);
    assert_ne!(places(moving.model()), first);
    assert!(residual(moving.model()) < 6e-3);
}

/// There is no Gaussian for natural gradients to train, which is an error.
#[test]
fn natural_gradients_find_no_gaussian() {
    let data = data(DType::F64);
    let config = config(l_svgp(MeanForm::Preconditioned));
    let training = MiniBatchTraining {
        natural_gradient: Some(NaturalGradient::new(0.1)),
        ..MiniBatchTraining::new(3)
    };
    let model = config.init(&data).expect("distinct inputs");
    let error = MiniBatchTrainer::new(model, data, training).step();
    assert!(matches!(error, Err(TrainingError::NoDistribution)));
}

/// A likelihood without closed form: the loss for labels falls to the same value with both
/// posteriors.
#[test]
fn labels_train_as_with_the_factorization() {
    let targets: Vec<f64> = (inputs().iter())
        .map(|x| if (1.7 * x).sin() > 0.0 { 1.0 } else { 0.0 })
        .collect();
    let device = Device::default().autodiff();
    let data = TrainingData::new(&inputs(), &targets, &device, DType::F64);
    let mean = MeanForm::Preconditioned;
    let [factored, ours] =
        [l_svgp(mean), inverse_free(mean, AuxiliaryUpdate::default())].map(|posterior| {
            let mut config = config(posterior);
            config.likelihood = LikelihoodConfig::bernoulli();
            let training = MiniBatchTraining {
                batch_size: COUNT,
                learning_rate: 0.05,
                ..MiniBatchTraining::new(300)
            };
            let model = config.init(&data).expect("distinct inputs");
            let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
            losses(&mut trainer)
        });
    assert!(
        factored[299] < 0.5 * factored[0],
        "{} to {}",
        factored[0],
        factored[299]
    );
    let error = (factored[299] - ours[299]).abs();
    assert!(
        error < 1e-2 * factored[0],
        "{} against {}",
        ours[299],
        factored[299]
    );
}
