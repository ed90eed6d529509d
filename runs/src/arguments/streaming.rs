//! Whether the rows of a file are read during training.

use burn_gp_datasets::{BlockFile, DataError, DataSource, FileError};

use super::{MissingName, RunOptions};

/// The number of values from which a Parquet file is read during training by default.
const MANY_VALUES: usize = 100_000_000;

impl RunOptions {
    /// The file, if its rows are to be read during training.
    ///
    /// # Errors
    ///
    /// If the user asks for it but the source is not a Parquet file, or if the file cannot be read.
    pub fn block_file(&self, source: &DataSource) -> Result<Option<BlockFile>, DataError> {
        let path = source.path().filter(|_| source.is_own_file());
        let is_parquet = path.is_some_and(BlockFile::takes);
        match (self.stream, path) {
            (Some(true), Some(path)) => BlockFile::open(path).map(Some),
            (Some(true), None) => Err(DataError::File(FileError::NotInBlocks(
                source.name().into(),
            ))),
            (None, Some(path)) if is_parquet && self.can_stream() => {
                let file = BlockFile::open(path)?;
                let is_large = file.rows().saturating_mul(file.columns()) >= MANY_VALUES;
                Ok(is_large.then_some(file))
            }
            _ => Ok(None),
        }
    }

    /// Whether a large file may be read during training: the model is trained on mini-batches, and no option
    /// needs all rows at once.
    fn can_stream(&self) -> bool {
        self.model_fields().streams() && self.is_mini_batch() && self.unstreamed().is_none()
    }

    /// The share of the training rows that the predictions are calibrated on, if there is one.
    pub fn calibration_share(&self) -> Option<f64> {
        self.calibrate.filter(|share| *share > 0.0)
    }

    /// The option that needs all rows at once, if one is given.
    pub fn unstreamed(&self) -> Option<&'static str> {
        let options = [
            ("split", self.split.is_some()),
            ("time_split", self.time_split.is_some()),
            ("folds", self.folds.is_some()),
            ("weights", self.weights.is_some()),
            ("noise_column", self.has_row_noise()),
            ("upper_column", self.upper_column.is_some()),
            ("rows", self.rows.is_some()),
            ("missing median", self.missing == Some(MissingName::Median)),
            (
                "early_stopping",
                self.early_stopping.is_some_and(|share| share > 0.0),
            ),
            ("calibrate", self.calibration_share().is_some()),
            ("input_noise", self.input_noise.is_some()),
        ];
        let given = options.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(name, _)| name)
    }
}
