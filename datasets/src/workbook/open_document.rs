//! Checks an OpenDocument spreadsheet, in which one cell can stand for many.

use std::io::BufReader;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{Contents, Refusal, archive};
use crate::allowance::Allowance;

/// The maximum numbers of rows and columns that are read.
const MOST_ROWS: u64 = 1 << 20;
const MOST_COLUMNS: u64 = 1 << 14;

/// The memory of a cell and its formula, each of which is stored twice.
const CELL: u64 = 120;

/// The document, if its elements are complete, and its tables take no more memory than the allowance.
pub(super) fn checked(contents: Contents, allowance: &Allowance) -> Result<Contents, Refusal> {
    let mut files = ZipArchive::new(contents).map_err(Refusal::damaged)?;
    elements(&mut files, "META-INF/manifest.xml", |_, _, _| Ok(()))?;
    let mut tables = Tables::default();
    elements(&mut files, "content.xml", |event, name, at| {
        tables.add(event, name, at);
        allowance.require(tables.memory())?;
        Ok(())
    })?;
    Ok(files.into_inner())
}

/// The start or the end of an element.
enum Edge<'a> {
    Start(&'a BytesStart<'a>),
    End,
}

/// Calls `act` for every start and end of an element of a file, with its name and its position. All elements
/// must end.
fn elements(
    files: &mut ZipArchive<Contents>,
    file: &str,
    mut act: impl FnMut(Edge<'_>, &str, u64) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let file = files.by_name(file).map_err(Refusal::damaged)?;
    let mut reader = Reader::from_reader(BufReader::new(file));
    reader.config_mut().expand_empty_elements = true;
    let (mut buffer, mut open) = (Vec::new(), 0usize);
    loop {
        buffer.clear();
        let at = reader.buffer_position();
        match reader
            .read_event_into(&mut buffer)
            .map_err(Refusal::damaged)?
        {
            Event::Start(start) => {
                open += 1;
                act(Edge::Start(&start), start.name().as_ref(), at)?;
            }
            Event::End(end) => {
                open -= 1;
                act(Edge::End, end.name().as_ref(), reader.buffer_position())?;
            }
            Event::Eof if open == 0 => return Ok(()),
            Event::Eof => return Err(Refusal::Damaged("it is cut off".into())),
            _ => {}
        }
    }
}

/// The sizes of tables with repeated rows and cells expanded.
#[derive(Default)]
struct Tables {
    /// The memory of the tables before this one, in bytes.
    before: u64,
    /// The number of rows of this table up to the last with a value, and of all its rows.
    filled_rows: u64,
    rows: u64,
    /// The maximum over the rows of the number of columns up to the last with a value.
    width: u64,
    /// The number of cells, with repeated rows counted once, and the bytes of texts, with all repetitions.
    cells: u64,
    texts: u64,
    row: Row,
}

/// A row of a table.
#[derive(Default)]
struct Row {
    repeated: u64,
    /// The number of columns up to the last with a value, and of all columns.
    filled: u64,
    columns: u64,
    /// The position and the number of repetitions of the open cell, if it has a value.
    cell: Option<(u64, u64)>,
    texts: u64,
}

impl Tables {
    fn add(&mut self, edge: Edge<'_>, name: &str, at: u64) {
        match (edge, name) {
            (Edge::Start(_), "table:table") => {
                *self = Self {
                    before: self.memory(),
                    ..Self::default()
                };
            }
            (Edge::Start(element), "table:table-row") => {
                let repeated = archive::attribute(element, "table:number-rows-repeated");
                self.row = Row {
                    repeated: repeated.unwrap_or(1).min(MOST_ROWS),
                    ..Row::default()
                };
            }
            (Edge::End, "table:table-row") => self.end_row(),
            (Edge::Start(element), "table:table-cell" | "table:covered-table-cell") => {
                self.row.begin_cell(element, at);
            }
            (Edge::End, "table:table-cell" | "table:covered-table-cell") => self.row.end_cell(at),
            _ => {}
        }
    }

    fn end_row(&mut self) {
        let row = &self.row;
        self.rows = (self.rows + row.repeated).min(MOST_ROWS);
        if row.filled > 0 {
            self.filled_rows = self.rows;
        }
        self.width = self.width.max(row.filled);
        self.cells = self.cells.saturating_add(row.columns);
        let texts = row.texts.saturating_mul(row.repeated);
        self.texts = self.texts.saturating_add(texts);
    }

    fn memory(&self) -> u64 {
        let table = self.filled_rows.saturating_mul(self.width);
        let cells = table.saturating_add(self.cells).saturating_mul(CELL);
        let texts = self.texts.saturating_mul(2);
        self.before.saturating_add(cells).saturating_add(texts)
    }
}

impl Row {
    fn begin_cell(&mut self, element: &BytesStart<'_>, at: u64) {
        let repeated = archive::attribute(element, "table:number-columns-repeated");
        let repeated = repeated.unwrap_or(1).min(MOST_COLUMNS);
        self.columns = (self.columns + repeated).min(MOST_COLUMNS);
        let mut attributes = element.attributes();
        let mut attributes = attributes.with_checks(false).flatten();
        let has_value = attributes.any(|attribute| {
            let key = attribute.key.as_ref();
            key.starts_with("office:") || key == "table:formula"
        });
        if has_value {
            self.filled = self.columns;
            self.cell = Some((at, repeated));
        }
    }

    fn end_cell(&mut self, at: u64) {
        if let Some((start, repeated)) = self.cell.take() {
            let text = at.saturating_sub(start).saturating_mul(repeated);
            self.texts = self.texts.saturating_add(text);
        }
    }
}
