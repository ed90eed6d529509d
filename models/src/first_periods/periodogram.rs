//! The periodogram of values at points of any spacing.

use core::f64::consts::PI;

/// A wave in the values: `a·cos(2πfx) + b·sin(2πfx)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wave {
    /// f, in cycles per unit of x.
    pub frequency: f64,
    /// The variance of the wave, `(a² + b²)/2`.
    pub variance: f64,
}

/// Frequencies per width of a peak, `1/(range of x)`.
const OVERSAMPLING: f64 = 8.0;
/// The most frequencies of a periodogram.
const MOST_FREQUENCIES: usize = 20_000;
/// The probability that the strongest wave of white noise counts as one.
const FALSE_ALARM: f64 = 0.01;
/// The smallest number of values in which to look for waves.
const FEWEST_VALUES: usize = 8;
/// Steps of the search for the top of a peak; each keeps 62 % of the interval.
const SEARCH_STEPS: usize = 30;

/// The strongest waves of the values y at x, at most `most`, the strongest first. Each is removed
/// before the search for the next. A linear trend is removed before the first. Waves that could be
/// white noise are left out.
///
/// The periodogram is that of M. Zechmeister and M. Kürster, *The generalised Lomb–Scargle
/// periodogram*, arXiv:0901.2573: the share of the variance that a wave with an offset explains.
pub(super) fn strongest_waves(x: &[f64], y: &[f64], most: usize) -> Vec<Wave> {
    let Some(frequencies) = Frequencies::of(x) else {
        return Vec::new();
    };
    let mut rest = without_trend(x, y);
    let mut waves = Vec::new();
    while waves.len() < most {
        let share = |frequency: f64| Fit::new(x, &rest, frequency).share;
        let Some(frequency) = frequencies.highest(share) else {
            break;
        };
        let fit = Fit::new(x, &rest, frequency);
        if !frequencies.is_significant(fit.share, x.len()) {
            break;
        }
        waves.push(Wave {
            frequency,
            variance: (fit.cosine.powi(2) + fit.sine.powi(2)) / 2.0,
        });
        rest = fit.remove(x, &rest);
    }
    waves
}

/// The frequencies of a periodogram: multiples of `step` from `first`.
struct Frequencies {
    first: f64,
    step: f64,
    count: usize,
    /// The number of frequencies with independent values.
    independent: f64,
}

impl Frequencies {
    /// From one cycle in the range of x to one in two typical distances of neighbors; `None` if there
    /// are too few points.
    fn of(x: &[f64]) -> Option<Self> {
        let mut sorted = x.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        if sorted.len() < FEWEST_VALUES {
            return None;
        }
        let range = sorted[sorted.len() - 1] - sorted[0];
        let mut gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let highest = 0.5 / gaps[gaps.len() / 2];
        let (first, step) = (range.recip(), (OVERSAMPLING * range).recip());
        let count = ((highest - first) / step).floor();
        (count >= 1.0 && count.is_finite()).then(|| Self {
            first,
            step,
            count: (count as usize).min(MOST_FREQUENCIES),
            independent: (highest * range).max(1.0),
        })
    }

    /// The frequency where `height` is highest.
    fn highest(&self, height: impl Fn(f64) -> f64) -> Option<f64> {
        let all = (0..self.count).map(|index| self.first + self.step * index as f64);
        let heights = all.map(|frequency| (frequency, height(frequency)));
        let (top, _) = heights.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (mut low, mut high) = (top - self.step, top + self.step);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..SEARCH_STEPS {
            let part = golden * (high - low);
            match height(high - part) > height(low + part) {
                true => high = low + part,
                false => low = high - part,
            }
        }
        Some((low + high) / 2.0)
    }

    /// Whether a share of the variance this large is improbable for white noise: the share of a wave
    /// in N values of noise is above p with probability `exp(−p·(N − 3)/2)`.
    fn is_significant(&self, share: f64, count: usize) -> bool {
        share * (count as f64 - 3.0) / 2.0 > (self.independent / FALSE_ALARM).ln()
    }
}

/// The least-squares fit of a wave and an offset.
struct Fit {
    frequency: f64,
    cosine: f64,
    sine: f64,
    offset: f64,
    /// The share of the variance that the fit explains.
    share: f64,
}

impl Fit {
    fn new(x: &[f64], y: &[f64], frequency: f64) -> Self {
        let scale = (x.len() as f64).recip();
        let mut sums = [0.0; 8];
        for (x, y) in x.iter().zip(y) {
            let (sine, cosine) = (2.0 * PI * frequency * x).sin_cos();
            let terms = [
                *y,
                cosine,
                sine,
                y * y,
                y * cosine,
                y * sine,
                cosine * cosine,
                cosine * sine,
            ];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += scale * term;
            }
        }
        let [y, c, s, yy, yc, ys, cc, cs] = sums;
        let ss = 1.0 - cc - s * s;
        let (yy, yc, ys) = (yy - y * y, yc - y * c, ys - y * s);
        let (cc, cs) = (cc - c * c, cs - c * s);
        let determinant = cc * ss - cs * cs;
        // There is no fit if cosine and sine are linearly dependent, as at the Nyquist frequency of
        // regular points.
        let is_possible = determinant > 1e-9 && yy > 0.0;
        let (cosine, sine) = match is_possible {
            true => (
                (yc * ss - ys * cs) / determinant,
                (ys * cc - yc * cs) / determinant,
            ),
            false => (0.0, 0.0),
        };
        Self {
            frequency,
            cosine,
            sine,
            offset: y - cosine * c - sine * s,
            share: match is_possible {
                true => (cosine * yc + sine * ys) / yy,
                false => 0.0,
            },
        }
    }

    /// y without the wave and the offset.
    fn remove(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let residual = x.iter().zip(y).map(|(x, y)| {
            let (sine, cosine) = (2.0 * PI * self.frequency * x).sin_cos();
            y - self.offset - self.cosine * cosine - self.sine * sine
        });
        residual.collect()
    }
}

/// y without its linear trend in x.
fn without_trend(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let squares: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
    let products: f64 = (x.iter().zip(y))
        .map(|(x, y)| (x - x_mean) * (y - y_mean))
        .sum();
    let slope = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    (x.iter().zip(y))
        .map(|(x, y)| y - y_mean - slope * (x - x_mean))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two waves at points with gaps.
    #[test]
    fn waves_are_found_with_their_frequencies_and_variances() {
        let x: Vec<f64> = (0..300)
            .filter(|point| point % 7 != 0 && !(100..140).contains(point))
            .map(f64::from)
            .collect();
        let wave = |x: &f64| 3.0 * (2.0 * PI * x / 12.3 + 0.4).sin() + (2.0 * PI * x / 41.0).cos();
        let y: Vec<f64> = x.iter().map(|x| wave(x) + 0.02 * x).collect();
        let found = strongest_waves(&x, &y, 2);
        for (found, (period, variance)) in found.iter().zip([(12.3, 4.5), (41.0, 0.5)]) {
            assert!((found.frequency * period - 1.0).abs() < 0.01, "{found:?}");
            assert!((found.variance / variance - 1.0).abs() < 0.15, "{found:?}");
        }
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn there_are_no_waves_without_variation_or_in_few_points() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(strongest_waves(&x, &vec![2.5; 50], 3), []);
        assert_eq!(strongest_waves(&x[..5], &x[..5], 3), []);
        assert_eq!(strongest_waves(&[1.0; 50], &x, 3), []);
    }
}
