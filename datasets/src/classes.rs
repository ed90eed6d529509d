//! Class labels with any text, numbered from zero.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::class_order::{ClassOrder, canonical, number};
use crate::natural_order;
use crate::words;

/// The ordered labels of a target. The k-th label is class k, counted from zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classes {
    names: Vec<String>,
}

impl Classes {
    /// Creates classes from names, ignoring duplicates. If all names are numbers, they are sorted
    /// by value; otherwise they are sorted alphabetically, with numbers within names compared by
    /// value.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<String> = names.into_iter().collect();
        let value = |name: &String| name.parse::<f64>();
        if names.iter().all(|name| value(name).is_ok()) {
            names.sort_by(|a, b| match (value(a), value(b)) {
                // Whole numbers with many digits may round to the same value.
                (Ok(x), Ok(y)) => x.total_cmp(&y).then_with(|| natural_order::compare(a, b)),
                _ => a.cmp(b),
            });
        } else {
            names.sort_by(|a, b| natural_order::compare(a, b));
        }
        names.dedup();
        Self { names }
    }

    /// The classes of an order, with the lowest as class 0.
    pub fn in_order(order: &ClassOrder) -> Self {
        Self {
            names: order.labels().to_vec(),
        }
    }

    /// The class order.
    pub(crate) fn order(&self) -> ClassOrder {
        ClassOrder::of(self.names.clone())
    }

    /// Whether the order of [`new`](Self::new) is an order of numbers: the labels are numbers, or
    /// texts that differ only in numbers. Also true for two classes, for which the order does not
    /// matter.
    pub fn are_told_by_numbers(&self) -> bool {
        let is_number = |name: &String| name.parse::<f64>().is_ok();
        self.count() < 3
            || self.names.iter().all(is_number)
            || natural_order::is_told_by_numbers(&self.names)
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The labels as they occur in the data, in class order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A label that is not one of the classes, and its row.
#[derive(Debug, PartialEq)]
pub(crate) struct UnknownLabel {
    pub row: usize,
    pub label: String,
}

/// Collects labels in order of first appearance while a source is read.
#[derive(Default)]
pub(crate) struct LabelReader {
    names: Vec<String>,
    positions: HashMap<String, usize>,
}

impl LabelReader {
    /// The position of a label, which may be new.
    pub fn position_of(&mut self, text: &str) -> f64 {
        self.position(canonical(text))
    }

    /// Like [`position_of`](Self::position_of), for a source of numbers.
    pub fn position_of_number(&mut self, value: f64) -> f64 {
        self.position(number(value))
    }

    fn position(&mut self, label: String) -> f64 {
        if let Some(&position) = self.positions.get(&label) {
            return position as f64;
        }
        let position = self.names.len();
        self.positions.insert(label.clone(), position);
        self.names.push(label);
        position as f64
    }

    /// All classes found.
    pub fn classes(&self) -> Classes {
        Classes::new(self.names.iter().cloned())
    }

    /// Converts positions to class numbers, `[N]`; NaN stays. Labels that are not one of the classes become NaN, too,
    /// and are returned with their rows.
    pub fn encode(&self, positions: &[f64], classes: &Classes) -> (Vec<f64>, Vec<UnknownLabel>) {
        let numbers: Vec<Option<f64>> = (self.names.iter())
            .map(|label| {
                let class = words::position(&classes.names, label);
                class.map(|class| class as f64)
            })
            .collect();
        let mut unknown = Vec::new();
        let encoded = positions.iter().enumerate().map(|(row, &position)| {
            if position.is_nan() {
                return position;
            }
            let position = position as usize;
            numbers[position].unwrap_or_else(|| {
                let label = self.names[position].clone();
                unknown.push(UnknownLabel { row, label });
                f64::NAN
            })
        });
        (encoded.collect(), unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_and_other_texts_by_alphabet() {
        let classes = |names: &[&str]| Classes::new(names.iter().map(|&name| name.to_owned()));
        assert_eq!(classes(&["10", "9", "-1"]).names(), ["-1", "9", "10"]);
        assert_eq!(
            classes(&["b", "a", "10", "9"]).names(),
            ["9", "10", "a", "b"]
        );
        assert_eq!(
            classes(&["grade 10", "grade 2"]).names(),
            ["grade 2", "grade 10"]
        );
        assert_eq!(classes(&["b", "b"]).count(), 1);
        let (low, high) = ("9007199254740992", "9007199254740993");
        assert_eq!(classes(&[high, low, high, "7"]).names(), ["7", low, high]);
    }

    #[test]
    fn one_label_in_several_forms() {
        let mut reader = LabelReader::default();
        let texts = ["2", "1", " 2.0", "1e0", "-0"];
        let positions = texts.map(|text| reader.position_of(text));
        assert_eq!(reader.position_of_number(0.0), 2.0);
        let encoded = reader.encode(&positions, &reader.classes());
        assert_eq!(encoded, (vec![2.0, 1.0, 2.0, 1.0, 0.0], Vec::new()));
    }
}
