//! Images and labels in IDX files.

use std::fs;
use std::io::Write;
use std::path::Path;

use burn_gp_datasets::{
    ColumnRoles, DataSource, DataWarning, EqualInputs, ImageCounts, ImageShape, InputColumns,
    TargetColumn, Task,
};
use flate2::{Compression, write::GzEncoder};
use temp_dir::TempDir;

/// An IDX file whose bytes count up from `first`.
fn idx(sizes: &[u32], first: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    let count: u32 = sizes.iter().product();
    bytes.extend((0..count).map(|index| first.wrapping_add(index as u8)));
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Two training images and one test image with 2 x 3 pixels.
fn sound() -> [(&'static str, Vec<u8>); 4] {
    [
        ("train-images-idx3-ubyte", idx(&[2, 2, 3], 0)),
        ("train-labels-idx1-ubyte", idx(&[2], 7)),
        ("t10k-images-idx3-ubyte", idx(&[1, 2, 3], 249)),
        ("t10k-labels-idx1-ubyte", idx(&[1], 3)),
    ]
}

fn write(folder: &Path, files: &[(&str, Vec<u8>)], packed: bool) {
    let folder = folder.join("mnist");
    fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in files {
        if packed {
            fs::write(folder.join(format!("{name}.gz")), gzip(bytes)).unwrap();
        } else {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

#[test]
fn images_are_rows_of_pixels_and_come_with_their_split() {
    for packed in [false, true] {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &sound(), packed);
        let source = DataSource::resolve("mnist", Some(folder.path())).unwrap();
        assert_eq!(source.task(), Some(Task::Classification));
        assert!(source.has_common_scale());
        let data = source.load(None).unwrap();
        assert_eq!((data.rows(), data.columns()), (3, 6));
        assert_eq!(data.targets, [7.0, 8.0, 3.0]);
        let expected: Vec<f64> = (0..12)
            .chain(249..255)
            .map(|v| f64::from(v) / 255.0)
            .collect();
        assert_eq!(data.inputs.values(), expected);
        assert_eq!(data.schema.target_name, "label");
        let mask = source.mask(data.rows()).unwrap();
        let split = mask.split(0).unwrap();
        assert_eq!((split.train, split.test), (vec![0, 1], vec![2]));
        let shape = ImageShape::new(2, 3, 1);
        assert_eq!(data.image, Some(shape));
        assert_eq!(data.select(&[2]).image, Some(shape));
        assert_eq!(source.image_shape().unwrap(), Some(shape));
        let counts = ImageCounts { train: 2, test: 1 };
        assert_eq!(source.image_counts().unwrap(), Some(counts));
        let part = DataWarning::PartOfSet {
            rows: 3,
            of: 70_000,
        };
        let split = mask.split(0).unwrap();
        let equal = EqualInputs::from(&data);
        assert_eq!(source.warnings(&data, &equal, &split), [part]);
        assert!(mask.split(1).is_err());
    }
}

#[test]
fn fashion_is_read_as_the_digits_are() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &sound(), true);
    fs::rename(
        folder.path().join("mnist"),
        folder.path().join("fashion-mnist"),
    )
    .unwrap();
    let source = DataSource::resolve("fashion-mnist", Some(folder.path())).unwrap();
    let data = source.load(None).unwrap();
    assert_eq!((data.name.as_str(), data.rows()), ("fashion-mnist", 3));
    assert!(DataSource::resolve("mnist", Some(folder.path())).is_err());
}

#[test]
fn inputs_with_the_label_are_no_image() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &sound(), false);
    let source = DataSource::resolve("mnist", Some(folder.path())).unwrap();
    let data = source.load(Some(&TargetColumn::Number(2))).unwrap();
    assert_eq!((data.columns(), data.image), (6, None));
}

#[test]
fn files_that_are_not_whole_are_named() {
    let cut = |mut bytes: Vec<u8>| {
        bytes.pop();
        bytes
    };
    let cases: [(usize, Vec<u8>, &str); 7] = [
        (
            0,
            idx(&[2], 0),
            "it begins with 00000801 instead of 00000803",
        ),
        (0, vec![], "it is empty"),
        (0, vec![0, 0], "it has 2 bytes"),
        (0, vec![0, 0, 8, 3, 0, 0, 0, 2], "its sizes are cut off"),
        (
            0,
            cut(idx(&[2, 2, 3], 0)),
            "it declares 2 items of 6 bytes but holds 11 bytes",
        ),
        (1, idx(&[3], 0), "it holds 3 labels for 2 images"),
        (
            2,
            idx(&[1, 2, 2], 0),
            "its images have 2x2 pixels, but the training images have 2x3",
        ),
    ];
    for (file, bytes, reason) in cases {
        let folder = TempDir::new().unwrap();
        let mut files = sound();
        files[file].1 = bytes;
        write(folder.path(), &files, false);
        let source = DataSource::resolve("mnist", Some(folder.path())).unwrap();
        let message = source.load(None).unwrap_err().to_string();
        let path = folder.path().join("mnist").join(files[file].0);
        let expected = format!(
            "{} is not a complete idx file: {reason}; copy or download it again",
            path.display()
        );
        assert_eq!(message, expected);
    }
}

#[test]
fn damaged_gzip_and_missing_files_are_named() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &sound(), true);
    let path = folder.path().join("mnist/t10k-labels-idx1-ubyte.gz");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let source = DataSource::resolve("mnist", Some(folder.path())).unwrap();
    let message = source.load(None).unwrap_err().to_string();
    // The nine bytes of the header and the label are decompressed before the missing checksum is
    // noticed.
    let expected = format!(
        "{} is not a complete idx file: its gzip data are cut off or damaged after 9 unpacked bytes; copy or download it again",
        path.display()
    );
    assert_eq!(message, expected);
    fs::write(&path, "no gzip").unwrap();
    let message = source.load(None).unwrap_err().to_string();
    let expected = format!(
        "{} is not a gzip file although its name ends in .gz; rename it or compress it again",
        path.display()
    );
    assert_eq!(message, expected);
    fs::remove_file(&path).unwrap();
    let message = source.load(None).unwrap_err().to_string();
    assert!(message.starts_with("there is no file"), "{message}");
    let empty = TempDir::new().unwrap();
    let message = DataSource::resolve("mnist", Some(empty.path())).unwrap_err();
    let message = message.to_string();
    assert!(
        message.contains("put the four standard idx files"),
        "{message}"
    );
}

/// The columns of an image are pixels, of which none can be left out.
#[test]
fn pixels_are_all_inputs() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &sound(), false);
    let source = DataSource::resolve("mnist", Some(folder.path())).unwrap();
    let roles = ColumnRoles {
        inputs: InputColumns {
            without: vec!["pixel 1".to_owned()],
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    };
    assert_eq!(
        source.load_columns(&roles).unwrap_err().to_string(),
        "mnist is a set of images, whose pixels are all inputs; remove --inputs, --drop, --kind, --missing, --time, --id, --group, --time-split, --rows and --by"
    );
}
