//! Orders and neighbors of any points.

use burn_gp_core::neighbors::{
    Coordinates, NeighborTree, Ordering, Scale, chordal, maximin_of_targets,
};
use proptest::prelude::*;

use crate::search::{no_panic, search};
use crate::values::{points, size};

#[test]
fn neighbors_of_any_points() {
    let orderings = &[Ordering::Maximin, Ordering::Random, Ordering::Given][..];
    let count = || prop_oneof![4 => size(40), 1 => Just(usize::MAX)];
    let scale = (count(), count()).prop_map(|(count, among)| Scale { count, among });
    let inputs = (
        points(40),
        size(40),
        proptest::collection::vec(scale, 0..4),
        proptest::sample::select(orderings),
        any::<u64>(),
    );
    search(2000, inputs, |(table, first, scales, ordering, seed)| {
        no_panic(&[], || {
            let Ok(all) = Coordinates::new(table.values.clone(), table.columns) else {
                return;
            };
            let rows: Vec<usize> = (0..table.rows).collect();
            let (observed, targets) = rows.split_at(first.min(table.rows));
            let (observed, targets) = (all.select(observed), all.select(targets));
            let observed = observed.select(&ordering.rows(&observed, seed));
            let tree = NeighborTree::new(&observed);
            let _ = tree.previous(0..observed.rows(), &scales);
            let _ = tree.nearest(&targets, &scales);
            let targets = targets.select(&maximin_of_targets(&targets, &tree));
            let joint = NeighborTree::new(&observed.followed_by(&targets));
            let sets = joint.previous(observed.rows()..table.rows, &scales);
            assert_eq!(sets.rows(), targets.rows());
            if table.columns == 2 {
                let _ = chordal(&all);
            }
        })?;
        Ok(())
    });
}
