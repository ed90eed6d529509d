//! Images with labels in the idx format of MNIST (Y. LeCun, C. Cortes and C. Burges, *The MNIST
//! database of handwritten digits*): big-endian sizes, then one byte a pixel or label.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::columns::Request;
use crate::error::DataError;
use crate::mask::SplitMask;
use crate::table::Table;
use crate::text::open;

/// The file types: unsigned bytes in one or three dimensions.
const LABELS: u32 = 0x0801;
const IMAGES: u32 = 0x0803;

/// The value of a white pixel; inputs run from 0 to 1.
const WHITE: f64 = 255.0;

/// The two parts of a set, and their files' names without the format's endings.
const PARTS: [&str; 2] = ["train", "t10k"];

/// The four files of a set in a folder, each plain or gzipped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImageFolder {
    path: PathBuf,
}

impl ImageFolder {
    /// The folder `path`, if the first of the files is there.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let folder = Self { path: path.into() };
        folder
            .file(PARTS[0], "images-idx3")
            .is_file()
            .then_some(folder)
    }

    fn file(&self, part: &str, kind: &str) -> PathBuf {
        let plain = self.path.join(format!("{part}-{kind}-ubyte"));
        let packed = self.path.join(format!("{part}-{kind}-ubyte.gz"));
        if packed.is_file() { packed } else { plain }
    }

    /// The images of both parts, one a row, their label last.
    pub(crate) fn read(&self, name: &str, request: Request<'_>) -> Result<Table, DataError> {
        let part = |part| -> Result<(Idx, Idx), DataError> {
            let images = Idx::read(self.file(part, "images-idx3"), IMAGES)?;
            let labels = Idx::read(self.file(part, "labels-idx1"), LABELS)?;
            labels.require_items(images.items)?;
            Ok((images, labels))
        };
        let (train, test) = (part(PARTS[0])?, part(PARTS[1])?);
        let size = train.0.size;
        test.0.require_size(size)?;
        let names = (1..=size).map(|pixel| format!("pixel{pixel}"));
        let rows = labelled(&train)
            .chain(labelled(&test))
            .map(|(pixels, &label)| {
                let pixels = pixels.iter().map(|&pixel| f64::from(pixel) / WHITE);
                pixels.chain([f64::from(label)])
            });
        Table::from_rows(
            name,
            names.chain(["label".to_owned()]).collect(),
            rows,
            request,
        )
    }

    /// The set's own split: the second part is for testing.
    pub(crate) fn mask(&self, rows: usize) -> Result<SplitMask, DataError> {
        let labels = Idx::read(self.file(PARTS[1], "labels-idx1"), LABELS)?;
        let training = rows.saturating_sub(labels.items);
        Ok(SplitMask::single(&self.path, training, rows))
    }
}

/// The images of a part, each with its label.
fn labelled((images, labels): &(Idx, Idx)) -> impl Iterator<Item = (&[u8], &u8)> {
    images.bytes.chunks_exact(images.size).zip(&labels.bytes)
}

/// The contents of one file.
struct Idx {
    path: PathBuf,
    items: usize,
    /// Bytes in an item.
    size: usize,
    bytes: Vec<u8>,
}

impl Idx {
    fn read(path: PathBuf, kind: u32) -> Result<Self, DataError> {
        let bytes = unpacked(&path)?;
        let damaged = |reason: String| DataError::Idx {
            path: path.clone(),
            reason,
        };
        let word = |index: usize| -> Option<u32> {
            let word = bytes.get(4 * index..4 * index + 4)?;
            Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
        };
        match word(0) {
            Some(found) if found == kind => {}
            Some(found) => {
                return Err(damaged(format!(
                    "it begins with {found:08x} instead of {kind:08x}"
                )));
            }
            None => return Err(damaged(format!("it has {} bytes", bytes.len()))),
        }
        let dimensions = if kind == IMAGES { 3 } else { 1 };
        let sizes: Option<Vec<usize>> = (1..=dimensions)
            .map(|index| word(index).map(|size| size as usize))
            .collect();
        let sizes = sizes.ok_or_else(|| damaged("its sizes are cut off".into()))?;
        let (items, size) = (sizes[0], sizes[1..].iter().product::<usize>());
        let contents = &bytes[4 * (dimensions + 1)..];
        let expected = items.saturating_mul(size);
        if contents.len() != expected || expected == 0 {
            return Err(damaged(format!(
                "it announces {items} items of {size} bytes and holds {} bytes",
                contents.len()
            )));
        }
        let bytes = contents.to_vec();
        Ok(Self {
            path,
            items,
            size,
            bytes,
        })
    }

    fn require_items(&self, images: usize) -> Result<(), DataError> {
        self.require(self.items == images, || {
            format!("it holds {} labels for {images} images", self.items)
        })
    }

    fn require_size(&self, pixels: usize) -> Result<(), DataError> {
        self.require(self.size == pixels, || {
            format!(
                "its images have {} pixels and those to train on {pixels}",
                self.size
            )
        })
    }

    fn require(&self, holds: bool, reason: impl FnOnce() -> String) -> Result<(), DataError> {
        if holds {
            return Ok(());
        }
        Err(DataError::Idx {
            path: self.path.clone(),
            reason: reason(),
        })
    }
}

fn unpacked(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut raw = BufReader::new(open(path)?);
    let mut bytes = Vec::new();
    let read = if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(raw).read_to_end(&mut bytes)
    } else {
        raw.read_to_end(&mut bytes)
    };
    read.map_err(|error| DataError::Idx {
        path: path.into(),
        reason: error.to_string(),
    })?;
    Ok(bytes)
}
