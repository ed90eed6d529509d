//! The parts of a function whose kernel is a sum.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    kernels::{ConstantConfig, KernelConfig, LinearConfig, StationaryConfig},
    ops::numbers,
};
use burn_gp_models::{AnyTrained, Conditioned, ExactConfig, training::TrainingData};

const ROWS: usize = 40;

/// Two inputs in a pattern without repetitions, and a sum of functions of each.
fn data() -> TrainingData {
    let inputs: Vec<f64> = (0..2 * ROWS)
        .map(|index| 3.0 * ((index * index * 7 + index) as f64 * 0.618).fract() - 1.5)
        .collect();
    let value = |x: &[f64]| (2.0 * x[0]).sin() + 0.8 * x[1] + 2.0;
    let targets: Vec<f64> = inputs.chunks(2).map(value).collect();
    TrainingData::new(&inputs, &targets, &Device::default(), DType::F64)
}

fn trained(kernel: KernelConfig) -> AnyTrained {
    let data = data();
    let model = ExactConfig::new(kernel).init(&data).unwrap();
    Conditioned::trained(&model, &data).unwrap()
}

fn places() -> Tensor<2> {
    let values: Vec<f64> = vec![-1.0, 0.5, 0.0, 0.0, 0.0, 1.0, 1.2, -0.7, 1.2, 0.0];
    let place = (&Device::default(), DType::F64);
    Tensor::from_data(TensorData::new(values, [5, 2]), place)
}

#[test]
fn parts_add_up_and_depend_on_their_own_inputs() {
    let wave = KernelConfig::from(StationaryConfig::rbf()).on_dimensions(vec![0]);
    let line = KernelConfig::from(LinearConfig::default()).on_dimensions(vec![1]);
    let model = trained(wave.plus(line).plus(ConstantConfig::default()));
    let parts = model.parts(places()).unwrap().unwrap();
    let inputs: Vec<&[usize]> = parts.iter().map(|part| &part.inputs[..]).collect();
    assert_eq!(inputs, [&[0][..], &[1], &[]]);
    let whole = model.process().unwrap().components(places()).remove(0);
    for (place, mean) in numbers(whole.mean).into_iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part.means[place]).sum();
        assert!((sum - mean).abs() < 1e-9, "{sum} {mean}");
    }
    // Rows with the same value of an input have the same part, whatever the other input is.
    let [wave, line, _] = &parts[..] else {
        unreachable!()
    };
    assert!((wave.means[1] - wave.means[2]).abs() < 1e-12);
    assert!((wave.variances[3] - wave.variances[4]).abs() < 1e-12);
    assert!((line.means[1] - line.means[4]).abs() < 1e-12);
    // The true parts, up to a constant that no data can tell apart, with noise that starts at 0.1.
    let rise = line.means[2] - line.means[1];
    assert!((rise - 0.8).abs() < 0.1, "{rise}");
    let change = wave.means[3] - wave.means[0];
    let truth = (2.4_f64).sin() + (2.0_f64).sin();
    assert!((change - truth).abs() < 0.2, "{change} {truth}");
}

/// Of two equal terms with the prior variance P each, the data take a quarter of what they take from the sum:
/// `P − (2P − V)/4`, where V is the variance of the sum.
#[test]
fn equal_parts_have_a_quarter_of_the_knowledge() {
    let term = || KernelConfig::from(StationaryConfig::matern32());
    let model = trained(term().plus(term()));
    let parts = model.parts(places()).unwrap().unwrap();
    let sum = model.process().unwrap().components(places()).remove(0);
    let sum = numbers(sum.variance);
    let prior = numbers(model.covariance(places(), places()).unwrap());
    for (place, sum) in sum.into_iter().enumerate() {
        let both = prior[6 * place];
        let expected = 0.5 * both - 0.25 * (both - sum);
        for part in &parts {
            assert!((part.variances[place] - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn other_kernels_have_no_parts() {
    assert!(
        trained(StationaryConfig::rbf().into())
            .parts(places())
            .is_none()
    );
}
