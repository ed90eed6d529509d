//! Cells of a study, and the mark of a cell in its folder.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::definition::{AxisValue, Study};
use super::published::Row;
use crate::checksums::{Links, read_text};
use crate::failure::{Failure, FolderError};
use crate::output::replace_file;

/// A cell in the grid of a study: a data set with a value of every axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The data set.
    pub data: String,
    /// The values of the axes, in the order of the axes.
    pub values: Vec<String>,
}

/// The value of an axis at cells whose model does not use the option of that axis.
pub const NO_USE: &str = "none";

/// The file in the folder of a cell that says which cell it is.
const CELL: &str = "cell.json";

impl Cell {
    /// Marks a folder as that of this cell.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn mark(&self, folder: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(Failure::writing(folder))?;
        let path = folder.join(CELL);
        let text = serde_json::to_string(self).map_err(std::io::Error::other);
        replace_file(&path, &(text.map_err(Failure::writing(&path))? + "\n"))
    }

    /// The cell of a folder; `None` if it is not the folder of a cell.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Option<Self>, FolderError> {
        let path = folder.join(CELL);
        if !path.exists() {
            return Ok(None);
        }
        let cell = serde_json::from_str(&read_text(&path, Links::Followed)?);
        cell.map_err(|error| FolderError::DamagedCheckpoint {
            path,
            reason: error.to_string(),
        })
    }
}

impl Study {
    /// The index of the axis called `name`.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    pub fn axis(&self, name: &str) -> usize {
        let found = self.axes.iter().position(|axis| axis.name == name);
        found.unwrap_or_else(|| panic!("the study {} has no axis {name}", self.name))
    }

    /// The value of an axis at a cell, if the study lists it.
    pub fn listed(&self, cell: &Cell, axis: usize) -> Option<&AxisValue> {
        let values = &self.axes[axis].values;
        values.iter().find(|value| value.name == cell.values[axis])
    }

    /// The published values of a cell; `None` if there are none.
    pub fn row(&self, cell: &Cell) -> Option<Row> {
        let value = |name: &str| match name {
            "data" => &cell.data,
            axis => &cell.values[self.axis(axis)],
        };
        let is_own = |row: &&Row| row.place.iter().all(|(name, word)| value(name) == word);
        let mut scores = self.published.iter().filter(is_own).cloned();
        let mut found = scores.next()?;
        found.scores.extend(scores.flat_map(|row| row.scores));
        (!found.scores.is_empty()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_its_cell() {
        let folder = temp_dir::TempDir::new().unwrap();
        let cell = Cell {
            data: "wind/2020".into(),
            values: vec!["svgp".into(), NO_USE.into()],
        };
        let own = folder.path().join("a/b");
        cell.mark(&own).unwrap();
        assert_eq!(Cell::of_folder(&own).unwrap(), Some(cell));
        assert_eq!(Cell::of_folder(folder.path()).unwrap(), None);
        std::fs::write(own.join(CELL), "{").unwrap();
        assert!(Cell::of_folder(&own).is_err());
    }
}
