//! Images and labels in CIFAR-10 binary files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::support::{real_data, skipped};
use burn_gp_datasets::{
    ColumnRoles, DataSource, DataWarning, Dataset, EqualInputs, ImageCounts, ImageShape, Labels,
    Task,
};
use flate2::{Compression, write::GzEncoder};
use temp_dir::TempDir;

const RECORD: usize = 3073;

/// The intensity of a color (0 red, 1 green, 2 blue) of a pixel of record `number`.
fn intensity(number: usize, color: usize, row: usize, column: usize) -> u8 {
    ((37 * number + 101 * color + 7 * row + 3 * column) % 256) as u8
}

/// Records with these labels, numbered from `first`.
fn records(first: usize, labels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, &label) in (first..).zip(labels) {
        bytes.push(label);
        for color in 0..3 {
            for row in 0..32 {
                bytes.extend((0..32).map(|column| intensity(number, color, row, column)));
            }
        }
    }
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A data directory with the files of the data set in its folder `inner`.
struct Files {
    folder: TempDir,
    inner: PathBuf,
}

impl Files {
    fn new(inner: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let inner = folder.path().join(inner);
        fs::create_dir_all(&inner).unwrap();
        Self { folder, inner }
    }

    /// Two training files and one test file.
    fn sound(inner: &str, packed: bool) -> Self {
        let files = Self::new(inner);
        for (name, bytes) in [
            ("data_batch_1.bin", records(0, &[3, 9])),
            ("data_batch_4.bin", records(2, &[0])),
            ("test_batch.bin", records(3, &[5, 3])),
        ] {
            if packed {
                files.write(&format!("{name}.gz"), &gzip(&bytes));
            } else {
                files.write(name, &bytes);
            }
        }
        files
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.inner.join(name), bytes).unwrap();
    }

    fn source(&self) -> DataSource {
        DataSource::resolve("cifar-10", Some(self.folder.path())).unwrap()
    }

    /// The error message of loading, without the folder's name.
    fn message(&self) -> String {
        let folder = format!("{}/", self.inner.display());
        let error = self.source().load(None).unwrap_err();
        error.to_string().replace(&folder, "")
    }
}

fn with_labels(source: &DataSource) -> Dataset {
    let roles = ColumnRoles {
        labels: Some(Labels::Unordered),
        ..ColumnRoles::default()
    };
    source.load_columns(&roles).unwrap()
}

#[test]
fn images_are_rows_of_pixels_with_their_colors_side_by_side() {
    for inner in ["cifar-10", "cifar-10/cifar-10-batches-bin"] {
        for packed in [false, true] {
            let files = Files::sound(inner, packed);
            let source = files.source();
            let data = source.load(None).unwrap();
            assert_eq!((data.rows(), data.columns()), (5, 3072));
            assert_eq!(data.targets, [3.0, 9.0, 0.0, 5.0, 3.0]);
            for number in 0..5 {
                for row in 0..32 {
                    for column in 0..32 {
                        for color in 0..3 {
                            let input = (32 * row + column) * 3 + color;
                            let expected = intensity(number, color, row, column);
                            let found = data.inputs.get(number, input);
                            assert_eq!(found, f64::from(expected) / 255.0);
                        }
                    }
                }
            }
            let names = data.input_names();
            assert_eq!(names[..2], ["pixel1_red", "pixel1_green"]);
            assert_eq!(names[3071], "pixel1024_blue");
            assert_eq!(data.target_name(), "label");
            let split = source.mask(data.rows()).unwrap().split(0).unwrap();
            assert_eq!((split.train, split.test), (vec![0, 1, 2], vec![3, 4]));
        }
    }
}

#[test]
fn the_source_tells_the_shape_and_what_is_missing() {
    let files = Files::sound("cifar-10", false);
    let source = files.source();
    assert_eq!(source.task(), Some(Task::Classification));
    assert!(source.has_common_scale());
    let shape = ImageShape::new(32, 32, 3);
    assert_eq!(shape.to_string(), "32x32x3");
    assert_eq!((shape.pixels(), shape.inputs()), (1024, 3072));
    assert_eq!(source.image_shape().unwrap(), Some(shape));
    let counts = source.image_counts().unwrap().unwrap();
    assert_eq!(counts, ImageCounts { train: 3, test: 2 });
    let data = source.load(None).unwrap();
    assert_eq!(data.image, Some(shape));
    let part = DataWarning::PartOfSet {
        rows: 5,
        of: 60_000,
    };
    assert_eq!(
        part.to_string(),
        "5 of the set's 60000 rows are on disk, so scores are not those of the whole set"
    );
    let split = source.mask(data.rows()).unwrap().split(0).unwrap();
    let warnings = source.warnings(&data, &EqualInputs::from(&data), &split);
    assert_eq!(warnings, [part]);
    let table = DataSource::resolve("synthetic:sines", None).unwrap();
    assert_eq!(table.image_shape().unwrap(), None);
    assert_eq!(table.image_counts().unwrap(), None);
}

#[test]
fn labels_have_the_names_of_the_classes() {
    let files = Files::sound("cifar-10", false);
    let source = files.source();
    let data = with_labels(&source);
    let classes = data.schema.classes.as_ref().unwrap();
    assert_eq!(classes.names(), ["airplane", "cat", "dog", "truck"]);
    assert_eq!(data.targets, [1.0, 3.0, 0.0, 2.0, 1.0]);
    let features = source.load_features(&data.schema).unwrap();
    assert_eq!(features.targets, Some(data.targets));
    assert_eq!(features.inputs, data.inputs);
}

#[test]
fn files_that_are_not_whole_are_named() {
    let sound = records(0, &[1, 2]);
    let other_label = [&sound[..], &[200], &sound[1..RECORD]].concat();
    let idx = [&[0, 0, 8, 3, 0, 0, 0, 9][..], &sound].concat();
    // The size is a whole number of records.
    let long_idx = [&idx[..8], &[200; 2 * RECORD - 8][..]].concat();
    let cases: [(&[u8], &str); 6] = [
        (
            &sound[..RECORD + 1500],
            "record 2, from byte 3073 on, has 1500 of 3073 bytes",
        ),
        (b"", "it is empty"),
        (
            b"one,two\n1,2\n",
            "record 1, from byte 0 on, has 12 of 3073 bytes",
        ),
        (
            &other_label,
            "the label of record 3, byte 6146, is 200 instead of 0 to 9",
        ),
        (&idx, "it begins with 0, 0, 8 as an idx file does"),
        (&long_idx, "it begins with 0, 0, 8 as an idx file does"),
    ];
    for (bytes, reason) in cases {
        for (name, other) in [
            ("data_batch_1.bin", "test_batch.bin"),
            ("test_batch.bin", "data_batch_1.bin"),
        ] {
            for packed in [false, true] {
                let (name, bytes) = if packed {
                    (format!("{name}.gz"), gzip(bytes))
                } else {
                    (name.to_owned(), bytes.to_vec())
                };
                let files = Files::new("cifar-10");
                files.write(other, &sound);
                files.write(&name, &bytes);
                let expected = format!(
                    "{name} is not a complete CIFAR-10 file: {reason}; copy or download the binary version of CIFAR-10 again"
                );
                assert_eq!(files.message(), expected);
            }
        }
    }
}

#[test]
fn damaged_gzip_and_missing_files_are_named() {
    let files = Files::sound("cifar-10", true);
    let whole = gzip(&records(3, &[5, 3]));
    files.write("test_batch.bin.gz", &whole[..whole.len() - 3]);
    assert_eq!(
        files.message(),
        "test_batch.bin.gz is not a complete CIFAR-10 file: its gzip data are cut off or damaged after 6146 unpacked bytes; copy or download the binary version of CIFAR-10 again"
    );
    files.write("test_batch.bin.gz", b"no gzip");
    assert_eq!(
        files.message(),
        "test_batch.bin.gz is not a gzip file although its name ends in .gz; rename it or compress it again"
    );
    fs::remove_file(files.inner.join("test_batch.bin.gz")).unwrap();
    assert_eq!(
        files.message(),
        "there is no file test_batch.bin; check the path"
    );
    let empty = TempDir::new().unwrap();
    let absent = DataSource::resolve("cifar-10", Some(empty.path())).unwrap_err();
    let message = absent.to_string();
    assert!(
        message.contains("cifar-10-batches-bin/data_batch_1.bin;"),
        "{message}"
    );
    assert!(message.contains("test_batch.bin of its binary version"));
}

#[test]
fn the_images_on_disk_are_photographs() {
    let Some(folder) = real_data() else { return };
    let Ok(source) = DataSource::resolve("cifar-10", Some(&folder)) else {
        return skipped("cifar-10 is not on disk");
    };
    let counts = source.image_counts().unwrap().unwrap();
    let data = with_labels(&source);
    assert_eq!((data.rows(), data.columns()), (counts.total(), 3072));
    let classes = data.schema.classes.as_ref().unwrap();
    assert_eq!(classes.count(), 10);
    let label = |row: usize| classes.names()[data.targets[row] as usize].as_str();
    // The labels of the first training and test images, as published.
    let first: Vec<&str> = (0..5).map(label).collect();
    assert_eq!(first, ["frog", "truck", "truck", "deer", "automobile"]);
    let first: Vec<&str> = (counts.train..counts.train + 4).map(label).collect();
    assert_eq!(first, ["cat", "ship", "ship", "airplane"]);
    // In photographs, neighboring pixels differ little and distant ones differ a lot. With rows,
    // columns or colors in the wrong order, neighbors would differ much more.
    let rows = 200.min(data.rows());
    let difference = |row: usize, distance: usize| {
        let image = data.inputs.row(row);
        let pairs = image.iter().zip(&image[distance..]);
        pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / (3072 - distance) as f64
    };
    let mean_difference = |distance| {
        let differences = (0..rows).map(|row| difference(row, distance));
        differences.sum::<f64>() / rows as f64
    };
    let (right, below, far) = (
        mean_difference(3),
        mean_difference(3 * 32),
        mean_difference(3 * (16 * 32 + 16)),
    );
    assert!(
        2.0 * right < far && 2.0 * below < far,
        "{right} {below} {far}"
    );
}
