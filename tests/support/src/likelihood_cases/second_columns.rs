//! Targets of two columns from drawn ones.

use burn_gp_core::likelihoods::Likelihood;

/// Targets drawn from a likelihood of one output, with their second column if there is one: noise variances of 0.1,
/// 8 trials with the drawn share of successes, or limits around the drawn numbers.
pub fn in_columns(likelihood: &dyn Likelihood, drawn: Vec<f64>) -> Vec<f64> {
    let description = likelihood.description();
    let in_pairs = |pair: fn(usize, f64) -> [f64; 2]| -> Vec<f64> {
        let each = drawn.iter().enumerate();
        each.flat_map(|(row, &own)| pair(row, own)).collect()
    };
    match (description.columns, description.is_possible(1, 0.1)) {
        (1, _) => drawn,
        _ if description.infinite => in_pairs(limits),
        (_, true) => in_pairs(|_, value| [value, 0.1]),
        (_, false) => in_pairs(|_, share| [(8.0 * share).round(), 8.0]),
    }
}

/// Limits around a number: equal ones, those of a rounded number, and a lower or an upper one alone, by turns.
fn limits(row: usize, value: f64) -> [f64; 2] {
    match row % 4 {
        0 => [value, value],
        1 => [value.floor(), value.floor() + 1.0],
        2 => [value - 0.3, f64::INFINITY],
        _ => [f64::NEG_INFINITY, value + 0.3],
    }
}
