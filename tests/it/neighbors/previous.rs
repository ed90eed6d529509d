//! Neighbors among the rows before a row.

use burn_gp_core::neighbors::{
    CoordinateError, Coordinates, NeighborSets, NeighborTree, Ordering, Scale, maximin,
};

use super::{
    cases::{DIMENSIONS, cases, coordinates, lattice, on_threads, twelve},
    reference,
};
use crate::support::panics::assert_names;

/// The `count` nearest rows before each row.
fn previous(rows: &Coordinates, count: usize) -> NeighborSets {
    NeighborTree::new(rows).previous(0..rows.rows(), &[Scale::nearest(count)])
}

fn lists(sets: &NeighborSets) -> Vec<&[u32]> {
    sets.iter().collect()
}

/// A program in Python gives these.
#[test]
fn neighbors_of_an_independent_program() {
    let lattice = lattice();
    let expected: [&[u32]; 25] = [
        &[],
        &[0],
        &[0, 1],
        &[0, 1, 2],
        &[0, 2, 3, 1],
        &[0, 1, 2, 3],
        &[0, 1, 3, 5],
        &[0, 2, 4, 5],
        &[0, 3, 4, 6],
        &[0, 1, 5, 6],
        &[0, 2, 5, 7],
        &[0, 3, 6, 8],
        &[0, 4, 7, 8],
        &[1, 5, 9, 0],
        &[2, 5, 10, 13],
        &[1, 6, 9, 13],
        &[0, 5, 9, 10],
        &[2, 7, 10, 14],
        &[0, 6, 9, 11],
        &[0, 7, 10, 12],
        &[3, 6, 11, 18],
        &[0, 8, 11, 12],
        &[4, 7, 12, 19],
        &[3, 8, 11, 20],
        &[4, 8, 12, 21],
    ];
    let sets = previous(&lattice.select(&maximin(&lattice)), 4);
    assert_eq!(lists(&sets), expected);
    let expected: [&[u32]; 12] = [
        &[],
        &[0],
        &[0, 1],
        &[1, 0, 2],
        &[2, 0, 3],
        &[4, 2, 0],
        &[3, 4, 1],
        &[0, 2, 5],
        &[1, 3, 6],
        &[4, 0, 5],
        &[4, 1, 6],
        &[9, 5, 4],
    ];
    assert_eq!(lists(&previous(&twelve([0.6, 1.1]), 3)), expected);
}

#[test]
fn neighbors_are_those_of_comparing_all_rows() {
    for dimensions in DIMENSIONS {
        for (name, rows) in cases(203, dimensions) {
            for count in [1, 6, 30, 400] {
                let sets = previous(&rows, count);
                assert_eq!((sets.rows(), sets.width()), (203, count.min(202)));
                for (row, neighbors) in sets.iter().enumerate() {
                    let expected = reference::nearest(rows.row(row), &rows, 0..row, count);
                    assert_eq!(
                        neighbors, expected,
                        "{name}, D = {dimensions}, row {row} of {count}"
                    );
                }
            }
        }
    }
}

/// Rows before a row may be on all its sides, or on one.
#[test]
fn neighbors_are_right_in_every_order() {
    for (name, table) in cases(300, 2) {
        let sorted = reference::sorted(&table);
        let reversed: Vec<usize> = sorted.iter().rev().copied().collect();
        for order in [
            sorted,
            reversed,
            Ordering::Maximin.rows(&table, 0),
            Ordering::Random.rows(&table, 0),
        ] {
            let rows = table.select(&order);
            for (row, neighbors) in previous(&rows, 12).iter().enumerate() {
                let expected = reference::nearest(rows.row(row), &rows, 0..row, 12);
                assert_eq!(neighbors, expected, "{name}, row {row}");
            }
        }
    }
}

/// Where a row has fewer neighbors than others, the table has zeros, which are numbers of rows.
#[test]
fn tables_are_as_wide_as_their_longest_row() {
    for (count, asked, width) in [
        (0, 5, 0),
        (1, 5, 0),
        (2, 5, 1),
        (2, 0, 0),
        (9, 3, 3),
        (9, 8, 8),
        (9, 9, 8),
    ] {
        for (_, rows) in cases(count, 3) {
            let sets = previous(&rows, asked);
            assert_eq!((sets.rows(), sets.width()), (count, width));
            assert_eq!(sets.indices().len(), count * width);
            for (row, (&own, neighbors)) in sets.counts().iter().zip(sets.iter()).enumerate() {
                assert_eq!(own as usize, row.min(width));
                assert_eq!(neighbors, sets.row(row));
                let (counted, rest) = sets.indices()[row * width..][..width].split_at(own as usize);
                assert_eq!(neighbors, counted);
                assert!(rest.iter().all(|&rest| rest == 0));
            }
        }
    }
}

#[test]
fn some_rows_have_the_neighbors_that_they_have_among_all() {
    let (_, rows) = &cases(200, 2)[0];
    let tree = NeighborTree::new(rows);
    let all = tree.previous(0..200, &[Scale::nearest(9)]);
    for range in [0..5, 3..4, 60..131, 199..200, 200..200, 0..0] {
        let some = tree.previous(range.clone(), &[Scale::nearest(9)]);
        assert_eq!(lists(&some), lists(&all)[range]);
    }
}

#[test]
fn neighbors_do_not_depend_on_the_number_of_threads() {
    // Several parts for each thread.
    for (name, rows) in cases(3000, 2) {
        let find = || {
            let tree = NeighborTree::new(&rows);
            let scales = Scale::three(16, 2500);
            (
                tree.previous(0..3000, &[Scale::nearest(10)]),
                tree.nearest(&rows, &scales),
            )
        };
        assert_eq!(on_threads(1, find), on_threads(3, find), "{name}");
    }
}

#[test]
fn coordinates_that_are_not_finite_are_refused() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e150, -1e200] {
        let Err(error) = Coordinates::new(vec![1.0, 2.0, 3.0, value, 5.0, value], 2) else {
            panic!("{value} is a coordinate");
        };
        let CoordinateError {
            row,
            column,
            value: found,
        } = error;
        assert_eq!((row, column, found.to_bits()), (1, 1, value.to_bits()));
        let message = error.to_string();
        assert!(message.contains("row 1, column 1"), "{message}");
    }
}

#[test]
fn mistakes_name_the_shapes() {
    let rows = lattice();
    let tree = NeighborTree::new(&rows);
    let three = coordinates(vec![0.0; 12], 3);
    let scales = [Scale::nearest(2)];
    assert_names("5 numbers", &["2 dimensions", "5 numbers"], || {
        Coordinates::new(vec![0.0; 5], 2)
    });
    assert_names("no dimensions", &["0 dimensions"], || {
        Coordinates::new(Vec::new(), 0)
    });
    assert_names("other targets", &["[25, 2]", "[4, 3]"], || {
        tree.nearest(&three, &scales)
    });
    assert_names("other dimensions", &["[25, 2]", "[4, 3]"], || {
        rows.followed_by(&three)
    });
    assert_names("rows beyond the tree", &["20..26", "25 rows"], || {
        tree.previous(20..26, &scales)
    });
}
