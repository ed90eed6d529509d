//! Folders of labeled images in any supported format.

use std::path::{Path, PathBuf};

use crate::cifar::{self, CifarFolder};
use crate::columns::Request;
use crate::error::DataError;
use crate::idx::{self, IdxFolder};
use crate::image_file::{ImageCounts, both_forms};
use crate::image_shape::ImageShape;
use crate::mask::SplitMask;
use crate::storage::Storage;
use crate::table::Table;

/// The files of a set of images.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ImageFolder {
    Idx(IdxFolder),
    Cifar(CifarFolder),
}

impl ImageFolder {
    /// The folder that contains `file`, or `None` if the storage is not for images.
    pub fn of(storage: Storage, file: &Path) -> Option<Self> {
        let path = file.parent()?.to_path_buf();
        match storage {
            Storage::Idx => Some(Self::Idx(IdxFolder { path })),
            Storage::Cifar => Some(Self::Cifar(CifarFolder { path })),
            Storage::Embedded | Storage::Collection | Storage::Small => None,
        }
    }

    /// The training images followed by the test images, one per row, with the label last.
    pub fn read(&self, name: &str, request: Request<'_>) -> Result<Table, DataError> {
        match self {
            Self::Idx(folder) => folder.read(name, request),
            Self::Cifar(folder) => folder.read(name, request),
        }
    }

    /// The shape of an image.
    pub fn shape(&self) -> Result<ImageShape, DataError> {
        match self {
            Self::Idx(folder) => folder.shape(),
            Self::Cifar(_) => Ok(cifar::SHAPE),
        }
    }

    /// The number of images.
    pub fn counts(&self) -> Result<ImageCounts, DataError> {
        match self {
            Self::Idx(folder) => folder.counts(),
            Self::Cifar(folder) => folder.counts(),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Idx(folder) => &folder.path,
            Self::Cifar(folder) => &folder.path,
        }
    }

    /// The set's own split of its `rows` rows.
    pub fn mask(&self, rows: usize) -> Result<SplitMask, DataError> {
        let training = rows.saturating_sub(self.counts()?.test);
        Ok(SplitMask::single(self.path(), training, rows))
    }
}

/// The possible paths of the first file of the set `name` in the data directory `folder`.
pub(crate) fn candidates(storage: Storage, folder: &Path, name: &str) -> Vec<PathBuf> {
    let set = folder.join(name);
    match storage {
        Storage::Idx => both_forms(&set, idx::FIRST_FILE).to_vec(),
        // Also accept the folder name in the distributed archive.
        Storage::Cifar => [set.clone(), set.join("cifar-10-batches-bin")]
            .iter()
            .flat_map(|folder| both_forms(folder, cifar::FIRST_FILE))
            .collect(),
        Storage::Embedded | Storage::Collection | Storage::Small => Vec::new(),
    }
}
