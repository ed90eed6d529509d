//! Stationary processes of variance one in plain numbers, with derivatives with respect to their parameter.

use super::{
    factor::{Factor, LARGEST_STEP, NODES, THIRD},
    oscillation::Oscillation,
};

/// Terms of the series of moments, after which the rest is below rounding for u ≤ 1.
const TERMS: usize = 24;

impl Factor<f64> {
    /// A(Δ) of a step, `[b, b]`.
    pub fn write_transition(&self, step: f64, a: &mut [f64]) {
        match *self {
            Self::Cosine { frequency } => {
                let (sine, cosine) = (frequency * step).sin_cos();
                a.copy_from_slice(&[cosine, -sine, sine, cosine]);
            }
            Self::Matern { states, rate } => {
                let u = (rate * step).min(LARGEST_STEP);
                let (decay, w) = ((-u).exp(), 0.5 * u * u);
                match states {
                    1 => a[0] = 1.0,
                    2 => a.copy_from_slice(&[1.0 + u, u, -u, 1.0 - u]),
                    _ => a.copy_from_slice(&[
                        1.0 + u + w,
                        u + 2.0 * w,
                        w,
                        -w,
                        1.0 + u - 2.0 * w,
                        u - w,
                        w - u,
                        2.0 * w - 3.0 * u,
                        1.0 - 2.0 * u + w,
                    ]),
                }
                a.iter_mut().for_each(|entry| *entry *= decay);
            }
            // [[c + ζs, s], [−s, c − ζs]]
            Self::Oscillator { rate, damping } => {
                let Oscillation { c, s, .. } = Oscillation::new(rate * step, damping);
                a.copy_from_slice(&[c + damping * s, s, -s, c - damping * s]);
            }
        }
    }

    /// ∂A/∂λ = Δ·F·A, or ∂A/∂ω, of a step, `[b, b]`, from A. `A = exp(λΔF)`, where F moves the state.
    pub fn write_transition_slope(&self, step: f64, a: &[f64], slope: &mut [f64]) {
        match self {
            // F = [[0, 1], [−1, −2ζ]]
            Self::Oscillator { damping, .. } => {
                let moved = |column: usize| -a[column] - 2.0 * damping * a[2 + column];
                slope.copy_from_slice(&[a[2], a[3], moved(0), moved(1)].map(|entry| step * entry));
            }
            Self::Cosine { .. } => {
                let rotated = [-a[2], -a[3], a[0], a[1]];
                let pairs = slope.iter_mut().zip(rotated);
                pairs.for_each(|(slope, entry)| *slope = step * entry);
            }
            Self::Matern { states, .. } => {
                // The last row of F has the coefficients of −(x + 1)ᵇ without the leading one.
                let last: &[f64] = match states {
                    1 => &[-1.0],
                    2 => &[-1.0, -2.0],
                    _ => &[-1.0, -3.0, -3.0],
                };
                for row in 0..*states {
                    for column in 0..*states {
                        let moved = match row + 1 < *states {
                            true => a[(row + 1) * states + column],
                            false => (last.iter().zip(a.iter().skip(column).step_by(*states)))
                                .map(|(f, a)| f * a)
                                .sum(),
                        };
                        slope[row * states + column] = step * moved;
                    }
                }
            }
        }
    }

    /// P, `[b, b]`.
    pub fn write_prior(&self, p: &mut [f64]) {
        p.copy_from_slice(prior(self.size()));
    }

    /// `Q(Δ) = P − A(Δ)PA(Δ)ᵀ` of a step, `[b, b]`, from A, without cancellation.
    pub fn write_noise(&self, step: f64, a: &[f64], q: &mut [f64]) {
        match *self {
            Self::Cosine { .. } => q.fill(0.0),
            Self::Matern { states: 1, rate } => q[0] = -(-2.0 * rate * step).exp_m1(),
            Self::Matern { states, rate } if rate * step <= 1.0 => integral(states, rate * step, q),
            Self::Matern { states, .. } => remainder(states, a, q),
            Self::Oscillator { rate, damping } if rate * step * (2.0 * damping).max(1.0) <= 1.0 => {
                oscillator_integral(rate * step, damping, q);
            }
            Self::Oscillator { .. } => remainder(2, a, q),
        }
    }

    /// ∂Q/∂λ = Δ·q·g(λΔ)g(λΔ)ᵀ of a step, `[b, b]`, with the impulse response g and the spectral density q of the
    /// driving noise (see [`integral`]).
    pub fn write_noise_slope(&self, step: f64, slope: &mut [f64]) {
        let (states, rate) = match *self {
            Self::Matern { states, rate } => (states, rate),
            Self::Cosine { .. } => return slope.fill(0.0),
            // g = (s, c − ζs) and q = 4ζ
            Self::Oscillator { rate, damping } => {
                let Oscillation { c, s, .. } = Oscillation::new(rate * step, damping);
                let (impulse, factor) = ([s, c - damping * s], 4.0 * damping * step);
                for (place, entry) in slope.iter_mut().enumerate() {
                    *entry = factor * impulse[place / 2] * impulse[place % 2];
                }
                return;
            }
        };
        let u = (rate * step).min(LARGEST_STEP);
        let (decay, w) = ((-u).exp(), 0.5 * u * u);
        let (impulse, density) = match states {
            1 => ([1.0, 0.0, 0.0], 2.0),
            2 => ([u, 1.0 - u, 0.0], 4.0),
            _ => ([w, u - w, 1.0 - 2.0 * u + w], 16.0 * THIRD),
        };
        let factor = step * density * decay * decay;
        for row in 0..states {
            for column in 0..states {
                slope[row * states + column] = factor * impulse[row] * impulse[column];
            }
        }
    }
}

impl Factor<f64> {
    /// ∂A/∂ζ and ∂Q/∂ζ of a step of an oscillator, `[2, 2]` each. With `T = e^(−ζθ)·θ³·S′(z)`,
    /// `∂c/∂ζ = ζθs − θc` and `∂s/∂ζ = −θs − 2ζT`; from `Q = I − AAᵀ`, `∂Q = −∂A·Aᵀ − A·∂Aᵀ`, where no digits cancel.
    pub fn slopes_of_damping(&self, step: f64) -> Option<[Vec<f64>; 2]> {
        let Self::Oscillator { rate, damping } = *self else {
            return None;
        };
        let Oscillation { theta, c, s, t } = Oscillation::new(rate * step, damping);
        let a = [c + damping * s, s, -s, c - damping * s];
        let across = -theta * s - 2.0 * damping * t;
        let last = 2.0 * damping * (theta * s + damping * t) - theta * c - s;
        let slope = [-2.0 * t, across, -across, last];
        let entry = |row: usize, column: usize| -> f64 {
            let of = |first: &[f64; 4], second: &[f64; 4]| -> f64 {
                (0..2)
                    .map(|k| first[2 * row + k] * second[2 * column + k])
                    .sum()
            };
            -of(&slope, &a) - of(&a, &slope)
        };
        let noise = vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)];
        Some([slope.to_vec(), noise])
    }
}

/// `4ζ∫₀^θ g(s)g(s)ᵀds` by ten Gauss–Legendre nodes, with the impulse response g of an oscillator.
fn oscillator_integral(theta: f64, damping: f64, q: &mut [f64]) {
    q.fill(0.0);
    for [node, weight] in NODES {
        for place in [0.5 - 0.5 * node, 0.5 + 0.5 * node] {
            let Oscillation { c, s, .. } = Oscillation::new(theta * place, damping);
            let (impulse, factor) = ([s, c - damping * s], 2.0 * damping * theta * weight);
            for (place, entry) in q.iter_mut().enumerate() {
                *entry += factor * impulse[place / 2] * impulse[place % 2];
            }
        }
    }
}

fn prior(states: usize) -> &'static [f64] {
    match states {
        1 => &[1.0],
        2 => &[1.0, 0.0, 0.0, 1.0],
        _ => &[1.0, 0.0, -THIRD, 0.0, THIRD, 0.0, -THIRD, 0.0, 1.0],
    }
}

/// `P − APAᵀ`, for steps that are not small.
fn remainder(states: usize, a: &[f64], q: &mut [f64]) {
    let p = prior(states);
    for row in 0..states {
        for column in row..states {
            let mut explained = 0.0;
            for i in 0..states {
                for j in 0..states {
                    explained += a[row * states + i] * p[i * states + j] * a[column * states + j];
                }
            }
            let entry = p[row * states + column] - explained;
            q[row * states + column] = entry;
            q[column * states + row] = entry;
        }
    }
}

/// `q∫₀ᵘ g(s)g(s)ᵀds` for `u = λΔ ≤ 1`, with the impulse response g and the spectral density q of the driving noise:
/// `g = e^(−s)(s, 1 − s)` and `q = 4` for Matérn-3/2, `g = e^(−s)(s²/2, s − s²/2, 1 − 2s + s²/2)` and `q = 16/3` for
/// Matérn-5/2. It is a sum of the moments `M_k = ∫₀ᵘ sᵏe^(−2s)ds`, each a sum of positive terms.
fn integral(states: usize, u: f64, q: &mut [f64]) {
    let decay = (-2.0 * u).exp();
    let most = 2 * (states - 1);
    // M_k = e^(−2u)uᵏ⁺¹·Σ_j (2u)ʲ/((k + 1)…(k + 1 + j))
    let (mut term, mut sum) = (1.0 / (most + 1) as f64, 0.0);
    for index in 0..TERMS {
        sum += term;
        term *= 2.0 * u / (most + 2 + index) as f64;
    }
    let mut moments = [0.0; 5];
    moments[most] = decay * u.powi(most as i32 + 1) * sum;
    // M_(k−1) = (2M_k + uᵏe^(−2u))/k
    for k in (1..=most).rev() {
        moments[k - 1] = (2.0 * moments[k] + u.powi(k as i32) * decay) / k as f64;
    }
    let [m0, m1, m2, m3, m4] = moments;
    if states == 2 {
        let cross = 4.0 * (m1 - m2);
        q.copy_from_slice(&[4.0 * m2, cross, cross, 4.0 * (m0 - 2.0 * m1 + m2)]);
        return;
    }
    let density = 16.0 * THIRD;
    let first = density * 0.25 * m4;
    let second = density * (m2 - m3 + 0.25 * m4);
    let third = density * (m0 - 4.0 * m1 + 5.0 * m2 - 2.0 * m3 + 0.25 * m4);
    let of_first = density * (0.5 * m3 - 0.25 * m4);
    let across = density * (0.5 * m2 - m3 + 0.25 * m4);
    let of_last = density * (m1 - 2.5 * m2 + 1.5 * m3 - 0.25 * m4);
    q.copy_from_slice(&[
        first, of_first, across, of_first, second, of_last, across, of_last, third,
    ]);
}
