//! The user's options for the input columns of a table.

use serde::{Deserialize, Serialize};

use super::dates::DateOrder;
use super::kind::ColumnKind;
use super::number_notation::DecimalMark;
use crate::column_value::{ColumnValue, OfColumn};

/// Which columns of a table become inputs, and how.
///
/// By default, all columns except the target and its noise are numbers without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputColumns {
    /// Whether the kinds of the columns are inferred; otherwise they are numbers.
    pub inferred: bool,
    /// Whether the first line is a header; if `None`, it is one unless all its fields are numbers.
    pub header: Option<bool>,
    /// The names of the only columns that become inputs.
    pub only: Option<Vec<String>>,
    /// The names of columns that are left out.
    pub without: Vec<String>,
    /// The kinds of columns that are given rather than inferred.
    pub kinds: Vec<KindOfColumn>,
    /// The name of the column with a known term of the function. It is one input, in its own units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// The name of the column with positive exposures. It is one input, their logarithms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// The treatment of missing values.
    pub missing: MissingValues,
    /// The only texts and numbers that mark a missing value; if `None`, the common markers such as `NA`,
    /// except where they are more likely classes.
    pub missing_values: Option<Vec<String>>,
    /// The treatment of dates and times.
    pub time: Time,
    /// The decimal mark, if the numbers do not show it.
    pub decimal: Option<DecimalMark>,
    /// The order of day and month in ambiguous dates.
    pub date_order: Option<DateOrder>,
    /// Whether times with an offset from universal time stay those of the local clock; otherwise they become
    /// universal times.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local_times: bool,
}

/// The kind of a column, `zip=category`.
pub type KindOfColumn = ColumnValue<ColumnKind>;

impl OfColumn for ColumnKind {
    const FORM: &'static str = "COLUMN=KIND, such as zip=category";
}

/// The treatment of missing values in inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingValues {
    /// They become the mean of the training rows, and an additional input marks where they were. An
    /// empty cell of a category is its own level.
    #[default]
    Indicator,
    /// They become the mean of the training rows.
    Mean,
    /// They become the median of the training rows.
    Median,
    /// Rows with missing values are left out.
    Drop,
    /// They are an error.
    Refuse,
}

/// The treatment of dates and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// They become numbers.
    #[default]
    Linear,
    /// They become numbers, together with the sines and cosines of their phases in the year, the week and
    /// the day.
    Cyclic,
}

impl InputColumns {
    /// Whether all columns are numbers without gaps.
    pub(crate) fn is_strict(&self) -> bool {
        let strict = Self {
            header: self.header,
            ..Self::default()
        };
        *self == strict
    }

    /// The columns that are known terms of the function, each with what it is called and its kind.
    pub(crate) fn known_terms(&self) -> impl Iterator<Item = (&'static str, ColumnKind, &str)> {
        let all = [
            ("offset", ColumnKind::Offset, &self.offset),
            ("exposure", ColumnKind::Exposure, &self.exposure),
        ];
        let given = all.into_iter();
        given.filter_map(|(purpose, kind, name)| Some((purpose, kind, name.as_deref()?)))
    }

    /// The kind that the user gave for the column.
    pub(crate) fn kind_of(&self, name: &str) -> Option<ColumnKind> {
        let mut known = self.known_terms();
        if let Some((_, kind, _)) = known.find(|(.., own)| *own == name) {
            return Some(kind);
        }
        let mut kinds = self.kinds.iter().rev();
        let found = kinds.find(|kind| kind.column == name);
        found.map(|kind| kind.value)
    }

    /// Whether the user left the column out.
    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        let is = |other: &String| other == name;
        if self.known_terms().any(|(.., own)| own == name) {
            return false;
        }
        let only = self.only.as_ref();
        self.without.iter().any(is) || only.is_some_and(|only| !only.iter().any(is))
    }

    /// The named columns, each with the option that names it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let only = self.only.iter().flatten().map(|name| ("--inputs", name));
        let without = self.without.iter().map(|name| ("--drop", name));
        let kinds = self.kinds.iter().map(|kind| ("--kind", &kind.column));
        let offset = self.offset.iter().map(|name| ("--offset", name));
        let exposure = self.exposure.iter().map(|name| ("--exposure", name));
        let all = only.chain(without).chain(kinds);
        let all = all.chain(offset).chain(exposure);
        all.map(|(option, name)| (option, name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_columns_are_texts() {
        let kind: KindOfColumn = "a=b=category".parse().unwrap();
        assert_eq!(
            (kind.column.as_str(), kind.value),
            ("a=b", ColumnKind::Category)
        );
        assert_eq!(kind.to_string().parse(), Ok(kind));
        let error = |text: &str| text.parse::<KindOfColumn>().unwrap_err().to_string();
        assert_eq!(
            error("zip"),
            "\"zip\" is not of the form COLUMN=KIND, such as zip=category"
        );
        assert_eq!(
            error("zip=text"),
            "\"text\" is not a kind of column; choose one of number, boolean, category, date, longitude and latitude"
        );
    }
}
