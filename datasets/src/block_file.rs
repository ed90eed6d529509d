//! Parquet files that are read in blocks of rows, for data that do not fit into memory.

use std::path::{Path, PathBuf};

use crate::columns::{ColumnRoles, NewRows, Request, Schema};
use crate::dataset::{Dataset, Features};
use crate::encoding::{
    ColumnKind, ColumnReport, Decision, InputColumns, Purpose, decide, infer, summary,
};
use crate::error::{DataError, FileError};
use crate::file;
use crate::interpretation;
use crate::origin::Origin;
use crate::parquet::{ParquetFile, Slice, undamaged};
use crate::raw_table::RawTable;
use crate::table::{self, Table};
use crate::task::Task;

/// The maximum number of rows of a block.
const BLOCK_ROWS: usize = 16_384;

/// The number of blocks of the sample.
const SAMPLE_BLOCKS: usize = 4;

/// A Parquet file that is read in blocks of at most 16 384 consecutive rows.
///
/// The kinds of the columns are inferred from a sample of four blocks spread evenly over the file. With the
/// schema of the sample, any block can be read. Memory does not depend on the number of
/// rows.
pub struct BlockFile {
    path: PathBuf,
    file: ParquetFile,
    blocks: Vec<Slice>,
}

impl BlockFile {
    /// Whether the name of a file has an extension of Parquet files.
    pub fn takes(path: &Path) -> bool {
        file::is_parquet(path)
    }

    /// Opens a Parquet file.
    ///
    /// # Errors
    /// [`FileError::NotInBlocks`] for a file with another extension, and the errors of an unreadable,
    /// empty or damaged file.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        if !Self::takes(path) {
            return Err(DataError::File(FileError::NotInBlocks(path.into())));
        }
        let file = undamaged(path, || ParquetFile::open(path))?;
        let groups = file.group_rows().into_iter().enumerate();
        let blocks = groups.flat_map(|(group, rows)| {
            (0..rows).step_by(BLOCK_ROWS).map(move |skipped| Slice {
                group,
                skipped,
                rows: BLOCK_ROWS.min(rows - skipped),
            })
        });
        Ok(Self {
            blocks: blocks.collect(),
            path: path.into(),
            file,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.file.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.file.names.len()
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The origin of the rows with these numbers, from 0.
    pub fn origin(&self, rows: &[usize]) -> Origin {
        Origin::numbered_rows(self.source(), rows.iter().copied())
    }

    /// The rows of the sample as training data. Its schema and its columns stand for those of the
    /// file.
    ///
    /// # Errors
    /// The errors of [`load_file`](crate::load_file), for the sample.
    pub fn sample(&self, roles: &ColumnRoles) -> Result<Dataset, DataError> {
        let numbering = self.row_numbers(&roles.inputs)?;
        let mut roles = roles.clone();
        let names = numbering.iter().map(|report| report.name.clone());
        roles.inputs.without.extend(names);
        let mut sample = table::training(file::stem(&self.path), &roles, |request| {
            Table::assemble(self.sample_table()?, request)
        })?;
        for report in &mut sample.columns {
            let numbered = numbering.iter().find(|own| own.name == report.name);
            *report = numbered.unwrap_or(report).clone();
        }
        Ok(sample)
    }

    /// The task for the target in `roles`, from the sample.
    ///
    /// # Errors
    /// If the file cannot be read, or the target does not exist.
    pub fn task_of(&self, roles: &ColumnRoles) -> Result<Task, DataError> {
        interpretation::task_of(&self.sample_table()?, roles)
    }

    /// Reads the rows of a block, with the columns of a training set or a model.
    ///
    /// # Errors
    /// The errors of [`load_features_file`](crate::load_features_file).
    ///
    /// # Panics
    /// When there is no such block.
    pub fn read(
        &self,
        block: usize,
        schema: &Schema,
        rows: &NewRows,
    ) -> Result<Features, DataError> {
        let request = Request::Prediction(schema, rows);
        let needed = schema.needed();
        let is_wanted = |name: &str| needed.contains(name) || rows.keep.takes(name);
        let table = self.table(&self.blocks[block..=block], is_wanted)?;
        Table::assemble(table, request)?.into_features()
    }

    fn source(&self) -> String {
        self.path.display().to_string()
    }

    fn table(
        &self,
        slices: &[Slice],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<RawTable, DataError> {
        undamaged(&self.path, || self.file.rows_of(slices, is_wanted))
    }

    fn sample_table(&self) -> Result<RawTable, DataError> {
        let count = self.blocks.len();
        let taken = SAMPLE_BLOCKS.min(count);
        let places = (0..taken).map(|place| place * count / taken);
        let slices: Vec<Slice> = places.map(|place| self.blocks[place]).collect();
        self.table(&slices, |_| true)
    }

    /// The columns that number the rows, unless the user gave their kind. Only consecutive rows show them.
    fn row_numbers(&self, options: &InputColumns) -> Result<Vec<ColumnReport>, DataError> {
        if !options.inferred || options.only.is_some() {
            return Ok(Vec::new());
        }
        let first = self.table(&self.blocks[..1], |_| true)?;
        let columns = first.cells.iter().enumerate();
        let reports = columns.filter_map(|(position, column)| {
            let name = first.columns.name(position);
            let kind = infer(column, &name, position == 0);
            let is_open = kind == ColumnKind::RowNumber && options.kind_of(&name).is_none();
            match decide(column, &name, kind, false, options) {
                Decision::LeftOut(reason) if is_open => Some(ColumnReport {
                    values: summary(column, kind, options),
                    missing: 0,
                    markers: Vec::new(),
                    unusual_labels: Vec::new(),
                    name,
                    kind,
                    purpose: Purpose::LeftOut(reason),
                }),
                _ => None,
            }
        });
        Ok(reports.collect())
    }
}
