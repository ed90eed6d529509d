//! Training rows of weight zero, which do not count.

use burn_gp_datasets::{Dataset, RowRole, Split};

/// Without the training rows of weight zero, which do not count, if there are others.
pub(super) fn without_weightless_rows(split: Split, dataset: &Dataset) -> Split {
    let Some(weights) = dataset.attributes.numbers(RowRole::Weights) else {
        return split;
    };
    let rows = split.train.iter().copied();
    let positive: Vec<usize> = rows.filter(|&row| weights[row] > 0.0).collect();
    match positive.is_empty() {
        true => split,
        false => Split {
            train: positive,
            ..split
        },
    }
}
