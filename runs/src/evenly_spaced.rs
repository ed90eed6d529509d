//! Evenly spaced numbers.

/// `count` evenly spaced numbers from `low` to `high`, both included; a single number is `low`.
pub fn evenly_spaced((low, high): (f64, f64), count: usize) -> Vec<f64> {
    let step = (high - low) / count.saturating_sub(1).max(1) as f64;
    (0..count).map(|index| low + step * index as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::evenly_spaced;

    #[test]
    fn places_reach_from_end_to_end() {
        assert_eq!(evenly_spaced((-1.0, 1.0), 5), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(evenly_spaced((2.0, 3.0), 1), [2.0]);
        assert!(evenly_spaced((2.0, 3.0), 0).is_empty());
    }
}
