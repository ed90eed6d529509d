//! Folders of images in IDX and CIFAR-10 format.

use std::fs;
use std::path::Path;

use burn_gp_datasets::{ColumnRoles, DataSource, EqualInputs, Labels};
use proptest::prelude::*;

use crate::files::gzip;
use crate::memory::with_little_memory;
use crate::mutations::damaged;
use crate::search::{no_panic, search};

fn idx(kind: u8, sizes: &[u32], fill: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, kind];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    let items: u32 = sizes.iter().product();
    bytes.extend((0..items).map(|item| (item as u8).wrapping_mul(fill) % 10));
    bytes
}

/// Calls all functions of an image data set.
fn ask(name: &str, folder: &Path, labels: bool) {
    let Ok(source) = DataSource::resolve(name, Some(folder)) else {
        return;
    };
    let _ = source.image_shape();
    let _ = source.image_counts();
    let roles = ColumnRoles {
        labels: labels.then_some(Labels::Unordered),
        ..ColumnRoles::default()
    };
    if let Ok(data) = source.load_columns(&roles) {
        if let Ok(mask) = source.mask(data.rows())
            && let Ok(split) = mask.split(0)
        {
            let _ = source.warnings(&data, &EqualInputs::among(&data.inputs), &split);
        }
        let _ = source.load_features(&data.schema);
    }
}

#[test]
fn idx_files() {
    with_little_memory("images::idx_files", |folder| {
        let set = folder.join("mnist");
        fs::create_dir_all(&set).unwrap();
        let good = [
            ("train-images-idx3-ubyte", idx(3, &[4, 3, 2], 7)),
            ("train-labels-idx1-ubyte", idx(1, &[4], 3)),
            ("t10k-images-idx3-ubyte", idx(3, &[2, 3, 2], 5)),
            ("t10k-labels-idx1-ubyte", idx(1, &[2], 1)),
        ];
        let size = |items: u32, height: u32, width: u32| {
            idx(3, &[0, 0, 0], 0)[..4]
                .iter()
                .copied()
                .chain(
                    [items, height, width]
                        .iter()
                        .flat_map(|size| size.to_be_bytes()),
                )
                .collect::<Vec<u8>>()
        };
        let corner = || {
            prop_oneof![
                0u32..5,
                Just(u32::MAX),
                Just(1 << 16),
                Just(1 << 31),
                any::<u32>()
            ]
        };
        let headers = (corner(), corner(), corner())
            .prop_map(move |(items, height, width)| size(items, height, width));
        let one = (
            0usize..4,
            prop_oneof![
                3 => damaged(good.iter().map(|(_, bytes)| bytes.clone()).collect(), 3).prop_map(|bytes| bytes.0),
                1 => headers,
            ],
        );
        let inputs = (proptest::collection::vec(one, 1..4), any::<[bool; 2]>());
        search(1500, inputs, |(changes, [compressed, labels])| {
            for (name, bytes) in &good {
                fs::write(set.join(name), bytes).unwrap();
            }
            for (file, bytes) in changes {
                let bytes = if compressed { gzip(&bytes) } else { bytes };
                fs::write(set.join(good[file].0), bytes).unwrap();
            }
            no_panic(&[], || ask("mnist", folder, labels))?;
            Ok(())
        });
    });
}

#[test]
fn cifar_files() {
    with_little_memory("images::cifar_files", |folder| {
        let set = folder.join("cifar-10");
        fs::create_dir_all(&set).unwrap();
        let record = |label: u8| {
            let mut bytes = vec![label];
            bytes.extend((0..3072u32).map(|pixel| (pixel % 251) as u8));
            bytes
        };
        let good = [record(1), record(9)].concat();
        let files = ["data_batch_1.bin", "data_batch_3.bin", "test_batch.bin"];
        let one = (
            0usize..3,
            damaged(vec![good.clone(), record(200), Vec::new()], 2),
        );
        let inputs = (proptest::collection::vec(one, 1..3), any::<[bool; 2]>());
        search(300, inputs, |(changes, [compressed, labels])| {
            for name in files {
                fs::write(set.join(name), &good).unwrap();
            }
            for (file, bytes) in changes {
                let bytes = if compressed { gzip(&bytes.0) } else { bytes.0 };
                fs::write(set.join(files[file]), bytes).unwrap();
            }
            no_panic(&[], || ask("cifar-10", folder, labels))?;
            Ok(())
        });
    });
}
