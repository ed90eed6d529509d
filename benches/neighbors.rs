//! The time to order rows and to find their neighbors, compared with loops over all rows.
//!
//! `cargo bench --bench neighbors` prints one line of JSON per row on uniform points in the unit cube: the seconds
//! of the order, and of the tree and the neighbors before each row. Then those of predictions: the order of targets,
//! and the neighbors of all targets, of three scales, independent and joint. The loops compare all rows, on the same
//! number of threads. They run for some rows only, which must get the same place in the order and the same
//! neighbors to the last one, and their time is multiplied. `-- ROWS DIMENSIONS NEIGHBORS` runs another size.

use std::{error::Error, time::Instant};

use burn_gp_core::neighbors::{
    Coordinates, NeighborSets, NeighborTree, Ordering, Scale, maximin_of_targets,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rayon::prelude::*;

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;

/// N, D, m
const ROWS: [(usize, usize, usize); 5] = [
    (100_000, 2, 30),
    (1_000_000, 2, 30),
    (100_000, 3, 30),
    (100_000, 5, 30),
    (50_000, 8, 30),
];

/// Observed rows and targets of a satellite image with clouds, N and T; m.
const PREDICTION: (usize, usize, usize) = (105_569, 44_431, 60);

/// From four dimensions on, rows are in random order.
const MAXIMIN_UP_TO: usize = 3;

/// Rows that the loops put in order.
const ORDERED: usize = 100;

/// Rows whose neighbors the loops find.
const SAMPLED: usize = 200;

/// Rows that one thread processes at a time.
const PART: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    match arguments::numbers()?[..] {
        [rows, dimensions, neighbors] => training(rows, dimensions, neighbors)?,
        _ => {
            for (rows, dimensions, neighbors) in ROWS {
                training(rows, dimensions, neighbors)?;
            }
            prediction(PREDICTION.0, PREDICTION.1, PREDICTION.2)?;
        }
    }
    Ok(())
}

/// Uniform points in the unit cube.
fn uniform(rows: usize, dimensions: usize, seed: u64) -> Result<Coordinates, Box<dyn Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let values = (0..rows * dimensions).map(|_| random.random()).collect();
    Ok(Coordinates::new(values, dimensions)?)
}

fn training(rows: usize, dimensions: usize, count: usize) -> Result<(), Box<dyn Error>> {
    let table = uniform(rows, dimensions, 7)?;
    let is_maximin = dimensions <= MAXIMIN_UP_TO;
    let ordering = if is_maximin {
        Ordering::Maximin
    } else {
        Ordering::Random
    };
    let start = Instant::now();
    let order = ordering.rows(&table, 0);
    let order_seconds = start.elapsed().as_secs_f64();
    let points = table.select(&order);
    let start = Instant::now();
    let sets = NeighborTree::new(&points).previous(0..rows, &[Scale::nearest(count)]);
    let neighbors_seconds = start.elapsed().as_secs_f64();
    let order_loops = if is_maximin {
        maximin_loops(&table, &order)
    } else {
        0.0
    };
    let neighbors_loops = neighbors_loops(&points, &sets, count);
    let (seconds, loops) = (
        order_seconds + neighbors_seconds,
        order_loops + neighbors_loops,
    );
    let nanoseconds = |seconds: f64| 1e9 * seconds / rows as f64;
    println!(
        "{{\"rows\": {rows}, \"dimensions\": {dimensions}, \"neighbors\": {count}, \"order\": \"{ordering:?}\", \
         \"order_seconds\": {order_seconds:.3}, \"neighbors_seconds\": {neighbors_seconds:.3}, \
         \"order_ns_per_row\": {:.0}, \"neighbors_ns_per_row\": {:.0}, \
         \"seconds\": {seconds:.3}, \"loops_seconds\": {loops:.0}, \"ratio\": {:.0}}}",
        nanoseconds(order_seconds),
        nanoseconds(neighbors_seconds),
        loops / seconds
    );
    Ok(())
}

fn prediction(rows: usize, targets: usize, count: usize) -> Result<(), Box<dyn Error>> {
    let observed = uniform(rows, 2, 7)?;
    let observed = observed.select(&Ordering::Maximin.rows(&observed, 0));
    let table = uniform(targets, 2, 8)?;
    let scales = Scale::three(count, rows);
    let tree = NeighborTree::new(&observed);
    let start = Instant::now();
    let order = maximin_of_targets(&table, &tree);
    let order_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let independent = tree.nearest(&table, &scales);
    let independent_seconds = start.elapsed().as_secs_f64();
    let points = table.select(&order);
    let start = Instant::now();
    let all = NeighborTree::new(&observed.followed_by(&points));
    let joint = all.previous(rows..rows + targets, &scales);
    let joint_seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"rows\": {rows}, \"targets\": {targets}, \"dimensions\": 2, \"neighbors\": {count}, \"scales\": 3, \
         \"order_of_targets_seconds\": {order_seconds:.3}, \"independent_seconds\": {independent_seconds:.3}, \
         \"joint_seconds\": {joint_seconds:.3}, \"widths\": [{}, {}]}}",
        independent.width(),
        joint.width()
    );
    Ok(())
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The time in which loops put all rows in maximin order, from that of the first.
fn maximin_loops(points: &Coordinates, order: &[usize]) -> f64 {
    let (rows, dimensions) = (points.rows(), points.dimensions());
    let start = Instant::now();
    let mut distances = vec![f64::INFINITY; rows];
    let mut next = order[0];
    let steps = ORDERED.min(rows);
    for &expected in &order[..steps] {
        assert_eq!(next, expected, "the loops find another order");
        let point = points.row(next);
        let parts = distances
            .par_chunks_mut(PART)
            .zip(points.values().par_chunks(PART * dimensions));
        let farthest = parts.enumerate().map(|(part, (distances, points))| {
            let mut farthest = (-1.0, 0);
            let rows = distances.iter_mut().zip(points.chunks_exact(dimensions));
            for (row, (distance, other)) in rows.enumerate() {
                *distance = distance.min(squared_distance(point, other));
                if *distance > farthest.0 {
                    farthest = (*distance, part * PART + row);
                }
            }
            farthest
        });
        next = farthest
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |farthest| farthest.1);
    }
    start.elapsed().as_secs_f64() * rows as f64 / steps as f64
}

/// The time in which loops find the neighbors of all rows, from that of some.
fn neighbors_loops(points: &Coordinates, sets: &NeighborSets, count: usize) -> f64 {
    let rows = points.rows();
    let step = (rows / SAMPLED).max(1);
    let sampled: Vec<usize> = (step - 1..rows).step_by(step).collect();
    let start = Instant::now();
    let found: Vec<Vec<u32>> = (sampled.par_iter())
        .map(|&row| nearest_before(points, row, count))
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    for (&row, found) in sampled.iter().zip(&found) {
        assert_eq!(
            sets.row(row),
            found,
            "the loops find other neighbors of row {row}"
        );
    }
    seconds * rows as f64 / sampled.len() as f64
}

fn nearest_before(points: &Coordinates, row: usize, count: usize) -> Vec<u32> {
    let x = points.row(row);
    let distance = |other: usize| (squared_distance(x, points.row(other)), other as u32);
    let mut found: Vec<(f64, u32)> = (0..row).map(distance).collect();
    let compare = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if found.len() > count {
        found.select_nth_unstable_by(count, compare);
        found.truncate(count);
    }
    found.sort_unstable_by(compare);
    found.into_iter().map(|(_, row)| row).collect()
}
