//! Saved latent variable models with a damaged description or damaged parameter values, and any rows.

use std::fs;

use burn::tensor::Device;
use burn_gp_core::kernels::{KernelConfig, LinearConfig, StationaryConfig};
use burn_gp_models::{
    CheckedFolder, FittedGplvm, GPLVM_FILE, GplvmConfig, WEIGHTS_FILE, training::FullBatchTraining,
};
use proptest::prelude::*;
use temp_dir::TempDir;

use crate::configs::is_small;
use crate::mutations::{Bytes, damaged};
use crate::search::{no_panic, search};

const NAMES: [&str; 2] = [GPLVM_FILE, WEIGHTS_FILE];

fn config(kernel: KernelConfig) -> GplvmConfig {
    let training = FullBatchTraining {
        iterations: 2,
        ..GplvmConfig::TRAINING
    };
    GplvmConfig::new(2)
        .with_kernel(kernel)
        .with_inducing(3)
        .with_training(training)
}

fn kernels() -> [KernelConfig; 2] {
    [
        StationaryConfig::rbf().into(),
        LinearConfig::default().into(),
    ]
}

/// The files of a model of each kernel, the description first.
fn files(folder: &TempDir) -> Vec<[Vec<u8>; 2]> {
    let row = |row: u32| [1.3, 0.7, 2.1].map(|rate: f64| (rate * f64::from(row)).sin());
    let rows: Vec<[f64; 3]> = (0..5).map(row).collect();
    let save = |kernel| {
        let gplvm = config(kernel).fit(&rows).expect("a model");
        gplvm.save(folder.path()).expect("files");
        NAMES.map(|name| fs::read(folder.path().join(name)).expect("a file"))
    };
    kernels().into_iter().map(save).collect()
}

#[test]
fn damaged_latent_variable_models() {
    let folder = TempDir::new().expect("a folder");
    let files = files(&folder);
    let models = files.len();
    let damage = (0..models, 0usize..2).prop_flat_map(move |(model, file)| {
        let original = files[model][file].clone();
        let other = files[model][1 - file].clone();
        (Just(file), Just(other), damaged(vec![original], 3))
    });
    search(300, damage, |(file, other, Bytes(bytes))| {
        let description = if file == 0 { &bytes } else { &other };
        if let Ok(json) = serde_json::from_slice::<serde_json::Value>(description)
            && !is_small(&json)
        {
            return Ok(());
        }
        fs::write(folder.path().join(NAMES[file]), &bytes).expect("a file");
        fs::write(folder.path().join(NAMES[1 - file]), &other).expect("a file");
        let mut checked = CheckedFolder::new(folder.path());
        checked.add_files().expect("checksums");
        checked.seal().expect("checksums");
        no_panic(&[], || {
            if let Ok(gplvm) = FittedGplvm::load(folder.path(), &Device::default()) {
                let _ = (gplvm.latent(), gplvm.relevance(), gplvm.reconstruct());
                let _ = gplvm.infer([[0.1, f64::NAN, 0.3]]);
            }
        })?;
        Ok(())
    });
}

/// Rows of any numbers are fitted, or refused by an error.
#[test]
fn latent_variable_models_of_any_rows() {
    let value = prop_oneof![
        6 => -2.0..2.0f64,
        1 => proptest::sample::select(&[0.0, 1e-300, 1e9, -1e30, 1e300, f64::NAN, f64::INFINITY][..]),
    ];
    let rows = proptest::collection::vec([value.clone(), value.clone()], 1..7);
    search(150, (rows, 0usize..2, value), |(rows, kernel, missing)| {
        no_panic(&[], || {
            let mut config = config(kernels()[kernel].clone());
            config.inducing.at_most = true;
            if let Ok(gplvm) = config.fit(&rows) {
                let _ = (gplvm.bound(), gplvm.reconstruct());
                let _ = gplvm.impute([[missing, f64::NAN]]);
                let _ = gplvm.outputs_at([[missing, 0.0]]);
            }
        })?;
        Ok(())
    });
}
