//! A term of the kernel of a series in plain numbers.

use std::f64::consts::PI;

use burn_gp_core::kernels::{Harmonics, StateSpaceNumbers};

/// Which kernel a term is. Its values are those of its parameters, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermForm {
    /// `σ²`
    Constant,
    /// `σ²·t·t′`, of σ².
    Line,
    /// Matérn with this many states, of σ² and ℓ.
    Matern(usize),
    /// The periodic squared exponential, of σ², ℓ and the period p, times Matérn-1/2, of σ² and ℓ.
    Season,
}

/// A cosine of a season.
#[derive(Clone, Copy, Debug)]
struct Wave {
    /// The number of waves in a period.
    order: usize,
    /// Its part c of the variance.
    weight: f64,
    /// ∂c/∂log ℓ
    slope: f64,
}

/// The cosines of a season of lengthscale ℓ and period p. At whole steps, waves of orders j and p − j have the same
/// values if p is whole, and so have j and j + p: those beyond p/2 add to others.
fn waves(lengthscale: f64, period: f64, at_whole_steps: bool) -> Vec<Wave> {
    let z = 0.25 / (lengthscale * lengthscale);
    let harmonics = Harmonics::new(z);
    let wave = |(order, (&weight, &slope)): (usize, (&f64, &f64))| Wave {
        order,
        weight,
        slope: -2.0 * z * slope, // dz/d log ℓ = −2z
    };
    let all = (harmonics.weights().iter().zip(harmonics.slopes())).enumerate();
    let all = all.map(wave);
    if !at_whole_steps || period.fract() != 0.0 {
        return all.collect();
    }
    let period = period as usize;
    let mut folded: Vec<Wave> = Vec::with_capacity(period / 2 + 1);
    for wave in all {
        let rest = wave.order % period;
        let order = rest.min(period - rest);
        match folded.get_mut(order) {
            Some(own) => {
                own.weight += wave.weight;
                own.slope += wave.slope;
            }
            None => folded.push(wave),
        }
    }
    folded
}

impl TermForm {
    /// The term as a state-space model. At whole steps alone, a season of whole steps needs fewer states.
    pub(super) fn numbers(self, values: &[f64], at_whole_steps: bool) -> StateSpaceNumbers {
        match self {
            Self::Constant => StateSpaceNumbers::constant(values[0]),
            Self::Line => StateSpaceNumbers::line(values[0]),
            Self::Matern(states) => StateSpaceNumbers::matern(states, values[1], values[0]),
            Self::Season => {
                let (variance, period) = (values[0] * values[3], values[2]);
                let of_wave = |wave: Wave| match wave.order {
                    0 => StateSpaceNumbers::constant(variance * wave.weight),
                    order => {
                        StateSpaceNumbers::cosine(period / order as f64, variance * wave.weight)
                    }
                };
                let decay = StateSpaceNumbers::matern(1, values[4], 1.0);
                let season = waves(values[1], period, at_whole_steps)
                    .into_iter()
                    .map(of_wave)
                    .reduce(StateSpaceNumbers::plus);
                match season.and_then(|season| season.times(&decay)) {
                    Some(season) => season,
                    None => unreachable!("a season is not empty, and no line"),
                }
            }
        }
    }

    /// The derivatives of a function with respect to the logarithms of the values, given those with respect to the
    /// parameters of the blocks.
    pub(super) fn log_slopes(self, values: &[f64], at_whole_steps: bool, of: &[f64]) -> Vec<f64> {
        let rate =
            |states: usize, lengthscale: f64| (2.0 * states as f64 - 1.0).sqrt() / lengthscale;
        match self {
            Self::Constant | Self::Line => vec![values[0] * of[0]],
            Self::Matern(states) => vec![values[0] * of[0], -rate(states, values[1]) * of[1]],
            Self::Season => {
                let (variance, period) = (values[0] * values[3], values[2]);
                let mut slopes = vec![0.0; 5];
                let mut rest = of;
                for wave in waves(values[1], period, at_whole_steps) {
                    // A variance, a frequency unless it is constant, and the rate of the decay.
                    let count = if wave.order == 0 { 2 } else { 3 };
                    let (own, others) = rest.split_at(count);
                    rest = others;
                    slopes[0] += variance * wave.weight * own[0];
                    slopes[1] += variance * wave.slope * own[0];
                    if wave.order > 0 {
                        slopes[2] -= 2.0 * PI * wave.order as f64 / period * own[1];
                    }
                    slopes[4] -= rate(1, values[4]) * own[count - 1];
                }
                slopes[3] = slopes[0];
                slopes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivatives of a function of the matrices with respect to logarithms of values, by central differences.
    #[test]
    fn slopes_of_terms_are_central_differences() {
        let forms = [
            (TermForm::Constant, vec![0.7]),
            (TermForm::Line, vec![0.3]),
            (TermForm::Matern(1), vec![0.7, 3.0]),
            (TermForm::Matern(3), vec![1.7, 2.0]),
            (TermForm::Season, vec![0.6, 0.31, 6.0, 1.2, 20.0]),
        ];
        let steps = [1.0, 3.0];
        for (form, values) in forms {
            for at_whole_steps in [false, true] {
                let term = form.numbers(&values, at_whole_steps);
                let matrices = term.matrices(&steps, -2.0);
                // The derivatives of half the squares are the entries.
                let slopes = term.slopes(&steps, -2.0, &matrices);
                let slopes = form.log_slopes(&values, at_whole_steps, &slopes);
                let half_squares = |values: &[f64]| -> f64 {
                    let own = form.numbers(values, at_whole_steps).matrices(&steps, -2.0);
                    let all = [own.transitions, own.process_noise, own.prior].concat();
                    all.iter().map(|entry| 0.5 * entry * entry).sum()
                };
                for (place, slope) in slopes.iter().enumerate() {
                    let at = |change: f64| {
                        let mut other = values.clone();
                        other[place] *= change.exp();
                        half_squares(&other)
                    };
                    // Harmonics that come and go have a billionth of the variance.
                    let expected = (at(1e-4) - at(-1e-4)) / 2e-4;
                    let error = (slope - expected).abs();
                    assert!(
                        error < 1e-5 * expected.abs().max(1.0),
                        "{form:?}, {place}: {slope} {expected}"
                    );
                }
            }
        }
    }
}
