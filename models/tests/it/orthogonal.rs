//! Models with orthogonal inducing points from a configuration.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    optim::NaturalGradient,
    parameter::Parameters,
    process::CovarianceShape,
    variational::{
        OrthogonallyDecoupledConfig, Parameterization, PosteriorConfig, SolveGpConfig,
        UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    AnySvgp, InitError, SgprConfig, SvgpConfig, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

const COUNT: usize = 120;

fn inputs() -> Vec<f64> {
    (0..COUNT).map(|n| n as f64 / 15.0 - 4.0).collect()
}

fn data(dtype: DType) -> TrainingData {
    let wave = |x: &f64| (1.7 * x).sin() + 0.3 * (4.0 * x).cos();
    let targets: Vec<f64> = inputs().iter().map(wave).collect();
    TrainingData::new(&inputs(), &targets, &Device::default().autodiff(), dtype)
}

fn config(posterior: PosteriorConfig) -> SvgpConfig {
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    SvgpConfig::new(kernel, GaussianConfig { noise: 0.05 })
        .with_inducing(6)
        .with_orthogonal(6)
        .with_posterior(posterior)
}

fn solve(parameterization: Parameterization) -> PosteriorConfig {
    PosteriorConfig::from(SolveGpConfig {
        covariance: CovarianceShape::Full,
        parameterization,
    })
}

fn odvgp(columns: Option<usize>) -> PosteriorConfig {
    PosteriorConfig::from(OrthogonallyDecoupledConfig {
        covariance: CovarianceShape::Full,
        parameterization: Parameterization::Unwhitened,
        columns,
        seed: 3,
    })
}

fn posteriors() -> [PosteriorConfig; 4] {
    [
        solve(Parameterization::Whitened),
        solve(Parameterization::Unwhitened),
        odvgp(None),
        odvgp(Some(4)),
    ]
}

fn trainer(
    config: &SvgpConfig,
    data: TrainingData,
    training: MiniBatchTraining,
) -> MiniBatchTrainer<AnySvgp> {
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

/// The sets share no point, have the configured sizes and depend on the seed.
#[test]
fn orthogonal_points_are_other_points() {
    let data = data(DType::F64);
    let config = config(solve(Parameterization::Whitened));
    let points = |config: &SvgpConfig| {
        let model = config.init(&data).expect("distinct inputs");
        let sets = model.posterior().inducing();
        assert_eq!(sets.len(), 2);
        assert!(sets.iter().all(|set| set.count() == 6));
        model.valid().into_trained().inducing_points()
    };
    let first = points(&config);
    let mut sorted = first.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    assert_eq!(sorted.len(), 12, "{first:?}");
    assert_eq!(points(&config), first);
    let mut other = config.clone();
    other.inducing.seed = 1;
    assert_ne!(points(&other), first);
}

/// Each set has its own parameter paths.
#[test]
fn parameters_have_paths() {
    let model = config(solve(Parameterization::Whitened)).init(&data(DType::F64));
    let paths = model.expect("distinct inputs").parameter_paths();
    for set in 0..2 {
        for field in ["inducing.points", "distribution.mean"] {
            let path = format!("posterior.sets.{set}.{field}");
            assert!(paths.contains(&path), "{path} in {paths:?}");
        }
    }
    let model = config(odvgp(None)).init(&data(DType::F64));
    let paths = model.expect("distinct inputs").parameter_paths();
    for path in ["posterior.orthogonal.points", "posterior.weights"] {
        assert!(
            paths.iter().any(|found| found == path),
            "{path} in {paths:?}"
        );
    }
}

#[test]
fn the_number_of_orthogonal_points_fits_the_posterior() {
    let data = data(DType::F64);
    for posterior in posteriors() {
        let none = config(posterior).with_orthogonal(0);
        let error = none.init(&data).expect_err("there are none");
        assert!(matches!(error, InitError::NoOrthogonalPoints), "{error}");
    }
    let covariance = CovarianceShape::Full;
    for posterior in [
        PosteriorConfig::from(WhitenedConfig { covariance }),
        PosteriorConfig::from(UnwhitenedConfig { covariance }),
    ] {
        let error = config(posterior).init(&data).expect_err("there are some");
        assert!(
            matches!(error, InitError::OrthogonalPoints { count: 6 }),
            "{error}"
        );
    }
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let mut collapsed = SgprConfig::new(kernel).with_likelihood(GaussianConfig::default());
    collapsed.inducing.orthogonal = 6;
    let error = collapsed.init(&data).expect_err("there are some");
    assert!(
        matches!(error, InitError::OrthogonalPoints { count: 6 }),
        "{error}"
    );
    let mut few = config(solve(Parameterization::Whitened));
    few.inducing.count = 0;
    let error = few.init(&data).expect_err("there are none");
    assert!(matches!(error, InitError::Selection(_)), "{error}");
}

/// Six points are too few for this function. A second set improves the bound, with natural
/// gradients and with Adam alone.
#[test]
fn a_second_set_lifts_the_bound() {
    let covariance = CovarianceShape::Full;
    let base = config(PosteriorConfig::from(WhitenedConfig { covariance })).with_orthogonal(0);
    for natural_gradient in [None, Some(NaturalGradient::new(0.3).with_warm_up(1e-3, 10))] {
        let training = MiniBatchTraining {
            batch_size: COUNT,
            learning_rate: 0.03,
            natural_gradient,
            ..MiniBatchTraining::new(300)
        };
        let last = |config: &SvgpConfig| {
            let losses = losses(&mut trainer(config, data(DType::F64), training.clone()));
            // The last full cycle of columns.
            let last = &losses[losses.len() - 6..];
            last.iter().sum::<f64>() / last.len() as f64
        };
        let alone = last(&base);
        for posterior in posteriors() {
            let both = last(&config(posterior.clone()));
            let what = format!("{posterior:?}, {natural_gradient:?}");
            assert!(both < alone - 5e-3, "{what}: {both} against {alone}");
        }
    }
}

/// A restored trainer continues bit for bit, also in the middle of a cycle of columns and with
/// natural gradients.
#[test]
fn a_restored_trainer_goes_on_bit_for_bit() {
    for posterior in posteriors() {
        for natural_gradient in [None, Some(NaturalGradient::new(0.1))] {
            let folder = temp_dir::TempDir::new().expect("a folder");
            let config = config(posterior.clone());
            let training = MiniBatchTraining {
                batch_size: 32,
                natural_gradient,
                ..MiniBatchTraining::new(17)
            };
            // burn restores optimizers in the default type of the default device.
            let new = || trainer(&config, data(DType::F32), training.clone());
            let undisturbed = losses(&mut new());
            let mut stopped = new();
            for _ in 0..8 {
                stopped.step().expect("the step is sound");
            }
            stopped.save(folder.path()).expect("the folder is writable");
            let mut resumed = new();
            resumed.restore(folder.path()).expect("its own checkpoint");
            assert_eq!(losses(&mut resumed), undisturbed[8..], "{posterior:?}");
        }
    }
}
