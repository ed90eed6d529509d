//! Rows of values, divided into inputs and target.

mod assembly;
mod row_values;

use crate::class_order::ClassOrder;
use crate::classes::{Classes, LabelReader, UnknownLabel};
use crate::columns::{ColumnRoles, Columns, Companion, Labels, Layout, Request, Role};
use crate::dataset::{Dataset, Features, UnfitRow};
use crate::encoding::ColumnReport;
use crate::error::{CellError, ColumnError, DataError, FileError};
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::row_attributes::RowAttributes;
use crate::standardizer::is_constant;

/// The rows of a source as numbers. Missing values are NaN.
pub(crate) struct Table {
    pub layout: Layout,
    /// `[N, D]`, row-major.
    pub inputs: Vec<f64>,
    /// `[N]`, or empty if the layout has no target; positions in `labels`, if there are any.
    pub targets: Vec<f64>,
    /// The values of the column that says more about each target, `[N]`, or empty if the layout has none.
    pub companion: Vec<f64>,
    /// The labels of a text source.
    pub labels: Option<LabelReader>,
    pub origin: Origin,
    /// The columns of the source, if their kinds were inferred.
    pub reports: Vec<ColumnReport>,
    /// The positions of the rows in the source, `[N]`, if some were left out.
    pub kept: Option<Vec<usize>>,
    /// The number of rows that were left out.
    pub left_out: usize,
    /// The columns whose texts are kept, `[N]` each, with their names.
    pub texts: Vec<(String, Vec<String>)>,
    /// The name of the column that names the rows.
    pub id: Option<String>,
    /// The attributes of the rows besides the companion, which becomes one when it is checked.
    pub attributes: RowAttributes,
    /// Whether faults of single cells are listed instead of being an error.
    pub is_lenient: bool,
    /// The labels that are not known, if they are not an error.
    pub unknown_labels: Vec<UnknownLabel>,
    /// Rows that cannot be predicted.
    pub unfit: Vec<UnfitRow>,
    /// For every column, the number of cells with levels that did not occur in training.
    pub unseen: Vec<(String, usize)>,
    /// For every column, the number of gaps that were filled although training had none.
    pub filled: Vec<(String, usize)>,
}

impl Table {
    /// Creates a table of named columns without rows, with capacity for `rows` of them. Images take
    /// hundreds of megabytes, so they should not be moved.
    pub fn with_columns(
        source: &str,
        names: Vec<String>,
        rows: usize,
        request: Request<'_>,
    ) -> Result<Self, DataError> {
        let count = names.len();
        let names = Some(names);
        let layout = request.layout(source, Columns { names, count })?;
        let inputs = Vec::with_capacity(rows * layout.inputs);
        let origin = Origin::rows(source, 0);
        Ok(Self {
            inputs,
            ..Self::empty(layout, origin)
        })
    }

    fn empty(layout: Layout, origin: Origin) -> Self {
        Self {
            layout,
            inputs: Vec::new(),
            targets: Vec::new(),
            companion: Vec::new(),
            labels: None,
            origin,
            reports: Vec::new(),
            kept: None,
            left_out: 0,
            texts: Vec::new(),
            id: None,
            attributes: RowAttributes::default(),
            is_lenient: false,
            unknown_labels: Vec::new(),
            unfit: Vec::new(),
            unseen: Vec::new(),
            filled: Vec::new(),
        }
    }

    /// Appends a row with one value per column.
    pub fn push(&mut self, row: impl Iterator<Item = f64>) {
        let first = self.inputs.len();
        self.inputs.resize(first + self.layout.inputs, 0.0);
        for (value, role) in row.zip(&self.layout.roles) {
            match role {
                Role::Input(input) => self.inputs[first + input] = value,
                Role::Target => self.targets.push(value),
                Role::Companion(_) => self.companion.push(value),
                Role::Ignored => {}
            }
        }
        self.origin.push_row();
    }

    /// Replaces the targets of a numeric source by names, if labels are requested.
    pub fn name_labels(&mut self, name: impl Fn(f64) -> &'static str) {
        if self.layout.labels.is_some() {
            let mut reader = LabelReader::default();
            for target in &mut self.targets {
                *target = reader.position_of(name(*target));
            }
            self.labels = Some(reader);
        }
    }

    /// Replaces the targets of a numeric source by positions among their labels, if labels are
    /// requested.
    fn read_labels(&mut self) {
        if self.layout.labels.is_some() && self.labels.is_none() {
            let mut reader = LabelReader::default();
            for target in &mut self.targets {
                *target = reader.position_of_number(*target);
            }
            self.labels = Some(reader);
        }
    }

    /// The classes of the targets, if these are labels. The targets are then replaced by class
    /// numbers.
    ///
    /// # Errors
    /// [`CellError::UnknownLabel`] for labels that are not among the known classes;
    /// [`CellError::LabelNotInOrder`], [`ColumnError::OrderedLabelMissing`] and
    /// [`ColumnError::OrderUnknown`] for labels whose order matters.
    fn encode_labels(&mut self) -> Result<Option<Classes>, DataError> {
        self.read_labels();
        let (Some(reader), Some(labels)) = (&self.labels, &self.layout.labels) else {
            return Ok(None);
        };
        let classes = match (&self.layout.classes, labels) {
            (Some(known), _) => known.clone(),
            (None, Labels::InOrder(order)) => self.in_order(order, reader)?,
            (None, labels) => {
                let classes = reader.classes();
                if *labels == Labels::Ordered && !classes.are_told_by_numbers() {
                    return Err(self.order_unknown(&classes));
                }
                classes
            }
        };
        let (encoded, unknown) = reader.encode(&self.targets, &classes);
        if let (Some(first), false) = (unknown.first(), self.is_lenient) {
            return Err(self.unknown_label(first, labels, &classes));
        }
        (self.targets, self.unknown_labels) = (encoded, unknown);
        Ok(Some(classes))
    }

    fn unknown_label(
        &self,
        unknown: &UnknownLabel,
        labels: &Labels,
        classes: &Classes,
    ) -> DataError {
        let location = self.origin.location(unknown.row);
        let label = unknown.label.clone();
        DataError::Cell(match labels {
            Labels::InOrder(order) => CellError::LabelNotInOrder {
                location,
                label,
                order: order.clone(),
            },
            Labels::Unordered | Labels::Ordered => CellError::UnknownLabel {
                location,
                label,
                classes: classes.names().to_vec(),
            },
        })
    }

    /// The classes of an order, each of which must occur in some row.
    fn in_order(&self, order: &ClassOrder, reader: &LabelReader) -> Result<Classes, DataError> {
        let found = reader.classes();
        match (order.labels().iter()).find(|label| !found.names().contains(label)) {
            Some(label) => Err(DataError::Column(ColumnError::OrderedLabelMissing {
                source_name: self.origin.source().to_owned(),
                label: label.clone(),
                order: order.clone(),
                labels: found.names().to_vec(),
            })),
            None => Ok(Classes::in_order(order)),
        }
    }

    fn order_unknown(&self, classes: &Classes) -> DataError {
        DataError::Column(ColumnError::OrderUnknown {
            source_name: self.origin.source().to_owned(),
            column: self.layout.label(self.layout.target().unwrap_or(0)),
            guess: classes.order(),
        })
    }

    /// The attributes of the rows, with the companion of their targets.
    fn attributes(&mut self) -> Result<RowAttributes, DataError> {
        let mut attributes = std::mem::take(&mut self.attributes);
        let Some((position, kind)) = self.layout.companion() else {
            return Ok(attributes);
        };
        let found = match kind {
            Companion::Noise => self.noise_fault(position),
            Companion::RowNoise => self.row_noise_fault(position),
            Companion::Trials => self.trials_fault(position),
            Companion::Upper if self.targets.is_empty() => return Ok(attributes),
            Companion::Upper => self.limits_fault(position),
        };
        if let Some(fault) = found {
            return Err(DataError::Cell(fault));
        }
        attributes.insert(kind, std::mem::take(&mut self.companion));
        Ok(attributes)
    }

    /// The first noise that is not positive.
    fn noise_fault(&self, position: usize) -> Option<CellError> {
        let mut noise = self.companion.iter();
        let row = noise.position(|&value| value.is_nan() || value <= 0.0)?;
        Some(CellError::NoiseNotPositive {
            location: self.origin.location(row),
            column: self.layout.label(position),
            value: self.companion[row],
        })
    }

    /// The first noise besides trained noise that is negative or not a number.
    fn row_noise_fault(&self, position: usize) -> Option<CellError> {
        let mut noise = self.companion.iter();
        let row = noise.position(|&value| !value.is_finite() || value < 0.0)?;
        Some(CellError::NoiseNegative {
            location: self.origin.location(row),
            column: self.layout.label(position),
            value: self.companion[row],
        })
    }

    /// The first number of trials that is not a positive whole number, or of successes that is not possible among
    /// them.
    fn trials_fault(&self, position: usize) -> Option<CellError> {
        let is_whole = |value: f64| value.is_finite() && value.fract() == 0.0;
        let fault = |(row, &trials): (usize, &f64)| {
            let location = self.origin.location(row);
            if !is_whole(trials) || trials < 1.0 {
                return Some(CellError::TrialsNotCounted {
                    location,
                    column: self.layout.label(position),
                    value: trials,
                });
            }
            let successes = self.targets.get(row).copied().unwrap_or(f64::NAN);
            let is_possible = is_whole(successes) && (0.0..=trials).contains(&successes);
            // A row to predict may lack its target.
            (!successes.is_nan() && !is_possible).then(|| CellError::SuccessesBeyondTrials {
                location,
                column: self.layout.label(self.layout.target().unwrap_or_default()),
                value: successes,
                trials,
            })
        };
        self.companion.iter().enumerate().find_map(fault)
    }

    /// The first upper limit that is below the lower one.
    fn limits_fault(&self, position: usize) -> Option<CellError> {
        let mut limits = self.targets.iter().zip(&self.companion);
        let row = limits.position(|(lower, upper)| upper < lower)?;
        Some(CellError::LimitsReversed {
            location: self.origin.location(row),
            column: self.layout.label(position),
            value: self.companion[row],
            lower: self.targets[row],
        })
    }

    /// Whether all targets are equal up to rounding. Intervals are equal if their limits are.
    fn is_constant(&self) -> bool {
        match self.layout.has_intervals() {
            false => is_constant(self.targets.iter().copied()),
            true => {
                let limits = self.targets.iter().zip(&self.companion);
                limits.clone().all(|own| Some(own) == limits.clone().next())
            }
        }
    }

    /// Converts the table to training data.
    ///
    /// # Errors
    /// [`FileError::OneRow`], [`ColumnError::ConstantTarget`], and the errors about noise, trials, limits and the order
    /// of labels.
    pub fn into_dataset(
        mut self,
        name: String,
        target: usize,
        allows_constant: bool,
    ) -> Result<Dataset, DataError> {
        let rows = self.targets.len();
        if rows == 1 {
            return Err(DataError::File(FileError::OneRow(self.origin.location(0))));
        }
        let classes = self.encode_labels()?;
        if !allows_constant && self.is_constant() {
            return Err(DataError::Column(ColumnError::ConstantTarget {
                source_name: self.origin.source().to_owned(),
                column: self.layout.label(target),
                value: match &classes {
                    Some(classes) => classes.names()[0].clone(),
                    None if self.targets.iter().all(|&value| value == self.targets[0]) => {
                        self.targets[0].to_string()
                    }
                    None => format!("{}, up to rounding,", self.targets[0]),
                },
            }));
        }
        Ok(Dataset {
            name,
            attributes: self.attributes()?,
            schema: self.layout.schema(target, classes, self.id),
            inputs: Matrix::new(rows, self.layout.inputs, self.inputs),
            image: None,
            targets: self.targets,
            origin: self.origin,
            columns: self.reports,
            kept: self.kept,
            left_out: self.left_out,
        })
    }

    /// Converts the table to rows to predict.
    ///
    /// # Errors
    /// [`CellError::UnknownLabel`], and the errors about noise, trials and limits.
    pub fn into_features(mut self) -> Result<Features, DataError> {
        let has_target = self.layout.target().is_some();
        let rows = self.inputs.len() / self.layout.inputs;
        if has_target {
            self.encode_labels()?;
        }
        let has_target = has_target && self.targets.iter().any(|target| !target.is_nan());
        Ok(Features {
            attributes: self.attributes()?,
            inputs: Matrix::new(rows, self.layout.inputs, self.inputs),
            targets: has_target.then_some(self.targets),
            ignored: self.layout.ignored(),
            origin: self.origin,
            unfit: self.unfit,
            unseen: self.unseen,
            filled: self.filled,
            unknown_labels: counted(self.unknown_labels),
            kept: self.texts,
        })
    }
}

/// The labels, each with the number of its rows, in order of appearance.
fn counted(unknown: Vec<UnknownLabel>) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for UnknownLabel { label, .. } in unknown {
        match found.iter_mut().find(|(own, _)| *own == label) {
            Some((_, count)) => *count += 1,
            None => found.push((label, 1)),
        }
    }
    found
}

/// Reads a source as training data. `read` receives the request for all columns.
pub(crate) fn training(
    name: String,
    roles: &ColumnRoles,
    read: impl FnOnce(Request<'_>) -> Result<Table, DataError>,
) -> Result<Dataset, DataError> {
    let table = read(Request::Training(roles))?;
    match table.layout.target() {
        Some(position) => table.into_dataset(name, position, roles.allows_constant_target),
        None => Err(DataError::Column(ColumnError::NoInputs(
            table.origin.source().to_owned(),
        ))),
    }
}
