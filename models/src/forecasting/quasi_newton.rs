//! The minimum of a smooth function of few numbers.

/// A step is short enough if it reaches this part of the decrease that the slope promises.
const DECREASE: f64 = 1e-4;
/// A step is long enough if the slope at its end is at most this part of that at its start.
const CURVATURE: f64 = 0.9;
/// The most evaluations of a line search.
const EVALUATIONS_A_SEARCH: usize = 25;
/// The longest first step, in units of the numbers.
const FIRST_STEP: f64 = 0.5;
/// The search ends after this many iterations in a row with a negligible decrease.
const NEGLIGIBLE_IN_A_ROW: usize = 2;

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    /// The most iterations.
    pub(super) iterations: usize,
    /// A smaller decrease in an iteration is negligible.
    pub(super) decrease: f64,
}

/// A point with the value and the gradient there.
#[derive(Clone, Debug)]
struct Place {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// The point with the smallest value, and the value, after a search from `start` by the method of Broyden, Fletcher,
/// Goldfarb and Shanno (J. Nocedal and S. Wright, *Numerical Optimization*, 2006, equation 6.17), with a line search for the weak conditions
/// of Wolfe by bisection (A. Lewis and M. Overton, *Nonsmooth optimization via quasi-Newton methods*, 2013, algorithm
/// 2.6). `evaluate` has the value and the gradient, or `None` where there is no value.
///
/// # Errors
///
/// When there is no value at the start.
pub(super) fn minimum<E>(
    start: &[f64],
    stopping: Stopping,
    evaluate: impl Fn(&[f64]) -> Result<(f64, Vec<f64>), E>,
) -> Result<(Vec<f64>, f64), E> {
    let at = |point: Vec<f64>| {
        let (value, gradient) = evaluate(&point)?;
        Ok(Place {
            point,
            value,
            gradient,
        })
    };
    let mut place = at(start.to_vec())?;
    let mut inverse = Inverse::new(start.len());
    let mut negligible = 0;
    for _ in 0..stopping.iterations {
        let mut direction = inverse.direction(&place.gradient);
        if dot(&direction, &place.gradient) >= 0.0 {
            inverse = Inverse::new(start.len());
            direction = inverse.direction(&place.gradient);
        }
        let found = line_search(
            &place,
            &direction,
            inverse.first_step(&direction),
            |point| at(point).ok().filter(|place| place.value.is_finite()),
        );
        let Some(next) = found else { break };
        inverse.update(&place, &next);
        let decrease = place.value - next.value;
        place = next;
        negligible = match decrease < stopping.decrease {
            true => negligible + 1,
            false => 0,
        };
        if negligible >= NEGLIGIBLE_IN_A_ROW {
            break;
        }
    }
    Ok((place.point, place.value))
}

/// The end of a step along a direction, or `None` if no step has a smaller value.
fn line_search(
    start: &Place,
    direction: &[f64],
    first: f64,
    at: impl Fn(Vec<f64>) -> Option<Place>,
) -> Option<Place> {
    let slope = dot(direction, &start.gradient);
    let (mut short, mut long, mut step) = (0.0, f64::INFINITY, first);
    let mut best: Option<Place> = None;
    for _ in 0..EVALUATIONS_A_SEARCH {
        let point = start.point.iter().zip(direction).map(|(x, d)| x + step * d);
        let reached = at(point.collect())
            .filter(|place| place.value <= start.value + DECREASE * step * slope);
        match reached {
            None => long = step,
            Some(place) => {
                let is_long_enough = dot(direction, &place.gradient) >= CURVATURE * slope;
                best = Some(place);
                if is_long_enough {
                    break;
                }
                short = step;
            }
        }
        step = match long.is_finite() {
            true => 0.5 * (short + long),
            false => 2.0 * short,
        };
    }
    best
}

/// An approximation H of the inverse of the second derivatives, `[n, n]`.
#[derive(Debug)]
struct Inverse {
    /// Empty before the first step.
    matrix: Vec<f64>,
    size: usize,
}

impl Inverse {
    fn new(size: usize) -> Self {
        Self {
            matrix: Vec::new(),
            size,
        }
    }

    /// −Hg
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        match self.matrix.is_empty() {
            true => gradient.iter().map(|g| -g).collect(),
            false => self.times(gradient).into_iter().map(|d| -d).collect(),
        }
    }

    /// The first step to try: one, unless nothing is known about the curvature.
    fn first_step(&self, direction: &[f64]) -> f64 {
        match self.matrix.is_empty() {
            true => (FIRST_STEP / dot(direction, direction).sqrt()).min(1.0),
            false => 1.0,
        }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.matrix.chunks_exact(self.size.max(1));
        rows.map(|row| dot(row, x)).collect()
    }

    /// `H ← (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ` for the step s, the change y of the gradient, and `ρ = 1/sᵀy`.
    fn update(&mut self, from: &Place, to: &Place) {
        let difference = |to: &[f64], from: &[f64]| -> Vec<f64> {
            to.iter().zip(from).map(|(to, from)| to - from).collect()
        };
        let s = difference(&to.point, &from.point);
        let y = difference(&to.gradient, &from.gradient);
        let product = dot(&s, &y);
        if product <= 0.0 {
            return;
        }
        let size = self.size;
        if self.matrix.is_empty() {
            self.matrix = vec![0.0; size * size];
            let scale = product / dot(&y, &y);
            (0..size).for_each(|place| self.matrix[place * size + place] = scale);
        }
        let moved = self.times(&y); // Hy
        let factor = (1.0 + dot(&y, &moved) / product) / product;
        for row in 0..size {
            for column in 0..size {
                let across = moved[row] * s[column] + s[row] * moved[column];
                self.matrix[row * size + column] += factor * s[row] * s[column] - across / product;
            }
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPPING: Stopping = Stopping {
        iterations: 100,
        decrease: 1e-12,
    };

    #[test]
    fn the_bottom_of_a_curved_valley_is_found() {
        // Rosenbrock's function, without values beyond a wall.
        let valley = |x: &[f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            let gradient = vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b];
            match x[0] < 1.5 {
                true => Ok((a * a + 100.0 * b * b, gradient)),
                false => Err(()),
            }
        };
        let (found, _) = minimum(&[-1.2, 1.0], STOPPING, valley).unwrap();
        // The value is below the last decrease, and its root times the curvature is the distance.
        assert!(
            (found[0] - 1.0).abs() < 1e-5 && (found[1] - 1.0).abs() < 1e-5,
            "{found:?}"
        );
        assert_eq!(minimum(&[2.0, 1.0], STOPPING, valley), Err(()));
    }

    #[test]
    fn a_quadratic_function_of_no_or_some_numbers_is_solved() {
        let none = |_: &[f64]| Ok::<_, ()>((1.0, vec![]));
        assert_eq!(minimum(&[], STOPPING, none), Ok((vec![], 1.0)));
        let curvatures = [1.0, 30.0, 0.2, 4.0];
        let bowl = |x: &[f64]| {
            let shifted = x.iter().zip(curvatures).map(|(x, c)| (x - c, c));
            let value = shifted.clone().map(|(d, c)| 0.5 * c * d * d).sum::<f64>();
            Ok::<_, ()>((value, shifted.map(|(d, c)| c * d).collect()))
        };
        let (found, value) = minimum(&[0.0; 4], STOPPING, bowl).unwrap();
        assert!(value.abs() < 1e-10, "{value}");
        for (found, expected) in found.iter().zip(curvatures) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}
