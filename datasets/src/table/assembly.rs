//! Turns the cells of a source into the numbers of a table.

use super::{Table, row_values::row_values};
use crate::classes::LabelReader;
use crate::columns::{Layout, NewRows, Request, Role, Schema, SourceColumn, TargetColumn};
use crate::dataset::UnfitRow;
use crate::encoding::{ColumnReport, Encoding, PLACE_INPUTS, Place, Unfit};
use crate::error::{CellError, ColumnError, DataError, FileError};
use crate::interpretation;
use crate::number;
use crate::origin::Origin;
use crate::raw_column::{Cell, DeclaredType};
use crate::raw_table::RawTable;
use crate::row_role::RowRole;

/// A cell that cannot be used.
struct Fault {
    /// The row in the source, from 0.
    row: usize,
    position: usize,
    unfit: Unfit,
}

impl Table {
    /// The columns of a source selected by `request`, as numbers.
    ///
    /// # Errors
    /// If the layout of the request or [`interpretation::interpret`] fails, or a cell cannot be used.
    pub fn assemble(mut raw: RawTable, request: Request<'_>) -> Result<Self, DataError> {
        let mut layout = request.layout(raw.origin.source(), raw.columns.clone())?;
        let (reports, rows) = interpreted(&mut raw, &mut layout, request)?;
        require_readable(&raw, &layout)?;
        let (mut fills_gaps, mut kept) = (false, Vec::new());
        if let Request::Prediction(schema, new) = request {
            require_header(&raw, schema, new)?;
            interpretation::check_names(&raw, new.keep.named())?;
            fills_gaps = new.fill_gaps && !schema.refuses_gaps;
            let texts = |position| (raw.columns.name(position), raw.texts(position, &rows));
            kept = request.kept(&raw.columns).into_iter().map(texts).collect();
            for (position, column) in raw.cells.iter_mut().enumerate() {
                column.clear(|cell| layout.is_gap(position, cell));
            }
        }
        let is_lenient = matches!(
            request,
            Request::Prediction(_, NewRows { lenient: true, .. })
        );
        let may_be_blank = matches!(request, Request::Prediction(..));
        let mut faults = Vec::new();
        let Inputs {
            values: inputs,
            unseen,
            filled,
        } = inputs(&raw, &layout, &rows, fills_gaps, &mut faults);
        let labels = layout.labels.is_some().then(LabelReader::default);
        let mut table = Self {
            inputs,
            labels,
            unseen,
            filled,
            texts: kept,
            reports,
            is_lenient,
            ..Self::empty(layout, Origin::rows("", 0))
        };
        if table.layout.has_intervals() {
            table.read_limits(&raw, &rows, may_be_blank, &mut faults);
        } else {
            table.read_targets(&raw, &rows, may_be_blank, &mut faults);
            table.read_companion(&raw, &rows, &mut faults);
        }
        table.refuse(&raw, faults, is_lenient)?;
        table.left_out = raw.rows() - rows.len();
        if let Request::Training(roles) = request {
            let id = position(&raw, roles.rows.get(&RowRole::Id));
            table.id = id.map(|position| raw.columns.name(position));
            table.attributes = row_values(&raw, roles, &rows)?;
        }
        (table.origin, table.kept) = match rows.len() == raw.rows() {
            true => (raw.origin, None),
            false => (raw.origin.select(&rows), Some(rows)),
        };
        Ok(table)
    }

    fn read_targets(
        &mut self,
        raw: &RawTable,
        rows: &[usize],
        may_be_blank: bool,
        faults: &mut Vec<Fault>,
    ) {
        let Some(position) = self.layout.target() else {
            return;
        };
        let column = &raw.cells[position];
        for &row in rows {
            let target = match (column.cell(row), &mut self.labels) {
                (Cell::Missing, _) if may_be_blank => Ok(f64::NAN),
                (Cell::Missing, _) => Err(Unfit::Missing),
                (Cell::Number(value), Some(labels)) => Ok(labels.position_of_number(value)),
                (Cell::Text(text), Some(labels)) => Ok(labels.position_of(text)),
                (cell, None) => self.layout.number_of_target(cell).ok_or(Unfit::Kind),
            };
            faults.extend(target.err().map(|unfit| Fault {
                row,
                position,
                unfit,
            }));
            self.targets.push(target.unwrap_or(f64::NAN));
        }
    }

    /// Reads the lower and upper limits of targets. A limit that a row lacks is infinite, unless it lacks both.
    fn read_limits(
        &mut self,
        raw: &RawTable,
        rows: &[usize],
        may_be_blank: bool,
        faults: &mut Vec<Fault>,
    ) {
        let (target, companion) = (self.layout.target(), self.layout.companion());
        let (Some(target), Some((companion, _))) = (target, companion) else {
            return;
        };
        for &row in rows {
            let mut limit = |position: usize, none: f64| {
                let cell = raw.cells[position].cell(row);
                let value = match cell {
                    Cell::Missing => Some(none),
                    cell => self.layout.number_of_target(cell).or(infinite(cell, none)),
                };
                faults.extend(value.is_none().then_some(Fault {
                    row,
                    position,
                    unfit: Unfit::Kind,
                }));
                value.unwrap_or(f64::NAN)
            };
            let mut limits = (
                limit(target, f64::NEG_INFINITY),
                limit(companion, f64::INFINITY),
            );
            if limits == (f64::NEG_INFINITY, f64::INFINITY) {
                limits = (f64::NAN, f64::NAN);
                faults.extend((!may_be_blank).then_some(Fault {
                    row,
                    position: target,
                    unfit: Unfit::Missing,
                }));
            }
            self.targets.push(limits.0);
            self.companion.push(limits.1);
        }
    }

    fn read_companion(&mut self, raw: &RawTable, rows: &[usize], faults: &mut Vec<Fault>) {
        let Some((position, _)) = self.layout.companion() else {
            return;
        };
        for &row in rows {
            let value = match raw.cells[position].cell(row) {
                Cell::Missing => Err(Unfit::Missing),
                cell => cell.number().ok_or(Unfit::Kind),
            };
            faults.extend(value.err().map(|unfit| Fault {
                row,
                position,
                unfit,
            }));
            self.companion.push(value.unwrap_or(f64::NAN));
        }
    }

    /// Fails on the first fault, or lists the rows with faults.
    fn refuse(
        &mut self,
        raw: &RawTable,
        mut faults: Vec<Fault>,
        is_lenient: bool,
    ) -> Result<(), DataError> {
        faults.sort_by_key(|fault| (fault.row, fault.position));
        // A row without a known term is no row like the others, so even lenient readers stop there.
        let is_input = |fault: &Fault| match self.layout.roles[fault.position] {
            Role::Input(input) => !self.layout.encoded[input].encoding.is_known_term(),
            _ => false,
        };
        for fault in &faults {
            let error = error(raw, &self.layout, fault);
            if !is_lenient || !is_input(fault) {
                return Err(error);
            }
            if self.unfit.last().is_none_or(|last| last.row != fault.row) {
                self.unfit.push(UnfitRow {
                    row: fault.row,
                    reason: error.to_string(),
                });
            }
        }
        let width = self.layout.inputs;
        for unfit in &self.unfit {
            self.inputs[unfit.row * width..(unfit.row + 1) * width].fill(f64::NAN);
        }
        Ok(())
    }
}

/// The infinite limit `none`, if a cell says so.
fn infinite(cell: Cell<'_>, none: f64) -> Option<f64> {
    match cell {
        Cell::Text(text) => text.parse().ok().filter(|value: &f64| *value == none),
        _ => None,
    }
}

/// The reports of columns whose kinds are inferred, and the rows that are kept.
fn interpreted(
    raw: &mut RawTable,
    layout: &mut Layout,
    request: Request<'_>,
) -> Result<(Vec<ColumnReport>, Vec<usize>), DataError> {
    let inputs = match request {
        Request::Training(roles) if !roles.inputs.is_strict() => &roles.inputs,
        _ => return Ok((Vec::new(), (0..raw.rows()).collect())),
    };
    if raw.rows() == 1 {
        return Err(DataError::File(FileError::OneRow(raw.origin.location(0))));
    }
    let reports = interpretation::interpret(raw, layout, inputs)?;
    let rows = interpretation::complete_rows(raw, layout);
    match rows.is_empty() {
        true => Err(DataError::Column(ColumnError::NoCompleteRows(
            raw.origin.source().to_owned(),
        ))),
        false => Ok((reports, rows)),
    }
}

/// The inputs of rows.
struct Inputs {
    /// `[N, D]`
    values: Vec<f64>,
    /// The columns with levels that did not occur in training, and the numbers of such rows.
    unseen: Vec<(String, usize)>,
    /// The columns with gaps that are filled although training had none, and the numbers of such rows.
    filled: Vec<(String, usize)>,
}

/// The inputs of the rows. Gaps that training did not have are filled or become faults.
fn inputs(
    raw: &RawTable,
    layout: &Layout,
    rows: &[usize],
    fills_gaps: bool,
    faults: &mut Vec<Fault>,
) -> Inputs {
    let width = layout.inputs;
    let mut inputs = vec![0.0; rows.len() * width];
    let (mut first, mut unseen, mut filled) = (0, Vec::new(), Vec::new());
    let mut sources = vec![None; layout.encoded.len()];
    for (position, role) in layout.roles.iter().enumerate() {
        if let Role::Input(input) = role {
            sources[*input] = Some(position);
        }
    }
    for (column, source) in layout.encoded.iter().zip(sources) {
        let encoding = &column.encoding;
        let after = first + encoding.inputs();
        let Some(position) = source else {
            unreachable!("the input {:?} has no column", encoding.name);
        };
        let dates = encoding.notation_of_dates(&raw.cells[position]);
        let (mut count, mut gaps) = (0, 0);
        for (&row, inputs) in rows.iter().zip(inputs.chunks_exact_mut(width)) {
            let cell = raw.cells[position].cell(row);
            match encoding.write(cell, dates.as_ref(), &mut inputs[first..after]) {
                Ok(()) => {}
                Err(Unfit::Level) => count += 1,
                Err(Unfit::Missing) if fills_gaps && !encoding.is_known_term() => {
                    encoding.write_gap(&mut inputs[first..after]);
                    gaps += 1;
                }
                Err(unfit) => faults.push(Fault {
                    row,
                    position,
                    unfit,
                }),
            }
        }
        if count > 0 {
            unseen.push((encoding.name.clone(), count));
        }
        if gaps > 0 {
            filled.push((encoding.name.clone(), gaps));
        }
        first = after;
    }
    place_points(raw, layout, rows, &mut inputs);
    Inputs {
        values: inputs,
        unseen,
        filled,
    }
}

/// Turns the longitudes among the inputs into points in space. Without a longitude or a latitude, the point is
/// missing.
fn place_points(raw: &RawTable, layout: &Layout, rows: &[usize], inputs: &mut [f64]) {
    let is_longitude =
        |column: &SourceColumn| matches!(column.encoding.encoding, Encoding::Longitude { .. });
    let is_latitude =
        |column: &SourceColumn| matches!(column.encoding.encoding, Encoding::Latitude { .. });
    let (Some(longitude), Some(latitude)) = (
        layout.encoded.iter().position(is_longitude),
        layout.encoded.iter().position(is_latitude),
    ) else {
        return;
    };
    let before = layout.encoded[..longitude].iter();
    let first: usize = before.map(|column| column.encoding.inputs()).sum();
    let source = (layout.roles.iter()).position(|role| *role == Role::Input(latitude));
    let encoding = &layout.encoded[latitude].encoding;
    for (&row, inputs) in rows.iter().zip(inputs.chunks_exact_mut(layout.inputs)) {
        let cell = source.map(|position| raw.cells[position].cell(row));
        let latitude = cell.and_then(|cell| encoding.number_in(cell));
        let place = Place {
            longitude: inputs[first],
            latitude: latitude.unwrap_or(f64::NAN),
        };
        let is_known = !place.longitude.is_nan() && !place.latitude.is_nan();
        let point = is_known.then(|| place.point());
        inputs[first..first + PLACE_INPUTS].copy_from_slice(&point.unwrap_or([f64::NAN; 3]));
    }
}

/// Requires a header if the model's inputs have names, unless the user says that there is none.
fn require_header(raw: &RawTable, schema: &Schema, rows: &NewRows) -> Result<(), DataError> {
    match raw.columns.names.is_none() && schema.named && rows.lenient && rows.header != Some(false)
    {
        true => Err(DataError::Column(ColumnError::HeaderMissing(
            raw.origin.source().to_owned(),
        ))),
        false => Ok(()),
    }
}

/// The position of a column whose role the layout has checked.
fn position(raw: &RawTable, column: Option<&TargetColumn>) -> Option<usize> {
    column?.position("", "", &raw.columns).ok()
}

/// Columns with a role must have a type that is read.
fn require_readable(raw: &RawTable, layout: &Layout) -> Result<(), DataError> {
    for (position, (column, role)) in raw.cells.iter().zip(&layout.roles).enumerate() {
        if let (Some(DeclaredType::Unreadable(kind)), true) =
            (&column.declared, *role != Role::Ignored)
        {
            return Err(DataError::Column(ColumnError::ColumnType {
                source_name: raw.origin.source().to_owned(),
                column: layout.label(position),
                kind: kind.clone(),
            }));
        }
    }
    Ok(())
}

fn error(raw: &RawTable, layout: &Layout, fault: &Fault) -> DataError {
    let location = raw.origin.location(fault.row);
    let column = layout.label(fault.position);
    let text = match raw.cells[fault.position].cell(fault.row) {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => text.to_owned(),
        Cell::Missing => String::new(),
    };
    let expected = match layout.roles[fault.position] {
        Role::Input(input) => layout.encoded[input].encoding.expected(),
        _ => None,
    };
    match (fault.unfit, expected) {
        (Unfit::Latitude, _) => DataError::Cell(CellError::NotALatitude {
            location,
            column,
            text,
        }),
        (Unfit::Exposure, _) => DataError::Cell(CellError::NotAnExposure {
            location,
            column,
            text,
        }),
        (Unfit::Kind, Some(expected)) => DataError::Cell(CellError::NotOfKind {
            location,
            column,
            text,
            expected,
        }),
        _ => {
            let is_target = layout.roles[fault.position] == Role::Target;
            number::refused(&text).at(location, column, is_target, text.as_bytes())
        }
    }
}
