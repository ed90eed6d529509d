//! The effect of each column on the predictions: partial dependence (Friedman, "Greedy function
//! approximation", Annals of Statistics 29, 2001).

use burn_gp_datasets::{
    ColumnEncoding, DateFormat, Encoding, Gaps, Matrix, Place, Schema, SourceColumn,
};
use burn_gp_models::Predictor;

use crate::evaluation::{Levels, in_original_units};
use crate::evenly_spaced::evenly_spaced;
use crate::plots::{EffectCurve, EffectPlaces};
use crate::preparation::PreparedData;

/// The maximum number of training rows to average predictions over, and of values of a column.
const ROWS: usize = 200;
const PLACES: usize = 31;
/// The maximum numbers of rows and values when choosing the columns to show.
const FEW_ROWS: usize = 50;
const FEW_PLACES: usize = 7;
/// The maximum number of columns to show.
const MOST_COLUMNS: usize = 12;
/// The maximum number of classes with a curve.
const MOST_CLASSES: usize = 6;
/// The share of the rows at each end of a column that its axis leaves out.
const ENDS: f64 = 0.01;
/// The share of the predictions below the band, and above it.
const BELOW_BAND: f64 = 0.1;

/// The predictions over the values of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The name of the column.
    pub column: String,
    /// The values on the horizontal axis.
    pub places: EffectPlaces,
    /// The number of levels that are not shown, for lack of room.
    pub left_out: usize,
    /// The names of the classes with a curve; none if targets are numbers.
    pub classes: Vec<String>,
    /// The mean prediction, or the mean probability of each class, with a band that contains the middle 80 % of the
    /// predictions.
    pub curves: Vec<EffectCurve>,
}

impl Effect {
    /// The largest difference between two mean predictions of a curve.
    pub fn size(&self) -> f64 {
        let size = |curve: &EffectCurve| {
            let highest = curve.mean.iter().copied().fold(f64::MIN, f64::max);
            highest - curve.mean.iter().copied().fold(f64::MAX, f64::min)
        };
        self.curves.iter().map(size).fold(0.0, f64::max)
    }
}

/// The range of all curves and bands; for probabilities, from 0 to 1.
pub fn range(effects: &[Effect]) -> (f64, f64) {
    if effects.iter().any(|effect| !effect.classes.is_empty()) {
        return (0.0, 1.0);
    }
    let curves = effects.iter().flat_map(|effect| &effect.curves);
    let ranges = curves.filter_map(EffectCurve::range);
    let joined = ranges.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)));
    joined.unwrap_or((0.0, 1.0))
}

/// The effects of the columns that matter most, the largest first.
pub fn effects(
    data: &PreparedData,
    predictor: &Predictor,
    classes: Option<&[String]>,
) -> Vec<Effect> {
    let mut columns = columns(&data.schema);
    // The effect of a known term is known.
    columns.retain(|column| {
        let encoding = column.encoding.as_ref();
        !encoding.is_some_and(ColumnEncoding::is_known_term)
    });
    let of = |columns: Vec<Column>, rows, places| -> Vec<(Effect, Column)> {
        let background = Background::of(data, rows);
        let effects = columns.into_iter().map(|column| {
            let effect = background.effect(&column, places, predictor, classes);
            (effect, column)
        });
        let mut effects: Vec<(Effect, Column)> = effects.collect();
        effects.sort_by(|(a, _), (b, _)| b.size().total_cmp(&a.size()));
        effects
    };
    let columns = match columns.len() > MOST_COLUMNS {
        true => {
            let sorted = of(columns, FEW_ROWS, FEW_PLACES).into_iter();
            sorted
                .take(MOST_COLUMNS)
                .map(|(_, column)| column)
                .collect()
        }
        false => columns,
    };
    let effects = of(columns, ROWS, PLACES).into_iter();
    effects.map(|(effect, _)| effect).collect()
}

/// At most `most` evenly spaced indices below `count`.
fn spread(count: usize, most: usize) -> Vec<usize> {
    let last = count.saturating_sub(1) as f64;
    let places = evenly_spaced((0.0, last), most.min(count));
    places.iter().map(|place| place.round() as usize).collect()
}

/// A column of the source with the position of its inputs among all inputs.
struct Column {
    name: String,
    first: usize,
    count: usize,
    encoding: Option<ColumnEncoding>,
    /// The position of the coordinates of a place, if the column has its longitude or latitude.
    point: Option<usize>,
}

fn columns(schema: &Schema) -> Vec<Column> {
    if schema.columns.is_empty() {
        let names = schema.input_names.iter().enumerate();
        return names
            .map(|(first, name)| Column {
                name: name.clone(),
                first,
                count: 1,
                encoding: None,
                point: None,
            })
            .collect();
    }
    let point = point(schema);
    let mut first = 0;
    let column = |source: &SourceColumn| {
        let count = source.encoding.inputs();
        first += count;
        Column {
            name: source.encoding.name.clone(),
            first: first - count,
            count,
            point: point.filter(|_| {
                let encoding = &source.encoding.encoding;
                matches!(
                    encoding,
                    Encoding::Longitude { .. } | Encoding::Latitude { .. }
                )
            }),
            encoding: Some(source.encoding.clone()),
        }
    };
    schema.columns.iter().map(column).collect()
}

/// The position of the three coordinates of a place among all inputs, if there are such.
fn point(schema: &Schema) -> Option<usize> {
    let encodings = || schema.columns.iter().map(|source| &source.encoding);
    let before = encodings().position(|own| matches!(own.encoding, Encoding::Longitude { .. }))?;
    Some(encodings().take(before).map(ColumnEncoding::inputs).sum())
}

/// Training rows in the units of the data.
struct Background<'a> {
    data: &'a PreparedData,
    rows: Matrix,
}

impl<'a> Background<'a> {
    fn of(data: &'a PreparedData, most: usize) -> Self {
        let places = spread(data.train.len(), most);
        let inputs = data.train.inputs.select(&places);
        Self {
            data,
            rows: data.standardizer.inverse_inputs(&inputs),
        }
    }

    fn effect(
        &self,
        column: &Column,
        most: usize,
        predictor: &Predictor,
        classes: Option<&[String]>,
    ) -> Effect {
        let (places, values) = self.places(column, most);
        let predicted = values
            .iter()
            .map(|values| self.predicted(column, values, predictor));
        let predicted: Vec<Vec<f64>> = predicted.collect();
        // With two classes, one curve determines the other.
        let (first, all) = match classes {
            None => (0, 1),
            Some(names) => (usize::from(names.len() == 2), names.len()),
        };
        let shown = first..all.min(MOST_CLASSES);
        let curves = shown.clone().map(|class| {
            let of_class = predicted.iter().map(|predicted| {
                let own = predicted.iter().skip(class);
                own.step_by(all).copied().collect()
            });
            curve(of_class)
        });
        Effect {
            column: column.name.clone(),
            left_out: column.levels().saturating_sub(most),
            places,
            classes: classes.map_or(Vec::new(), |names| names[shown.clone()].to_vec()),
            curves: curves.collect(),
        }
    }

    /// The predictions of all rows if the inputs of a column have these values: means, or the
    /// probabilities of all classes, row by row.
    fn predicted(&self, column: &Column, values: &[f64], predictor: &Predictor) -> Vec<f64> {
        let mut inputs = self.rows.values().to_vec();
        for row in inputs.chunks_exact_mut(self.rows.columns()) {
            column.write(values, row);
        }
        let inputs = Matrix::new(self.rows.rows(), self.rows.columns(), inputs);
        let standardizer = &self.data.standardizer;
        let inputs = standardizer.transform_inputs(&inputs);
        let predictions = predictor.predict(inputs.values(), inputs.columns());
        let original = in_original_units(&predictions, standardizer, &Levels::default());
        match original.probabilities.is_empty() {
            true => original.mean,
            false => original.probabilities,
        }
    }

    /// The values of a column, each with the inputs that encode it.
    fn places(&self, column: &Column, most: usize) -> (EffectPlaces, Vec<Vec<f64>>) {
        let encoding = column.encoding.as_ref();
        match encoding.map(|own| &own.encoding) {
            Some(Encoding::Boolean { no, yes }) => {
                let levels = [no, yes].map(Clone::clone).to_vec();
                let values = [0.0, 1.0].map(|value| column.filled(&[value])).to_vec();
                (EffectPlaces::Levels(levels), values)
            }
            Some(Encoding::Category { levels, .. }) => {
                let value = |level: usize| {
                    let mut value = vec![0.0; column.count];
                    value[level] = 1.0;
                    value
                };
                let shown = levels.len().min(most);
                let values = (0..shown).map(value).collect();
                (EffectPlaces::Levels(levels[..shown].to_vec()), values)
            }
            Some(Encoding::Date { .. }) => self.observed(column, most),
            _ => self.numbers(column, most),
        }
    }

    /// Evenly spaced numbers between the ends of a column, or the numbers that occur if they are few.
    fn numbers(&self, column: &Column, most: usize) -> (EffectPlaces, Vec<Vec<f64>>) {
        let mut found = self.sorted(column);
        found.dedup();
        let numbers: Vec<f64> = match found.len() <= most {
            true => found,
            false => {
                let sorted = self.sorted(column);
                let ends = (quantile(&sorted, ENDS), quantile(&sorted, 1.0 - ENDS));
                evenly_spaced(ends, most)
            }
        };
        let values = numbers.iter().map(|&number| column.filled(&[number]));
        let values = values.collect();
        (EffectPlaces::Numbers(numbers), values)
    }

    /// Some of the dates that occur, with all of their inputs.
    fn observed(&self, column: &Column, most: usize) -> (EffectPlaces, Vec<Vec<f64>>) {
        let range = column.first..column.first + column.count;
        let rows = (0..self.rows.rows()).map(|row| self.rows.row(row)[range.clone()].to_vec());
        let mut values: Vec<Vec<f64>> = rows.filter(|values| !values[0].is_nan()).collect();
        values.sort_by(|a, b| a[0].total_cmp(&b[0]));
        values.dedup_by(|a, b| a[0] == b[0]);
        let places = spread(values.len(), most);
        let values: Vec<Vec<f64>> = places.iter().map(|&place| values[place].clone()).collect();
        let dates = values
            .iter()
            .map(|values| (values[0], DateFormat::day(values[0])));
        (EffectPlaces::Dates(dates.collect()), values)
    }

    fn sorted(&self, column: &Column) -> Vec<f64> {
        let values = (0..self.rows.rows()).map(|row| column.read(self.rows.row(row)));
        let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

impl Column {
    /// The number of levels of a category.
    fn levels(&self) -> usize {
        match self.encoding.as_ref().map(|own| &own.encoding) {
            Some(Encoding::Category { levels, .. }) => levels.len(),
            _ => 0,
        }
    }

    /// The place in a row of inputs, with its position, if the column has the longitude or the latitude of one.
    fn place(&self, row: &[f64]) -> Option<(Place, usize)> {
        let first = self.point?;
        let place = Place::of_point([row[first], row[first + 1], row[first + 2]]);
        Some((place, first))
    }

    fn has_longitude(&self) -> bool {
        let encoding = self.encoding.as_ref().map(|own| &own.encoding);
        matches!(encoding, Some(Encoding::Longitude { .. }))
    }

    /// The number of the column in a row of inputs.
    fn read(&self, row: &[f64]) -> f64 {
        match self.place(row) {
            Some((place, _)) if self.has_longitude() => place.longitude,
            Some((place, _)) => place.latitude,
            None => row[self.first],
        }
    }

    /// Gives the column these inputs in a row. One of a place gives the place another longitude or latitude.
    fn write(&self, values: &[f64], row: &mut [f64]) {
        let Some((mut place, first)) = self.place(row) else {
            row[self.first..self.first + self.count].copy_from_slice(values);
            return;
        };
        match self.has_longitude() {
            true => place.longitude = values[0],
            false => place.latitude = values[0],
        }
        row[first..first + 3].copy_from_slice(&place.point());
        if self.is_marked() {
            row[self.first + self.count - 1] = 0.0;
        }
    }

    /// Whether the last input marks missing values.
    fn is_marked(&self) -> bool {
        (self.encoding.as_ref()).is_some_and(|own| own.gaps == Gaps::Marked)
    }

    /// The inputs of a value that is not missing. Of a place, the number alone.
    fn filled(&self, value: &[f64]) -> Vec<f64> {
        let mut inputs = value.to_vec();
        if self.point.is_some() {
            return inputs;
        }
        if self.is_marked() {
            inputs.push(0.0);
        }
        inputs.resize(self.count, 0.0);
        inputs
    }
}

/// A curve from the predictions of all rows at each value of the column.
fn curve(places: impl Iterator<Item = Vec<f64>>) -> EffectCurve {
    let mut curve = EffectCurve::default();
    for mut predicted in places {
        let count = predicted.len() as f64;
        curve.mean.push(predicted.iter().sum::<f64>() / count);
        predicted.sort_by(f64::total_cmp);
        curve.low.push(quantile(&predicted, BELOW_BAND));
        curve.high.push(quantile(&predicted, 1.0 - BELOW_BAND));
    }
    curve
}

/// A quantile of sorted values, by linear interpolation; NaN if there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = share * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.25), 1.5);
        assert_eq!(quantile(&sorted, 1.0), 4.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_curve_has_the_means_of_its_places() {
        let places = [vec![1.0, 3.0], vec![5.0, 5.0]];
        let curve = curve(places.into_iter());
        assert_eq!(curve.mean, [2.0, 5.0]);
        assert!((curve.low[0] - 1.2).abs() < 1e-12 && (curve.high[0] - 2.8).abs() < 1e-12);
        let effect = Effect {
            column: "x".into(),
            left_out: 0,
            places: EffectPlaces::Numbers(vec![0.0, 1.0]),
            classes: Vec::new(),
            curves: vec![curve],
        };
        assert_eq!(effect.size(), 3.0);
        let (low, high) = range(&[effect]);
        assert!((low - 1.2).abs() < 1e-12 && high == 5.0, "{low}, {high}");
    }
}
