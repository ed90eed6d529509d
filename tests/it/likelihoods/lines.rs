//! Integrals along a line that have a known value.

use std::f64::consts::PI;

use crate::support::lines::{Line, log_sum_exp};

/// The weights integrate to the normal distribution, and a narrow peak on its flank has the right
/// weight.
#[test]
fn integrals_of_known_value() {
    let line = Line {
        mean: 1.0,
        deviation: 2.0,
        foci: vec![(5.0, 1e-3)],
    };
    let nodes = line.nodes();
    let moment = |power: i32| -> f64 {
        nodes
            .iter()
            .map(|(f, log)| log.exp() * ((f - 1.0) / 2.0).powi(power))
            .sum()
    };
    for (power, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0)] {
        assert!(
            (moment(power) - expected).abs() < 1e-12,
            "{power}: {}",
            moment(power)
        );
    }
    let needle = nodes
        .iter()
        .map(|(f, log)| log - 0.5 * ((f - 5.0) / 1e-3).powi(2));
    let found = log_sum_exp(&needle.collect::<Vec<_>>()) - 0.5 * (2.0 * PI * 1e-6).ln();
    let variance: f64 = 4.0 + 1e-6;
    let expected = -0.5 * (16.0 / variance + (2.0 * PI * variance).ln());
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} against {expected}"
    );
}
