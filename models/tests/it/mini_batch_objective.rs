//! Mini-batch objectives, compared with the full-batch objective.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
use burn_gp_models::{
    SvgpConfig,
    training::{Model, TrainingData},
};

/// The mean over equal batches that partition the data is the full-batch objective.
#[test]
fn the_mean_over_all_batches_is_the_whole_objective() {
    let (count, batch) = (60, 12);
    let inputs: Vec<f64> = (0..count).map(|n| (7 * n % 60) as f64 / 10.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (1.7 * x).sin()).collect();
    let data = TrainingData::new(&inputs, &targets, &Device::default(), DType::F64);
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let config = SvgpConfig::new(kernel, GaussianConfig { noise: 0.1 }).with_inducing(9);
    let model = config.init(&data).expect("distinct inputs");
    let objective = |start, rows| {
        let part = |tensor: &Tensor<2>| tensor.clone().narrow(0, start, rows);
        let (inputs, targets) = (part(&data.inputs), part(&data.targets));
        let objective = model.objective(inputs.autodiff(), targets.autodiff(), count);
        objective.expect("it is sound").value().into_scalar::<f64>()
    };
    let batches = count / batch;
    let sum: f64 = (0..batches)
        .map(|index| objective(index * batch, batch))
        .sum();
    let whole = objective(0, count);
    // The sums are in another order.
    assert!((sum / batches as f64 - whole).abs() < 1e-10 * whole.abs());
}
