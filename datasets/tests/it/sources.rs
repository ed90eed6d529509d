//! Registered, embedded and synthetic data sets, and the folder layout of the collection.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::support::{real_data, skipped};
use burn_gp_datasets::{
    Availability, ColumnRoles, DataSource, EqualInputs, Labels, Split, SyntheticFunction, Task,
    find, registry, warnings,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use temp_dir::TempDir;

fn write_gzip(path: &Path, text: &str) {
    let file = fs::File::create(path).unwrap();
    let mut encoder = GzEncoder::new(file, Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap();
}

#[test]
fn a_set_of_the_collection_brings_its_splits() {
    for (parent, name) in [("uci", "servo"), (".", "servo"), ("uci", "my_own_set")] {
        let folder = TempDir::new().unwrap();
        let set = folder.path().join(parent).join(name);
        fs::create_dir_all(&set).unwrap();
        write_gzip(&set.join("data.csv.gz"), "1,2,3\n4,5,6\n7,8,9\n");
        write_gzip(&set.join("test_mask.csv.gz"), "0,1\n1,0\n0,0\n");
        let source = DataSource::resolve(name, Some(folder.path())).unwrap();
        let data = source.load(None).unwrap();
        assert_eq!(data.name, name);
        assert_eq!(data.targets, [3.0, 6.0, 9.0]);
        let mask = source.mask(data.rows()).unwrap();
        assert_eq!(mask.splits(), 2);
        let split = mask.split(0).unwrap();
        assert_eq!((split.train, split.test), (vec![0, 2], vec![1]));
        let split = mask.split(1).unwrap();
        assert_eq!((split.train, split.test), (vec![1, 2], vec![0]));
        assert!(split.validation.is_empty());
    }
}

#[cfg(feature = "embedded")]
#[test]
fn the_embedded_sets_have_their_shapes() {
    use burn_gp_datasets::TargetColumn;

    for name in ["winequality", "diabetes"] {
        let info = find(name).unwrap();
        assert_eq!(info.availability(None), Availability::Embedded);
        let source = DataSource::resolve(name, None).unwrap();
        let data = source.load(None).unwrap();
        assert_eq!((data.rows(), data.columns()), (info.rows, info.inputs));
        assert!(data.inputs.values().iter().all(|value| value.is_finite()));
        assert_eq!(data.location(1).to_string(), format!("{name}, row 2"));
        let features = source.load_features(&data.schema).unwrap();
        assert_eq!(features.inputs, data.inputs);
        assert_eq!(features.targets.as_ref(), Some(&data.targets));
    }
    let source = DataSource::resolve("winequality", None).unwrap();
    let wine = source.load(None).unwrap();
    assert_eq!(wine.target_name(), "quality");
    assert_eq!(wine.inputs.row(0)[..3], [7.4, 0.7, 0.0]);
    assert_eq!(wine.targets[..4], [5.0, 5.0, 5.0, 6.0]);
    let other = source.load(Some(&TargetColumn::Name("pH".into()))).unwrap();
    assert_eq!(other.targets[0], 3.51);
    assert_eq!(other.input_names().last().unwrap(), "quality");
    let missing = source
        .load(Some(&TargetColumn::Name("qualty".into())))
        .unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with(r#"winequality: there is no target column "qualty" (did you mean "quality"?); the columns are "fixed acidity", "#)
    );
    let diabetes = DataSource::resolve("diabetes", None)
        .unwrap()
        .load(None)
        .unwrap();
    assert_eq!(diabetes.target_name(), "progression");
    assert_eq!(diabetes.rows(), 442);
    let first = [59.0, 2.0, 32.1, 101.0, 157.0, 93.2, 38.0, 4.0, 4.8598, 87.0];
    assert_eq!(diabetes.inputs.row(0), first);
    assert_eq!(diabetes.targets[..2], [151.0, 75.0]);
    // Any other row would change the sum.
    assert_eq!(diabetes.targets.iter().sum::<f64>(), 67_243.0);
}

#[cfg(not(feature = "embedded"))]
#[test]
fn a_program_without_the_embedded_sets_says_so() {
    let error = DataSource::resolve("winequality", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the data set winequality is not in this program; build it with the feature `embedded`"
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_parquet_says_so() {
    let source = DataSource::resolve("a.parquet", None).unwrap();
    assert_eq!(
        source.load(None).unwrap_err().to_string(),
        "a.parquet cannot be read, because this program was built without Parquet; build it with the feature `parquet` or give a CSV file"
    );
}

#[test]
fn synthetic_numbers_are_pinned() {
    for (text, inputs, targets) in [
        (
            "synthetic:sines?n=3&noise=0.1&seed=1",
            [
                2.414_913_981_989_088_6,
                3.579_361_085_609_129,
                1.702_143_547_822_425_8,
            ],
            [
                -1.150_644_258_671_923,
                1.147_204_762_910_118,
                0.191_701_277_321_040_36,
            ],
        ),
        (
            "synthetic:step?n=3&noise=0&seed=2",
            [
                0.762_681_458_701_153,
                0.578_501_613_360_027_1,
                -0.555_827_200_328_095_1,
            ],
            [1.0, 1.0, -1.0],
        ),
        (
            "synthetic:sinc?n=3&noise=0.5&seed=3",
            [
                2.459_349_278_865_154_5,
                -3.543_886_742_946_522_6,
                1.919_814_687_131_090_4,
            ],
            [
                -0.307_827_786_584_270_1,
                -0.373_651_491_866_368_26,
                1.153_824_358_969_502_5,
            ],
        ),
    ] {
        let source = DataSource::resolve(text, None).unwrap();
        assert!(source.is_synthetic());
        let data = source.load(None).unwrap();
        assert_eq!(data.name, text);
        // The functions call the platform's sine and the logarithm of the generator.
        for (found, expected) in data.inputs.values().iter().zip(inputs) {
            assert!((found - expected).abs() < 1e-12, "{text}: {data:?}");
        }
        for (found, expected) in data.targets.iter().zip(targets) {
            assert!((found - expected).abs() < 1e-12, "{text}: {data:?}");
        }
    }
}

#[test]
fn synthetic_noise_has_its_standard_deviation_and_more_rows_continue_fewer() {
    let load = |text: &str| DataSource::resolve(text, None).unwrap().load(None).unwrap();
    let noisy = load("synthetic:friedman?n=20000&noise=2&seed=4");
    let clean = load("synthetic:friedman?n=20000&noise=0&seed=4");
    assert_eq!(noisy.columns(), 10);
    assert_eq!(noisy.inputs, clean.inputs);
    let squares: f64 = noisy
        .targets
        .iter()
        .zip(&clean.targets)
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    // Four standard errors of a standard deviation from 20000 draws: 4 · 2 / sqrt(40000).
    assert!(((squares / 20_000.0).sqrt() - 2.0).abs() < 0.04);
    let fewer = load("synthetic:friedman?n=100&noise=2&seed=4");
    assert_eq!(fewer.targets, noisy.targets[..100]);
    assert_eq!(load("synthetic:step").rows(), 200);
    assert_eq!(load("synthetic:friedman?d=7").columns(), 7);
}

#[test]
fn every_registered_name_is_found_once() {
    for info in registry() {
        assert_eq!(find(info.name).unwrap(), info);
        let same = registry().iter().filter(|other| other.name == info.name);
        assert_eq!(same.count(), 1);
        assert!(info.source.ends_with('.') && !info.how_to_get(None).is_empty());
    }
    for name in ["3droad", "song", "buzz", "houseelectric"] {
        assert!(matches!(
            find(name).unwrap().availability(Some(Path::new("nowhere"))),
            Availability::Absent(paths) if paths.len() == 2
        ));
    }
    assert_eq!(find("banana").unwrap().task, Task::BinaryClassification);
}

#[test]
fn the_sets_on_disk_have_the_registered_shapes() {
    let Some(folder) = real_data() else { return };
    for info in registry() {
        let path = match info.availability(Some(&folder)) {
            Availability::OnDisk(path) => path,
            Availability::Embedded => continue,
            Availability::Absent(_) => {
                skipped(&format!("{} is not on disk", info.name));
                continue;
            }
        };
        let source = DataSource::resolve(info.name, Some(&folder)).unwrap();
        let start = Instant::now();
        let data = source.load(None).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!("{} {:.3} s", path.display(), seconds);
        // An image data set may be a subset of a published one.
        let counts = source.image_counts().unwrap();
        let rows = counts.map_or(info.rows, |counts| counts.total());
        assert!(rows <= info.rows, "{}", info.name);
        let shape = (data.rows(), data.columns());
        assert_eq!(shape, (rows, info.inputs), "{}", info.name);
        assert_eq!(source.image_shape().unwrap(), info.image);
        assert_eq!(data.image, info.image);
        assert_eq!(source.task(), Some(info.task));
        if info.task == Task::BinaryClassification {
            let roles = ColumnRoles {
                labels: Some(Labels::Unordered),
                ..ColumnRoles::default()
            };
            let classes = source.load_columns(&roles).unwrap().schema.classes;
            assert_eq!(classes.map(|classes| classes.count()), Some(2));
        }
        let equal = EqualInputs::from(&data);
        for warning in warnings(&data, &equal, &Split::default()) {
            println!("  {warning}");
        }
        if info.has_splits() {
            let start = Instant::now();
            let mask = source.mask(data.rows()).unwrap();
            println!("  mask {:.3} s", start.elapsed().as_secs_f64());
            // The collection has ten splits, each with a tenth of the rows for testing.
            let (splits, test) = match counts {
                Some(counts) => (1, counts.test as f64),
                None => (10, rows as f64 / 10.0),
            };
            assert_eq!(mask.splits(), splits);
            for index in 0..splits {
                let split = mask.split(index).unwrap();
                assert_eq!(split.train.len() + split.test.len(), rows);
                assert!((split.test.len() as f64 - test).abs() <= 1.0);
            }
        }
    }
}

/// Reference values of the paper's formula, computed independently.
#[test]
fn the_levels_are_those_of_the_paper() {
    for (x, expected) in [
        (-0.8, 0.30715661065496),
        (-0.6, 0.60986188755333),
        (-0.3, 0.89301846535073),
        (0.0, 0.15),
        (0.2, -0.59003889049218),
        (0.4, -0.30140546054769),
        (0.7, 0.00990576429758),
    ] {
        let actual = SyntheticFunction::Levels.evaluate(&[x]);
        // The reference has fourteen digits.
        assert!((actual - expected).abs() < 1e-13, "{x}: {actual}");
    }
}
