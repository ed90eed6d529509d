//! A regression or classification data set in memory.

use crate::columns::Schema;
use crate::image_shape::ImageShape;
use crate::matrix::Matrix;
use crate::origin::{Location, Origin};

/// Inputs and one target per row, with their names and the place each row came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Registered name, file stem, or the text that a synthetic set was asked for with.
    pub name: String,
    /// How the columns were named and ordered; what a saved model needs to read new rows.
    pub schema: Schema,
    /// # Shapes
    /// `[N, D]`
    pub inputs: Matrix,
    /// What image the inputs of a row are, if they are one.
    pub image: Option<ImageShape>,
    /// Numbers, or the classes of the schema counted from zero.
    ///
    /// # Shapes
    /// `[N]`
    pub targets: Vec<f64>,
    /// The standard deviation of each target's noise, `[N]`, where the source has it.
    pub noise: Option<Vec<f64>>,
    /// The file and line of each row.
    pub origin: Origin,
}

impl Dataset {
    /// Number of rows, N.
    pub fn rows(&self) -> usize {
        self.inputs.rows()
    }

    /// Number of input columns, D.
    pub fn columns(&self) -> usize {
        self.inputs.columns()
    }

    /// Names of the input columns, in the order of the columns of `inputs`.
    pub fn input_names(&self) -> &[String] {
        &self.schema.input_names
    }

    /// Name of the target column.
    pub fn target_name(&self) -> &str {
        &self.schema.target_name
    }

    /// The file and line (or row) that row `index` (from 0) came from.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn location(&self, index: usize) -> Location {
        self.origin.location(index)
    }

    /// The rows named by `indices`, in that order.
    ///
    /// # Panics
    /// When an index is not smaller than [`rows`](Self::rows).
    pub fn select(&self, indices: &[usize]) -> Self {
        let pick = |values: &Vec<f64>| indices.iter().map(|&index| values[index]).collect();
        Self {
            name: self.name.clone(),
            schema: self.schema.clone(),
            inputs: self.inputs.select(indices),
            image: self.image,
            targets: pick(&self.targets),
            noise: self.noise.as_ref().map(pick),
            origin: self.origin.select(indices),
        }
    }
}

/// Rows to predict at: the input columns that a model was trained on, in the model's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// # Shapes
    /// `[N, D]`
    pub inputs: Matrix,
    /// The targets, `[N]`, when the source has the target column too; labels as classes of the
    /// schema counted from zero.
    pub targets: Option<Vec<f64>>,
    /// The standard deviation of each target's noise, `[N]`, when the source has that column.
    pub noise: Option<Vec<f64>>,
    /// Names of columns that are neither an input of the model nor its target.
    pub ignored: Vec<String>,
    /// The file and line of each row.
    pub origin: Origin,
}
