//! New rows for a model of several outputs: with a column for each output, or with one that names the output of each
//! row.

use burn_gp_datasets::{DataSource, Features, KeptColumns, NewRows, Origin, Schema};

use super::files::OutputsContext;
use crate::failure::Failure;

/// New rows with their known targets.
pub struct OutputRows {
    /// `[N, D]`
    pub inputs: Vec<Vec<f64>>,
    /// `[N, P]`, row-major; NaN where unknown
    pub targets: Vec<f64>,
    /// The output of each row, if a column names it.
    pub tasks: Option<Vec<usize>>,
    /// The file and line of each row.
    pub origin: Origin,
}

impl OutputRows {
    /// Reads the rows.
    ///
    /// # Errors
    ///
    /// If the data cannot be read, or a row names an output that the model does not have.
    pub fn read(
        source: &DataSource,
        context: &OutputsContext,
        header: Option<bool>,
    ) -> Result<Self, Failure> {
        let wanted = NewRows {
            header,
            lenient: false,
            fill_gaps: false,
            keep: match context.task_column {
                Some(_) => KeptColumns::All,
                None => KeptColumns::None,
            },
        };
        let load = |schema: &Schema| source.load_new_rows(schema, &wanted);
        let first = load(&context.schemas[0])?;
        let (count, outputs) = (first.inputs.rows(), context.outputs.len());
        let tasks = tasks(&first, context)?;
        let mut targets = vec![f64::NAN; count * outputs];
        if let Some(tasks) = &tasks {
            let known = first.targets.iter().flatten();
            for ((row, task), y) in tasks.iter().enumerate().zip(known) {
                targets[row * outputs + task] = *y;
            }
        } else if context.schemas.len() == outputs {
            for (output, schema) in context.schemas.iter().enumerate() {
                let known = load(schema)?.targets.unwrap_or_default();
                for (row, y) in known.iter().enumerate() {
                    targets[row * outputs + output] = *y;
                }
            }
        }
        let inputs = (0..count).map(|row| first.inputs.row(row).to_vec());
        Ok(Self {
            inputs: inputs.collect(),
            targets,
            tasks,
            origin: first.origin,
        })
    }

    /// The known targets, `[N, P]`.
    pub fn known(&self, outputs: usize) -> Vec<Vec<f64>> {
        let rows = self.targets.chunks_exact(outputs);
        rows.map(<[f64]>::to_vec).collect()
    }

    /// Fails unless every row has a known target.
    ///
    /// # Errors
    ///
    /// For the first row without one.
    pub fn require_known(&self, context: &OutputsContext) -> Result<(), Failure> {
        let rows = self.targets.chunks_exact(context.outputs.len());
        let empty = |targets: &[f64]| targets.iter().all(|target| target.is_nan());
        match rows.into_iter().position(empty) {
            None => Ok(()),
            Some(row) => Err(Failure::Arguments(format!(
                "{}: no target of {} is known; fill one in or remove the row",
                self.origin.location(row),
                context.outputs.join(", ")
            ))),
        }
    }

    /// Fails unless the known targets can be told from these rows.
    ///
    /// # Errors
    ///
    /// If the model has a column of tasks, and the rows do not.
    pub fn require_targets(&self, what: &str, context: &OutputsContext) -> Result<(), Failure> {
        match (&context.task_column, &self.tasks) {
            (Some(column), None) => Err(Failure::Arguments(format!(
                "{what} needs the columns {column:?}, which names the output of each row, and {:?}, as in training",
                context.schemas[0].target_name
            ))),
            _ => Ok(()),
        }
    }
}

/// The output of each row, if a column names it.
fn tasks(rows: &Features, context: &OutputsContext) -> Result<Option<Vec<usize>>, Failure> {
    let Some(texts) = rows.texts_of(context.task_column.as_deref()) else {
        return Ok(None);
    };
    let output = |(row, text): (usize, &String)| {
        let found = context.outputs.iter().position(|name| name == text);
        found.ok_or_else(|| {
            Failure::Arguments(format!(
                "{}: {text:?} in column {:?} is no output of the model; it has {}",
                rows.origin.location(row),
                context.task_column.as_deref().unwrap_or_default(),
                context.outputs.join(", ")
            ))
        })
    };
    let each: Result<Vec<usize>, Failure> = texts.iter().enumerate().map(output).collect();
    each.map(Some)
}
