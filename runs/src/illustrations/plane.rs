//! The plane of a map: two columns of numbers, or the longitude and the latitude of places.

use burn_gp_datasets::{Encoding, Gaps, Matrix, Place, Schema};

use crate::plots::{MapInputs, MapScale, PlotError, ProbabilityGrid, Quantity};
use crate::preparation::PreparedData;

/// The number of nodes of a grid, and the most on a side.
const NODES: f64 = 9600.0;
const MOST: f64 = 120.0;

/// Two inputs whose ranges have at most this ratio are taken for coordinates in the same unit.
const SAME_UNIT: f64 = 4.0;

/// More than the rounding errors of degrees that were points in space, so that rows at the edges of a map are on it.
const ROUNDING: f64 = 1e-9;

/// Rows around the globe leave no gap of this many degrees of longitude.
const GAP: f64 = 60.0;

/// The plane of a map.
pub(super) struct Plane<'a> {
    data: &'a PreparedData,
    names: [&'a str; 2],
    /// The ranges of both inputs over the training rows.
    ranges: [(f64, f64); 2],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Numbers,
    /// Longitudes and latitudes of places.
    Places,
}

impl<'a> Plane<'a> {
    /// The plane of two columns of numbers or of one place; `None` for other inputs, or if the training rows have a
    /// common coordinate.
    pub(super) fn of(data: &'a PreparedData) -> Option<Self> {
        let (kind, names) = kind(&data.schema)?;
        let mut plane = Self {
            data,
            names,
            ranges: [(-180.0, 180.0), (-90.0, 90.0)],
            kind,
        };
        let positions = plane.positions(&data.train.inputs);
        let along = |axis: usize| positions.iter().map(move |position| position[axis]);
        let second = range(along(1))?;
        plane.ranges = match kind {
            Kind::Numbers => [range(along(0))?, second],
            Kind::Places => {
                let ranges = [range_of_longitudes(along(0).collect())?, second];
                if ranges.iter().any(|(low, high)| high - low <= ROUNDING) {
                    return None;
                }
                ranges.map(|(low, high)| (low - ROUNDING, high + ROUNDING))
            }
        };
        Some(plane)
    }

    /// The names and the scales of the axes.
    pub(super) fn inputs(&self) -> MapInputs<'a> {
        let unit = (self.kind == Kind::Places).then_some("°");
        let names = self.names.map(|name| Quantity { name, unit });
        let [width, height] = self.ranges.map(|(low, high)| high - low);
        let scale = match self.kind {
            Kind::Places => MapScale::Degrees,
            Kind::Numbers if width.max(height) <= SAME_UNIT * width.min(height) => MapScale::Equal,
            Kind::Numbers => MapScale::Separate,
        };
        MapInputs::new(names, scale)
    }

    /// A grid over the training rows and this share of their ranges beyond them.
    ///
    /// # Errors
    ///
    /// [`PlotError::Grid`] if a range is not finite.
    pub(super) fn grid(&self, beyond: f64) -> Result<ProbabilityGrid, PlotError> {
        let beyond = |input: usize| {
            let (low, high) = self.ranges[input];
            let margin = beyond * (high - low);
            match self.data.standardizer.takes_input(input, low - margin) {
                true => (low - margin, high + margin),
                false => (low, high + margin),
            }
        };
        let [first, second] = [beyond(0), beyond(1)];
        let (first, second) = match self.kind {
            Kind::Numbers => (first, second),
            Kind::Places => (
                within_a_turn(first),
                (second.0.max(-90.0), second.1.min(90.0)),
            ),
        };
        let [width, height] = [first, second].map(|(low, high)| high - low);
        let aspect = match self.inputs().scale {
            MapScale::Separate => 1.0,
            MapScale::Equal | MapScale::Degrees => width / height,
        };
        let columns = (NODES * aspect).sqrt().clamp(NODES / MOST, MOST);
        let rows = NODES / columns;
        ProbabilityGrid::new(
            first.0..=first.1,
            second.0..=second.1,
            columns as usize,
            rows as usize,
        )
    }

    /// The positions on the map of standardized inputs, `[N, D]`, such as rows or inducing points. Those off the
    /// sphere are below or above their position.
    pub(super) fn positions(&self, inputs: &Matrix) -> Vec<[f64; 2]> {
        let inputs = self.data.standardizer.inverse_inputs(inputs);
        let rows = (0..inputs.rows()).map(|row| inputs.row(row));
        match self.kind {
            Kind::Numbers => rows.map(|row| [row[0], row[1]]).collect(),
            Kind::Places => rows
                .map(|row| {
                    let place = Place::of_point([row[0], row[1], row[2]]);
                    let west = self.ranges[0].0;
                    let longitude = match place.longitude < west - ROUNDING {
                        true => place.longitude + 360.0,
                        false => place.longitude,
                    };
                    [longitude, place.latitude]
                })
                .collect(),
        }
    }

    /// The standardized inputs of positions on the map, `[N, D]`.
    pub(super) fn standardized(&self, positions: &[[f64; 2]]) -> Matrix {
        let values: Vec<f64> = match self.kind {
            Kind::Numbers => positions.as_flattened().to_vec(),
            Kind::Places => (positions.iter())
                .flat_map(|&[longitude, latitude]| {
                    let place = Place {
                        longitude,
                        latitude,
                    };
                    place.point()
                })
                .collect(),
        };
        let inputs = Matrix::new(positions.len(), self.data.dimensions(), values);
        self.data.standardizer.transform_inputs(&inputs)
    }
}

/// The kind of the plane and the names of its axes.
fn kind(schema: &Schema) -> Option<(Kind, [&str; 2])> {
    if let ([], [first, second]) = (&schema.columns[..], &schema.input_names[..]) {
        return Some((Kind::Numbers, [first, second]));
    }
    let [first, second] = &schema.columns[..] else {
        return None;
    };
    let pair = [&first.encoding, &second.encoding];
    if pair.iter().any(|column| column.gaps == Gaps::Marked) {
        return None;
    }
    let mut encodings = pair.iter().map(|column| &column.encoding);
    match schema.place() {
        Some(names) => Some((Kind::Places, names)),
        None if encodings.all(|encoding| *encoding == Encoding::Number) => {
            Some((Kind::Numbers, pair.map(|column| column.name.as_str())))
        }
        None => None,
    }
}

/// The lowest and the highest value; `None` if all are equal.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(start, |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (low < high).then_some((low, high))
}

/// The range of longitudes between −180 and 180 degrees without the widest gap between them, which may cross the edge
/// of the usual map: the end may lie beyond 180. All of the globe if no gap is wide.
fn range_of_longitudes(mut longitudes: Vec<f64>) -> Option<(f64, f64)> {
    longitudes.sort_by(f64::total_cmp);
    let (first, last) = (*longitudes.first()?, *longitudes.last()?);
    let across = (first + 360.0 - last, first, last);
    let inner = longitudes
        .windows(2)
        .map(|pair| (pair[1] - pair[0], pair[1], pair[0] + 360.0));
    let (gap, west, east) = inner.fold(across, |widest, gap| match gap.0 > widest.0 {
        true => gap,
        false => widest,
    });
    match gap < GAP {
        true => Some((-180.0, 180.0)),
        false => (west < east).then_some((west, east)),
    }
}

/// The range, or one turn around its middle if it is longer.
fn within_a_turn((west, east): (f64, f64)) -> (f64, f64) {
    match east - west > 360.0 {
        true => {
            let middle = 0.5 * (west + east);
            (middle - 180.0, middle + 180.0)
        }
        false => (west, east),
    }
}

#[cfg(test)]
mod tests {
    use burn_gp_datasets::DataSource;
    use temp_dir::TempDir;

    use super::*;
    use crate::arguments::RunOptions;

    /// The data of a table with these lines, all of which are training rows but few.
    fn data(title: &str, line: impl Fn(f64) -> String) -> PreparedData {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("data.csv");
        let lines: String = (0..60).map(|row| line(f64::from(row)) + "\n").collect();
        std::fs::write(&path, format!("{title}\n{lines}")).unwrap();
        let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
        let options = RunOptions {
            test_fraction: Some(0.0),
            ..RunOptions::default()
        };
        PreparedData::load(&source, &options).unwrap()
    }

    /// Asserts that inputs and positions are inverse to each other over the whole grid.
    fn assert_inverse(plane: &Plane<'_>) {
        let nodes = plane.grid(0.0).unwrap().nodes();
        let found = plane.positions(&plane.standardized(&nodes));
        assert_eq!(found.len(), nodes.len());
        for (found, node) in found.as_flattened().iter().zip(nodes.as_flattened()) {
            // Some roundings of numbers below 1000; angles near the poles lose no digits that a map shows.
            assert!((found - node).abs() < 1e-9, "{found}, {node}");
        }
    }

    #[test]
    fn places_across_the_date_line_are_together() {
        let data = data("lat,lon,y", |row| {
            let longitude = 170.0 + 0.5 * row;
            let turned = if longitude > 180.0 {
                longitude - 360.0
            } else {
                longitude
            };
            let latitude = -20.0 + (7.0 * row) % 11.0;
            format!("{latitude},{turned},{}", row.sin())
        });
        let plane = Plane::of(&data).expect("a place");
        let inputs = plane.inputs();
        assert_eq!(inputs.names.map(|name| name.name), ["lon", "lat"]);
        assert_eq!(inputs.scale, MapScale::Degrees);
        let [(west, east), _] = plane.ranges;
        assert!(
            (west - 170.0).abs() < 1e-8 && (east - 199.5).abs() < 1e-8,
            "{west}, {east}"
        );
        assert_inverse(&plane);
    }

    #[test]
    fn numbers_of_similar_ranges_have_one_scale() {
        let of = |factor: f64| {
            move |row: f64| format!("{},{},{}", (3.0 * row) % 13.0, factor * row, row.cos())
        };
        for (factor, scale) in [(0.5, MapScale::Equal), (100.0, MapScale::Separate)] {
            let data = data("a,b,y", of(factor));
            let plane = Plane::of(&data).expect("numbers");
            assert_eq!(plane.inputs().scale, scale);
            assert_inverse(&plane);
        }
    }

    #[test]
    fn other_inputs_have_no_plane() {
        let line = |row: f64| format!("{},{},{},{}", row % 7.0, row % 5.0, row % 3.0, row.cos());
        assert!(Plane::of(&data("a,b,c,y", line)).is_none());
        let with_height = data("lon,lat,height,y", line);
        assert!(Plane::of(&with_height).is_none());
        let words = |row: f64| format!("{},{},{}", ["no", "yes"][row as usize % 2], row, row.sin());
        assert!(Plane::of(&data("a,b,y", words)).is_none());
        let constant = |row: f64| format!("10,{row},{}", row.sin());
        assert!(Plane::of(&data("lon,lat,y", constant)).is_none());
    }

    #[test]
    fn longitudes_begin_behind_their_widest_gap() {
        let range = |longitudes: &[f64]| range_of_longitudes(longitudes.to_vec());
        assert_eq!(range(&[10.0, -20.0, 30.0]), Some((-20.0, 30.0)));
        // Fiji and Samoa, on both sides of the date line.
        assert_eq!(range(&[178.0, -172.0, 179.0]), Some((178.0, 188.0)));
        let around: Vec<f64> = (0..12)
            .map(|place| -175.0 + 30.0 * f64::from(place))
            .collect();
        assert_eq!(range(&around), Some((-180.0, 180.0)));
        assert_eq!(range(&[5.0, 5.0]), None);
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn a_map_is_at_most_one_turn() {
        assert_eq!(within_a_turn((-10.0, 50.0)), (-10.0, 50.0));
        assert_eq!(within_a_turn((-200.0, 200.0)), (-180.0, 180.0));
    }
}
