//! The non-empty cells of a sheet.

use std::path::Path;

use calamine::{Data, Ods, Reader, Xls, Xlsb, Xlsx, open_workbook_from_rs};

use super::{Contents, Refusal, archive, binary, open_document};
use crate::allowance::Allowance;

/// The cells of a sheet that are not empty, by row and column.
pub(super) struct Cells(Vec<((u32, u32), Data)>);

/// The format of a workbook.
enum Format {
    /// Excel's binary format, in a compound file.
    Xls,
    Xlsx,
    Xlsb,
    Ods,
}

/// The cells of the first sheet of the workbook that is called `path`.
pub(super) fn first_sheet(
    path: &Path,
    contents: Vec<u8>,
    allowance: &Allowance,
) -> Result<Cells, Refusal> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let format = match extension.to_lowercase().as_str() {
        "xls" => Format::Xls,
        "xlsb" => Format::Xlsb,
        "ods" => Format::Ods,
        _ => Format::Xlsx,
    };
    if let Format::Xls = format {
        let safe = binary::checked(contents, allowance)?;
        let mut book: Xls<Contents> = open_workbook_from_rs(safe).map_err(Refusal::damaged)?;
        return dense(&mut book);
    }
    let contents = archive::checked(contents, allowance)?;
    match format {
        Format::Ods => {
            let contents = open_document::checked(contents, allowance)?;
            let mut book: Ods<Contents> =
                open_workbook_from_rs(contents).map_err(Refusal::damaged)?;
            dense(&mut book)
        }
        Format::Xlsb => {
            let mut book: Xlsb<Contents> =
                open_workbook_from_rs(contents).map_err(Refusal::damaged)?;
            let name = first_name(&book)?;
            let mut reader = book
                .worksheet_cells_reader(&name)
                .map_err(Refusal::damaged)?;
            collect(allowance, || reader.next_cell().map_err(Refusal::damaged))
        }
        Format::Xls | Format::Xlsx => {
            let mut book: Xlsx<Contents> =
                open_workbook_from_rs(contents).map_err(Refusal::damaged)?;
            let name = first_name(&book)?;
            let mut reader = book
                .worksheet_cells_reader(&name)
                .map_err(Refusal::damaged)?;
            collect(allowance, || reader.next_cell().map_err(Refusal::damaged))
        }
    }
}

fn first_name(book: &impl Reader<Contents>) -> Result<String, Refusal> {
    let names = book.sheet_names();
    let first = names.into_iter().next();
    first.ok_or_else(|| Refusal::Damaged("it has no sheet".into()))
}

/// The cells of the first sheet of a workbook that is read as a whole.
fn dense<R: Reader<Contents>>(book: &mut R) -> Result<Cells, Refusal>
where
    R::Error: ToString,
{
    let name = first_name(book)?;
    let sheet = book.worksheet_range(&name).map_err(Refusal::damaged)?;
    let (row, column) = sheet.start().unwrap_or_default();
    let cells = sheet.used_cells().map(|(down, right, value)| {
        let place = (row + down as u32, column + right as u32);
        (place, value.clone())
    });
    Ok(Cells::sorted(cells.collect()))
}

/// Collects the cells that `next` returns. Many cells may share a text.
fn collect<'a>(
    allowance: &Allowance,
    mut next: impl FnMut() -> Result<Option<calamine::Cell<calamine::DataRef<'a>>>, Refusal>,
) -> Result<Cells, Refusal> {
    let (mut cells, mut memory) = (Vec::new(), 0);
    while let Some(cell) = next()? {
        let value = Data::from(cell.get_value().clone());
        if value == Data::Empty {
            continue;
        }
        // A growing list takes up to twice its memory, and a text more than its length.
        memory += 2 * size_of::<((u32, u32), Data)>() as u64;
        if let Data::String(text) = &value {
            memory += (size_of::<Data>() + text.len()) as u64;
        }
        allowance.require(memory)?;
        cells.push((cell.get_position(), value));
    }
    Ok(Cells::sorted(cells))
}

impl Cells {
    /// The cells by position. Of several cells at one position, the last counts.
    fn sorted(mut cells: Vec<((u32, u32), Data)>) -> Self {
        cells.sort_by_key(|(place, _)| *place);
        cells.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                std::mem::swap(next, kept);
            }
            is_same
        });
        Self(cells)
    }

    /// The number of columns from the first to the last with a cell.
    pub fn width(&self) -> usize {
        self.columns()
            .map_or(0, |(first, last)| (last - first) as usize + 1)
    }

    fn columns(&self) -> Option<(u32, u32)> {
        let columns = || self.0.iter().map(|((_, column), _)| *column);
        Some((columns().min()?, columns().max()?))
    }

    /// The number of rows with a cell.
    pub fn rows(&self) -> usize {
        self.0.chunk_by(|one, next| one.0.0 == next.0.0).count()
    }

    /// The rows with a cell, with their numbers from 0. Each has a value for every column.
    pub fn into_rows(self) -> impl Iterator<Item = (u32, Vec<Data>)> {
        let (width, first) = (self.width(), self.columns().map_or(0, |(first, _)| first));
        let mut cells = self.0.into_iter().peekable();
        std::iter::from_fn(move || {
            let row = cells.peek()?.0.0;
            let mut values = vec![Data::Empty; width];
            while let Some(((_, column), value)) = cells.next_if(|(place, _)| place.0 == row) {
                values[(column - first) as usize] = value;
            }
            Some((row, values))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_cells_are_left_out() {
        let cell = |row, column, value| ((row, column), Data::Int(value));
        let cells = vec![cell(9, 4, 1), cell(2, 3, 2), cell(9, 4, 3)];
        let cells = Cells::sorted(cells);
        assert_eq!((cells.rows(), cells.width()), (2, 2));
        let rows: Vec<(u32, Vec<Data>)> = cells.into_rows().collect();
        let (two, three) = (Data::Int(2), Data::Int(3));
        assert_eq!(rows[0], (2, vec![two, Data::Empty]));
        assert_eq!(rows[1], (9, vec![Data::Empty, three]));
    }
}
