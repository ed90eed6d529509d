//! Data sources given by user input: a registered name, a file, or a synthetic set.

use std::path::{Path, PathBuf};

use crate::columns::{ColumnRoles, NewRows, Request, Schema, TargetColumn};
use crate::dataset::{Dataset, Features};
use crate::equal_inputs::EqualInputs;
use crate::error::{ColumnError, DataError, MaskError, SetError};
use crate::file;
use crate::image_file::ImageCounts;
use crate::image_shape::ImageShape;
use crate::images::ImageFolder;
use crate::interpretation;
use crate::mask::SplitMask;
use crate::raw_table::RawTable;
use crate::registry::{Availability, DatasetInfo, collection_files, find};
use crate::row_selection::{RowSelection, RowsByValue};
use crate::split::Split;
use crate::storage::Storage;
use crate::synthetic::{PREFIX, Synthetic};
use crate::table::{self, Table};
use crate::task::Task;
use crate::warnings::{DataWarning, warnings};

/// A source of data. Nothing is read before [`load`](Self::load).
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    kind: Kind,
    /// The rows that are read; `None` for all.
    rows: Option<RowSelection>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Embedded(&'static DatasetInfo),
    /// The file of a registered set.
    Registered(&'static DatasetInfo, PathBuf),
    /// A registered set of images.
    Images(&'static DatasetInfo, ImageFolder),
    /// An unregistered folder with the layout of the collection.
    Collection(String, PathBuf),
    Synthetic(Synthetic),
    File(PathBuf),
}

impl DataSource {
    /// Finds the data that `text` refers to, in this order: `synthetic:…` (see [`Synthetic`]); a
    /// registered name (see [`registry()`](crate::registry())); a folder `uci/NAME` or `NAME` in
    /// the data directory with a `data.csv.gz`; a file. Write `./NAME` for a file with the name of
    /// a registered set, and `-` for text on the standard input.
    ///
    /// # Errors
    /// [`SetError::UnknownName`], [`SetError::NotOnDisk`], [`SetError::NotEmbedded`],
    /// [`SetError::Synthetic`]; [`FileError::FileMissing`](crate::FileError::FileMissing) when the text can
    /// only be a path.
    pub fn resolve(text: &str, data_dir: Option<&Path>) -> Result<Self, DataError> {
        let kind = if text == "-" {
            Kind::File(text.into())
        } else if text.starts_with(PREFIX) {
            Kind::Synthetic(text.parse()?)
        } else {
            match find(text) {
                Ok(info) => registered(info, data_dir)?,
                Err(unknown) => unregistered(text, data_dir).ok_or(unknown)?,
            }
        };
        Ok(Self { kind, rows: None })
    }

    /// The same source, of which only the selected rows are read; all of them for `None`.
    pub fn with_rows(self, rows: Option<RowSelection>) -> Self {
        Self { rows, ..self }
    }

    /// The rows by their value in the column called `name`, which the option `option` names. `header` says whether the
    /// first line is a header; if `None`, it is one unless all its fields are numbers.
    ///
    /// # Errors
    /// The errors of [`load_file`](crate::load_file) about the file, [`ColumnError::NoSuchColumn`], and
    /// [`ColumnError::PixelsAreInputs`] for images.
    pub fn rows_by_value(
        &self,
        option: &'static str,
        name: &str,
        header: Option<bool>,
    ) -> Result<RowsByValue, DataError> {
        let mut roles = ColumnRoles::default();
        roles.inputs.header = header;
        match &self.kind {
            Kind::Images(info, _) => Err(pixels_are_inputs(info)),
            _ => RowsByValue::in_table(&self.read_raw(Request::Training(&roles))?, option, name),
        }
    }

    /// Reads the data. Without `target`, the last column is the target.
    ///
    /// # Errors
    /// The errors of [`load_file`](crate::load_file).
    pub fn load(&self, target: Option<&TargetColumn>) -> Result<Dataset, DataError> {
        self.load_columns(&ColumnRoles {
            target: target.cloned().unwrap_or_default(),
            ..ColumnRoles::default()
        })
    }

    /// Reads the data with columns in the given `roles`.
    ///
    /// # Errors
    /// The errors of [`load_file`](crate::load_file), and invalid noise or trials.
    pub fn load_columns(&self, roles: &ColumnRoles) -> Result<Dataset, DataError> {
        let mut data = table::training(self.name(), roles, |request| self.read(request))?;
        data.image = self.image_shape()?.filter(|shape| {
            let schema = &data.schema;
            schema.target_position == shape.inputs() && schema.companion.is_none()
        });
        Ok(data)
    }

    /// Reads rows to predict.
    ///
    /// # Errors
    /// The errors of [`load_features_file`](crate::load_features_file).
    pub fn load_features(&self, schema: &Schema) -> Result<Features, DataError> {
        self.load_new_rows(schema, &NewRows::default())
    }

    /// Reads rows to predict, with the options in `rows`.
    ///
    /// # Errors
    /// The errors of [`load_features_file`](crate::load_features_file); with [`NewRows::lenient`], errors of
    /// single cells are not raised.
    pub fn load_new_rows(&self, schema: &Schema, rows: &NewRows) -> Result<Features, DataError> {
        self.read(Request::Prediction(schema, rows))?
            .into_features()
    }

    /// The task for the target in `roles`. For a file it follows from the kind that `roles` give the
    /// target, or from its values: texts or two distinct numbers are labels.
    ///
    /// # Errors
    /// If the file cannot be read, or the target does not exist.
    pub fn task_of(&self, roles: &ColumnRoles) -> Result<Task, DataError> {
        if let Some(task) = self.task() {
            return Ok(task);
        }
        let raw = self.read_raw(Request::Training(roles))?;
        match &self.rows {
            None => interpretation::task_of(&raw, roles),
            Some(selection) => {
                let rows = selection.rows_of(&raw)?;
                interpretation::task_of(&raw.select(&rows), roles)
            }
        }
    }

    /// Whether the data are the user's own file, whose columns may be of any kind.
    pub fn is_own_file(&self) -> bool {
        matches!(self.kind, Kind::File(_))
    }

    /// The splits that come with the data, which have `rows` rows.
    ///
    /// # Errors
    /// [`MaskError::NoMask`] when there are no splits, and the errors of [`SplitMask::load`].
    pub fn mask(&self, rows: usize) -> Result<SplitMask, DataError> {
        let beside = match &self.kind {
            Kind::Images(_, folder) => return folder.mask(rows),
            Kind::Registered(info, path) if info.has_splits() => path.parent(),
            Kind::Collection(_, path) => path.parent(),
            _ => None,
        };
        match beside {
            Some(folder) => SplitMask::load(&folder.join("test_mask.csv.gz"), rows),
            None => Err(DataError::Mask(MaskError::NoMask(self.name()))),
        }
    }

    /// The image shape, if the data are images. The inputs of a row then form an image, unless a
    /// column other than the label is the target. Reads at most the beginning of a file.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn image_shape(&self) -> Result<Option<ImageShape>, DataError> {
        self.images().map(ImageFolder::shape).transpose()
    }

    /// The number of images, if the data are images. Files may contain only a part of the set.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn image_counts(&self) -> Result<Option<ImageCounts>, DataError> {
        self.images().map(ImageFolder::counts).transpose()
    }

    fn images(&self) -> Option<&ImageFolder> {
        match &self.kind {
            Kind::Images(_, folder) => Some(folder),
            _ => None,
        }
    }

    /// Warnings for users before fitting: the [`warnings()`](crate::warnings()) about the data and
    /// their split, and about images missing from the set.
    pub fn warnings(&self, data: &Dataset, equal: &EqualInputs, split: &Split) -> Vec<DataWarning> {
        let part = match &self.kind {
            Kind::Images(info, _) if data.rows() < info.rows => Some(DataWarning::PartOfSet {
                rows: data.rows(),
                of: info.rows,
            }),
            _ => None,
        };
        part.into_iter()
            .chain(warnings(data, equal, split))
            .collect()
    }

    /// The registered name, the file stem, or the full text of a synthetic set.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Embedded(info) | Kind::Registered(info, _) | Kind::Images(info, _) => {
                info.name.into()
            }
            Kind::Collection(name, _) => name.clone(),
            Kind::Synthetic(synthetic) => synthetic.to_string(),
            Kind::File(path) => file::stem(path),
        }
    }

    /// The file to read, or the folder with several files; `None` for synthetic and embedded data.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Registered(_, path) | Kind::Collection(_, path) | Kind::File(path) => Some(path),
            Kind::Images(_, folder) => Some(folder.path()),
            Kind::Embedded(_) | Kind::Synthetic(_) => None,
        }
    }

    /// The type of the target, for a registered or synthetic set.
    pub fn task(&self) -> Option<Task> {
        match &self.kind {
            Kind::Embedded(info) | Kind::Registered(info, _) | Kind::Images(info, _) => {
                Some(info.task)
            }
            Kind::Synthetic(_) => Some(Task::Regression),
            Kind::Collection(..) | Kind::File(_) => None,
        }
    }

    /// Whether the inputs already have a common scale, as pixels do. Scaling each input by its own
    /// standard deviation would amplify the noise of inputs that hardly vary.
    pub fn has_common_scale(&self) -> bool {
        self.images().is_some()
    }

    /// Whether the data are generated, which reports must mention.
    pub fn is_synthetic(&self) -> bool {
        matches!(self.kind, Kind::Synthetic(_))
    }

    fn read(&self, request: Request<'_>) -> Result<Table, DataError> {
        match &self.kind {
            Kind::Images(info, _) if self.rows.is_some() || !request.takes_all_columns() => {
                Err(pixels_are_inputs(info))
            }
            Kind::Images(info, folder) => folder.read(info.name, request),
            _ => self.read_selected(request),
        }
    }

    /// The selected rows.
    fn read_selected(&self, request: Request<'_>) -> Result<Table, DataError> {
        let raw = self.read_raw(request)?;
        let Some(selection) = &self.rows else {
            return Table::assemble(raw, request);
        };
        let rows = selection.rows_of(&raw)?;
        let mut table = Table::assemble(raw.select(&rows), request)?;
        table.kept = Some(match table.kept {
            Some(kept) => kept.into_iter().map(|row| rows[row]).collect(),
            None => rows,
        });
        Ok(table)
    }

    fn read_raw(&self, request: Request<'_>) -> Result<RawTable, DataError> {
        match &self.kind {
            Kind::Embedded(info) | Kind::Images(info, _) => read_embedded(info.name),
            Kind::Synthetic(synthetic) => synthetic.read(),
            Kind::Registered(_, path) | Kind::Collection(_, path) | Kind::File(path) => {
                file::read(path, request)
            }
        }
    }
}

fn pixels_are_inputs(info: &DatasetInfo) -> DataError {
    DataError::Column(ColumnError::PixelsAreInputs(info.name.into()))
}

fn registered(info: &'static DatasetInfo, data_dir: Option<&Path>) -> Result<Kind, DataError> {
    match info.availability(data_dir) {
        Availability::Embedded => Ok(Kind::Embedded(info)),
        Availability::OnDisk(path) => Ok(match ImageFolder::of(info.storage, &path) {
            Some(folder) => Kind::Images(info, folder),
            None => Kind::Registered(info, path),
        }),
        Availability::Absent(_) if info.storage == Storage::Embedded => {
            Err(DataError::Set(SetError::NotEmbedded(info.name.into())))
        }
        Availability::Absent(paths) => Err(DataError::Set(SetError::NotOnDisk {
            name: info.name.into(),
            paths,
            how: info.how_to_get(data_dir),
        })),
    }
}

/// Interprets a text that is not a registered name. `None` if it looks like a name but nothing has
/// that name.
fn unregistered(text: &str, data_dir: Option<&Path>) -> Option<Kind> {
    let is_name = !text.contains(['/', '\\']) && !text.contains('.');
    if is_name
        && let Some(folder) = data_dir
        && let Some(path) = collection_files(folder, text)
            .into_iter()
            .find(|path| path.is_file())
    {
        return Some(Kind::Collection(text.into(), path));
    }
    let path = PathBuf::from(text);
    (!is_name || path.exists()).then_some(Kind::File(path))
}

#[cfg(feature = "embedded")]
fn read_embedded(name: &str) -> Result<RawTable, DataError> {
    crate::embedded::read(name)
}

#[cfg(not(feature = "embedded"))]
fn read_embedded(name: &str) -> Result<RawTable, DataError> {
    Err(DataError::Set(SetError::NotEmbedded(name.into())))
}
