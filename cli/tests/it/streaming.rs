//! `--stream`: the rows of a Parquet file are read while training.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_gp_core::ops::number;
use burn_gp_models::{
    AnyModel,
    training::{AnyTrainer, Model, RowBlocks, Trainer, TrainingData},
};
use burn_gp_runs::{
    arguments::{ModelChoice, RunOptions},
    devices::ComputeTarget,
    plan::{check, resolve},
    preparation::PreparedData,
};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use temp_dir::TempDir;

use crate::support::{columns, numbers, options_of, read, run, succeed};

const ROWS: usize = 3000;
const GROUP: usize = 700;

/// Rows in several groups; x and the target have gaps.
fn write(path: &Path) {
    write_with(path, ROWS);
}

/// The same, but from row `late` on, z has gaps in every fourth row, and every fifth row has a new city.
fn write_with(path: &Path, late: usize) {
    let message = "message rows { optional double x; optional double z; \
                   required binary city (UTF8); optional double y; }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let x = |row: usize| (row as f64 * 0.618_034).fract() * 6.0 - 3.0;
    let z = |row: usize| (row as f64 * 0.414_214).fract();
    for first in (0..ROWS).step_by(GROUP) {
        let rows = first..ROWS.min(first + GROUP);
        let mut group = writer.next_row_group().unwrap();
        let optional = |is_there: &dyn Fn(&usize) -> bool, value: &dyn Fn(usize) -> f64| {
            let levels = rows.clone().map(|row| i16::from(is_there(&row)));
            let values = rows.clone().filter(is_there).map(value);
            (values.collect::<Vec<f64>>(), levels.collect::<Vec<i16>>())
        };
        let mut doubles = |(values, levels): (Vec<f64>, Vec<i16>)| {
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<DoubleType>();
            typed.write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
        };
        doubles(optional(&|row| row % 50 != 7, &x));
        doubles(optional(&|&row| row < late || row % 4 != 0, &z));
        let city = |row: usize| match row >= late && row.is_multiple_of(5) {
            true => "Oslo",
            false => ["Bern", "Ulm", "Rome"][row % 3],
        };
        let cities: Vec<ByteArray> = rows.clone().map(city).map(ByteArray::from).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&cities, None, None).unwrap();
        column.close().unwrap();
        let y = |row: usize| {
            let noise = (row as f64 * 12.9898).sin() * 0.1;
            30.0 + 4.0 * (x(row).sin() + z(row) + (row % 3) as f64 + noise)
        };
        let (values, levels) = optional(&|row| row % 50 != 11, &y);
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<DoubleType>();
        typed.write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("rows.parquet"));
    folder
}

const TRAIN: [&str; 9] = [
    "train",
    "--data",
    "rows.parquet",
    "--target",
    "y",
    "--inducing",
    "20",
    "--steps",
    "40",
];

fn metrics(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&read(&folder.join("metrics.json"))).unwrap()
}

/// In one batch, rows have the same sum in any order, up to rounding that training amplifies.
#[test]
fn the_losses_are_those_of_rows_in_memory() {
    let folder = folder();
    let path = folder.path();
    let all = ["--batch-size", "10000", "--test-fraction", "0", "--out"];
    let train = |stream: &[&str], out| succeed(path, &[&TRAIN[..], stream, &all, &[out]].concat());
    let text = train(&["--stream"], "streamed");
    assert!(
        text.contains("3000 rows are read during training"),
        "{text}"
    );
    assert!(text.contains("60 rows left out"), "{text}");
    train(&["--stream=false"], "memory");
    let losses = |run: &str| numbers(&path.join(run).join("training_log.csv"), "loss");
    let (streamed, memory) = (losses("streamed"), losses("memory"));
    assert_eq!(streamed.len(), 40);
    for (found, expected) in streamed.iter().zip(&memory) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    let [found, expected] = ["streamed", "memory"].map(|run| metrics(&path.join(run)));
    assert_eq!(found["n_train"], 2940);
    assert_eq!(found["n_train"], expected["n_train"]);
    let [found, expected] = [found, expected].map(|run| run["objective"].as_f64().unwrap());
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn a_streamed_run_holds_out_predicts_and_is_made_again_by_its_configuration() {
    let folder = folder();
    let path = folder.path();
    let more = ["--stream", "--validation-fraction", "0.1", "--out", "run"];
    succeed(path, &[&TRAIN[..], &more].concat());
    let metrics = metrics(&path.join("run"));
    let count = |name: &str| metrics[name].as_u64().unwrap();
    let parts = ["n_train", "n_validation", "n_test"].map(count);
    assert_eq!(parts.iter().sum::<u64>(), 2940);
    // Shares of hashes: standard deviations of 16 rows.
    assert!(
        parts[1].abs_diff(265) < 80 && parts[2].abs_diff(294) < 80,
        "{parts:?}"
    );
    assert!(
        metrics["rmse_original"].as_f64().unwrap() < 2.0,
        "{metrics}"
    );
    assert_eq!(options_of(&path.join("run"))["stream"], true);
    let titles = ["row", "mean", "y"];
    let tested = columns(&path.join("run/predictions.csv"), &titles);
    let predict = [
        "predict",
        "-m",
        "run",
        "-d",
        "rows.parquet",
        "-o",
        "all.csv",
    ];
    succeed(path, &predict);
    let all = columns(&path.join("all.csv"), &titles);
    assert_eq!(tested.len() as u64, parts[2]);
    for row in &tested {
        let number: usize = row[0].parse().unwrap();
        assert_eq!(row, &all[number]);
    }
    let again = ["train", "--config", "run/config.toml", "--out", "again"];
    succeed(path, &again);
    let log = |run: &str| numbers(&path.join(run).join("training_log.csv"), "loss");
    assert_eq!(log("run"), log("again"));
}

/// The last group is not in the sample that decides what the columns are.
#[test]
fn what_the_sample_does_not_have_is_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_with(&path.join("rows.parquet"), 2800);
    let train = |more: &[&str]| {
        let output = run(
            path,
            &[&TRAIN[..], &["--overwrite", "--out", "run"], more].concat(),
        );
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let (code, streamed) = train(&["--stream"]);
    assert_eq!(code, Some(0), "{streamed}");
    let (_, memory) = train(&["--stream=false"]);
    let target = "warning: 60 rows are left out because the target \"y\" is missing";
    assert!(streamed.contains(target), "{streamed}");
    assert!(memory.contains(target), "{memory}");
    // Rows 2800, 2804, … and 2800, 2805, ….
    for sentence in [
        "warning: 50 of 3000 rows have no value in \"z\", which every row of the sample has that decides what \
         the columns are: their numbers are replaced by the mean, and categories by an unknown level",
        "warning: 40 of 3000 rows have a value of \"city\" that does not occur in the sample that decides what \
         the columns are; it is treated as an unknown category",
    ] {
        assert!(streamed.contains(sentence), "{streamed}");
    }
    // No row but those without a target is left out.
    let count = |name: &str| metrics(&path.join("run"))[name].as_u64().unwrap();
    assert_eq!(count("n_train") + count("n_test"), 2940);
    let (_, filled) = train(&["--stream", "--test-fraction", "0"]);
    assert!(filled.contains("50 of 3000 rows"), "{filled}");
    assert_eq!(count("n_train"), 2940);
    // The user may want them left out, or not at all.
    let (code, dropped) = train(&["--stream", "--missing", "drop", "--test-fraction", "0"]);
    assert_eq!(code, Some(0), "{dropped}");
    let has_all = |row: &usize| {
        let has_z = *row < 2800 || !row.is_multiple_of(4);
        row % 50 != 7 && row % 50 != 11 && has_z
    };
    assert_eq!(count("n_train") as usize, (0..ROWS).filter(has_all).count());
    let (code, refused) = train(&["--stream", "--missing", "refuse", "--drop", "x"]);
    assert_eq!(code, Some(2), "{refused}");
    assert!(
        refused.contains("rows.parquet, row 2801: column"),
        "{refused}"
    );
}

/// The losses of steps, and that over all rows, are those of the same rows in memory. The variable
/// `BURN_GP_MANY_ROWS` names a larger file with a target y, such as one that the example `write_rows`
/// of `burn-gp-datasets` writes.
#[test]
fn a_step_has_the_loss_of_the_same_rows_in_memory() {
    let folder = folder();
    let many = std::env::var_os("BURN_GP_MANY_ROWS").map(PathBuf::from);
    let file = many.unwrap_or_else(|| folder.path().join("rows.parquet"));
    let given = RunOptions {
        data: Some(file.to_str().unwrap().to_owned()),
        target: Some("y".into()),
        model: ModelChoice::find("svgp"),
        inducing: Some(20),
        batch_size: Some(256),
        steps: Some(100),
        stream: Some(true),
        // The loss of a step has the log density of priors, which the objective alone has not.
        default_priors: Some(false),
        ..RunOptions::default()
    };
    let source = given.source().unwrap();
    let options = check(&given.with_inferred_likelihood(&source).unwrap(), &source).unwrap();
    let data = PreparedData::load(&source, &options).unwrap();
    let (options, plan) = resolve(&options, &data).unwrap();
    let (device, dtype) = ComputeTarget::of(&options).unwrap().open().unwrap();
    let AnyTrainer::MiniBatch(mut trainer) = plan.trainer(&data, (&device, dtype)).unwrap() else {
        panic!("no mini-batches");
    };
    let memory = in_memory(data.stream.as_deref().unwrap(), data.dimensions());
    let count = memory.len();
    assert_eq!(count, trainer.data_count());
    let mut largest = 0.0f64;
    while !trainer.is_finished() {
        let rows = trainer.rows_of_step(trainer.steps_made());
        let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &memory.inputs.device());
        let TrainingData { inputs, targets } = memory.reordered(&rows);
        let model = trainer.model().valid();
        let objective = model.objective(inputs, targets, count).unwrap();
        let expected = -number(objective.value()) / count as f64;
        let found = trainer.step().unwrap().loss;
        largest = largest.max((found - expected).abs() / expected.abs());
    }
    // The division by the number of rows may come first.
    assert!(largest < 1e-14, "{largest:e}");
    let over_all = |data: TrainingData, model: AnyModel| {
        AnyTrainer::new(model, data, plan.training.clone())
            .loss(None, |_| ())
            .unwrap()
    };
    let model = trainer.model().clone();
    let found = AnyTrainer::MiniBatch(trainer).loss(None, |_| ()).unwrap();
    let expected = over_all(memory, model);
    println!("{count} rows: the losses of 100 steps differ by at most {largest:.1e} of their size");
    println!("loss over all rows: {found:.15} streamed, {expected:.15} in memory");
    // Sums of many terms in chunks of other lengths.
    assert!((found - expected).abs() < 1e-10, "{found} {expected}");
}

/// All rows that are streamed, in their order.
fn in_memory(rows: &dyn RowBlocks, dimensions: usize) -> TrainingData {
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for block in 0..rows.rows().len() {
        let read = rows.read(block).unwrap();
        inputs.extend(read.inputs);
        targets.extend(read.targets);
    }
    let data = |values: Vec<f64>, columns: usize| {
        let data = TensorData::new(values, [rows.rows().iter().sum(), columns]);
        Tensor::from_data(data, (&Device::flex(), DType::F64))
    };
    TrainingData {
        inputs: data(inputs, dimensions),
        targets: data(targets, 1),
    }
}

/// Groups are on one side of the split, and two labels make classes.
#[test]
fn groups_and_labels_are_streamed_too() {
    let folder = folder();
    let path = folder.path();
    let train = [
        "train",
        "--data",
        "rows.parquet",
        "--target",
        "city",
        "--stream",
        "--group",
        "x",
        "--inducing",
        "10",
        "--steps",
        "5",
        "--model",
        "svgp",
        "--out",
        "run",
    ];
    succeed(path, &train);
    let metrics = metrics(&path.join("run"));
    assert_eq!(metrics["likelihood"], "softmax");
    assert_eq!(metrics["classes"], 3);
}

#[test]
fn what_cannot_be_streamed_is_refused_in_a_sentence() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("rows.csv"), "x,y\n1,2\n2,3\n3,5\n").unwrap();
    for (arguments, sentence) in [
        (
            &["train", "--data", "rows.csv", "--stream"][..],
            "rows.csv is not a Parquet file, and only Parquet files can be read in blocks during training",
        ),
        (
            &["train", "--data", "winequality", "--stream"],
            "winequality is not a Parquet file",
        ),
        (
            &[
                "train",
                "--data",
                "rows.parquet",
                "--stream",
                "--model",
                "exact",
            ],
            "--stream does not apply to model 'exact'; remove it",
        ),
        (
            &[
                "train",
                "--data",
                "rows.parquet",
                "--stream",
                "--model",
                "vnngp",
            ],
            "--stream does not apply to model 'vnngp', which looks for neighbors among all rows in memory; take svgp",
        ),
        (
            &[
                "train",
                "--data",
                "rows.parquet",
                "--stream",
                "--missing",
                "median",
            ],
            "--stream and --missing median",
        ),
        (
            &[
                "train",
                "--data",
                "rows.parquet",
                "--stream",
                "--time-split",
                "z",
            ],
            "--stream and --time-split",
        ),
        (
            &[
                "train",
                "--data",
                "rows.parquet",
                "--stream",
                "--drop",
                "nothing",
            ],
            "nothing",
        ),
    ] {
        let output = run(path, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(sentence), "{arguments:?}: {text}");
    }
}
