//! Finds the columns with the longitudes and the latitudes of places.

use super::Interpreter;
use crate::encoding::{ColumnEncoding, ColumnKind, Encoding, Problem, Purpose, quoted};
use crate::raw_column::RawColumn;

/// One of the two coordinates of a place.
struct Coordinate {
    kind: ColumnKind,
    /// The names of columns that have it, in lower case.
    names: &'static [&'static str],
    /// The least and the greatest number of degrees.
    range: [f64; 2],
}

/// Some sources count from −180 to 180 degrees, others from 0 to 360.
const LONGITUDE: Coordinate = Coordinate {
    kind: ColumnKind::Longitude,
    names: &["lon", "long", "lng", "longitude"],
    range: [-180.0, 360.0],
};

const LATITUDE: Coordinate = Coordinate {
    kind: ColumnKind::Latitude,
    names: &["lat", "latitude"],
    range: [-90.0, 90.0],
};

impl Coordinate {
    /// Whether the name is one of the usual ones, in any case and with or without `_deg`.
    fn takes_name(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let name = name.strip_suffix("_deg").unwrap_or(&name);
        self.names.contains(&name)
    }

    /// The first number out of range, with its row.
    fn outside(&self, column: &RawColumn, encoding: &ColumnEncoding) -> Option<(usize, f64)> {
        let numbers = column.cells().map(|cell| encoding.number_in(cell));
        let [low, high] = self.range;
        let mut outside = numbers.enumerate().filter_map(|(row, number)| {
            let number = number.filter(|number| !(low..=high).contains(number))?;
            Some((row, number))
        });
        outside.next()
    }
}

impl Interpreter<'_> {
    /// Makes a longitude and a latitude the two columns of a place: those that the user calls so or, if kinds
    /// are inferred, the only two with usual names and numbers in range.
    pub(super) fn pair_places(&mut self) {
        let given = [self.given(&LONGITUDE), self.given(&LATITUDE)];
        let pair = match &given {
            [longitudes, latitudes] if longitudes.is_empty() && latitudes.is_empty() => {
                self.recognized()
            }
            [longitudes, latitudes] => match (longitudes.as_slice(), latitudes.as_slice()) {
                (&[longitude], &[latitude]) => self.checked([longitude, latitude]),
                (&[longitude], &[]) => self.refuse_alone(longitude, &LONGITUDE, &LATITUDE),
                (&[], &[latitude]) => self.refuse_alone(latitude, &LATITUDE, &LONGITUDE),
                (&[_, second, ..], _) => self.refuse_second(second, &LONGITUDE),
                (_, &[_, second, ..]) => self.refuse_second(second, &LATITUDE),
                (&[], &[]) => None,
            },
        };
        if let Some(pair) = pair {
            self.make_place(pair);
        }
    }

    /// The positions of the columns whose kind the user gave as this coordinate.
    fn given(&self, coordinate: &Coordinate) -> Vec<usize> {
        let names = self.reports.iter().map(|report| report.name.as_str());
        let kinds = names.map(|name| self.options.kind_of(name));
        let is_given = kinds
            .enumerate()
            .filter(|(_, kind)| *kind == Some(coordinate.kind));
        is_given.map(|(position, _)| position).collect()
    }

    /// The positions of the two columns that are a longitude and a latitude by their names and numbers.
    fn recognized(&self) -> Option<[usize; 2]> {
        if !self.options.inferred {
            return None;
        }
        let only = |coordinate: &Coordinate| {
            let mut named =
                (self.encoded.iter()).filter(|source| coordinate.takes_name(&source.encoding.name));
            let (Some(source), None) = (named.next(), named.next()) else {
                return None;
            };
            let encoding = &source.encoding;
            let is_open = self.options.kind_of(&encoding.name).is_none();
            let column = &self.raw.cells[source.position];
            (is_open
                && encoding.encoding == Encoding::Number
                && coordinate.outside(column, encoding).is_none())
            .then_some(source.position)
        };
        Some([only(&LONGITUDE)?, only(&LATITUDE)?])
    }

    /// The two columns that the user calls a longitude and a latitude, if they are inputs in range. Otherwise
    /// there is a problem.
    fn checked(&mut self, pair: [usize; 2]) -> Option<[usize; 2]> {
        let off = pair.map(|position| {
            let name = quoted(&self.reports[position].name);
            format!("--kind {name}=number")
        });
        let option = off.join(" ");
        let problems = pair.into_iter().zip([LONGITUDE, LATITUDE]);
        let problems = problems.filter_map(|(position, coordinate)| {
            let kind = coordinate.kind;
            let mut encoded = self.encoded.iter();
            let (reason, row) = match encoded.find(|source| source.position == position) {
                None => (
                    format!("is not an input, so that it cannot be a {kind}"),
                    None,
                ),
                Some(source) => {
                    let column = &self.raw.cells[position];
                    let (row, number) = coordinate.outside(column, &source.encoding)?;
                    let [low, high] = coordinate.range;
                    let reason = format!(
                        "holds the {kind} {number}, which is not between {low} and {high} degrees"
                    );
                    (reason, Some(row))
                }
            };
            let option = option.clone();
            Some((
                position,
                Problem {
                    reason,
                    row,
                    option,
                },
            ))
        });
        let problems: Vec<(usize, Problem)> = problems.collect();
        let is_fine = problems.is_empty() && self.problems.is_empty();
        // A column with a problem of its own is no input, which is no second problem.
        let known: Vec<usize> = self
            .problems
            .iter()
            .map(|(position, _)| *position)
            .collect();
        let new = problems
            .into_iter()
            .filter(|(position, _)| !known.contains(position));
        self.problems.extend(new);
        is_fine.then_some(pair)
    }

    /// Refuses a coordinate without the other.
    fn refuse_alone(
        &mut self,
        position: usize,
        own: &Coordinate,
        other: &Coordinate,
    ) -> Option<[usize; 2]> {
        let name = quoted(&self.reports[position].name);
        let (own, other) = (own.kind, other.kind);
        let problem = Problem {
            reason: format!("is given as a {own}, but no column as its {other}"),
            row: None,
            option: format!("--kind {name}={own} --kind COLUMN={other}"),
        };
        self.problems.push((position, problem));
        None
    }

    /// Refuses a second longitude or latitude.
    fn refuse_second(&mut self, position: usize, coordinate: &Coordinate) -> Option<[usize; 2]> {
        let problem = Problem {
            reason: format!(
                "is given as a second {}, but a table has one place in each row",
                coordinate.kind
            ),
            row: None,
            option: format!("--kind {}=number", quoted(&self.reports[position].name)),
        };
        self.problems.push((position, problem));
        None
    }

    fn make_place(&mut self, [longitude, latitude]: [usize; 2]) {
        let name = |position: usize| self.reports[position].name.clone();
        let names = [name(longitude), name(latitude)];
        for source in &mut self.encoded {
            let (kind, with) = match source.position {
                position if position == longitude => (ColumnKind::Longitude, names[1].clone()),
                position if position == latitude => (ColumnKind::Latitude, names[0].clone()),
                _ => continue,
            };
            source.encoding.encoding = match kind {
                ColumnKind::Longitude => Encoding::Longitude {
                    latitude: with.clone(),
                },
                _ => Encoding::Latitude {
                    longitude: with.clone(),
                },
            };
            let inputs = source.encoding.inputs();
            let report = &mut self.reports[source.position];
            (report.kind, report.purpose) = (kind, Purpose::Place { inputs, with });
        }
    }
}
