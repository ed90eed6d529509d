//! Saved models and checkpoints: damaged files and other types are refused, and files from before
//! there were checksums are read.

use std::{fs, path::Path};

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
use burn_gp_models::{
    AnyModel, MODEL_FILE, ModelConfig, Precision, SavedModel, SavedModelError, Summary,
    WEIGHTS_FILE, explained,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchLearner, MiniBatchTrainer, MiniBatchTraining,
        Trainer, TrainingData, TrainingError,
    },
};
use serde_json::Value;

use super::{Check, ROWS, check_every_model, data, every_model, predicting};

/// Every model with its summary, in a given precision.
fn every_saved(dtype: DType) -> Vec<SavedModel<()>> {
    let precision = match dtype {
        DType::F64 => Precision::F64,
        _ => Precision::F32,
    };
    let models = every_model().into_iter();
    models
        .map(|config| SavedModel {
            model: predicting(&config, data(dtype)),
            summary: Summary {
                config,
                dimensions: 1,
                target_columns: 1,
                data_count: ROWS,
                precision,
            },
            context: (),
        })
        .collect()
}

fn load(folder: &Path) -> Result<SavedModel<()>, SavedModelError> {
    SavedModel::load(folder, &Device::default())
}

fn predictions(saved: &SavedModel<()>) -> Vec<f64> {
    let predictor = saved.model.predictor().unwrap();
    predictor.predict(&[-0.5, 0.2, 1.5], 1).mean
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    change(&mut file);
    fs::write(path, file.to_string()).unwrap();
}

/// Asserts that loading fails with a one-line message about the file.
#[track_caller]
fn assert_refused(what: &str, folder: &Path, expected: &str) {
    let Err(error) = load(folder) else {
        panic!("{what} is loaded");
    };
    let text = error.to_string();
    assert!(
        text.contains(expected) && !text.contains('\n'),
        "{what}: {text}"
    );
}

/// Changes every byte of one model, and some bytes of the others.
#[test]
fn flipped_bytes_and_truncated_files_are_refused() {
    for (index, saved) in every_saved(DType::F32).into_iter().enumerate() {
        let folder = temp_dir::TempDir::new().unwrap();
        let folder = folder.path();
        saved.save(folder).unwrap();
        let path = folder.join(WEIGHTS_FILE);
        let whole = fs::read(&path).unwrap();
        let step = if index == 0 { 1 } else { whole.len() / 40 + 1 };
        for place in (0..whole.len()).step_by(step) {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            fs::write(&path, damaged).unwrap();
            let what = format!("{:?} with byte {place} flipped", saved.summary.config);
            assert_refused(&what, folder, "weights.bpk cannot be read: it is damaged");
            fs::write(&path, &whole[..place]).unwrap();
            let what = format!("{:?} with {place} bytes", saved.summary.config);
            assert_refused(&what, folder, "weights.bpk cannot be read: it is damaged");
        }
        fs::write(&path, &whole).unwrap();
        assert_eq!(predictions(&load(folder).unwrap()), predictions(&saved));
    }
}

#[test]
fn models_without_a_checksum_and_a_writer_are_read() {
    for saved in every_saved(DType::F64) {
        let folder = temp_dir::TempDir::new().unwrap();
        let folder = folder.path();
        saved.save(folder).unwrap();
        let path = folder.join(MODEL_FILE);
        edit(&path, |file| {
            let fields = file.as_object_mut().unwrap();
            let checksum = fields.remove("weights_crc32");
            assert!(checksum.is_some_and(|checksum| checksum.is_u64()));
            let writer = fields.remove("written_by");
            assert!(writer.is_some_and(|writer| writer.is_string()));
        });
        assert_eq!(predictions(&load(folder).unwrap()), predictions(&saved));
    }
}

#[test]
fn a_model_in_a_later_format_names_the_version_that_wrote_it() {
    let saved = every_saved(DType::F64).swap_remove(0);
    let folder = temp_dir::TempDir::new().unwrap();
    saved.save(folder.path()).unwrap();
    edit(&folder.path().join(MODEL_FILE), |file| {
        file["format_version"] = 2.into();
        file["written_by"] = "burn-gp-models 9.8.7".into();
    });
    assert_refused(
        "a later format",
        folder.path(),
        "has format version 2 and was written by burn-gp-models 9.8.7, this program reads version 1",
    );
}

#[test]
fn models_of_another_type_than_their_description_are_refused() {
    for (dtype, claimed) in [(DType::F64, "f32"), (DType::F32, "f64")] {
        for saved in every_saved(dtype) {
            let folder = temp_dir::TempDir::new().unwrap();
            let folder = folder.path();
            saved.save(folder).unwrap();
            edit(&folder.join(MODEL_FILE), |file| {
                file["precision"] = claimed.into()
            });
            let found = saved.summary.precision.dtype().name();
            let expected = format!(
                "weights.bpk cannot be read: its numbers are of type {found}, those of the model of \
                 type {claimed}"
            );
            assert_refused(&format!("{:?}", saved.summary.config), folder, &expected);
        }
    }
}

#[test]
fn unknown_fields_of_a_description_are_refused() {
    for saved in every_saved(DType::F32) {
        let folder = temp_dir::TempDir::new().unwrap();
        let folder = folder.path();
        saved.save(folder).unwrap();
        edit(&folder.join(MODEL_FILE), |file| {
            file["config"]["paramaters"] = Value::Null
        });
        let expected = "unknown field `paramaters` (did you mean `parameters`?), expected ";
        let what = format!("{:?}", saved.summary.config);
        if what.contains("of_features") || what.contains("DeepKernelConfig") {
            // It has no such field itself.
            assert_refused(&what, folder, "unknown field `paramaters`, expected ");
        } else {
            assert_refused(&what, folder, expected);
        }
    }
}

/// A single-precision checkpoint cannot be restored in double precision, nor the other way around.
struct RestoredInItsType;

impl RestoredInItsType {
    #[track_caller]
    fn assert(name: &str, restored: Result<(), TrainingError>, [found, expected]: [DType; 2]) {
        let Err(TrainingError::Checkpoint { reason, .. }) = restored else {
            panic!("{name}: {restored:?}");
        };
        let types = format!(
            "its numbers are of type {}, those of the model of type {}",
            found.name(),
            expected.name()
        );
        assert!(reason.contains(&types), "{name}: {reason}");
    }
}

/// The data and the model in the other type.
fn cast<M: Module>(model: &M, data: &TrainingData) -> (M, TrainingData, DType) {
    struct Cast(DType);
    impl ModuleMapper for Cast {
        fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
            parameter.map(|tensor| {
                let (device, trained) = (tensor.device(), tensor.is_require_grad());
                let tensor = Tensor::from_data(tensor.into_data(), (&device, self.0));
                if trained {
                    tensor.require_grad()
                } else {
                    tensor
                }
            })
        }
    }
    let other = match data.inputs.dtype() {
        DType::F64 => DType::F32,
        _ => DType::F64,
    };
    let data = TrainingData {
        inputs: data.inputs.clone().cast(other),
        targets: data.targets.clone().cast(other),
    };
    (model.clone().map(&mut Cast(other)), data, other)
}

impl Check for RestoredInItsType {
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        let folder = temp_dir::TempDir::new().unwrap();
        let training = FullBatchTraining::default();
        let (other, other_data, other_type) = cast(&model, &data);
        let own_type = data.inputs.dtype();
        let trainer = FullBatchTrainer::new(model.clone(), data.clone(), training.clone());
        trainer.save(folder.path()).unwrap();
        let mut trainer = FullBatchTrainer::new(other, other_data, training);
        let restored = trainer.restore(folder.path());
        Self::assert(name, restored, [own_type, other_type]);
    }

    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData) {
        let folder = temp_dir::TempDir::new().unwrap();
        let training = MiniBatchTraining::new(3);
        let (other, other_data, other_type) = cast(&model, &data);
        let own_type = data.inputs.dtype();
        let trainer = MiniBatchTrainer::new(model.clone(), data.clone(), training.clone());
        trainer.save(folder.path()).unwrap();
        let mut trainer =
            MiniBatchTrainer::new(other.clone(), other_data.clone(), training.clone());
        let restored = trainer.restore(folder.path());
        Self::assert(name, restored, [own_type, other_type]);
        let learner = MiniBatchLearner::new(model, data, training.clone());
        learner.record().save(folder.path()).unwrap();
        let mut learner = MiniBatchLearner::new(other, other_data, training);
        let restored = learner.restore(folder.path());
        Self::assert(name, restored, [own_type, other_type]);
    }
}

#[test]
fn checkpoints_of_another_type_are_refused() {
    check_every_model(&RestoredInItsType);
}

/// Models saved before there were checksums make the same predictions as then.
#[test]
fn models_saved_before_predict_what_they_did() {
    // Read at run time, because a compiled test may have been built in another folder.
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let folder = Path::new(&package).join("it/every_model/saved_before");
    // Means and standard deviations at -1.5, 0.25 and 3, as written by `predict`.
    let written = [
        (
            "exact",
            [
                (-0.130_545_889_714_250_57, 0.089_544_748_147_241_64),
                (0.442_202_638_900_677_74, 0.092_141_066_392_602_62),
                (-1.742_363_804_462_847, 0.766_464_542_116_701_8),
            ],
        ),
        (
            "svgp",
            [
                (-0.111_350_253_487_338_7, 0.316_153_773_294_585_05),
                (0.317_956_703_470_427_2, 0.309_876_252_709_413_7),
                (-0.263_271_246_576_010_2, 0.584_824_023_519_935_5),
            ],
        ),
    ];
    for (name, written) in written {
        let saved: SavedModel<Value> = SavedModel::load(&folder.join(name), &Device::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let units = &saved.context["standardizer"];
        let number = |value: &Value| value.as_f64().unwrap();
        let [mean, scale] = ["input_mean", "input_scale"].map(|key| number(&units[key][0]));
        let inputs = [-1.5, 0.25, 3.0].map(|x| (x - mean) / scale);
        let [mean, scale] = ["target_mean", "target_scale"].map(|key| number(&units[key]));
        let predictions = saved.model.predictor().unwrap().predict(&inputs, 1);
        for (row, (expected, deviation)) in written.into_iter().enumerate() {
            let own = [
                predictions.mean[row] * scale + mean,
                predictions.variance[row].sqrt() * scale,
            ];
            // Rounding errors of the factorization.
            for (own, expected) in own.into_iter().zip([expected, deviation]) {
                let error = (own - expected).abs();
                assert!(error < 1e-9, "{name}, row {row}: {own}, not {expected}");
            }
        }
    }
}

/// Copies of a value, each with one misspelled field, at every position in turn.
fn with_a_slip(value: &Value) -> Vec<Value> {
    let Some(fields) = value.as_object() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut slip = fields.clone();
    slip.insert("lenghtscale".to_owned(), Value::Null);
    all.push(Value::Object(slip));
    for (name, field) in fields {
        for changed in with_a_slip(field) {
            let mut own = fields.clone();
            own.insert(name.clone(), changed);
            all.push(Value::Object(own));
        }
    }
    all
}

#[test]
fn unknown_fields_of_configurations_are_refused() {
    for config in every_model() {
        let value = serde_json::to_value(&config).unwrap();
        let back: ModelConfig = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(back, config);
        let slips = with_a_slip(&value);
        assert!(slips.len() > 3, "{value}");
        for slip in slips {
            let read = serde_json::from_value::<ModelConfig>(slip.clone());
            assert!(read.is_err(), "{slip}");
        }
    }
}

#[test]
fn the_name_that_may_be_meant_is_told() {
    let text = r#"{"kind": "matern52", "lenghtscale": 2.0}"#;
    let error = serde_json::from_str::<StationaryConfig>(text).unwrap_err();
    assert_eq!(
        explained(&error),
        "unknown field `lenghtscale` (did you mean `lengthscale`?), expected one of `kind`, `ard`, \
         `groups`, `lengthscale`, `variance` at line 1 column 34"
    );
    let text = r#"{"likelihood": "poison"}"#;
    let error = serde_json::from_str::<LikelihoodConfig>(text).unwrap_err();
    let start = "unknown variant `poison` (did you mean `poisson`?), expected one of ";
    assert!(explained(&error).starts_with(start), "{error}");
    // No field has a similar name.
    let text = r#"{"kind": "matern52", "q": 2.0}"#;
    let error = serde_json::from_str::<StationaryConfig>(text).unwrap_err();
    assert_eq!(explained(&error), error.to_string());
}
