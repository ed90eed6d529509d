//! Initialization of inducing points, and matrices that may not have a factor.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::{Initializer, distinct_rows},
    ops::{Jitter, cholesky},
};
use proptest::prelude::*;

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, number, options, points, size, table, usual_kernel};

#[test]
fn inducing_points_of_any_inputs() {
    let initializers = &[
        Initializer::Subset,
        Initializer::KMeans,
        Initializer::GreedyVariance,
    ][..];
    let counts = proptest::collection::vec(size(8), 0..3);
    let inputs = (
        proptest::sample::select(initializers),
        points(8),
        counts,
        any::<u64>(),
        options(),
        usual_kernel(),
    );
    search(
        1200,
        inputs,
        |(initializer, points, counts, seed, options, config)| {
            no_panic(DOCUMENTED, || {
                let _ = distinct_rows(&points.values, points.columns);
                if config.missing_dimension(points.columns).is_some() {
                    return;
                }
                let kernel = config.init(points.columns, (&options.0, options.1));
                let inputs = points.tensor(&options);
                let total = counts.iter().sum();
                let _ = initializer.select(&kernel, inputs.clone(), total, seed);
                if let Ok(sets) = initializer.select_sets(&kernel, inputs, &counts, seed) {
                    assert!(
                        sets.iter()
                            .map(|set| set.dims()[0])
                            .eq(counts.iter().copied())
                    );
                }
            })?;
            Ok(())
        },
    );
}

/// A symmetric matrix of arbitrary numbers gives a factor or an error.
#[test]
fn factors_of_any_matrices() {
    let inputs = (1usize..6).prop_flat_map(|rows| table(rows, rows, number().boxed()));
    let jitter = (number(), 0usize..5);
    search(
        1500,
        (inputs, options(), jitter),
        |(table, options, (initial, escalations))| {
            no_panic(&[], || {
                let matrix = table.tensor(&options);
                let matrix = matrix.clone() + matrix.transpose();
                let jitters = [
                    Jitter::INDUCING,
                    Jitter::for_precision(options.1),
                    Jitter {
                        initial,
                        escalations,
                    },
                ];
                for jitter in jitters {
                    if let Ok(factor) = cholesky(matrix.clone(), jitter) {
                        let ones = Tensor::ones([table.rows, 1], (&options.0, options.1));
                        let _ = factor.solve(ones).into_data();
                        let _ = factor.log_determinant().into_data();
                    }
                }
            })?;
            Ok(())
        },
    );
}
