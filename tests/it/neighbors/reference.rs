//! Orders and neighbors by comparing all rows.

use std::cmp::Ordering;

use burn_gp_core::neighbors::{Coordinates, Scale};

pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest rows among some, by distance, then by row.
pub fn nearest(
    x: &[f64],
    rows: &Coordinates,
    among: impl Iterator<Item = usize>,
    count: usize,
) -> Vec<u32> {
    let mut found: Vec<(f64, usize)> = among
        .map(|row| (squared_distance(x, rows.row(row)), row))
        .collect();
    found.sort_by(|a, b| a.partial_cmp(b).expect("finite distances"));
    found.truncate(count);
    found.into_iter().map(|(_, row)| row as u32).collect()
}

/// The neighbors of several scales among the first rows, filled up with the nearest.
pub fn of_scales(x: &[f64], rows: &Coordinates, first: usize, scales: &[Scale]) -> Vec<u32> {
    let total: usize = scales.iter().map(|scale| scale.count).sum();
    let mut neighbors: Vec<u32> = Vec::new();
    for scale in scales.iter().chain([&Scale::nearest(total)]) {
        let count = scale.count.min(total - neighbors.len());
        let free = (0..first.min(scale.among)).filter(|&row| !neighbors.contains(&(row as u32)));
        let found = nearest(x, rows, free, count);
        neighbors.extend(found);
    }
    neighbors
}

/// The rows by their coordinates, equal rows in the order of the table.
pub fn sorted(rows: &Coordinates) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.rows()).collect();
    order.sort_by(|&a, &b| {
        rows.row(a)
            .partial_cmp(rows.row(b))
            .expect("finite coordinates")
    });
    order
}

/// The maximin order after given rows, or from the centroid if there are none. Of several rows that could be next,
/// the first in the order of `sorted` is.
pub fn maximin(rows: &Coordinates, before: Option<&Coordinates>) -> Vec<usize> {
    let sorted = sorted(rows);
    let mut left = sorted.clone();
    let mut order = Vec::new();
    let mut distances = vec![f64::INFINITY; rows.rows()];
    let lower = |distances: &mut [f64], point: &[f64]| {
        for (row, distance) in distances.iter_mut().enumerate() {
            *distance = distance.min(squared_distance(rows.row(row), point));
        }
    };
    match before {
        Some(before) => (0..before.rows()).for_each(|row| lower(&mut distances, before.row(row))),
        None if sorted.is_empty() => return order,
        None => {
            let centroid = centroid(rows, &sorted);
            let from_centroid = |row: usize| -squared_distance(rows.row(row), &centroid);
            let next = left.remove(first_largest(&left, from_centroid));
            lower(&mut distances, rows.row(next));
            order.push(next);
        }
    }
    while !left.is_empty() {
        let next = left.remove(first_largest(&left, |row| distances[row]));
        lower(&mut distances, rows.row(next));
        order.push(next);
    }
    order
}

/// The mean, summed in the order of `sorted`, as the library does: another sum could break ties.
fn centroid(rows: &Coordinates, sorted: &[usize]) -> Vec<f64> {
    let mean = |axis: usize| {
        let values = sorted.iter().map(|&row| rows.row(row)[axis]);
        values.sum::<f64>() / sorted.len() as f64
    };
    (0..rows.dimensions()).map(mean).collect()
}

/// The place of the largest value; the first of several.
fn first_largest(rows: &[usize], value: impl Fn(usize) -> f64) -> usize {
    let places = 0..rows.len();
    let largest = places.max_by(|&a, &b| {
        let values = value(rows[a]).partial_cmp(&value(rows[b]));
        values.unwrap_or(Ordering::Equal).then(b.cmp(&a))
    });
    largest.expect("a row")
}
