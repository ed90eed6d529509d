//! The minimum of a function of few numbers without derivatives.

/// The most evaluations for each number.
const EVALUATIONS_EACH: usize = 60;
/// The search ends when the values at all corners differ by less than this part.
const TOLERANCE: f64 = 1e-6;

/// The corner with the smallest value after a search from `start`, whose other corners are one `step` away in one number
/// each (J. Nelder and R. Mead, *A simplex method for function minimization*, 1965). Values that are not numbers count
/// as infinite.
pub(super) fn minimum(start: &[f64], step: f64, value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let size = start.len();
    let at = |point: Vec<f64>| {
        let value = value(&point);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        (point, value)
    };
    let mut corners = vec![at(start.to_vec())];
    for place in 0..size {
        let mut corner = start.to_vec();
        corner[place] += step;
        corners.push(at(corner));
    }
    let mut evaluations = size + 1;
    loop {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (corners[0].1, corners[size].1);
        let is_flat = (worst - best).abs() <= TOLERANCE * best.abs();
        if size == 0 || is_flat || evaluations >= EVALUATIONS_EACH * size {
            return corners.swap_remove(0).0;
        }
        let mut center = vec![0.0; size];
        for (point, _) in &corners[..size] {
            let parts = center.iter_mut().zip(point);
            parts.for_each(|(sum, x)| *sum += x / size as f64);
        }
        let along = |factor: f64| {
            let pairs = center.iter().zip(&corners[size].0);
            at(pairs.map(|(c, x)| c + factor * (x - c)).collect())
        };
        let reflected = along(-1.0);
        evaluations += 1;
        let next = if reflected.1 < best {
            evaluations += 1;
            let expanded = along(-2.0);
            if expanded.1 < reflected.1 {
                expanded
            } else {
                reflected
            }
        } else if reflected.1 < corners[size - 1].1 {
            reflected
        } else {
            evaluations += 1;
            along(if reflected.1 < worst { -0.5 } else { 0.5 })
        };
        if next.1 < worst {
            corners[size] = next;
            continue;
        }
        // All corners move halfway to the best.
        let best = corners[0].0.clone();
        for corner in &mut corners[1..] {
            let halfway = corner.0.iter().zip(&best).map(|(x, b)| 0.5 * (x + b));
            *corner = at(halfway.collect());
        }
        evaluations += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_a_curved_valley_is_found() {
        let valley = |x: &[f64]| (1.0 - x[0]).powi(2) + 10.0 * (x[1] - x[0] * x[0]).powi(2);
        let found = minimum(&[-1.0, 1.0], 0.5, |x| 1.0 + valley(x));
        // The search ends where values differ by a millionth, at distances of its root.
        assert!((found[0] - 1.0).abs() < 0.01, "{found:?}");
        assert!((found[1] - 1.0).abs() < 0.02, "{found:?}");
    }
}
