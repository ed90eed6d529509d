//! Comparisons that fail for NaN.

/// The largest absolute value.
pub fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |largest, value| value.abs().max(largest))
}

/// Asserts that every value is finite.
#[track_caller]
pub fn assert_finite(what: &str, values: &[f64]) {
    if let Some(index) = values.iter().position(|value| !value.is_finite()) {
        panic!("{what}: entry {index} is {}", values[index]);
    }
}

/// Asserts that every entry agrees to `tolerance` relative to the largest expected entry.
#[track_caller]
pub fn assert_close(what: &str, actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_within(what, actual, expected, tolerance * largest(expected));
}

/// Asserts that every entry agrees to `bound`.
#[track_caller]
pub fn assert_within(what: &str, actual: &[f64], expected: &[f64], bound: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}: number of entries");
    assert_finite(&format!("{what} (expected)"), expected);
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let error = (actual - expected).abs();
        // `!(<=)` instead of `>`, because NaN must fail.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(error <= bound) {
            panic!(
                "{what}: entry {index} is {actual}, expected {expected}: error {error:.3e}, allowed \
                 {bound:.3e}"
            );
        }
    }
}
