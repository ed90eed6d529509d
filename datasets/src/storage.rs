//! The layouts of data sets on disk.

use serde::Serialize;

/// The storage format of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Storage {
    /// Compiled into the program.
    Embedded,
    /// `uci/NAME/data.csv.gz` without a header, target last, next to `test_mask.csv.gz`.
    Collection,
    /// `small/NAME.csv` with a header, target last.
    Small,
    /// `NAME/` with the four idx files of images and labels.
    Idx,
    /// `NAME/` with the binary files of CIFAR-10.
    Cifar,
}
