//! Labeled images in the binary format of CIFAR-10 (A. Krizhevsky, *Learning Multiple Layers of
//! Features from Tiny Images*, 2009). A record has one byte for the label and 3072 bytes for the
//! red, green and blue planes of 32 by 32 pixels.

use std::path::{Path, PathBuf};

use crate::columns::Request;
use crate::error::DataError;
use crate::image_file::{ImageCounts, ImageFile, ImageFormat, WHITE, plain_or_gzipped};
use crate::image_shape::ImageShape;
use crate::table::Table;

/// The shape of every image.
pub(crate) const SHAPE: ImageShape = ImageShape::new(32, 32, 3);

/// The number of bytes per record.
const RECORD: usize = 1 + SHAPE.inputs();

const COLORS: [&str; SHAPE.channels] = ["red", "green", "blue"];

/// The class names, in the order of their labels.
const CLASSES: [&str; 10] = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
];

static FORMAT: ImageFormat = ImageFormat {
    name: "CIFAR-10",
    advice: "copy or download the binary version of CIFAR-10 again",
};

/// The file whose presence indicates that the set is available.
pub(crate) const FIRST_FILE: &str = "data_batch_1.bin";

const TRAINING: [&str; 5] = [
    FIRST_FILE,
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
];
const TEST: &str = "test_batch.bin";

/// The files of the set in a folder, each plain or gzipped, with any number of records. All but the
/// first and the last may be absent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CifarFolder {
    pub path: PathBuf,
}

impl CifarFolder {
    fn training_files(&self) -> Vec<PathBuf> {
        let files = TRAINING.map(|name| plain_or_gzipped(&self.path, name));
        files.into_iter().filter(|path| path.is_file()).collect()
    }

    fn test_file(&self) -> PathBuf {
        plain_or_gzipped(&self.path, TEST)
    }

    /// The images of all files, one per row, pixel by pixel, followed by the label.
    pub fn read(&self, name: &str, request: Request<'_>) -> Result<Table, DataError> {
        let names = (1..=SHAPE.pixels())
            .flat_map(|pixel| COLORS.map(|color| format!("pixel{pixel}_{color}")))
            .chain(["label".to_owned()]);
        let rows = self.counts()?.total();
        let mut table = Table::with_columns(name, names.collect(), rows, request)?;
        for path in self.training_files().iter().chain([&self.test_file()]) {
            append(path, &mut table)?;
        }
        if table.layout.target() == Some(SHAPE.inputs()) {
            table.name_labels(|label| CLASSES[label as usize]);
        }
        Ok(table)
    }

    /// The number of images in the files.
    pub fn counts(&self) -> Result<ImageCounts, DataError> {
        let files = self.training_files();
        let train: Result<Vec<usize>, DataError> = files.iter().map(|path| records(path)).collect();
        Ok(ImageCounts {
            train: train?.into_iter().sum(),
            test: records(&self.test_file())?,
        })
    }
}

/// The number of records in a file, all of which must be complete.
fn records(path: &Path) -> Result<usize, DataError> {
    let length = ImageFile::open(path, &FORMAT)?.count_rest()?;
    let (whole, left) = (length / RECORD as u64, length % RECORD as u64);
    if length == 0 {
        return Err(FORMAT.damaged(path, "it is empty"));
    }
    if left > 0 {
        return Err(cut_off(path, whole, left));
    }
    Ok(whole as usize)
}

/// Appends the records of a file as rows.
fn append(path: &Path, table: &mut Table) -> Result<(), DataError> {
    let mut file = ImageFile::open(path, &FORMAT)?;
    let mut record = [0; RECORD];
    for number in 0u64.. {
        match file.fill(&mut record)? {
            RECORD => {}
            0 => break,
            left => return Err(cut_off(path, number, left as u64)),
        }
        let (label, planes) = (record[0], &record[1..]);
        if usize::from(label) >= CLASSES.len() {
            let reason = format!(
                "the label of record {}, byte {}, is {label} instead of 0 to 9",
                number + 1,
                number * RECORD as u64
            );
            return Err(foreign(path, reason));
        }
        let pixels = (0..SHAPE.pixels()).flat_map(|pixel| {
            (0..SHAPE.channels).map(move |color| planes[color * SHAPE.pixels() + pixel])
        });
        let pixels = pixels.map(|intensity| f64::from(intensity) / WHITE);
        table.push(pixels.chain([f64::from(label)]));
    }
    Ok(())
}

/// The error for a file that ends after `whole` records and `left` bytes of the next one.
fn cut_off(path: &Path, whole: u64, left: u64) -> DataError {
    let reason = format!(
        "record {}, from byte {} on, has {left} of {RECORD} bytes",
        whole + 1,
        whole * RECORD as u64
    );
    foreign(path, reason)
}

/// The error for a file with the given `reason`, or for an idx file given instead.
fn foreign(path: &Path, reason: String) -> DataError {
    let mut start = [0; 3];
    let begins = ImageFile::open(path, &FORMAT).and_then(|mut file| file.fill(&mut start));
    match begins {
        // The idx magic number: zero, zero, unsigned bytes.
        Ok(_) if start == [0, 0, 8] => {
            FORMAT.damaged(path, "it begins with 0, 0, 8 as an idx file does")
        }
        _ => FORMAT.damaged(path, reason),
    }
}
