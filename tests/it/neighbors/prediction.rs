//! Neighbors of targets: independent and joint, of one scale and of several.

use burn_gp_core::neighbors::{
    Coordinates, NeighborSets, NeighborTree, Scale, maximin, maximin_of_targets,
};

use super::{
    cases::{DIMENSIONS, cases, four_targets, twelve},
    reference,
};

fn lists(sets: &NeighborSets) -> Vec<&[u32]> {
    sets.iter().collect()
}

/// A program in Python gives these.
#[test]
fn neighbors_of_targets_of_an_independent_program() {
    let (observed, targets) = (twelve([0.6, 1.1]), four_targets([0.6, 1.1]));
    let tree = NeighborTree::new(&observed);
    let independent = tree.nearest(&targets, &[Scale::nearest(3)]);
    assert_eq!(
        lists(&independent),
        [[4, 11, 5], [4, 11, 5], [1, 8, 10], [1, 8, 10]]
    );
    let two_scales = [Scale::nearest(2), Scale { count: 2, among: 4 }];
    let expected = [[4, 11, 0, 2], [4, 11, 0, 2], [1, 8, 3, 2], [1, 8, 3, 2]];
    assert_eq!(lists(&tree.nearest(&targets, &two_scales)), expected);
    let all = NeighborTree::new(&observed.followed_by(&targets));
    let joint = all.previous(12..16, &[Scale::nearest(3)]);
    assert_eq!(
        lists(&joint),
        [[4, 11, 5], [12, 4, 11], [1, 8, 10], [14, 1, 8]]
    );
}

#[test]
fn three_scales_are_a_half_and_two_quarters() {
    let scales =
        |count, rows| Scale::three(count, rows).map(|scale| (scale.count, scale.among.min(rows)));
    assert_eq!(scales(60, 105_569), [(30, 105_569), (15, 6598), (15, 412)]);
    assert_eq!(scales(30, 100), [(16, 100), (7, 6), (7, 0)]);
    assert_eq!(scales(3, 100), [(3, 100), (0, 6), (0, 0)]);
}

/// Sorted numbers without one that occurs twice.
fn distinct(neighbors: &[u32]) -> usize {
    let mut sorted = neighbors.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// Observed rows in maximin order, and targets in theirs.
fn in_order(observed: &Coordinates, targets: &Coordinates) -> (Coordinates, Coordinates) {
    let observed = observed.select(&maximin(observed));
    let order = maximin_of_targets(targets, &NeighborTree::new(&observed));
    (observed, targets.select(&order))
}

#[test]
fn scales_are_those_of_comparing_all_rows() {
    for dimensions in DIMENSIONS {
        let targets = cases(40, dimensions);
        for ((name, observed), (_, targets)) in cases(300, dimensions).iter().zip(&targets) {
            let (observed, targets) = in_order(observed, targets);
            let tree = NeighborTree::new(&observed);
            let all = observed.followed_by(&targets);
            let joint_tree = NeighborTree::new(&all);
            for count in [4, 30] {
                let scales = Scale::three(count, 300);
                let independent = tree.nearest(&targets, &scales);
                let joint = joint_tree.previous(300..340, &scales);
                for row in 0..40 {
                    let what = format!("{name}, D = {dimensions}, target {row}");
                    let x = targets.row(row);
                    let expected = reference::of_scales(x, &observed, 300, &scales);
                    assert_eq!(independent.row(row), expected, "{what}");
                    let expected = reference::of_scales(x, &all, 300 + row, &scales);
                    assert_eq!(joint.row(row), expected, "{what}, joint");
                    assert_eq!(distinct(joint.row(row)), count, "{what}");
                }
            }
        }
    }
}

/// Few observed rows: the coarse scales have too few rows, or none, and the nearest take their place.
#[test]
fn sets_are_filled_while_there_are_rows() {
    for observed in [0, 1, 2, 11, 12, 13, 40] {
        let targets = cases(15, 2);
        for ((name, rows), (_, targets)) in cases(observed, 2).iter().zip(&targets) {
            let scales = Scale::three(12, observed);
            let sets = NeighborTree::new(rows).nearest(targets, &scales);
            assert_eq!(
                (sets.rows(), sets.width()),
                (15, observed.min(12)),
                "{name}"
            );
            let joint = NeighborTree::new(&rows.followed_by(targets))
                .previous(observed..observed + 15, &scales);
            assert_eq!(joint.width(), (observed + 14).min(12), "{name}");
            for row in 0..15 {
                assert_eq!(distinct(sets.row(row)), observed.min(12), "{name}");
                assert_eq!(distinct(joint.row(row)), (observed + row).min(12), "{name}");
            }
        }
    }
}

/// The distance to rows that many neighbors share: with one scale, a target in a gap sees only its edge.
#[test]
fn coarse_scales_reach_beyond_the_edge_of_a_gap() {
    let (_, observed) = &cases(2000, 2)[0];
    let observed = observed.select(&maximin(observed));
    let target = Coordinates::new(vec![3.0, 0.5], 2).expect("a place");
    let tree = NeighborTree::new(&observed);
    let farthest = |scales: &[Scale]| {
        let sets = tree.nearest(&target, scales);
        let distances = sets
            .row(0)
            .iter()
            .map(|&row| reference::squared_distance(target.row(0), observed.row(row as usize)));
        distances.fold(0.0, f64::max).sqrt()
    };
    let (one, three) = (
        farthest(&[Scale::nearest(24)]),
        farthest(&Scale::three(24, 2000)),
    );
    assert!(one < 2.1 && three > 2.3, "{one}, {three}");
}
