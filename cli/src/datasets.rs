//! `burn-gp datasets list`.

use std::path::Path;

use burn_gp_datasets::{
    Availability, DataError, DataSource, DatasetInfo, ImageCounts, ImageShape, Task, registry,
};
use burn_gp_runs::{arguments::DataDirectory, failure::Failure, standard_output::print};
use clap::Subcommand;

/// The subcommands of `datasets`.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// List the name, size, task and location of every data set that has a name, or how to get it
    List {
        /// The folder of the registered data sets
        #[command(flatten)]
        directory: DataDirectory,
    },
}

/// Prints the data sets that have a name.
///
/// # Errors
///
/// If the standard output cannot be written.
pub fn list(directory: &DataDirectory) -> Result<(), Failure> {
    let data_dir = directory.path();
    let data_dir = data_dir.as_deref();
    let mut text = row(["name", "rows", "inputs", "task", "where"]);
    for info in registry() {
        text += &entry(info, data_dir);
    }
    text += "\nYou can also use any .csv, .csv.gz or Parquet file, or generated data such as\n\
             synthetic:sines?n=1000&noise=0.1&seed=1.\n";
    if data_dir.is_none() {
        text += "For data sets that are not built in, give their folder with --data-dir or \
                 BURN_GP_DATA.\n";
    }
    print(&text)
}

fn entry(info: &DatasetInfo, data_dir: Option<&Path>) -> String {
    let task = match info.task {
        Task::Regression => "regression",
        Task::BinaryClassification => "two classes",
        Task::Classification => "classes",
    };
    let mut rows = info.rows;
    let mut inputs = match info.image {
        Some(shape) => shape.to_string(),
        None => info.inputs.to_string(),
    };
    let place = match info.availability(data_dir) {
        Availability::Embedded => "built in".into(),
        Availability::OnDisk(path) => match images(info, data_dir) {
            Ok(None) => path.display().to_string(),
            Ok(Some((shape, counts))) => {
                (rows, inputs) = (counts.total(), shape.to_string());
                let place = path.display();
                format!("{place}, {}", division(counts, info.rows))
            }
            Err(error) => error.to_string(),
        },
        Availability::Absent(_) => format!("not here: {}", info.how_to_get(data_dir)),
    };
    row([info.name, &rows.to_string(), &inputs, task, &place])
}

/// The images of a data set on disk; `None` for other data sets.
fn images(
    info: &DatasetInfo,
    data_dir: Option<&Path>,
) -> Result<Option<(ImageShape, ImageCounts)>, DataError> {
    let source = DataSource::resolve(info.name, data_dir)?;
    Ok(source.image_shape()?.zip(source.image_counts()?))
}

/// Describes the split of the images on disk, and how many images there are in all.
fn division(counts: ImageCounts, all: usize) -> String {
    let ImageCounts { train, test } = counts;
    let part = if counts.total() < all {
        format!(", out of {all}")
    } else {
        String::new()
    };
    format!("{train} training and {test} test images{part}")
}

fn row([name, rows, inputs, task, place]: [&str; 5]) -> String {
    format!("{name:<15} {rows:>8} {inputs:>7}  {task:<12} {place}\n")
}
