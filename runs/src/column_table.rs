//! The table of the columns of a file and their use, shown before training.

use burn_gp_core::likelihoods::GaussianConfig;
use burn_gp_datasets::{ColumnKind, ColumnReport, Purpose, counted, quoted};

use crate::preparation::PreparedData;

/// The number of columns above which complete numeric columns share one line.
const MOST_LINES: usize = 40;

/// The table of the columns, and lines about places on the Earth, series over time and omitted rows. Empty if the
/// kinds of the columns were not inferred.
pub fn columns_table(data: &PreparedData) -> String {
    if data.columns.is_empty() {
        return String::new();
    }
    let is_plain = |column: &&ColumnReport| {
        column.kind == ColumnKind::Number && column.missing == 0 && is_input(column)
    };
    let opening = data.stream.as_ref().map_or_else(String::new, |stream| {
        format!(
            "{} rows are read during training; the table is based on some of them\n",
            stream.file_rows()
        )
    });
    let is_long = data.columns.len() > MOST_LINES;
    let shown = (data.columns.iter()).filter(|column| !(is_long && is_plain(column)));
    let mut rows = vec![["column", "kind", "values", "missing", "use"].map(str::to_owned)];
    rows.extend(shown.map(cells));
    let mut text = opening + &aligned(&rows);
    let plain = data.columns.iter().filter(is_plain).count();
    if is_long && plain > 0 {
        text += &format!(
            "and {} of numbers without missing values, 1 input each\n",
            counted(plain, "column")
        );
    }
    if let Some([longitude, latitude]) = data.schema.place() {
        text += &format!(
            "{longitude} and {latitude} are read as degrees on the sphere; lengthscales are in km; \
             --kind {}=number turns this off\n",
            quoted(longitude)
        );
    }
    if let Some(time) = time_of_series(data) {
        text += &format!(
            "{time} is the only input; `burn-gp forecast` continues such a series, with its trend and seasons\n"
        );
    }
    if data.left_out > 0 {
        text += &format!(
            "{} left out, which lack the target{}\n",
            counted(data.left_out, "row"),
            if lacks_inputs(data) {
                " or an input"
            } else {
                ""
            }
        );
    }
    text + "\n"
}

/// The column of dates that is the only input of a number, as in a series.
fn time_of_series(data: &PreparedData) -> Option<&str> {
    let mut inputs = data.columns.iter().filter(|column| is_input(column));
    let (only, more) = (inputs.next()?, inputs.next());
    let is_time = only.kind == ColumnKind::Date && more.is_none();
    (is_time && data.likelihood.is::<GaussianConfig>()).then_some(only.name.as_str())
}

fn is_input(column: &ColumnReport) -> bool {
    matches!(column.purpose, Purpose::Inputs(_))
}

/// Whether rows may have been left out because they lack an input.
fn lacks_inputs(data: &PreparedData) -> bool {
    let target = (data.columns.iter()).find(|column| column.purpose == Purpose::Target);
    target.is_none_or(|target| target.missing < data.left_out)
}

fn cells(column: &ColumnReport) -> [String; 5] {
    [
        column.name.clone(),
        column.kind.to_string(),
        column.values.clone(),
        match column.missing {
            0 => String::new(),
            missing => missing.to_string(),
        },
        column.purpose.to_string(),
    ]
}

/// Aligns the columns. The counts of missing values are right-aligned.
fn aligned(rows: &[[String; 5]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |row: &[String; 5]| {
        let [name, kind, values, missing, purpose] = row;
        format!(
            "{name:<0$}  {kind:<1$}  {values:<2$}  {missing:>3$}  {purpose}\n",
            widths[0], widths[1], widths[2], widths[3]
        )
    };
    rows.iter().map(line).collect()
}
