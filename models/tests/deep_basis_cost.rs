//! Deep basis kernels: the time of a step for different numbers of data.

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    features::PerceptronConfig, likelihoods::GaussianConfig, process::VarianceCorrection,
};
use burn_gp_models::{
    BasisConfig, DbkConfig, SvdbkConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};

const FEW: usize = 8_000;
const MANY: usize = 64_000;

/// The number of steps of each size. They alternate, so other load on the machine affects both.
const STEPS: usize = 12;

fn data(rows: usize) -> TrainingData {
    let x: Vec<f64> = (0..rows)
        .map(|i| -1.0 + 2.0 * i as f64 / rows as f64)
        .collect();
    let y: Vec<f64> = x.iter().map(|x| (5.0 * x).sin()).collect();
    TrainingData::new(&x, &y, &Device::default().autodiff(), DType::F32)
}

fn basis() -> BasisConfig {
    let network = PerceptronConfig {
        hidden: vec![32, 32],
        ..PerceptronConfig::default()
    };
    BasisConfig::new(network, 32)
}

/// The ratio of the fastest step with [`MANY`] data to that with [`FEW`]. Other load on the machine
/// only adds time, so the minimum is the best estimate.
fn ratio<M: Model>(trainer: impl Fn(TrainingData) -> MiniBatchTrainer<M>) -> f64 {
    let mut trainers = [FEW, MANY].map(|rows| trainer(data(rows)));
    let mut least = [f64::INFINITY; 2];
    for _ in 0..STEPS {
        for (trainer, least) in trainers.iter_mut().zip(&mut least) {
            let start = Instant::now();
            trainer.step().unwrap();
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least[1] / least[0]
}

/// Eight times the data take eight times as long, not sixty-four times. If the data no longer fit
/// into caches that other processes also use, it may be up to twice that (13 times was measured
/// under load).
#[test]
fn steps_on_all_data_are_linear_in_them() {
    for correction in [VarianceCorrection::default(), VarianceCorrection::NONE] {
        let ratio = ratio(|data| {
            let config = DbkConfig {
                basis: basis(),
                correction,
                ..DbkConfig::default()
            };
            let model = config.init(&data).unwrap();
            let training = MiniBatchTraining {
                batch_size: data.len(),
                ..MiniBatchTraining::new(STEPS)
            };
            MiniBatchTrainer::new(model, data, training)
        });
        assert!(ratio < 16.0, "{correction:?}: {ratio} times as long");
    }
}

#[test]
fn steps_on_batches_do_not_depend_on_the_number_of_data() {
    let ratio = ratio(|data| {
        let config = SvdbkConfig {
            basis: basis(),
            ..SvdbkConfig::new(GaussianConfig { noise: 1e-2 })
        };
        let training = MiniBatchTraining::new(STEPS);
        MiniBatchTrainer::new(config.init(&data).unwrap(), data, training)
    });
    assert!(ratio < 1.5, "{ratio} times as long");
}
