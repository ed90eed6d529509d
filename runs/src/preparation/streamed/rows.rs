//! The training rows of a streamed file, block by block.

use std::fmt;

use burn_gp_datasets::{BlockFile, NewRows, Schema, Standardizer};
use burn_gp_models::training::{BlockRows, RowBlocks, UnreadableRows};

use super::super::{RowSource, rows::Rows};
use super::places::{Place, Places, target};

/// The training rows of a file that is read during training.
pub struct StreamedRows {
    pub(super) file: BlockFile,
    pub(super) schema: Schema,
    pub(super) standardizer: Standardizer,
    pub(super) places: Places,
    pub(super) wanted: NewRows,
    /// The number of training rows of each block.
    pub(super) training_rows: Vec<usize>,
    /// A checksum of all rows.
    pub(super) checksum: u32,
}

impl StreamedRows {
    /// The number of training rows, N.
    pub fn count(&self) -> usize {
        self.training_rows.iter().sum()
    }

    /// The number of rows of the file.
    pub fn file_rows(&self) -> usize {
        self.file.rows()
    }

    /// A checksum of all rows.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }
}

impl RowBlocks for StreamedRows {
    fn rows(&self) -> &[usize] {
        &self.training_rows
    }

    fn read(&self, block: usize) -> Result<BlockRows, UnreadableRows> {
        let features =
            (self.file.read(block, &self.schema, &self.wanted)).map_err(UnreadableRows::new)?;
        let rows: Vec<usize> = (self.places.of_block(&features))
            .filter(|(_, place)| *place == Place::Training)
            .map(|(row, _)| row)
            .collect();
        let targets: Vec<f64> = (0..features.inputs.rows())
            .map(|row| target(&features, row))
            .collect();
        let all = Rows {
            source: RowSource::whole(features.origin),
            inputs: &features.inputs,
            targets: &targets,
            attributes: &features.attributes,
        };
        let part = all.part(&rows, &self.standardizer);
        Ok(BlockRows {
            targets: part.likelihood_targets().0,
            inputs: part.inputs.into_values(),
        })
    }
}

impl fmt::Debug for StreamedRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (formatter.debug_struct("StreamedRows"))
            .field("rows", &self.count())
            .finish_non_exhaustive()
    }
}
