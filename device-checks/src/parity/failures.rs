//! Data without a valid result: each case must end with a typed error or NaN, never with a number.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    inference::ConditionError,
    likelihoods::GaussianConfig,
    ops::{self, Jitter, NotPositiveDefinite, Stationary},
    parameter::numbers,
};

use super::{Case, Group, Reason, Test};
use burn_gp_models::{
    ExactConfig, InducingConfig, ModelConfig, SvgpConfig,
    training::{MiniBatchTraining, TrainingData, TrainingError, fit},
};

/// The number of rows of the matrices and of the data.
const SIZE: usize = 45;

pub(super) fn cases() -> Vec<Case> {
    let case = |name: &str, fail: fn(&Device, DType) -> Result<(), Reason>| Case {
        group: Group::Failure,
        name: name.to_owned(),
        test: Test::Fail(Box::new(fail)),
    };
    vec![
        case("a matrix that is not positive definite", indefinite),
        case("a matrix with a NaN", |device, dtype| {
            factor(with_entry(f64::NAN), device, dtype)
        }),
        case("training on an input that is not a number", training),
        case("an exact fit of an input that is not a number", exact),
    ]
}

/// The identity with one diagonal entry replaced by `value`.
fn with_entry(value: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; SIZE * SIZE];
    for row in 0..SIZE {
        matrix[row * SIZE + row] = if row == SIZE / 2 { value } else { 1.0 };
    }
    matrix
}

fn indefinite(device: &Device, dtype: DType) -> Result<(), Reason> {
    factor(with_entry(-1.0), device, dtype)
}

/// Fails if there is a factor. Expects a typed error, or NaN in a training step on a GPU, which
/// does not wait for errors.
fn factor(matrix: Vec<f64>, device: &Device, dtype: DType) -> Result<(), Reason> {
    let on = |device: &Device| {
        let data = TensorData::new(matrix.clone(), [SIZE; 2]);
        ops::cholesky(Tensor::<2>::from_data(data, (device, dtype)), Jitter::NONE)
    };
    if on(&device.clone().inner()).is_ok() {
        return Err("no error without autodiff".into());
    }
    match on(device) {
        Err(NotPositiveDefinite { .. }) => Ok(()),
        Ok(factor) => {
            let determinant = numbers(factor.log_determinant())[0];
            match determinant.is_nan() {
                true => Ok(()),
                false => Err(format!("a factor with log-determinant {determinant}").into()),
            }
        }
    }
}

/// Data whose middle input is NaN.
fn data(device: &Device, dtype: DType) -> TrainingData {
    let mut inputs: Vec<f64> = (0..SIZE).map(|row| row as f64 / 5.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    inputs[SIZE / 2] = f64::NAN;
    TrainingData::new(&inputs, &targets, &device.clone().inner(), dtype)
}

fn training(device: &Device, dtype: DType) -> Result<(), Reason> {
    let whole = TrainingData::new(
        &(0..SIZE).map(|row| row as f64 / 5.0).collect::<Vec<_>>(),
        &vec![0.5; SIZE],
        &device.clone().inner(),
        dtype,
    );
    let config = SvgpConfig {
        inducing: InducingConfig::new(SIZE / 3),
        ..SvgpConfig::new(Stationary::Matern52, GaussianConfig { noise: 0.1 })
    };
    let model = ModelConfig::from(config).init(&whole)?;
    let settings = MiniBatchTraining {
        batch_size: SIZE,
        ..MiniBatchTraining::new(20)
    };
    match fit(model, data(device, dtype), &settings.into(), &mut []) {
        Err(TrainingError::NonFinite { .. } | TrainingError::Factorization { .. }) => Ok(()),
        Err(other) => Err(format!("another error: {other}").into()),
        Ok(_) => Err("training ended without an error".into()),
    }
}

fn exact(device: &Device, dtype: DType) -> Result<(), Reason> {
    let config =
        ExactConfig::new(Stationary::Matern52).with_likelihood(GaussianConfig { noise: 0.1 });
    let config = ModelConfig::from(config);
    let data = config.arranged(data(device, dtype));
    let model = config.init(&data)?;
    match model.trained(&data) {
        Err(ConditionError::Input { .. }) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err("no error".into()),
    }
}
