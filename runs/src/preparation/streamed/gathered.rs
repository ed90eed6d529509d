//! Rows of a streamed file that stay in memory.

use std::sync::Arc;

use burn_gp_datasets::{
    BlockFile, Companion, Features, Matrix, RowAttributes, RowRole, Standardizer,
};

use super::super::{Part, RowSource, rows::Rows};
use super::places::target;

/// The maximum number of rows to keep. More only occur if very many rows have the same inputs.
const MOST: usize = 1_000_000;

/// Rows in the units of the file.
pub struct Gathered {
    columns: usize,
    /// The numbers of the rows in the file, from 0.
    numbers: Vec<usize>,
    inputs: Vec<f64>,
    targets: Vec<f64>,
    companion: Option<(Companion, Vec<f64>)>,
    ids: Vec<String>,
}

impl Gathered {
    /// Creates an empty set of rows with `columns` inputs.
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            numbers: Vec::new(),
            inputs: Vec::new(),
            targets: Vec::new(),
            companion: None,
            ids: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds a row of a block. `number` is its number in the file.
    pub fn push(&mut self, number: usize, features: &Features, row: usize, id: Option<&str>) {
        if self.numbers.len() >= MOST {
            return;
        }
        self.numbers.push(number);
        self.inputs.extend_from_slice(features.inputs.row(row));
        self.targets.push(target(features, row));
        for kind in [Companion::Noise, Companion::Trials] {
            if let Some(values) = features.attributes.numbers(kind) {
                let (_, own) = self.companion.get_or_insert((kind, Vec::new()));
                own.push(values[row]);
            }
        }
        self.ids.extend(id.map(str::to_owned));
    }

    /// The rows, standardized.
    pub fn part(&self, file: &BlockFile, standardizer: &Standardizer) -> Part {
        let inputs = Matrix::new(self.numbers.len(), self.columns, self.inputs.clone());
        let all: Vec<usize> = (0..self.numbers.len()).collect();
        let mut attributes = RowAttributes::default();
        if let Some((kind, values)) = &self.companion {
            attributes.insert(*kind, values.clone());
        }
        if !self.ids.is_empty() {
            attributes.insert_texts(RowRole::Id, self.ids.clone());
        }
        let rows = Rows {
            source: Arc::new(RowSource {
                origin: file.origin(&self.numbers),
                kept: Some(self.numbers.clone()),
            }),
            inputs: &inputs,
            targets: &self.targets,
            attributes: &attributes,
        };
        rows.part(&all, standardizer)
    }
}
