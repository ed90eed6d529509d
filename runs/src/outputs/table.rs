//! Tables of several outputs, whose cells may be empty.

use std::collections::{BTreeMap, HashMap};

use burn_gp_datasets::{
    ColumnError, ColumnRoles, DataError, DataSource, Dataset, FileError, InputColumns,
    MissingValues, RowRole, Schema, TargetColumn, counted,
};

use crate::arguments::RunOptions;
use crate::failure::Failure;

/// Inputs with the targets of several outputs.
#[derive(Debug)]
pub struct OutputsTable {
    /// The name of the data.
    pub data: String,
    /// The names of the outputs: columns, or texts in the column of tasks.
    pub outputs: Vec<String>,
    /// The columns of the inputs, with each output as the target; a single one for a column of tasks.
    pub schemas: Vec<Schema>,
    /// The column that names the output of each row, if there is one.
    pub task_column: Option<String>,
    /// The position of each row in the source; of the first of them, where several are one row here.
    pub positions: Vec<usize>,
    /// `[N, D]`, row-major
    pub inputs: Vec<f64>,
    /// `[N, P]`, row-major; NaN where a cell is empty
    pub targets: Vec<f64>,
    /// The number of rows of the source without any target, or without an input.
    pub left_out: usize,
}

/// Where the outputs of a table are.
#[derive(Clone, Debug)]
pub enum OutputColumns {
    /// A column for each output.
    Each(Vec<String>),
    /// One column of targets, and one that names the output of each row.
    Tasks(String),
}

impl OutputsTable {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// If the data cannot be read, a column does not exist or is named twice, or an output has no values.
    pub fn read(
        source: &DataSource,
        columns: &OutputColumns,
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        match columns {
            OutputColumns::Each(names) => Self::of_columns(source, names, options),
            OutputColumns::Tasks(column) => Self::of_tasks(source, column, options),
        }
    }

    /// The number of inputs, D.
    pub fn dimensions(&self) -> usize {
        self.schemas[0].input_names.len()
    }

    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.positions.len()
    }

    /// The targets of one output in some rows; NaN where empty.
    pub fn targets_of(&self, output: usize, rows: &[usize]) -> Vec<f64> {
        let outputs = self.outputs.len();
        rows.iter()
            .map(|row| self.targets[row * outputs + output])
            .collect()
    }

    /// The table is read once for each output, with the others left out, so that rows without this output are left
    /// out, too; the inputs of a row are the same every time.
    fn of_columns(
        source: &DataSource,
        names: &[String],
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        if let Some(twice) =
            (names.iter().enumerate()).find(|(place, name)| names[..*place].contains(name))
        {
            return Err(Failure::Arguments(format!(
                "--targets names {} twice",
                twice.1
            )));
        }
        let read = |name: &String| {
            let others = names.iter().filter(|other| *other != name).cloned();
            let mut roles = roles(source, options, Some(name));
            roles.inputs.without.extend(others);
            let data = source.load_columns(&roles);
            let data = data.and_then(Dataset::checked_magnitudes);
            data.map_err(|error| of_target(name, error))
        };
        let tables = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut rows: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (output, table) in tables.iter().enumerate() {
            for row in 0..table.rows() {
                let position = table.kept.as_ref().map_or(row, |kept| kept[row]);
                let own = rows.entry(position);
                let (_, targets) = own.or_insert_with(|| {
                    (table.inputs.row(row).to_vec(), vec![f64::NAN; names.len()])
                });
                targets[output] = table.targets[row];
            }
        }
        let all = tables
            .iter()
            .map(|table| table.rows() + table.left_out)
            .max();
        Ok(Self {
            data: tables[0].name.clone(),
            outputs: names.to_vec(),
            task_column: None,
            schemas: tables.into_iter().map(|table| table.schema).collect(),
            left_out: all.unwrap_or(0) - rows.len(),
            positions: rows.keys().copied().collect(),
            inputs: rows
                .values()
                .flat_map(|(inputs, _)| inputs.clone())
                .collect(),
            targets: rows
                .into_values()
                .flat_map(|(_, targets)| targets)
                .collect(),
        })
    }

    /// Rows with equal inputs become one, as far as their outputs differ.
    fn of_tasks(source: &DataSource, column: &str, options: &RunOptions) -> Result<Self, Failure> {
        let roles = roles(source, options, options.target.as_ref());
        let roles = roles.with(RowRole::Group, TargetColumn::Name(column.to_owned()));
        let table: Dataset = source.load_columns(&roles)?.checked_magnitudes()?;
        let tasks = table.attributes.texts(RowRole::Group).unwrap_or_default();
        let mut outputs = tasks.to_vec();
        outputs.sort_unstable();
        outputs.dedup();
        let outputs: Vec<String> = outputs
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect();
        if outputs.len() < 2 {
            return Err(Failure::Arguments(format!(
                "--task-column {column} has {}; several outputs need two or more",
                counted(outputs.len(), "different text")
            )));
        }
        let mut places: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
        let (mut positions, mut inputs) = (Vec::<usize>::new(), Vec::<f64>::new());
        let mut targets = Vec::<f64>::new();
        for (row, task) in tasks.iter().enumerate() {
            let Ok(output) = outputs.binary_search(task) else {
                continue;
            };
            let values = table.inputs.row(row);
            let same = places.entry(values.iter().map(|value| value.to_bits()).collect());
            let same = same.or_default();
            let free = |place: &&usize| {
                let cell: &f64 = &targets[**place * outputs.len() + output];
                cell.is_nan()
            };
            let place = match same.iter().find(free) {
                Some(place) => *place,
                None => {
                    same.push(positions.len());
                    positions.push(table.kept.as_ref().map_or(row, |kept| kept[row]));
                    inputs.extend(values);
                    targets.extend(vec![f64::NAN; outputs.len()]);
                    positions.len() - 1
                }
            };
            targets[place * outputs.len() + output] = table.targets[row];
        }
        Ok(Self {
            data: table.name.clone(),
            outputs,
            task_column: Some(column.to_owned()),
            left_out: table.left_out,
            schemas: vec![table.schema],
            positions,
            inputs,
            targets,
        })
    }
}

/// The roles of the columns. Rows without an input are left out.
fn roles(source: &DataSource, options: &RunOptions, target: Option<&String>) -> ColumnRoles {
    let target = target.map_or(TargetColumn::Last, |name| TargetColumn::Name(name.clone()));
    ColumnRoles {
        target,
        inputs: InputColumns {
            missing: MissingValues::Drop,
            ..options.input_columns(source)
        },
        ..ColumnRoles::default()
    }
}

/// The failure to read the table with this target, in the words of these options.
fn of_target(name: &str, error: DataError) -> Failure {
    match error {
        DataError::Column(ColumnError::NoCompleteRows(source_name)) => Failure::Arguments(format!(
            "{source_name}: target column '{name}' has no values in rows with all inputs"
        )),
        DataError::File(FileError::OneRow(_)) => Failure::Arguments(format!(
            "target column '{name}' has a single value; an output needs two or more"
        )),
        // The other targets are left out of the inputs.
        DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            option: "--drop",
            name,
            columns,
            nearest,
        }) => DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            option: "--targets",
            name,
            columns,
            nearest,
        })
        .into(),
        error => error.into(),
    }
}
