//! Saved models with a damaged description or damaged parameter values.

use std::fs;

use burn::tensor::{DType, Device};
use burn_gp_models::{
    CheckedFolder, MODEL_FILE, ModelConfig, Precision, SavedModel, Summary, WEIGHTS_FILE,
    training::TrainingData,
};
use proptest::prelude::*;
use temp_dir::TempDir;

use crate::configs::{all, is_small};
use crate::fits::{ask, fit};
use crate::mutations::{Bytes, damaged};
use crate::search::{no_panic, search};

const ROWS: usize = 5;

/// The files of every model, the description first.
fn files(folder: &TempDir) -> Vec<[Vec<u8>; 2]> {
    let points: Vec<f64> = (0..2 * ROWS).map(|at| (1.3 * at as f64).sin()).collect();
    let targets: Vec<f64> = (0..ROWS).map(|at| (at % 3) as f64).collect();
    let device = Device::default().autodiff();
    let data = TrainingData::new(&points, &targets, &device, DType::F64);
    let save = |config: ModelConfig| {
        let saved = SavedModel {
            model: fit(&config, &data).expect("a model of the configuration"),
            summary: Summary {
                config,
                dimensions: 2,
                target_columns: 1,
                data_count: ROWS,
                precision: Precision::F64,
            },
            context: (),
        };
        saved.save(folder.path()).unwrap();
        [MODEL_FILE, WEIGHTS_FILE].map(|name| fs::read(folder.path().join(name)).unwrap())
    };
    all().into_iter().map(save).collect()
}

/// Writes the checksums of damaged files, which are refused otherwise before they are parsed.
fn seal(folder: &TempDir) {
    let mut checked = CheckedFolder::new(folder.path());
    checked.add_files().unwrap();
    checked.seal().unwrap();
}

#[test]
fn damaged_models() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder);
    let models = files.len();
    let damage = (0..models, 0usize..2).prop_flat_map(move |(model, file)| {
        let original = files[model][file].clone();
        let other = files[model][1 - file].clone();
        (Just(file), Just(other), damaged(vec![original], 3))
    });
    search(700, damage, |(file, other, Bytes(bytes))| {
        let names = [MODEL_FILE, WEIGHTS_FILE];
        let description = if file == 0 { &bytes } else { &other };
        if let Ok(json) = serde_json::from_slice::<serde_json::Value>(description)
            && !is_small(&json)
        {
            return Ok(());
        }
        fs::write(folder.path().join(names[file]), &bytes).unwrap();
        fs::write(folder.path().join(names[1 - file]), &other).unwrap();
        seal(&folder);
        no_panic(&[], || {
            if let Ok(saved) = SavedModel::<()>::load(folder.path(), &Device::default()) {
                ask(&saved.model, saved.summary.dimensions);
            }
        })?;
        Ok(())
    });
}

/// A description with manual changes that no model can have.
#[test]
fn an_impossible_configuration_is_an_error() {
    let folder = TempDir::new().unwrap();
    let [description, weights] = files(&folder).swap_remove(0);
    fs::write(folder.path().join(WEIGHTS_FILE), weights).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&description).unwrap();
    json["config"]["kernel"]["variance"] = 0.0.into();
    fs::write(folder.path().join(MODEL_FILE), json.to_string()).unwrap();
    seal(&folder);
    let error = SavedModel::<()>::load(folder.path(), &Device::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("model.json"), "{message}");
    assert!(message.contains("kernel.variance is 0"), "{message}");
}
