//! A regression or classification data set in memory.

use crate::column_label::ColumnLabel;
use crate::columns::Schema;
use crate::encoding::ColumnReport;
use crate::image_shape::ImageShape;
use crate::matrix::Matrix;
use crate::origin::{Location, Origin};
use crate::row_attributes::RowAttributes;

/// Inputs and one target per row, with column names and the origin of each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The registered name, the file stem, or the text that describes a synthetic set.
    pub name: String,
    /// The names and order of the columns, which a saved model needs to read new rows.
    pub schema: Schema,
    /// The inputs; NaN where a value is missing, which a
    /// [`Standardizer`](crate::Standardizer) fills.
    ///
    /// # Shapes
    /// `[N, D]`
    pub inputs: Matrix,
    /// The image shape, if the inputs of a row are an image.
    pub image: Option<ImageShape>,
    /// The target values, or zero-based indices of the schema's classes.
    ///
    /// # Shapes
    /// `[N]`
    pub targets: Vec<f64>,
    /// The noise, the weights, the names and the groups of the rows, and their times.
    pub attributes: RowAttributes,
    /// The file and line of each row.
    pub origin: Origin,
    /// All columns of the source and their use, if their kinds were inferred.
    pub columns: Vec<ColumnReport>,
    /// The positions of the rows in the source from 0, `[N]`, if rows were left out.
    pub kept: Option<Vec<usize>>,
    /// The number of rows that were left out when the source was read, because they lack the target
    /// or an input.
    pub left_out: usize,
}

impl Dataset {
    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.inputs.rows()
    }

    /// The number of input columns, D.
    pub fn columns(&self) -> usize {
        self.inputs.columns()
    }

    /// The names of the input columns, in the order of the columns of `inputs`.
    pub fn input_names(&self) -> &[String] {
        &self.schema.input_names
    }

    /// The name of the target column.
    pub fn target_name(&self) -> &str {
        &self.schema.target_name
    }

    /// The label of the target column, for messages.
    pub fn target_label(&self) -> ColumnLabel {
        ColumnLabel {
            number: self.schema.target_position + 1,
            name: (self.schema.named).then(|| self.schema.target_name.clone()),
        }
    }

    /// The file and line (or row) of row `index` (from 0).
    ///
    /// # Panics
    /// When there is no such row.
    pub fn location(&self, index: usize) -> Location {
        self.origin.location(index)
    }

    /// The position in the source of row `index`, from 0.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn source_row(&self, index: usize) -> usize {
        self.kept.as_ref().map_or(index, |kept| kept[index])
    }

    /// The rows with the given `indices`, in that order.
    ///
    /// # Panics
    /// When an index is not smaller than [`rows`](Self::rows).
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            name: self.name.clone(),
            schema: self.schema.clone(),
            inputs: self.inputs.select(indices),
            image: self.image,
            targets: indices.iter().map(|&index| self.targets[index]).collect(),
            attributes: self.attributes.select(indices),
            origin: self.origin.select(indices),
            columns: self.columns.clone(),
            kept: Some(
                indices
                    .iter()
                    .map(|&index| self.source_row(index))
                    .collect(),
            ),
            left_out: self.left_out,
        }
    }
}

/// Rows to predict: the input columns of a trained model, in the model's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// # Shapes
    /// `[N, D]`
    pub inputs: Matrix,
    /// The targets, `[N]`, if the source contains any; NaN where there is none. Labels are given as
    /// zero-based indices of the schema's classes.
    pub targets: Option<Vec<f64>>,
    /// The noise of the targets, if the source contains that column, and the names of the rows.
    pub attributes: RowAttributes,
    /// The names of columns that are neither inputs of the model nor its target.
    pub ignored: Vec<String>,
    /// The file and line of each row.
    pub origin: Origin,
    /// Rows that cannot be predicted, in ascending order; their inputs have no meaning.
    pub unfit: Vec<UnfitRow>,
    /// Columns with levels that did not occur in training, each with the number of such rows. These
    /// rows have the inputs of an unknown level.
    pub unseen: Vec<(String, usize)>,
    /// Columns with gaps that had none in training, each with the number of such rows. These rows have the
    /// mean of the training rows there or, in a category, an unknown level.
    pub filled: Vec<(String, usize)>,
    /// Labels of the target that the model does not know, each with the number of such rows, whose target is NaN.
    pub unknown_labels: Vec<(String, usize)>,
    /// The columns whose texts are kept, `[N]` each, with their names.
    pub kept: Vec<(String, Vec<String>)>,
}

impl Features {
    /// The texts of the kept column with this name, `[N]`.
    pub fn texts_of(&self, name: Option<&str>) -> Option<&[String]> {
        let mut kept = self.kept.iter();
        let found = kept.find(|(own, _)| Some(own.as_str()) == name);
        found.map(|(_, texts)| texts.as_slice())
    }
}

/// A row that cannot be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfitRow {
    /// The row, from 0.
    pub row: usize,
    /// The reason, as a sentence that names the place.
    pub reason: String,
}
