//! Rows of numbers read from a source, already sorted into inputs and target.

use crate::columns::{Columns, Layout, Request, Role, TargetColumn};
use crate::dataset::{Dataset, Features};
use crate::error::DataError;
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::standardizer::is_constant;

/// What a reader hands over: finite numbers only, every row complete.
pub(crate) struct Table {
    pub layout: Layout,
    /// `[N, D]`, row-major.
    pub inputs: Vec<f64>,
    /// `[N]`, or empty when the layout has no target.
    pub targets: Vec<f64>,
    pub origin: Origin,
}

impl Table {
    /// A table of named columns that is in memory already.
    ///
    /// `values` is `[N, names.len()]`, row-major.
    pub fn from_rows(
        source: &str,
        names: Vec<String>,
        values: &[f64],
        request: Request<'_>,
    ) -> Result<Self, DataError> {
        let count = names.len();
        let names = Some(names);
        let layout = request.layout(source, Columns { names, count })?;
        let rows = values.len() / count;
        let mut inputs = vec![0.0; rows * layout.inputs];
        let mut targets = Vec::new();
        let places = inputs.chunks_exact_mut(layout.inputs);
        for (row, place) in values.chunks_exact(count).zip(places) {
            for (&value, role) in row.iter().zip(&layout.roles) {
                match role {
                    Role::Input(input) => place[*input] = value,
                    Role::Target => targets.push(value),
                    Role::Ignored => {}
                }
            }
        }
        Ok(Self {
            layout,
            inputs,
            targets,
            origin: Origin::rows(source, rows),
        })
    }

    /// The table as training data.
    ///
    /// # Errors
    /// [`DataError::OneRow`] and [`DataError::ConstantTarget`].
    pub fn into_dataset(self, name: String, target: usize) -> Result<Dataset, DataError> {
        let rows = self.targets.len();
        if rows == 1 {
            return Err(DataError::OneRow {
                location: self.origin.location(0),
            });
        }
        if is_constant(self.targets.iter().copied()) {
            return Err(DataError::ConstantTarget {
                source_name: self.origin.source().to_owned(),
                column: self.layout.label(target),
                value: self.targets[0],
            });
        }
        Ok(Dataset {
            name,
            schema: self.layout.schema(target),
            inputs: Matrix::new(rows, self.layout.inputs, self.inputs),
            targets: self.targets,
            origin: self.origin,
        })
    }

    /// The table as rows to predict at.
    pub fn into_features(self) -> Features {
        let has_target = self.layout.target().is_some();
        let rows = self.inputs.len() / self.layout.inputs;
        Features {
            inputs: Matrix::new(rows, self.layout.inputs, self.inputs),
            targets: has_target.then_some(self.targets),
            ignored: self.layout.ignored(),
            origin: self.origin,
        }
    }
}

/// Reads a source as training data: `read` is given the request for all columns.
pub(crate) fn training(
    name: String,
    target: &TargetColumn,
    read: impl FnOnce(Request<'_>) -> Result<Table, DataError>,
) -> Result<Dataset, DataError> {
    let table = read(Request::Training(target))?;
    match table.layout.target() {
        Some(position) => table.into_dataset(name, position),
        None => Err(DataError::NoInputs {
            source_name: table.origin.source().to_owned(),
        }),
    }
}
