//! Events in a box, drawn from known intensities or read from a file.

use std::path::Path;

use burn_gp_datasets::load_points_file;
use burn_gp_runs::failure::Failure;
use clap::ValueEnum;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, Poisson};
use serde::{Deserialize, Serialize};

/// The share of the events of a file that is held out.
const HELD_OUT: f64 = 0.2;

/// A known intensity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Intensity {
    /// Decay with a bump on [0, 50]: five times the intensity of R. Adams, I. Murray and D. MacKay
    /// (ICML 2009)
    Decay,
    /// Constant levels with three jumps on [0, 10]
    Jump,
    /// Hill beside a step on the unit square
    Plane,
}

impl Intensity {
    fn sides(self) -> Vec<(f64, f64)> {
        match self {
            Self::Decay => vec![(0.0, 50.0)],
            Self::Jump => vec![(0.0, 10.0)],
            Self::Plane => vec![(0.0, 1.0); 2],
        }
    }

    /// An upper bound of the intensity.
    fn ceiling(self) -> f64 {
        match self {
            Self::Decay => 16.0,
            Self::Jump => 81.0,
            Self::Plane => 1600.0,
        }
    }

    /// The intensity at a point: events per unit of volume.
    pub fn at(self, x: &[f64]) -> f64 {
        let rise = |x: f64, width: f64| 1.0 / (1.0 + (-x / width).exp());
        match self {
            Self::Decay => {
                10.0 * (-x[0] / 15.0).exp() + 5.0 * (-((x[0] - 25.0) / 10.0).powi(2)).exp()
            }
            Self::Jump => {
                let rise = |place: f64| rise(x[0] - place, 0.02);
                20.0 + 60.0 * rise(4.0) - 75.0 * rise(5.0) + 35.0 * rise(7.0)
            }
            Self::Plane => {
                let far = (x[0] - 0.3).powi(2) + (x[1] - 0.35).powi(2);
                100.0 + 900.0 * (-far / (2.0 * 0.08 * 0.08)).exp() + 500.0 * rise(x[0] - 0.7, 0.02)
            }
        }
    }
}

/// Training events and test events.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// The name in files and plots.
    pub name: String,
    /// The sides of the box.
    pub sides: Vec<(f64, f64)>,
    /// The training events, row-major, `[N, D]`.
    pub train: Vec<f64>,
    /// The held-out events, row-major, `[N*, D]`.
    pub held_out: Vec<f64>,
    /// The intensity of all events, relative to that of the training events.
    pub whole: f64,
    /// The intensity of the held-out events, relative to that of the training events.
    pub held_out_share: f64,
    pub truth: Option<Intensity>,
}

impl Events {
    /// Draws training and test events from a known intensity.
    ///
    /// # Errors
    ///
    /// If the number of events cannot be drawn.
    pub fn drawn(intensity: Intensity, name: String, seed: u64) -> Result<Self, Failure> {
        let sides = intensity.sides();
        let volume: f64 = sides.iter().map(|(low, high)| high - low).product();
        let count = Poisson::new(volume * intensity.ceiling())
            .map_err(|error| Failure::Arguments(error.to_string()))?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Thinning: draw from a constant intensity and keep each event with the ratio of the
        // intensities as probability.
        let mut draw = || -> Vec<f64> {
            let count: f64 = count.sample(&mut random);
            let places = (0..count as usize).map(|_| {
                let mut place: Vec<f64> = (sides.iter())
                    .map(|&(low, high)| random.random_range(low..high))
                    .collect();
                place.push(random.random_range(0.0..intensity.ceiling()));
                place
            });
            let places: Vec<Vec<f64>> = places.collect();
            let dimensions = sides.len();
            let kept = places
                .into_iter()
                .filter(|place| place[dimensions] < intensity.at(&place[..dimensions]));
            kept.flat_map(|place| place.into_iter().take(dimensions))
                .collect()
        };
        let (train, held_out) = (draw(), draw());
        Ok(Self {
            name,
            sides,
            train,
            held_out,
            whole: 1.0,
            held_out_share: 1.0,
            truth: Some(intensity),
        })
    }

    /// Reads the events of a file and holds out a fifth of them at random. Without `sides`, the box
    /// extends from the first to the last event.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has more than two coordinates, or has events outside the box.
    pub fn read(path: &Path, sides: Option<&[(f64, f64)]>, seed: u64) -> Result<Self, Failure> {
        let points = load_points_file(path)?.inputs;
        let dimensions = points.columns();
        if dimensions > 2 {
            return Err(Failure::Arguments(format!(
                "{} has {dimensions} columns; events must have one or two coordinates",
                path.display()
            )));
        }
        let range = |column: usize| {
            let values = || points.column(column);
            let low = values().fold(f64::INFINITY, f64::min);
            (low, values().fold(f64::NEG_INFINITY, f64::max))
        };
        let sides: Vec<(f64, f64)> = match sides {
            Some(sides) => sides.to_vec(),
            None => (0..dimensions).map(range).collect(),
        };
        if sides.len() != dimensions {
            return Err(Failure::Arguments(format!(
                "--domain has {} ranges, but the events of {} have {dimensions} coordinates; give one range for each",
                sides.len(),
                path.display()
            )));
        }
        check(path, &sides, points.values())?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut train, mut held_out) = (Vec::new(), Vec::new());
        for event in points.values().chunks(dimensions) {
            let part = if random.random_bool(HELD_OUT) {
                &mut held_out
            } else {
                &mut train
            };
            part.extend_from_slice(event);
        }
        if train.is_empty() {
            return Err(Failure::Arguments(format!(
                "{} has too few events for training; at least ten are needed",
                path.display()
            )));
        }
        Ok(Self {
            name: "events".to_owned(),
            sides,
            train,
            held_out,
            whole: 1.0 / (1.0 - HELD_OUT),
            held_out_share: HELD_OUT / (1.0 - HELD_OUT),
            truth: None,
        })
    }

    /// The number of coordinates, D.
    pub fn dimensions(&self) -> usize {
        self.sides.len()
    }

    /// The volume of the box.
    pub fn volume(&self) -> f64 {
        self.sides.iter().map(|(low, high)| high - low).product()
    }

    /// Rescales points such that every side of the box becomes [−1, 1].
    pub fn scaled(&self, places: &[f64]) -> Vec<f64> {
        let ends = self.sides.iter().cycle();
        let scale = |(x, &(low, high)): (&f64, &(f64, f64))| 2.0 * (x - low) / (high - low) - 1.0;
        places.iter().zip(ends).map(scale).collect()
    }
}

/// Checks that the box is valid and contains all events.
fn check(path: &Path, sides: &[(f64, f64)], events: &[f64]) -> Result<(), Failure> {
    if let Some((low, high)) = sides.iter().find(|(low, high)| low >= high) {
        return Err(Failure::Arguments(format!(
            "the events of {} range only from {low} to {high}; give their region with --domain LOWER..UPPER",
            path.display()
        )));
    }
    let outside = |(x, side): &(&f64, &(f64, f64))| **x < side.0 || **x > side.1;
    match events.iter().zip(sides.iter().cycle()).find(outside) {
        Some((x, (low, high))) => Err(Failure::Arguments(format!(
            "{} has an event at {x}, which is outside --domain {low}..{high}",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Parses ranges such as `1851.2..1962.2` or `0..1,0..2`.
///
/// # Errors
///
/// If the text is invalid.
pub(super) fn ranges(text: &str) -> Result<Vec<(f64, f64)>, Failure> {
    let range = |text: &str| -> Option<(f64, f64)> {
        let (low, high) = text.split_once("..")?;
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (low < high).then_some((low, high))
    };
    let ranges: Option<Vec<(f64, f64)>> = text.split(',').map(range).collect();
    ranges.ok_or_else(|| {
        Failure::Arguments(format!(
            "--domain {text:?} is not a range such as 1851.2..1962.2 or two ranges such as 0..1,0..2"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of draws agrees with the intensity within four standard deviations.
    #[test]
    fn draws_have_the_intensity() {
        for intensity in [Intensity::Decay, Intensity::Jump, Intensity::Plane] {
            let events = Events::drawn(intensity, String::new(), 3).unwrap();
            let dimensions = events.dimensions();
            let steps = 400usize;
            let cells = steps.pow(dimensions as u32);
            let total: f64 = (0..cells)
                .map(|cell| {
                    let place: Vec<f64> = (events.sides.iter().enumerate())
                        .map(|(side, (low, high))| {
                            let step = cell / steps.pow(side as u32) % steps;
                            low + (high - low) * (step as f64 + 0.5) / steps as f64
                        })
                        .collect();
                    assert!(intensity.at(&place) <= intensity.ceiling());
                    intensity.at(&place)
                })
                .sum();
            let expected = total / cells as f64 * events.volume();
            for drawn in [&events.train, &events.held_out] {
                let count = (drawn.len() / dimensions) as f64;
                let error = (count - expected).abs();
                assert!(
                    error < 4.0 * expected.sqrt(),
                    "{intensity:?}: {count}, {expected}"
                );
            }
        }
    }

    #[test]
    fn ranges_are_numbers_with_dots_between_them() {
        assert_eq!(ranges("0..1, -2.5..3").unwrap(), [(0.0, 1.0), (-2.5, 3.0)]);
        assert!(ranges("1..1").is_err() && ranges("0-1").is_err());
    }
}
