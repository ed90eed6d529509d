//! Predictions as CSV or JSON lines.

use std::collections::BTreeSet;

use burn_gp_core::metrics::likeliest_classes;
use burn_gp_datasets::Classes;
use serde_json::{Value as Json, json};

use crate::csv_text::csv_text;
use crate::evaluation::InOriginalUnits;

/// A table of predictions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictionTable {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    values: Vec<Value>,
    /// Whether the values are predictions.
    is_predicted: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Row(usize),
    Number(f64),
    Text(String),
    Empty,
}

/// A draw at all points.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Numbers, `[N]`.
    Numbers(Vec<f64>),
    /// Labels, `[N]`.
    Labels(Vec<String>),
}

impl PredictionTable {
    /// A table of draws at rows with these numbers, each with its name.
    pub fn of_draws(rows: impl Iterator<Item = usize>, draws: Vec<(String, Draw)>) -> Self {
        let mut table = Self::default();
        table.add("row", rows.map(Value::Row).collect(), false);
        for (name, draw) in draws {
            let values = match draw {
                Draw::Numbers(values) => values.into_iter().map(number).collect(),
                Draw::Labels(labels) => labels.into_iter().map(Value::Text).collect(),
            };
            table.add(&name, values, true);
        }
        table
    }

    /// A table of the predictions of rows with these numbers: `row,[y,]mean,std,lower,upper[,level]` and the
    /// quantiles, or `row,[y,]label` and the probability of each class.
    ///
    /// `lower` and `upper` are the ends of the central interval. `level`, for known targets, is the smallest
    /// confidence level whose interval contains the target. `label` is the most likely label.
    pub fn new(
        rows: impl Iterator<Item = usize>,
        predictions: &InOriginalUnits,
        classes: Option<&Classes>,
    ) -> Self {
        let mut table = Self::default();
        table.add("row", rows.map(Value::Row).collect(), false);
        match classes {
            Some(classes) => table.add_classes(predictions, classes),
            None => table.add_numbers(predictions),
        }
        table
    }

    /// A table of rows with these numbers, without predictions.
    pub fn of_rows(rows: impl Iterator<Item = usize>) -> Self {
        let mut table = Self::default();
        table.add("row", rows.map(Value::Row).collect(), false);
        table
    }

    /// The rows of all tables in the order of their numbers. Columns that a table lacks, such as the probability of a
    /// label that its model does not know, are empty there.
    pub fn stacked(tables: Vec<Self>) -> Self {
        let mut stacked = Self::default();
        let mut rows = 0;
        for table in tables {
            let count = table.rows();
            for column in table.columns {
                let mut known = stacked.columns.iter_mut();
                match known.find(|known| known.name == column.name) {
                    Some(known) => known.values.extend(column.values),
                    None => {
                        let mut values = vec![Value::Empty; rows];
                        values.extend(column.values);
                        stacked.columns.push(Column { values, ..column });
                    }
                }
            }
            rows += count;
            let columns = stacked.columns.iter_mut();
            columns.for_each(|column| column.values.resize(rows, Value::Empty));
        }
        stacked.sorted()
    }

    /// The same rows in the order of their numbers.
    fn sorted(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        if let Some(numbers) = self.columns.first() {
            order.sort_by_key(|&row| match numbers.values[row] {
                Value::Row(number) => number,
                _ => usize::MAX,
            });
        }
        for column in &mut self.columns {
            column.values = order
                .iter()
                .map(|&row| column.values[row].clone())
                .collect();
        }
        self
    }

    fn add(&mut self, name: &str, values: Vec<Value>, is_predicted: bool) {
        if !values.is_empty() {
            self.columns.push(Column {
                name: name.to_owned(),
                values,
                is_predicted,
            });
        }
    }

    fn add_numbers(&mut self, predictions: &InOriginalUnits) {
        let numbers = |values: &[f64]| values.iter().map(|&value| number(value)).collect();
        self.add("y", numbers(&predictions.observed), false);
        let predicted = [
            ("mean", &predictions.mean),
            ("std", &predictions.standard_deviation),
            ("lower", &predictions.interval.lower),
            ("upper", &predictions.interval.upper),
            ("level", &predictions.central_level),
        ];
        for (name, values) in predicted {
            self.add(name, numbers(values), true);
        }
        for (probability, values) in &predictions.quantiles {
            self.add(&format!("quantile {probability}"), numbers(values), true);
        }
    }

    fn add_classes(&mut self, predictions: &InOriginalUnits, classes: &Classes) {
        let name = |class: usize| Value::Text(classes.names()[class].clone());
        let observed = predictions
            .observed
            .iter()
            .map(|class| match class.is_nan() {
                true => Value::Empty,
                false => name(*class as usize),
            });
        self.add("y", observed.collect(), false);
        let count = classes.count();
        let probabilities = &predictions.probabilities;
        let likeliest = likeliest_classes(probabilities, count);
        self.add(
            "label",
            likeliest.iter().map(|&(label, _)| name(label)).collect(),
            true,
        );
        for (class, label) in classes.names().iter().enumerate() {
            let of_class = probabilities.iter().skip(class).step_by(count);
            let values = of_class.map(|&value| number(value)).collect();
            self.add(&format!("probability of {label}"), values, true);
        }
    }

    /// Inserts columns of the data after the row numbers.
    pub fn carrying(mut self, columns: Vec<(String, Vec<String>)>) -> Self {
        for (position, (name, texts)) in columns.into_iter().enumerate() {
            let values = texts.into_iter().map(|text| match text.is_empty() {
                true => Value::Empty,
                false => Value::Text(text),
            });
            let column = Column {
                name,
                values: values.collect(),
                is_predicted: false,
            };
            self.columns.insert(position + 1, column);
        }
        self
    }

    /// Removes the predictions at these positions.
    pub fn without(mut self, places: &BTreeSet<usize>) -> Self {
        let predicted = self.columns.iter_mut().filter(|column| column.is_predicted);
        for column in predicted {
            places
                .iter()
                .for_each(|&place| column.values[place] = Value::Empty);
        }
        self
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// CSV with a header.
    pub fn to_csv(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.clone());
        let row = |row: usize| {
            let cells = self.columns.iter().map(|column| match &column.values[row] {
                Value::Row(row) => row.to_string(),
                Value::Number(value) => value.to_string(),
                Value::Text(text) => text.clone(),
                Value::Empty => String::new(),
            });
            cells.collect()
        };
        let header: Vec<String> = names.collect();
        csv_text(std::iter::once(header).chain((0..self.rows()).map(row)))
    }

    /// One JSON object per line.
    pub fn to_json_lines(&self) -> String {
        let mut text = String::new();
        for row in 0..self.rows() {
            let fields = self.columns.iter().map(|column| {
                let value = match &column.values[row] {
                    Value::Row(row) => json!(row),
                    Value::Number(value) => json!(value),
                    Value::Text(text) => json!(text),
                    Value::Empty => Json::Null,
                };
                format!("{}: {value}", json!(column.name))
            });
            text += &format!("{{{}}}\n", fields.collect::<Vec<_>>().join(", "));
        }
        text
    }
}

fn number(value: f64) -> Value {
    match value.is_nan() {
        true => Value::Empty,
        false => Value::Number(value),
    }
}

#[cfg(test)]
mod tests {
    use burn_gp_core::likelihoods::Interval;

    use super::*;

    fn csv(rows: &[usize], predictions: &InOriginalUnits, classes: Option<&Classes>) -> String {
        PredictionTable::new(rows.iter().copied(), predictions, classes).to_csv()
    }

    #[test]
    fn names_with_commas_are_quoted() {
        let classes = Classes::new(["a, b".to_owned(), "c".to_owned()]);
        let predictions = InOriginalUnits {
            observed: vec![1.0, 0.0],
            probabilities: vec![0.25, 0.75, 0.5, 0.5],
            ..InOriginalUnits::default()
        };
        assert_eq!(
            csv(&[3, 7], &predictions, Some(&classes)),
            "row,y,label,\"probability of a, b\",probability of c\n3,c,c,0.25,0.75\n7,\"a, b\",\"a, b\",0.5,0.5\n"
        );
    }

    fn numbers() -> InOriginalUnits {
        InOriginalUnits {
            mean: vec![1.5],
            standard_deviation: vec![0.5],
            interval: Interval {
                lower: vec![1.0],
                upper: vec![3.0],
            },
            ..InOriginalUnits::default()
        }
    }

    #[test]
    fn levels_are_of_known_targets() {
        assert_eq!(
            csv(&[0], &numbers(), None),
            "row,mean,std,lower,upper\n0,1.5,0.5,1,3\n"
        );
        let known = InOriginalUnits {
            observed: vec![2.0],
            central_level: vec![0.25],
            ..numbers()
        };
        assert_eq!(
            csv(&[7], &known, None),
            "row,y,mean,std,lower,upper,level\n7,2,1.5,0.5,1,3,0.25\n"
        );
    }

    #[test]
    fn stacked_tables_have_the_columns_of_all() {
        let classes = |names: [&str; 2]| Classes::new(names.map(str::to_owned));
        let table = |rows: &[usize], names| {
            let predictions = InOriginalUnits {
                probabilities: [0.25, 0.75].repeat(rows.len()),
                ..InOriginalUnits::default()
            };
            PredictionTable::new(rows.iter().copied(), &predictions, Some(&classes(names)))
        };
        let tables = vec![
            table(&[3, 0], ["a", "b"]),
            table(&[1], ["b", "c"]),
            PredictionTable::of_rows([2].into_iter()),
        ];
        assert_eq!(
            PredictionTable::stacked(tables).to_csv(),
            "row,label,probability of a,probability of b,probability of c\n0,b,0.25,0.75,\n1,c,,0.25,0.75\n2,,,,\n3,b,0.25,0.75,\n"
        );
    }

    #[test]
    fn rows_without_a_prediction_are_empty() {
        let predictions = InOriginalUnits {
            observed: vec![f64::NAN],
            quantiles: vec![(0.5, vec![1.25])],
            ..numbers()
        };
        let carried = vec![("name".to_owned(), vec!["a".to_owned()])];
        let table = PredictionTable::new(0..1, &predictions, None).carrying(carried);
        assert_eq!(
            table.to_csv(),
            "row,name,y,mean,std,lower,upper,quantile 0.5\n0,a,,1.5,0.5,1,3,1.25\n"
        );
        let blank = table.without(&BTreeSet::from([0]));
        assert_eq!(
            blank.to_csv(),
            "row,name,y,mean,std,lower,upper,quantile 0.5\n0,a,,,,,,\n"
        );
        assert_eq!(
            blank.to_json_lines(),
            "{\"row\": 0, \"name\": \"a\", \"y\": null, \"mean\": null, \"std\": null, \"lower\": null, \"upper\": null, \"quantile 0.5\": null}\n"
        );
    }
}
