//! Natural gradients together with Adam in the training loop.

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    ops::Stationary,
    optim::NaturalGradient,
    parameter::numbers,
    process::CovarianceShape,
    variational::{PosteriorConfig, UnwhitenedConfig, WhitenedConfig},
};
use burn_gp_models::{
    AnySvgp, SgprConfig, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};

const COUNT: usize = 200;

fn data(binary: bool, dtype: DType) -> TrainingData {
    let inputs: Vec<f64> = (0..COUNT).map(|n| n as f64 / 25.0 - 4.0).collect();
    let wave = |x: &f64| (1.7 * x).sin() + 0.1 * (40.0 * x).cos();
    let targets: Vec<f64> = (inputs.iter().map(wave))
        .map(|y| {
            if binary {
                f64::from(u8::from(y > 0.0))
            } else {
                y
            }
        })
        .collect();
    TrainingData::new(&inputs, &targets, &Device::default().autodiff(), dtype)
}

fn config(likelihood: impl Into<LikelihoodConfig>) -> SvgpConfig {
    SvgpConfig::new(StationaryConfig::new(Stationary::Matern52), likelihood).with_inducing(15)
}

fn trainer(
    config: &SvgpConfig,
    data: TrainingData,
    training: MiniBatchTraining,
) -> MiniBatchTrainer<AnySvgp> {
    let model = config.init(&data).expect("distinct inputs");
    MiniBatchTrainer::new(model, data, training)
}

fn final_loss(trainer: &mut MiniBatchTrainer<AnySvgp>) -> f64 {
    let mut loss = f64::NAN;
    while !trainer.is_finished() {
        loss = trainer.step().expect("the step is sound").loss;
    }
    loss
}

fn scales(model: &AnySvgp) -> Vec<f64> {
    let distributions = model.posterior().distributions();
    let scales = distributions.iter().map(|each| numbers(each.scale()));
    scales.collect::<Vec<_>>().concat()
}

fn full_batch(steps: usize, natural: Option<NaturalGradient>) -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: COUNT,
        learning_rate: 0.05,
        natural_gradient: natural,
        ..MiniBatchTraining::new(steps)
    }
}

/// If Adam does not change the hyperparameters, a full-batch step of size one makes the next loss
/// that of the collapsed model. The loss per data point is scaled back to the bound.
#[test]
fn a_step_of_size_one_on_all_data_gives_the_collapsed_bound() {
    let noise = GaussianConfig { noise: 0.1 };
    let config = config(noise.clone());
    let training = MiniBatchTraining {
        learning_rate: 0.0,
        ..full_batch(2, Some(NaturalGradient::new(1.0)))
    };
    let data = data(false, DType::F64);
    let loss = final_loss(&mut trainer(&config, data.clone(), training));
    let collapsed = SgprConfig::new(config.kernel)
        .with_likelihood(noise)
        .with_inducing(15);
    let bound = collapsed
        .init(&data)
        .expect("distinct inputs")
        .objective(data.inputs, data.targets, COUNT)
        .expect("factor");
    let expected = -numbers(bound.value())[0] / COUNT as f64;
    assert!(
        (loss - expected).abs() < 1e-8 * expected.abs(),
        "{loss} against {expected}"
    );
}

/// The same number of steps reaches a better bound than Adam alone, for both kinds of likelihood
/// and both parameterizations.
#[test]
fn natural_gradients_get_further_than_adam_alone() {
    let whitened = [true, false].map(|whitened| {
        let covariance = CovarianceShape::Full;
        if whitened {
            PosteriorConfig::from(WhitenedConfig { covariance })
        } else {
            PosteriorConfig::from(UnwhitenedConfig { covariance })
        }
    });
    for posterior in whitened {
        for binary in [false, true] {
            let likelihood: LikelihoodConfig = if binary {
                LikelihoodConfig::bernoulli()
            } else {
                GaussianConfig { noise: 0.1 }.into()
            };
            let config = config(likelihood).with_posterior(posterior.clone());
            let natural = NaturalGradient::new(0.5).with_warm_up(1e-3, 5);
            let [with, without] = [Some(natural), None].map(|natural| {
                let data = data(binary, DType::F64);
                final_loss(&mut trainer(&config, data, full_batch(40, natural)))
            });
            assert!(
                with < without - 0.02,
                "{posterior:?}, binary {binary}: {with} against {without}"
            );
        }
    }
}

/// Adam receives no gradient of the distribution, which does not move with a natural-gradient step
/// size near zero.
#[test]
fn adam_leaves_the_distribution_alone() {
    for covariance in [CovarianceShape::Full, CovarianceShape::Diagonal] {
        let config = config(GaussianConfig { noise: 0.1 })
            .with_posterior(PosteriorConfig::from(WhitenedConfig { covariance }));
        let training = full_batch(3, Some(NaturalGradient::new(1e-300)));
        let mut trainer = trainer(&config, data(false, DType::F64), training);
        let (before, hyperparameters) =
            (scales(trainer.model()), trainer.model().hyperparameters());
        final_loss(&mut trainer);
        let largest_change = (scales(trainer.model()).iter().zip(&before))
            .fold(0.0, |largest: f64, (after, before)| {
                largest.max((after - before).abs())
            });
        assert!(largest_change < 1e-200, "{largest_change}");
        let trained = trainer.model().hyperparameters();
        assert_ne!(trained, hyperparameters, "Adam trains the rest");
    }
}

/// A trainer restored during the warm-up ends with the same result as an uninterrupted one, bit for
/// bit.
#[test]
fn a_restored_trainer_goes_on_bit_for_bit() {
    let folder = std::env::temp_dir().join(format!("burn-gp-natural-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder for temporary files");
    let config = config(GaussianConfig { noise: 0.1 });
    let training = MiniBatchTraining {
        batch_size: 32,
        natural_gradient: Some(NaturalGradient::new(0.1).with_warm_up(1e-3, 20)),
        ..MiniBatchTraining::new(30)
    };
    // burn restores optimizers in the default type of the default device.
    let new = || trainer(&config, data(false, DType::F32), training.clone());
    let mut undisturbed = new();
    let loss = final_loss(&mut undisturbed);
    let mut stopped = new();
    for _ in 0..10 {
        stopped.step().expect("the step is sound");
    }
    stopped.save(&folder).expect("the folder is writable");
    let mut resumed = new();
    resumed.restore(&folder).expect("its own checkpoint");
    assert_eq!(final_loss(&mut resumed), loss);
    assert_eq!(scales(resumed.model()), scales(undisturbed.model()));
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
