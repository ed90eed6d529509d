//! Times in order, and the steps between them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ops::Event;

/// Roundings of the latest time by which two steps may differ that are taken as equal.
const ROUNDINGS: f64 = 4.0;

/// Times in order. Equal times keep the order of their rows.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The row of each time.
    pub order: Vec<usize>,
    /// The times in order.
    pub times: Vec<f64>,
    /// The distinct steps between successive times; one at least.
    pub steps: Vec<f64>,
    /// An event for each time, all observed, with the first row and the first noise variance.
    pub events: Vec<Event>,
}

impl Timeline {
    /// Puts times in order. They are rounded by `epsilon` relative to their size, so that steps may be equal that
    /// differ by as much: a regular series then has one step.
    pub fn new(times: &[f64], epsilon: f64) -> Self {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let sorted: Vec<f64> = order.iter().map(|&row| times[row]).collect();
        let differences: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let largest = sorted
            .iter()
            .fold(0.0, |most: f64, time| most.max(time.abs()));
        let tolerance = ROUNDINGS * epsilon * largest;
        let (steps, indices) = match distinct(&differences, tolerance) {
            merged if follows(&differences, &merged, tolerance) => merged,
            _ => distinct(&differences, 0.0),
        };
        let step = |place: usize| match place.checked_sub(1) {
            Some(before) => indices[before],
            None => None,
        };
        let event = |place: usize| Event {
            step: step(place),
            row: 0,
            noise: 0,
            is_observed: true,
        };
        Self {
            events: (0..sorted.len()).map(event).collect(),
            order,
            times: sorted,
            steps,
        }
    }

    /// The same times, each with a noise variance of its own, in the order of time.
    pub fn with_separate_noise(&self) -> Self {
        let events = self.events.iter().zip(0..);
        Self {
            events: events
                .map(|(event, noise)| Event { noise, ..*event })
                .collect(),
            ..self.clone()
        }
    }

    /// Whether the rows are in order already.
    pub fn is_in_order(&self) -> bool {
        self.order.is_sorted()
    }

    /// Values of all rows in their order, from those in the order of time, with `width` values each.
    pub fn in_rows(&self, values: &[f64], width: usize) -> Vec<f64> {
        let mut rows = vec![0.0; values.len()];
        for (value, &row) in values.chunks_exact(width).zip(&self.order) {
            rows[row * width..][..width].copy_from_slice(value);
        }
        rows
    }
}

/// The distinct positive differences, and the index of each difference, or none if it is zero. Differences within the
/// tolerance of the smallest of their group are replaced by the mean of the group.
fn distinct(differences: &[f64], tolerance: f64) -> (Vec<f64>, Vec<Option<u32>>) {
    let mut places: Vec<usize> = (0..differences.len())
        .filter(|&place| differences[place] != 0.0)
        .collect();
    places.sort_by(|&a, &b| differences[a].total_cmp(&differences[b]));
    let mut indices = vec![None; differences.len()];
    let mut steps: Vec<f64> = Vec::new();
    let mut rest = &places[..];
    while let Some(&first) = rest.first() {
        let smallest = differences[first];
        let count = rest.partition_point(|&place| differences[place] <= smallest + tolerance);
        // A difference that is not finite is in no group with itself.
        let (group, others) = rest.split_at(count.max(1));
        let excess: f64 = group
            .iter()
            .map(|&place| differences[place] - smallest)
            .sum();
        for &place in group {
            indices[place] = Some(steps.len() as u32);
        }
        steps.push(smallest + excess / group.len() as f64);
        rest = others;
    }
    if steps.is_empty() {
        steps.push(1.0);
    }
    (steps, indices)
}

/// Whether times made of the distinct steps stay within the tolerance of the given ones.
fn follows(
    differences: &[f64],
    (steps, indices): &(Vec<f64>, Vec<Option<u32>>),
    tolerance: f64,
) -> bool {
    let mut deviation = 0.0_f64;
    differences.iter().zip(indices).all(|(difference, index)| {
        let step = index.map_or(0.0, |index| steps[index as usize]);
        deviation += difference - step;
        deviation.abs() <= tolerance
    })
}

/// Keeps the timeline of the last times. All copies of a model share it.
#[derive(Clone, Debug, Default)]
pub struct TimelineCache(Arc<Mutex<Option<Known>>>);

#[derive(Debug)]
struct Known {
    times: Vec<f64>,
    timeline: Arc<Timeline>,
}

impl TimelineCache {
    /// The timeline of these times.
    pub fn timeline(&self, times: Vec<f64>, epsilon: f64) -> Arc<Timeline> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.times == times
        {
            return known.timeline.clone();
        }
        let timeline = Arc::new(Timeline::new(&times, epsilon));
        *known = Some(Known {
            times,
            timeline: timeline.clone(),
        });
        timeline
    }
}

#[cfg(test)]
mod tests {
    use super::Timeline;

    #[test]
    fn a_regular_series_has_one_step() {
        let times: Vec<f64> = (0..1000).map(|k| 0.1 * f64::from(k) - 20.0).collect();
        let timeline = Timeline::new(&times, f64::EPSILON);
        assert_eq!(timeline.steps.len(), 1);
        assert!((timeline.steps[0] - 0.1).abs() < 1e-15);
        // In single precision, too.
        let rounded: Vec<f64> = times.iter().map(|&time| f64::from(time as f32)).collect();
        let timeline = Timeline::new(&rounded, f64::from(f32::EPSILON));
        assert_eq!(timeline.steps.len(), 1);
    }

    #[test]
    fn uneven_steps_stay_apart() {
        // Steps that grow by less than the rounding of single precision, but add up.
        let times: Vec<f64> = (0..1000)
            .map(|k| f64::from(k) + 1e-7 * f64::from(k * k))
            .collect();
        let timeline = Timeline::new(&times, f64::from(f32::EPSILON));
        let mut time = times[0];
        for (event, expected) in timeline.events.iter().zip(&times).skip(1) {
            time += timeline.steps[event.step.unwrap() as usize];
            assert!((time - expected).abs() < 1e-9 * expected.abs().max(1.0) + 5e-4);
        }
    }

    #[test]
    fn rows_come_back_in_their_order() {
        let timeline = Timeline::new(&[3.0, 1.0, 1.0, 2.0], f64::EPSILON);
        assert_eq!(timeline.order, [1, 2, 3, 0]);
        assert_eq!(timeline.events[1].step, None);
        assert!(!timeline.is_in_order());
        let values = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0];
        let rows = timeline.in_rows(&values, 2);
        assert_eq!(rows, [4.0, 40.0, 1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    }
}
