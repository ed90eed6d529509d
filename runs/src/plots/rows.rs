//! The selection of rows for a plot: length checks, finite values, even subsampling.

use burn_gp_datasets::counted;

use super::PlotError;

/// The maximum number of points in one series of a plot.
pub(super) const MOST_POINTS: usize = 2000;

/// The largest magnitude treated as finite; differences of larger numbers could overflow.
const LARGEST: f64 = 1e100;

/// Whether a value can be placed on an axis.
pub(super) fn usable(value: f64) -> bool {
    value.abs() < LARGEST
}

/// At most `limit` of `items`, evenly spaced, in order.
pub(super) fn thin<T: Clone>(items: &[T], limit: usize) -> Vec<T> {
    if items.len() <= limit {
        return items.to_vec();
    }
    (0..limit)
        .map(|index| items[index * items.len() / limit].clone())
        .collect()
}

/// Fails unless `found` equals `expected`.
pub(super) fn same_length(
    plot: &'static str,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), PlotError> {
    if expected == found {
        return Ok(());
    }
    Err(PlotError::LengthMismatch {
        plot,
        what,
        expected,
        found,
    })
}

/// A sentence about `count` rows for the header; `None` if there are none.
pub(super) fn remark(count: usize, text: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {text}"))
}

/// A sentence about `count` things, with their name in the singular; `None` if there are none.
pub(super) fn remark_on(count: usize, thing: &str, text: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {text}", counted(count, thing)))
}

/// A sentence about a selection of `all` things; `None` if all are shown.
pub(super) fn selected(shown: usize, all: usize, things: &str) -> Option<String> {
    (shown < all).then(|| format!("{shown} of {all} {things} shown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_order_and_limit() {
        let items: Vec<usize> = (0..4999).collect();
        let kept = thin(&items, MOST_POINTS);
        assert_eq!(kept.len(), MOST_POINTS);
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(thin(&items[..3], MOST_POINTS), vec![0, 1, 2]);
    }

    #[test]
    fn one_is_not_several() {
        let text = |count| remark_on(count, "point", "left out");
        assert_eq!(text(0), None);
        assert_eq!(text(1).as_deref(), Some("1 point left out"));
        assert_eq!(text(2).as_deref(), Some("2 points left out"));
    }

    #[test]
    fn usable_rejects_what_an_axis_cannot_hold() {
        assert!(usable(-1e99) && usable(0.0));
        assert!(
            ![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101]
                .map(usable)
                .contains(&true)
        );
    }
}
