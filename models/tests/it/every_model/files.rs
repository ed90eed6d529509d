//! Saved models and checkpoints: damaged files and other types are refused, and files from before
//! there were checksums are read.

use std::{fs, path::Path};

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
use burn_gp_models::{
    AnyModel, CHECKSUMS_FILE, CheckedFolder, ExactConfig, Fit, FitModel, Fitted, MODEL_FILE,
    ModelConfig, Precision, SavedModel, SavedModelError, Summary, WEIGHTS_FILE, explained,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, MiniBatchLearner,
        MiniBatchTrainer, MiniBatchTraining, Schedule, Trainer, TrainingData, TrainingError,
    },
};
use serde_json::{Value, json};

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

/// A bit of every byte of the files of one model, and some bits of the others.
#[test]
fn flipped_bits_and_truncated_files_are_refused() {
    for (index, saved) in every_saved(DType::F32).into_iter().enumerate() {
        let folder = temp_dir::TempDir::new().unwrap();
        let folder = folder.path();
        saved.save(folder).unwrap();
        for name in [MODEL_FILE, WEIGHTS_FILE, CHECKSUMS_FILE] {
            let path = folder.join(name);
            let whole = fs::read(&path).unwrap();
            let bits = 8 * whole.len();
            let step = if index == 0 { 7 } else { bits / 40 + 1 };
            let expected = format!("{name} cannot be read: it is damaged");
            for bit in (0..bits).step_by(step) {
                let place = bit / 8;
                let mut damaged = whole.clone();
                damaged[place] ^= 1 << (bit % 8);
                fs::write(&path, damaged).unwrap();
                let what = format!(
                    "{:?} with bit {bit} of {name} flipped",
                    saved.summary.config
                );
                assert_refused(&what, folder, &expected);
                fs::write(&path, &whole[..place]).unwrap();
                let what = format!("{:?} with {place} bytes of {name}", saved.summary.config);
                assert_refused(&what, folder, &expected);
            }
            fs::write(&path, &whole).unwrap();
        }
        assert_eq!(predictions(&load(folder).unwrap()), predictions(&saved));
        fs::remove_file(folder.join(CHECKSUMS_FILE)).unwrap();
        let expected = "checksums.sha256 cannot be read: it is missing";
        assert_refused("a model without checksums", folder, expected);
    }
}

/// Writes the checksums of the files as they are now.
fn seal(folder: &Path) {
    let mut checked = CheckedFolder::new(folder);
    checked.add_files().unwrap();
    checked.seal().unwrap();
}

#[test]
fn a_model_in_a_later_format_names_the_version_that_wrote_it() {
    let saved = every_saved(DType::F64).swap_remove(0);
    let folder = temp_dir::TempDir::new().unwrap();
    saved.save(folder.path()).unwrap();
    edit(&folder.path().join(MODEL_FILE), |file| {
        file["format_version"] = 6.into();
        file["written_by"] = "burn-gp-models 9.8.7".into();
    });
    let expected = "has format version 6 and was written by burn-gp-models 9.8.7, but this program reads version 5";
    // Other formats may have other checksums, or none.
    for is_sealed in [true, false] {
        match is_sealed {
            true => seal(folder.path()),
            false => fs::remove_file(folder.path().join(CHECKSUMS_FILE)).unwrap(),
        }
        assert_refused("a later format", folder.path(), expected);
    }
}

/// A scale that no data have is refused although the checksums are right.
#[test]
fn impossible_scales_are_refused() {
    let x: Vec<f64> = (0..12).map(|i| 40.0 + f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 7.0 * (x / 3.0).sin()).collect();
    let fitted = ExactConfig::new(StationaryConfig::rbf());
    let fitted = fitted.fit(&x, &y, &Fit::adam(0.1).steps(3)).unwrap();
    for part in ["inputs", "targets"] {
        for (field, value) in [
            ("deviations", json!([-0.6])),
            ("deviations", json!([0.0])),
            ("deviations", json!([-0.0])),
            ("deviations", json!([null])),
            ("deviations", json!(["Infinity"])),
            ("deviations", json!([1.0, 1.0])),
            ("means", json!([])),
            ("means", json!([null])),
        ] {
            let folder = temp_dir::TempDir::new().unwrap();
            let folder = folder.path();
            fitted.save(folder).unwrap();
            edit(&folder.join(MODEL_FILE), |file| {
                assert!(file["context"][part][field][0].is_f64());
                file["context"][part][field] = value.clone();
            });
            seal(folder);
            let Err(error) = Fitted::load(folder, &Device::default()) else {
                panic!("{part} {field} {value} is loaded");
            };
            let text = error.to_string();
            assert!(
                text.contains("model.json cannot be read: ") && !text.contains('\n'),
                "{part} {field} {value}: {text}"
            );
        }
    }
    // Two inputs instead of one.
    let folder = temp_dir::TempDir::new().unwrap();
    fitted.save(folder.path()).unwrap();
    edit(&folder.path().join(MODEL_FILE), |file| {
        file["context"]["inputs"] = json!({"means": [0.0, 0.0], "deviations": [1.0, 1.0]});
    });
    seal(folder.path());
    let error = Fitted::load(folder.path(), &Device::default())
        .err()
        .unwrap();
    let expected =
        "model.json cannot be read: the number of inputs that it scales is 2; the model has 1";
    assert!(error.to_string().ends_with(expected), "{error}");
}

/// Bits of the files of a checkpoint of each trainer.
#[test]
fn flipped_bits_of_checkpoints_are_refused() {
    struct Refused;
    impl Refused {
        fn assert(folder: &Path, mut restore: impl FnMut() -> Result<(), TrainingError>) {
            let names = fs::read_dir(folder).unwrap();
            let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let names: Vec<String> = names.collect();
            assert_eq!(names.len(), 4, "{names:?}");
            for name in names {
                let path = folder.join(&name);
                let whole = fs::read(&path).unwrap();
                let bits = 8 * whole.len();
                for bit in (0..bits).step_by(bits / 50 + 1) {
                    let mut damaged = whole.clone();
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    fs::write(&path, damaged).unwrap();
                    let Err(error) = restore() else {
                        panic!("bit {bit} of {name} is accepted");
                    };
                    let text = error.to_string();
                    let expected = format!("{name} cannot be read: it is damaged");
                    assert!(text.contains(&expected) && !text.contains('\n'), "{text}");
                }
                fs::write(&path, &whole).unwrap();
            }
            restore().unwrap();
        }
    }
    impl Check for Refused {
        fn full_batch(&self, _: &str, model: AnyModel, data: TrainingData) {
            let folder = temp_dir::TempDir::new().unwrap();
            // burn restores L-BFGS in the default type of the default device only.
            let training = FullBatchTraining {
                optimizer: FullBatchOptimizer::Adam {
                    learning_rate: 0.01,
                    schedule: Schedule::Constant,
                },
                ..FullBatchTraining::default()
            };
            let mut trainer = FullBatchTrainer::new(model, data, training);
            trainer.save(folder.path()).unwrap();
            Self::assert(folder.path(), || trainer.restore(folder.path()));
        }

        fn mini_batch(&self, _: &str, model: AnyModel, data: TrainingData) {
            let folder = temp_dir::TempDir::new().unwrap();
            let training = MiniBatchTraining::new(3);
            let mut trainer = MiniBatchTrainer::new(model.clone(), data.clone(), training.clone());
            trainer.save(folder.path()).unwrap();
            Self::assert(folder.path(), || trainer.restore(folder.path()));
            let folder = temp_dir::TempDir::new().unwrap();
            let mut learner = MiniBatchLearner::new(model, data, training);
            learner.record().save(folder.path()).unwrap();
            Self::assert(folder.path(), || learner.restore(folder.path()));
        }
    }
    check_every_model(&Refused);
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
            seal(folder);
            let found = saved.summary.precision.dtype().name();
            let expected = format!(
                "weights.bpk cannot be read: its values have type {found}, but the model has type \
                 {claimed}"
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
        seal(folder);
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
            "its values have type {}, but the model has type {}",
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
        let trainer = FullBatchTrainer::new(model.clone(), data.clone(), training);
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

/// Stored models make the same predictions as when they were saved.
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
                (-0.167_060_080_208_811_47, 0.006_585_075_863_477_725),
                (0.440_105_189_122_393_66, 0.006_512_587_359_511_029),
                (-1.635_688_798_883_958_6, 0.540_835_058_954_262_5),
            ],
        ),
        (
            "svgp",
            [
                (-0.177_433_235_749_166_7, 0.333_243_742_672_569_1),
                (0.210_079_661_595_997_45, 0.346_625_729_466_779_2),
                (-0.290_162_482_002_623_7, 0.644_256_081_778_971_5),
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
