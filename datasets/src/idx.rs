//! Labeled images in the idx format of MNIST (Y. LeCun, C. Cortes and C. Burges, *The MNIST
//! database of handwritten digits*): big-endian sizes, followed by one byte per pixel or label.

use std::path::{Path, PathBuf};

use crate::columns::Request;
use crate::counted::counted;
use crate::error::DataError;
use crate::image_file::{ImageCounts, ImageFile, ImageFormat, WHITE, plain_or_gzipped};
use crate::image_shape::ImageShape;
use crate::table::Table;

/// The file types: unsigned bytes in one or three dimensions.
const LABELS: u32 = 0x0801;
const IMAGES: u32 = 0x0803;

static FORMAT: ImageFormat = ImageFormat {
    name: "idx",
    advice: "copy or download it again",
};

/// The file whose presence indicates that the set is available.
pub(crate) const FIRST_FILE: &str = "train-images-idx3-ubyte";

/// The file name prefixes of the two parts of a set.
const TRAINING: &str = "train";
const TEST: &str = "t10k";

/// The four files of a set in a folder, each plain or gzipped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IdxFolder {
    pub path: PathBuf,
}

impl IdxFolder {
    fn images(&self, part: &str) -> PathBuf {
        plain_or_gzipped(&self.path, &format!("{part}-images-idx3-ubyte"))
    }

    fn labels(&self, part: &str) -> PathBuf {
        plain_or_gzipped(&self.path, &format!("{part}-labels-idx1-ubyte"))
    }

    /// The images of both parts, one per row, followed by the label.
    pub fn read(&self, name: &str, request: Request<'_>) -> Result<Table, DataError> {
        let part = |part| -> Result<(Idx, Idx), DataError> {
            let images = Idx::read(&self.images(part), IMAGES)?;
            let labels = Idx::read(&self.labels(part), LABELS)?;
            labels.require_items(images.header.items)?;
            Ok((images, labels))
        };
        let (train, test) = (part(TRAINING)?, part(TEST)?);
        test.0.require_shape(train.0.header.shape)?;
        let names = (1..=train.0.header.shape.inputs()).map(|pixel| format!("pixel{pixel}"));
        let names = names.chain(["label".to_owned()]).collect();
        let rows = train.0.header.items + test.0.header.items;
        let mut table = Table::with_columns(name, names, rows, request)?;
        for (images, labels) in [train, test] {
            let size = images.header.shape.inputs();
            for (pixels, &label) in images.bytes.chunks_exact(size).zip(&labels.bytes) {
                let pixels = pixels.iter().map(|&pixel| f64::from(pixel) / WHITE);
                table.push(pixels.chain([f64::from(label)]));
            }
        }
        Ok(table)
    }

    /// The shape of the training images.
    pub fn shape(&self) -> Result<ImageShape, DataError> {
        Ok(Header::of(&self.images(TRAINING), IMAGES)?.shape)
    }

    /// The numbers of images according to the file headers.
    pub fn counts(&self) -> Result<ImageCounts, DataError> {
        let items =
            |part| -> Result<_, DataError> { Ok(Header::of(&self.images(part), IMAGES)?.items) };
        Ok(ImageCounts {
            train: items(TRAINING)?,
            test: items(TEST)?,
        })
    }
}

/// The header of a file.
struct Header {
    items: usize,
    /// The shape of an item; a label is a single number.
    shape: ImageShape,
}

impl Header {
    fn of(path: &Path, kind: u32) -> Result<Self, DataError> {
        Self::read(&mut ImageFile::open(path, &FORMAT)?, kind)
    }

    fn read(file: &mut ImageFile, kind: u32) -> Result<Self, DataError> {
        let mut words = [0; 16];
        let length = if kind == IMAGES { 16 } else { 8 };
        let found = file.fill(&mut words[..length])?;
        let mut words = words[..found].chunks_exact(4).map(|word| {
            let word = [word[0], word[1], word[2], word[3]];
            u32::from_be_bytes(word)
        });
        match words.next() {
            Some(found) if found == kind => {}
            Some(found) => {
                return Err(
                    file.damaged(format!("it begins with {found:08x} instead of {kind:08x}"))
                );
            }
            None if found == 0 => return Err(file.damaged("it is empty")),
            None => return Err(file.damaged(format!("it has {}", counted(found, "byte")))),
        }
        let sizes: Vec<usize> = words.map(|size| size as usize).collect();
        let (items, height, width) = match sizes[..] {
            [items] if kind == LABELS => (items, 1, 1),
            [items, height, width] => (items, height, width),
            _ => return Err(file.damaged("its sizes are cut off")),
        };
        Ok(Self {
            items,
            shape: ImageShape::new(height, width, 1),
        })
    }
}

/// The contents of one file.
struct Idx {
    path: PathBuf,
    header: Header,
    bytes: Vec<u8>,
}

impl Idx {
    fn read(path: &Path, kind: u32) -> Result<Self, DataError> {
        let mut file = ImageFile::open(path, &FORMAT)?;
        let header = Header::read(&mut file, kind)?;
        let (items, shape) = (header.items, header.shape);
        let size = shape.height.saturating_mul(shape.width);
        let expected = items.saturating_mul(size);
        let most = (expected as u64).saturating_add(1);
        let bytes = file.rest(most)?;
        if bytes.len() != expected || expected == 0 {
            return Err(FORMAT.damaged(
                path,
                format!(
                    "it declares {} of {} but holds {}{}",
                    counted(items, "item"),
                    counted(size, "byte"),
                    if bytes.len() > expected {
                        "at least "
                    } else {
                        ""
                    },
                    counted(bytes.len(), "byte")
                ),
            ));
        }
        Ok(Self {
            path: path.into(),
            header,
            bytes,
        })
    }

    fn require_items(&self, images: usize) -> Result<(), DataError> {
        let labels = self.header.items;
        self.require(labels == images, || {
            format!(
                "it holds {} for {}",
                counted(labels, "label"),
                counted(images, "image")
            )
        })
    }

    fn require_shape(&self, shape: ImageShape) -> Result<(), DataError> {
        let own = self.header.shape;
        self.require(own == shape, || {
            format!(
                "its images have {}x{} pixels, but the training images have {}x{}",
                own.height, own.width, shape.height, shape.width
            )
        })
    }

    fn require(&self, holds: bool, reason: impl FnOnce() -> String) -> Result<(), DataError> {
        if holds {
            return Ok(());
        }
        Err(FORMAT.damaged(&self.path, reason()))
    }
}
