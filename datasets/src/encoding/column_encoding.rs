//! Encodes the cells of a column as inputs of a model.

use serde::{Deserialize, Serialize};

use super::cycle::{Cycle, write_date};
use super::dates::DateFormat;
use super::number_notation::NumberNotation;
use crate::class_order::{canonical, number};
use crate::raw_column::{Cell, DeclaredType, RawColumn};
use crate::words;

/// A column of a table and its encoding as inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnEncoding {
    /// The name of the column; `x1`, `x2`, … if the source has no names.
    pub name: String,
    /// The inputs.
    #[serde(flatten)]
    pub encoding: Encoding,
    /// The treatment of empty cells.
    #[serde(default, skip_serializing_if = "Gaps::are_refused")]
    pub gaps: Gaps,
    /// The notation of the numbers, if they are not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notation: Option<NumberNotation>,
}

/// The treatment of empty cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// They are an error, unless a level of a category stands for them.
    #[default]
    Refused,
    /// They are filled with the mean or the median of the training rows.
    Filled,
    /// They are filled, and an additional input is 1 where the cell is empty and 0 elsewhere.
    Marked,
}

impl Gaps {
    fn are_refused(&self) -> bool {
        *self == Self::Refused
    }
}

/// The encoding of a cell as inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Encoding {
    /// The number itself.
    Number,
    /// 0 or 1.
    Boolean {
        /// The text that becomes 0.
        no: String,
        /// The text that becomes 1.
        yes: String,
    },
    /// One input for each level, which is 1 for that level and 0 otherwise, and one for all levels that did
    /// not occur in training.
    Category {
        /// The levels.
        levels: Vec<String>,
        /// Whether the last level stands for an empty cell.
        missing: bool,
    },
    /// Days since the beginning of 1970, and the phases of the cycles.
    Date {
        /// The notation.
        format: DateFormat,
        /// The cycles; each adds the sine and the cosine of its phase.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cycles: Vec<Cycle>,
    },
    /// Degrees of longitude: three inputs, the point in space of the [`Place`](super::Place).
    Longitude {
        /// The name of the column with the latitude.
        latitude: String,
    },
    /// Degrees of latitude: no inputs, because those of the place belong to the longitude.
    Latitude {
        /// The name of the column with the longitude.
        longitude: String,
    },
    /// The number itself, a known term of the function.
    Offset,
    /// The logarithm of a positive number, a known term of the function.
    Exposure,
}

/// The number of inputs of a place.
pub(crate) const PLACE_INPUTS: usize = 3;

/// The maximum number of levels of a category that have separate lengthscales in a kernel.
const FEW_LEVELS: usize = 10;

/// The scale by which an input is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputScale {
    /// The standard deviation of the training rows.
    Deviation,
    /// One number for the three inputs of a place: the root of the mean of their variances.
    OfPlace,
    /// A fixed number. With the standard deviation of an input that is nearly always 0, the rows with a
    /// 1 would be far from all others.
    Fixed(f64),
}

/// The reason why a cell does not fit its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is empty, and no row in training was.
    Missing,
    /// It is not of the column's kind.
    Kind,
    /// It is not a latitude.
    Latitude,
    /// It is not a positive number.
    Exposure,
    /// The level did not occur in training. The inputs are those of an unknown level.
    Level,
}

impl ColumnEncoding {
    /// The column as one number, which may not be missing.
    pub(crate) fn number(name: String) -> Self {
        Self {
            name,
            encoding: Encoding::Number,
            gaps: Gaps::Refused,
            notation: None,
        }
    }

    /// Whether it is one plain number that cannot be missing.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::number(self.name.clone())
    }

    /// Whether a cell may be empty.
    pub(crate) fn takes_gaps(&self) -> bool {
        let has_level = matches!(self.encoding, Encoding::Category { missing: true, .. });
        has_level || self.gaps != Gaps::Refused
    }

    /// Whether the column is a known term of the function, which nothing may stand for.
    pub fn is_known_term(&self) -> bool {
        matches!(self.encoding, Encoding::Offset | Encoding::Exposure)
    }

    fn has_indicator(&self) -> bool {
        self.gaps == Gaps::Marked
    }

    /// The first inputs that share the hyperparameters of a kernel, with a name for all of them: the levels of
    /// a category of more than ten, or the coordinates of a place.
    pub(crate) fn shared(&self) -> Option<(String, usize)> {
        match &self.encoding {
            Encoding::Category { levels, .. } if levels.len() > FEW_LEVELS => {
                Some((self.name.clone(), self.inputs()))
            }
            Encoding::Longitude { latitude } => Some((self.name_of_place(latitude), PLACE_INPUTS)),
            _ => None,
        }
    }

    fn name_of_place(&self, latitude: &str) -> String {
        format!("{}, {latitude} (km)", self.name)
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        usize::from(self.has_indicator())
            + match &self.encoding {
                Encoding::Number
                | Encoding::Boolean { .. }
                | Encoding::Offset
                | Encoding::Exposure => 1,
                Encoding::Category { levels, .. } => levels.len() + 1,
                Encoding::Date { cycles, .. } => 1 + 2 * cycles.len(),
                Encoding::Longitude { .. } => PLACE_INPUTS,
                Encoding::Latitude { .. } => 0,
            }
    }

    /// The names of the inputs.
    pub fn input_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names = match &self.encoding {
            Encoding::Number | Encoding::Offset => vec![name.clone()],
            Encoding::Exposure => vec![format!("logarithm of {name}")],
            Encoding::Boolean { yes, .. } if yes == "1" => vec![name.clone()],
            Encoding::Boolean { yes, .. } => vec![format!("{name}={yes}")],
            Encoding::Category { levels, .. } => {
                let levels = levels.iter().map(|level| format!("{name}={level}"));
                levels.chain([format!("{name}=(other)")]).collect()
            }
            Encoding::Date { cycles, .. } => {
                let phases = cycles.iter().flat_map(|cycle| {
                    ["sine", "cosine"].map(|wave| format!("{name} ({wave} of {})", cycle.name()))
                });
                [name.clone()].into_iter().chain(phases).collect()
            }
            Encoding::Longitude { latitude } => {
                let place = self.name_of_place(latitude);
                ["x", "y", "z"]
                    .map(|axis| format!("{axis} of {place}"))
                    .to_vec()
            }
            Encoding::Latitude { .. } => Vec::new(),
        };
        if self.has_indicator() {
            names.push(format!("{name} is missing"));
        }
        names
    }

    /// The scales of the inputs. Two rows that differ in a boolean are as far from each other as two
    /// rows of different levels.
    pub(crate) fn scales(&self) -> Vec<InputScale> {
        let binary = InputScale::Fixed(0.5f64.sqrt());
        let mut scales = match &self.encoding {
            Encoding::Number => vec![InputScale::Deviation],
            Encoding::Boolean { .. } => vec![binary],
            Encoding::Category { levels, .. } => vec![InputScale::Fixed(1.0); levels.len() + 1],
            Encoding::Date { cycles, .. } => {
                let phases = std::iter::repeat_n(binary, 2 * cycles.len());
                [InputScale::Deviation].into_iter().chain(phases).collect()
            }
            Encoding::Longitude { .. } => vec![InputScale::OfPlace; PLACE_INPUTS],
            Encoding::Latitude { .. } => Vec::new(),
            Encoding::Offset | Encoding::Exposure => vec![InputScale::Fixed(1.0)],
        };
        if self.has_indicator() {
            scales.push(binary);
        }
        scales
    }

    /// Writes the inputs of a cell. `dates` is the notation of the dates in this column, if it differs from
    /// that of training. A missing number is NaN. The inputs of a place are the longitude until the latitude is
    /// known.
    ///
    /// # Errors
    /// [`Unfit`]; the inputs then have no meaning, except for [`Unfit::Level`].
    pub(crate) fn write(
        &self,
        cell: Cell<'_>,
        dates: Option<&DateFormat>,
        inputs: &mut [f64],
    ) -> Result<(), Unfit> {
        let (values, indicator) =
            inputs.split_at_mut(inputs.len() - usize::from(self.has_indicator()));
        if let [indicator] = indicator {
            *indicator = f64::from(u8::from(cell == Cell::Missing));
        }
        match (&self.encoding, cell) {
            (Encoding::Category { levels, missing }, cell) => {
                return write_level(levels, *missing, cell, values);
            }
            (_, Cell::Missing) if self.gaps != Gaps::Refused => values.fill(f64::NAN),
            (_, Cell::Missing) => return Err(Unfit::Missing),
            (Encoding::Number | Encoding::Longitude { .. } | Encoding::Offset, cell) => {
                values.fill(self.number_in(cell).ok_or(Unfit::Kind)?);
            }
            (Encoding::Latitude { .. }, cell) => {
                let latitude = self.number_in(cell).ok_or(Unfit::Kind)?;
                if latitude.abs() > 90.0 {
                    return Err(Unfit::Latitude);
                }
            }
            (Encoding::Exposure, cell) => {
                let exposure = self.number_in(cell).ok_or(Unfit::Kind)?;
                if exposure <= 0.0 {
                    return Err(Unfit::Exposure);
                }
                values[0] = exposure.ln();
            }
            (Encoding::Boolean { no, yes }, cell) => {
                let two = [no.clone(), yes.clone()];
                let position = words::position(&two, &label(cell));
                values[0] = position.ok_or(Unfit::Kind)? as f64;
            }
            (Encoding::Date { format, cycles }, cell) => {
                let days = dates.and_then(|dates| dates.days_in(cell));
                let days = days.or_else(|| format.days_in(cell));
                write_date(days.ok_or(Unfit::Kind)?, cycles, values);
            }
        }
        Ok(())
    }

    /// The number in a cell, in the notation of the column.
    pub(crate) fn number_in(&self, cell: Cell<'_>) -> Option<f64> {
        let value = match cell {
            Cell::Text(text) => self.notation.as_ref().and_then(|own| own.parse(text)),
            Cell::Number(_) | Cell::Missing => None,
        };
        value.or(cell.number())
    }

    /// The notation of the dates in a column of new rows, if it differs from that of training: days in a
    /// source that stores dates, texts where training had such days, or dates that begin with the year.
    pub(crate) fn notation_of_dates(&self, column: &RawColumn) -> Option<DateFormat> {
        let Encoding::Date { format, .. } = &self.encoding else {
            return None;
        };
        if column.declared == Some(DeclaredType::Date) {
            return Some(DateFormat::days());
        }
        if column.texts().is_empty() && *format == DateFormat::days() {
            return DateFormat::of_numbers(column.numbers());
        }
        let texts = column.texts().iter().map(String::as_str);
        if texts.clone().all(|text| format.days_of(text).is_some()) {
            return None;
        }
        let own = DateFormat::of(texts, None).ok().flatten()?;
        let own = if format.is_local() { own.local() } else { own };
        (*format == DateFormat::days() || own.has_year_in_front()).then_some(own)
    }

    /// The values that a cell of the column may have, unless they are numbers.
    pub(crate) fn expected(&self) -> Option<String> {
        match &self.encoding {
            Encoding::Number
            | Encoding::Longitude { .. }
            | Encoding::Latitude { .. }
            | Encoding::Offset
            | Encoding::Exposure => None,
            Encoding::Boolean { no, yes } => Some(format!("{no:?} and {yes:?}")),
            Encoding::Category { .. } => Some("categories".into()),
            Encoding::Date { .. } => Some("dates or times of another format".into()),
        }
    }

    /// Whether a cell is one of the column's own levels, even if it is a common marker of a gap.
    pub(crate) fn is_level(&self, cell: Cell<'_>) -> bool {
        match &self.encoding {
            Encoding::Boolean { no, yes } => [no, yes].contains(&&label(cell)),
            Encoding::Category { levels, .. } => levels.contains(&label(cell)),
            Encoding::Number
            | Encoding::Date { .. }
            | Encoding::Longitude { .. }
            | Encoding::Latitude { .. }
            | Encoding::Offset
            | Encoding::Exposure => false,
        }
    }

    /// Writes the inputs of a gap where training had none: the mean or, for a category, an unknown level.
    pub(crate) fn write_gap(&self, inputs: &mut [f64]) {
        match &self.encoding {
            Encoding::Category { levels, .. } => {
                inputs.fill(0.0);
                inputs[levels.len()] = 1.0;
            }
            _ => inputs.fill(f64::NAN),
        }
    }
}

fn write_level(
    levels: &[String],
    missing: bool,
    cell: Cell<'_>,
    values: &mut [f64],
) -> Result<(), Unfit> {
    let position = match cell {
        Cell::Missing if missing => Some(levels.len() - 1),
        Cell::Missing => return Err(Unfit::Missing),
        cell => {
            let label = label(cell);
            let named = levels.len() - usize::from(missing);
            words::position(&levels[..named], &label)
        }
    };
    values.fill(0.0);
    values[position.unwrap_or(levels.len())] = 1.0;
    position.map(|_| ()).ok_or(Unfit::Level)
}

/// The text of a cell as a level; empty for a gap.
pub(super) fn label(cell: Cell<'_>) -> String {
    match cell {
        Cell::Number(value) => number(value),
        Cell::Text(text) => canonical(text),
        Cell::Missing => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(encoding: &ColumnEncoding, cell: Cell<'_>) -> Result<Vec<f64>, Unfit> {
        let mut inputs = vec![9.0; encoding.inputs()];
        encoding.write(cell, None, &mut inputs).map(|()| inputs)
    }

    fn column(encoding: Encoding, gaps: Gaps) -> ColumnEncoding {
        ColumnEncoding {
            name: "c".into(),
            encoding,
            gaps,
            notation: None,
        }
    }

    #[test]
    fn numbers_with_and_without_gaps() {
        let strict = ColumnEncoding::number("c".into());
        assert_eq!(written(&strict, Cell::Number(2.0)), Ok(vec![2.0]));
        assert_eq!(written(&strict, Cell::Missing), Err(Unfit::Missing));
        assert_eq!(written(&strict, Cell::Text("a")), Err(Unfit::Kind));
        let gaps = column(Encoding::Number, Gaps::Marked);
        assert_eq!(written(&gaps, Cell::Number(2.0)), Ok(vec![2.0, 0.0]));
        let gap = written(&gaps, Cell::Missing).unwrap();
        assert!(gap[0].is_nan() && gap[1] == 1.0);
        assert_eq!(gaps.input_names(), ["c", "c is missing"]);
    }

    #[test]
    fn levels_that_are_new_have_an_input_of_their_own() {
        let levels = ["a", "b", "missing"].map(str::to_owned).to_vec();
        let of = |missing| {
            let levels = levels.clone();
            column(Encoding::Category { levels, missing }, Gaps::Refused)
        };
        let with_gaps = of(true);
        assert_eq!(
            with_gaps.input_names(),
            ["c=a", "c=b", "c=missing", "c=(other)"]
        );
        assert_eq!(
            written(&with_gaps, Cell::Text("b")),
            Ok(vec![0.0, 1.0, 0.0, 0.0])
        );
        assert_eq!(
            written(&with_gaps, Cell::Missing),
            Ok(vec![0.0, 0.0, 1.0, 0.0])
        );
        assert_eq!(written(&of(false), Cell::Missing), Err(Unfit::Missing));
        let mut inputs = [9.0; 4];
        assert_eq!(
            with_gaps.write(Cell::Number(3.0), None, &mut inputs),
            Err(Unfit::Level)
        );
        assert_eq!(inputs, [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn cycles_are_sines_and_cosines() {
        let format = DateFormat::days();
        let cycles = vec![Cycle::Day];
        let date = column(Encoding::Date { format, cycles }, Gaps::Refused);
        let inputs = written(&date, Cell::Number(1.25)).unwrap();
        let expected = [1.25, 1.0, 0.0];
        for (found, expected) in inputs.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{inputs:?}");
        }
        assert_eq!(
            date.input_names(),
            ["c", "c (sine of day)", "c (cosine of day)"]
        );
    }

    #[test]
    fn encodings_survive_json() {
        let encoding = column(
            Encoding::Boolean {
                no: "No".into(),
                yes: "Yes".into(),
            },
            Gaps::Marked,
        );
        let text = serde_json::to_string(&encoding).unwrap();
        assert_eq!(
            serde_json::from_str::<ColumnEncoding>(&text).unwrap(),
            encoding
        );
        assert_eq!(encoding.input_names(), ["c=Yes", "c is missing"]);
    }
}
