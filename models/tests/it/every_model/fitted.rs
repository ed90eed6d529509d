//! Every model by `fit`, `predict`, `save` and `load`.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::parameter::numbers;
use burn_gp_models::{Fit, FitModel, Fitted, ModelConfig};

use super::{data, every_model};

/// Three steps of every model, on inputs and targets far from standardized ones.
fn fitted(config: &ModelConfig, dtype: DType) -> Fitted {
    let data = data(dtype);
    let (inputs, targets) = (data.inputs * 3.0 + 40.0, data.targets * 7.0 - 100.0);
    (config.fit(&inputs, &targets, &Fit::new().steps(3)))
        .unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

fn new_inputs(dtype: DType) -> Tensor<2> {
    Tensor::from_data([[35.0], [41.5], [44.0]], (&Device::default(), dtype))
}

#[test]
fn fitted_models_predict_the_same_from_their_files() {
    for dtype in [DType::F64, DType::F32] {
        for config in every_model() {
            let name = format!("{dtype:?}, {config:?}");
            let gp = fitted(&config, dtype);
            let predicted = gp.predict(new_inputs(dtype)).unwrap();
            assert_eq!(predicted.mean().dims(), [3, 1], "{name}");
            assert_eq!(predicted.mean().dtype(), dtype, "{name}");
            let folder = temp_dir::TempDir::new().unwrap();
            let folder = folder.path().join("a").join("model");
            gp.save(&folder).unwrap();
            let loaded = Fitted::load(&folder, &Device::default()).unwrap();
            let again = loaded.predict(new_inputs(dtype)).unwrap();
            assert_eq!(predicted.predictions(), again.predictions(), "{name}");
            assert_eq!(loaded.config(), gp.config(), "{name}");
            assert_eq!(loaded.scaling(), gp.scaling(), "{name}");
            let densities = |gp: &Fitted| {
                let predicted = gp.predict(new_inputs(dtype)).unwrap();
                numbers(predicted.log_density([-99.0, -101.0, -95.0]).unwrap())
            };
            assert_eq!(densities(&gp), densities(&loaded), "{name}");
            assert!(
                densities(&gp).iter().all(|value| value.is_finite()),
                "{name}"
            );
        }
    }
}

/// A model is loaded in another precision than it was saved in. Parameters are rounded to single
/// precision, and a kernel matrix of condition number up to 10⁵ multiplies the rounding errors of
/// 10⁻⁷.
#[test]
fn fitted_models_are_loaded_in_another_precision() {
    for (saved, loaded) in [(DType::F64, DType::F32), (DType::F32, DType::F64)] {
        for config in every_model() {
            let name = format!("{saved:?} as {loaded:?}, {config:?}");
            let gp = fitted(&config, saved);
            let folder = temp_dir::TempDir::new().unwrap();
            gp.save(folder.path()).unwrap();
            let other = Fitted::load(folder.path(), (&Device::default(), loaded)).unwrap();
            assert_eq!(other.place().1, loaded, "{name}");
            let [expected, found] = [&gp, &other].map(|gp| gp.predict([35.0, 41.5, 44.0]).unwrap());
            assert_eq!(found.mean().dtype(), loaded, "{name}");
            let deviations = numbers(expected.standard_deviation());
            let pairs = numbers(expected.mean())
                .into_iter()
                .zip(numbers(found.mean()));
            for ((expected, found), deviation) in pairs.zip(deviations) {
                let error = (expected - found).abs() / deviation;
                assert!(
                    error < 2e-2,
                    "{name}: {found}, not {expected} ± {deviation}"
                );
            }
        }
    }
}
