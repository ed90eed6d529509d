//! Orders of rows.

use std::time::{Duration, Instant};

use burn_gp_core::neighbors::{
    Coordinates, NeighborTree, Ordering, Scale, maximin, maximin_of_targets,
};

use super::{
    cases::{DIMENSIONS, cases, coordinates, lattice, on_threads, twelve},
    reference,
};
use crate::support::Random;

/// A program in Python gives these, which rounds squared distances to twelve decimals.
#[test]
fn orders_of_an_independent_program() {
    let expected = [
        12, 0, 4, 20, 24, 2, 10, 14, 22, 6, 8, 16, 18, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
    ];
    assert_eq!(maximin(&lattice()), expected);
    assert_eq!(
        maximin(&twelve([0.6, 1.1])),
        [4, 8, 7, 9, 2, 6, 10, 5, 0, 1, 3, 11]
    );
    assert_eq!(
        maximin(&twelve([1.0, 1.0])),
        [4, 3, 2, 0, 1, 7, 8, 9, 10, 11, 6, 5]
    );
}

#[test]
fn maximin_is_that_of_comparing_all_rows() {
    for dimensions in DIMENSIONS {
        for (name, rows) in cases(203, dimensions) {
            assert_eq!(
                maximin(&rows),
                reference::maximin(&rows, None),
                "{name}, D = {dimensions}"
            );
        }
    }
}

#[test]
fn maximin_of_targets_is_that_of_comparing_all_rows() {
    for dimensions in DIMENSIONS {
        let observed = cases(57, dimensions);
        for ((name, targets), (_, observed)) in cases(130, dimensions).into_iter().zip(observed) {
            let tree = NeighborTree::new(&observed);
            let ours = maximin_of_targets(&targets, &tree);
            let expected = reference::maximin(&targets, Some(&observed));
            assert_eq!(ours, expected, "{name}, D = {dimensions}");
        }
    }
}

/// The squared distance of each row in order from all rows before it.
fn radii(rows: &Coordinates, order: &[usize]) -> Vec<f64> {
    let distance = |a: usize, b: usize| reference::squared_distance(rows.row(a), rows.row(b));
    let of = |place: usize| {
        let before = order[..place]
            .iter()
            .map(|&other| distance(order[place], other));
        before.fold(f64::INFINITY, f64::min)
    };
    (0..order.len()).map(of).collect()
}

#[test]
fn distances_to_rows_before_never_grow() {
    for dimensions in [1, 2, 3, 8] {
        for (name, rows) in cases(150, dimensions) {
            let radii = radii(&rows, &maximin(&rows));
            assert!(
                radii.is_sorted_by(|a, b| a >= b),
                "{name}, D = {dimensions}: {radii:?}"
            );
        }
    }
}

/// The center of the widest gap: between 2 and 9.
#[test]
fn targets_start_in_the_widest_gap() {
    let observed = NeighborTree::new(&coordinates(vec![0.0, 1.0, 2.0, 9.0, 10.0], 1));
    let targets = coordinates((0..=100).map(|step| f64::from(step) / 10.0).collect(), 1);
    let order = maximin_of_targets(&targets, &observed);
    assert_eq!(order[0], 55);
    // The observed rows themselves come last.
    let mut last = order[96..].to_vec();
    last.sort_unstable();
    assert_eq!(last, [0, 10, 20, 90, 100]);
}

#[test]
fn without_observed_rows_targets_start_at_their_centroid() {
    let none = NeighborTree::new(&coordinates(Vec::new(), 2));
    assert_eq!(maximin_of_targets(&lattice(), &none), maximin(&lattice()));
}

/// The rows of a table in another order, by a fixed permutation.
fn shuffled(rows: &Coordinates, seed: u64) -> Coordinates {
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..rows.rows()).collect();
    for end in (1..order.len()).rev() {
        order.swap(end, random.below(end + 1));
    }
    rows.select(&order)
}

/// The points in order have the same coordinates, to the last bit, and so have their neighbors.
#[test]
fn the_order_of_the_table_does_not_matter() {
    for dimensions in [1, 2, 3, 8] {
        for (name, rows) in cases(180, dimensions) {
            let other = shuffled(&rows, 5);
            for ordering in [Ordering::Maximin, Ordering::Random] {
                let ordered = |rows: &Coordinates| {
                    let points = rows.select(&ordering.rows(rows, 3));
                    let sets = NeighborTree::new(&points).previous(0..180, &[Scale::nearest(7)]);
                    (points, sets)
                };
                assert_eq!(
                    ordered(&rows),
                    ordered(&other),
                    "{name}, {ordering:?}, D = {dimensions}"
                );
            }
        }
    }
}

#[test]
fn equal_rows_keep_their_order() {
    let rows = coordinates(vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 1);
    // The centroid is 0.5; the rest is at distance zero.
    assert_eq!(maximin(&rows), [1, 0, 3, 5, 2, 4]);
    assert_eq!(maximin(&coordinates(vec![-0.0, 0.0, -0.0], 1)), [0, 1, 2]);
}

#[test]
fn every_ordering_has_every_row_once() {
    for count in [0, 1, 2, 15, 16, 17, 33, 100] {
        for (name, rows) in cases(count, 2) {
            for ordering in [Ordering::Maximin, Ordering::Random, Ordering::Given] {
                let mut order = ordering.rows(&rows, 1);
                order.sort_unstable();
                assert!(
                    order.into_iter().eq(0..count),
                    "{name}, {ordering:?}, N = {count}"
                );
            }
        }
    }
}

#[test]
fn random_orders_differ_by_their_seed() {
    let rows = lattice();
    let order = |seed| Ordering::Random.rows(&rows, seed);
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert_ne!(order(1), Ordering::Given.rows(&rows, 1));
}

#[test]
fn given_is_the_order_of_the_table() {
    assert_eq!(
        Ordering::Given.rows(&twelve([1.0, 1.0]), 4),
        (0..12).collect::<Vec<usize>>()
    );
}

#[test]
fn orders_do_not_depend_on_the_number_of_threads() {
    // Enough rows for trees that are built on several threads.
    for (name, rows) in cases(5000, 2) {
        let order = || {
            let tree = NeighborTree::new(&rows.select(&(0..500).collect::<Vec<usize>>()));
            (maximin(&rows), maximin_of_targets(&rows, &tree))
        };
        assert_eq!(on_threads(1, order), on_threads(3, order), "{name}");
    }
}

#[test]
fn orderings_have_names_in_files() {
    for (ordering, name) in [
        (Ordering::Maximin, "\"maximin\""),
        (Ordering::Random, "\"random\""),
        (Ordering::Given, "\"given\""),
    ] {
        assert_eq!(serde_json::to_string(&ordering).expect("text"), name);
        assert_eq!(
            serde_json::from_str::<Ordering>(name).expect("a name"),
            ordering
        );
    }
    assert_eq!(Ordering::default(), Ordering::Maximin);
}

/// The time of the order and the neighbors; the lesser of two runs.
fn seconds(rows: &Coordinates) -> Duration {
    let run = || {
        let start = Instant::now();
        let points = rows.select(&maximin(rows));
        let sets = NeighborTree::new(&points).previous(0..rows.rows(), &[Scale::nearest(10)]);
        assert_eq!(sets.rows(), rows.rows());
        start.elapsed()
    };
    (0..2).map(|_| run()).min().expect("a run")
}

/// With 40 000 rows, a quadratic search takes hundreds of times as long as one of uniform points.
#[test]
fn no_kind_of_points_takes_quadratic_time() {
    let cases = cases(40_000, 2);
    let uniform = seconds(&cases[0].1);
    for (name, rows) in &cases {
        let seconds = seconds(rows);
        assert!(
            seconds < 20 * uniform,
            "{name}: {seconds:?}, uniform points {uniform:?}"
        );
    }
}
