//! Orders of rows, and the nearest rows before a row: the geometry of nearest-neighbor Gaussian processes.
//!
//! Vecchia's approximation multiplies the densities of single values given a few of the values before them:
//!
//! ```text
//! p(y) ≈ Π_i p(y_i | y_c(i)),   c(i) ⊂ {0, …, i − 1},   |c(i)| ≤ m
//! ```
//!
//! How good it is depends on the order of the rows and on the choice of neighbors `c(i)`: *Permutation and Grouping
//! Methods for Sharpening Gaussian Process Approximations* (Guinness, Technometrics 60, 2018). This module finds both
//! from coordinates alone. Distances are Euclidean; for those of a kernel, divide the inputs by its lengthscales.
//!
//! | type | content |
//! |---|---|
//! | [`Coordinates`] | a checked table of points, `[N, D]` |
//! | [`Ordering`] | the order of rows: maximin, random or given |
//! | [`NeighborTree`] | the search for the nearest rows, and for the nearest before each row |
//! | [`NeighborSets`] | the neighbors of each row, `[N, m]` |
//! | [`Scale`] | neighbors among the first rows only |
//! | [`chordal`] | longitude and latitude as points in space |
//!
//! # Example
//!
//! ```
//! use burn_gp_core::neighbors::{
//!     Coordinates, NeighborTree, Ordering, Scale, maximin_of_targets,
//! };
//!
//! // 900 observed rows. Values are put in the same order.
//! let rows = (0..900).flat_map(|i| [f64::from(i % 30), f64::from(i / 30)]);
//! let observed = Coordinates::new(rows.collect(), 2)?;
//! let order = Ordering::Maximin.rows(&observed, 0);
//! let observed = observed.select(&order);
//!
//! // The density: 10 neighbors before each row.
//! let tree = NeighborTree::new(&observed);
//! let sets = tree.previous(0..900, &[Scale::nearest(10)]);
//! assert_eq!(sets.row(3).len(), 3);
//! assert_eq!(sets.row(899).len(), 10);
//!
//! // Independent predictions: neighbors among all observed rows.
//! let targets = Coordinates::new(vec![3.2, 4.1, 40.0, 7.5], 2)?;
//! let scales = Scale::three(20, 900);
//! assert_eq!(tree.nearest(&targets, &scales).width(), 20);
//!
//! // Joint predictions: neighbors among all observed rows and the targets before.
//! let targets = targets.select(&maximin_of_targets(&targets, &tree));
//! let tree = NeighborTree::new(&observed.followed_by(&targets));
//! let sets = tree.previous(900..902, &scales);
//! assert_eq!((sets.rows(), sets.width()), (2, 20));
//! # Ok::<(), burn_gp_core::neighbors::CoordinateError>(())
//! ```

mod box_tree;
mod chordal;
mod coordinates;
mod maximin;
mod neighbor_sets;
mod neighbor_tree;
mod ordering;
mod scale;
mod search;
mod sorted_rows;

pub use chordal::{EARTH_RADIUS_KM, LatitudeError, chordal};
pub use coordinates::{CoordinateError, Coordinates};
pub use maximin::{maximin, maximin_of_targets};
pub use neighbor_sets::NeighborSets;
pub use neighbor_tree::NeighborTree;
pub use ordering::Ordering;
pub use scale::Scale;
