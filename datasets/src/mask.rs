//! Test masks that come with a collection.

use std::path::{Path, PathBuf};

use crate::delimited::Records;
use crate::error::{DataError, MaskError};
use crate::origin::Location;
use crate::split::Split;

/// The test rows of every split of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMask {
    path: PathBuf,
    splits: usize,
    /// `[N, splits]`, row-major.
    tests: Vec<bool>,
}

impl SplitMask {
    /// Reads a mask file: delimited text without a header, with one line per row of the data and
    /// one column of 0 and 1 per split. 1 marks test rows.
    ///
    /// # Errors
    /// [`MaskError::MaskRows`], [`MaskError::MaskValue`], [`CellError::Ragged`](crate::CellError::Ragged),
    /// and the errors of an unreadable file.
    pub fn load(path: &Path, rows: usize) -> Result<Self, DataError> {
        let mut records = Records::open(path)?;
        let (mut tests, mut splits, mut found) = (Vec::new(), 0, 0);
        while let Some(line) = records.advance()? {
            if found == 0 {
                splits = records.fields().len();
            }
            records.require_fields(line, splits)?;
            for (column, field) in records.fields().iter().enumerate() {
                tests.push(match field.trim_ascii() {
                    b"0" => false,
                    b"1" => true,
                    other => {
                        return Err(DataError::Mask(MaskError::MaskValue {
                            location: Location::line(path, line),
                            column: column + 1,
                            text: String::from_utf8_lossy(other).into_owned(),
                        }));
                    }
                });
            }
            found += 1;
        }
        if found != rows {
            return Err(DataError::Mask(MaskError::MaskRows {
                path: path.into(),
                found,
                expected: rows,
            }));
        }
        Ok(Self {
            path: path.into(),
            splits,
            tests,
        })
    }

    /// A single split whose test rows start at `first_test`.
    pub(crate) fn single(path: &Path, first_test: usize, rows: usize) -> Self {
        Self {
            path: path.into(),
            splits: 1,
            tests: (0..rows).map(|row| row >= first_test).collect(),
        }
    }

    /// The number of splits.
    pub fn splits(&self) -> usize {
        self.splits
    }

    /// Split `index`, from 0, without validation rows.
    ///
    /// # Errors
    /// [`MaskError::SplitIndex`] and [`MaskError::EmptySplit`].
    pub fn split(&self, index: usize) -> Result<Split, DataError> {
        let source_name = self.path.display().to_string();
        if index >= self.splits {
            return Err(DataError::Mask(MaskError::SplitIndex {
                source_name,
                index,
                count: self.splits,
            }));
        }
        let mut split = Split::default();
        let marks = self.tests.iter().skip(index).step_by(self.splits);
        for (row, &is_test) in marks.enumerate() {
            if is_test {
                split.test.push(row);
            } else {
                split.train.push(row);
            }
        }
        let part = match (split.test.is_empty(), split.train.is_empty()) {
            (true, _) => "test",
            (_, true) => "training",
            (false, false) => return Ok(split),
        };
        Err(DataError::Mask(MaskError::EmptySplit {
            source_name,
            index,
            part,
        }))
    }
}
