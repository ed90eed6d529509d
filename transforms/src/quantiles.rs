//! Shares of values, and lines between points.

/// The most values that a quantile transformation keeps.
const MOST_KNOTS: usize = 1000;

/// The last segment that begins at or before x, among the ascending `from`; the first before all.
fn segment(from: &[f64], x: f64) -> usize {
    let after = from.partition_point(|&knot| knot <= x);
    after.clamp(1, from.len() - 1) - 1
}

/// The slope of the line through the points around x; 1 for a single point.
pub fn slope(from: &[f64], to: &[f64], x: f64) -> f64 {
    if from.len() < 2 {
        return 1.0;
    }
    let first = segment(from, x);
    (to[first + 1] - to[first]) / (from[first + 1] - from[first])
}

/// The value at x on the lines through the points; the first and the last line go on beyond the ends.
pub fn interpolated(from: &[f64], to: &[f64], x: f64) -> f64 {
    let first = match from.len() {
        1 => 0,
        _ => segment(from, x),
    };
    to[first] + slope(from, to, x) * (x - from[first])
}

/// Up to [`MOST_KNOTS`] of the values, ascending, and the shares of smaller ones, half of the equal ones included.
pub fn shares_of(values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let equal: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    let mut smaller = 0;
    let all = equal.iter().map(|equal| {
        let share = (smaller as f64 + 0.5 * equal.len() as f64) / count;
        smaller += equal.len();
        (equal[0], share)
    });
    let all: Vec<(f64, f64)> = all.collect();
    let kept = all.len().min(MOST_KNOTS);
    // Evenly spaced, the first and the last included.
    let places = (0..kept).map(|knot| knot * (all.len() - 1) / (kept - 1).max(1));
    places.map(|place| all[place]).unzip()
}
