//! Stationary processes of variance one as linear state-space models.

use burn::tensor::{Bool, Tensor, TensorData};

use super::oscillation::oscillation;
use crate::ops::exp_minus_one;

/// Beyond this u the exponential `e^(−u)` would lose u²·e^(−u) as infinity times zero.
pub const LARGEST_STEP: f64 = 700.0;

/// Gauss–Legendre nodes above zero and their weights, of ten on −1 to 1.
pub const NODES: [[f64; 2]; 5] = [
    [0.148_874_338_981_631_2, 0.295_524_224_714_752_9],
    [0.433_395_394_129_247_2, 0.269_266_719_309_996_3],
    [0.679_409_568_299_024_4, 0.219_086_362_515_982_1],
    [0.865_063_366_688_984_5, 0.149_451_349_150_580_6],
    [0.973_906_528_517_171_7, 0.066_671_344_308_688_1],
];

/// A stationary process of variance one. Each has the states f, f′/λ, f″/λ², … with the rate λ. Its parameters
/// are tensors, `[1]`, or numbers.
#[derive(Clone, Debug)]
pub enum Factor<T = Tensor<1>> {
    /// Matérn with ν = `states` − ½ and the rate `λ = √(2ν)/ℓ`.
    Matern { states: usize, rate: T },
    /// A cosine with the angular frequency ω: a rotation without noise.
    Cosine { frequency: T },
    /// A damped oscillator with the rate ω₀ and the damping ratio ζ.
    Oscillator { rate: T, damping: T },
}

impl<T> Factor<T> {
    /// The number of states.
    pub fn size(&self) -> usize {
        match self {
            Self::Matern { states, .. } => *states,
            Self::Cosine { .. } | Self::Oscillator { .. } => 2,
        }
    }

    /// The rate or the frequency, and the damping ratio of an oscillator.
    pub fn parameters(&self) -> impl Iterator<Item = &T> {
        let (first, second) = match self {
            Self::Matern { rate, .. } => (rate, None),
            Self::Cosine { frequency } => (frequency, None),
            Self::Oscillator { rate, damping } => (rate, Some(damping)),
        };
        core::iter::once(first).chain(second)
    }

    /// The same process with other parameters, in the same order.
    pub fn with_parameters<R>(&self, next: &mut impl FnMut() -> R) -> Factor<R> {
        match *self {
            Self::Matern { states, .. } => Factor::Matern {
                states,
                rate: next(),
            },
            Self::Cosine { .. } => Factor::Cosine { frequency: next() },
            Self::Oscillator { .. } => Factor::Oscillator {
                rate: next(),
                damping: next(),
            },
        }
    }
}

impl Factor {
    /// A(Δ), [U, b, b], for steps, `[U]`.
    pub fn transition(&self, steps: &Tensor<1>) -> Tensor<3> {
        match self {
            Self::Matern { states, rate } => matern_transition(*states, &scaled(steps, rate)),
            // [[cos ωΔ, −sin ωΔ], [sin ωΔ, cos ωΔ]]
            Self::Cosine { frequency } => {
                let phase = steps.clone() * frequency.clone();
                let (cosine, sine) = (phase.clone().cos(), phase.sin());
                let entries = vec![cosine.clone(), sine.clone().neg(), sine, cosine];
                matrices(entries, 2)
            }
            // [[c + ζs, s], [−s, c − ζs]]
            Self::Oscillator { rate, damping } => {
                let [c, s] = oscillation(steps.clone() * rate.clone(), damping.clone());
                let damped = s.clone() * damping.clone();
                let entries = vec![c.clone() + damped.clone(), s.clone(), s.neg(), c - damped];
                matrices(entries, 2)
            }
        }
    }

    /// P, [U, b, b]: the same for all `[U]`.
    pub fn prior(&self, like: &Tensor<1>) -> Tensor<3> {
        let entries: &[f64] = match self.size() {
            1 => &[1.0],
            2 => &[1.0, 0.0, 0.0, 1.0],
            _ => &[1.0, 0.0, -THIRD, 0.0, THIRD, 0.0, -THIRD, 0.0, 1.0],
        };
        let all = entries.iter().map(|&entry| like.full_like(entry));
        matrices(all.collect(), self.size())
    }

    /// `Q(Δ) = P − A(Δ)PA(Δ)ᵀ`, [U, b, b], for steps, `[U]`, without cancellation.
    pub fn noise(&self, steps: &Tensor<1>) -> Tensor<3> {
        match self {
            Self::Cosine { .. } => matrices(vec![steps.zeros_like(); 4], 2),
            // 1 − e^(−2u)
            Self::Matern { states: 1, rate } => {
                let u = scaled(steps, rate);
                matrices(vec![exp_minus_one(u * -2.0).neg()], 1)
            }
            // The impulse responses and the spectral densities of the driving noise: g = e^(−u)(u, 1 − u) and q = 4λ for
            // Matérn-3/2, g = e^(−u)(u²/2, u − u²/2, 1 − 2u + u²/2) and q = 16λ/3 for Matérn-5/2.
            Self::Matern { states, rate } => {
                let u = scaled(steps, rate);
                let density = if *states == 2 { 4.0 } else { 16.0 * THIRD };
                let near = integral(&u, u.full_like(density), |s| {
                    let decay = s.clone().neg().exp();
                    let w = s.clone().square() * 0.5;
                    let impulse = match states {
                        2 => vec![s.clone(), s.neg() + 1.0],
                        _ => vec![w.clone(), s.clone() - w.clone(), w - s * 2.0 + 1.0],
                    };
                    impulse.into_iter().map(|g| g * decay.clone()).collect()
                });
                self.near_or_far(near, u.lower_equal_elem(1.0), steps)
            }
            // g = (s, c − ζs) and q = 4ζω₀
            Self::Oscillator { rate, damping } => {
                let theta = steps.clone() * rate.clone();
                let near = integral(&theta, damping.clone() * 4.0, |theta| {
                    let damping = damping.clone().unsqueeze::<2>();
                    let [c, s] = oscillation(theta, damping.clone());
                    vec![s.clone(), c - s * damping]
                });
                let fastest = (damping.clone() * 2.0).clamp_min(1.0);
                self.near_or_far(near, (theta * fastest).lower_equal_elem(1.0), steps)
            }
        }
    }

    /// `near` for the steps of the mask, and `P − APAᵀ` for others, which are not small.
    fn near_or_far(
        &self,
        near: Tensor<3>,
        is_near: Tensor<1, Bool>,
        steps: &Tensor<1>,
    ) -> Tensor<3> {
        let (prior, transition) = (self.prior(steps), self.transition(steps));
        let [count, states, _] = transition.dims();
        // Products of small matrices as sums over their inner axis, the last: AP with P = Pᵀ, then (AP)Aᵀ.
        let product = |left: Tensor<3>, right: Tensor<3>| {
            let terms = left.reshape([count, states, 1, states])
                * right.reshape([count, 1, states, states]);
            terms.sum_dim(3).reshape([count, states, states])
        };
        let explained = product(
            product(transition.clone(), prior.clone()),
            transition.clone(),
        );
        let symmetric = (explained.clone() + explained.transpose()) * 0.5;
        let is_near = is_near.reshape([count, 1, 1]);
        (prior - symmetric).mask_where(is_near.expand([count, states, states]), near)
    }
}

/// Matrices, [U, b, b], from their entries, each `[U]`, row by row.
pub fn matrices(entries: Vec<Tensor<1>>, size: usize) -> Tensor<3> {
    let [count] = entries[0].dims();
    Tensor::stack::<2>(entries, 1).reshape([count, size, size])
}

pub const THIRD: f64 = 1.0 / 3.0;

/// u = λΔ
fn scaled(steps: &Tensor<1>, rate: &Tensor<1>) -> Tensor<1> {
    (steps.clone() * rate.clone()).clamp_max(LARGEST_STEP)
}

/// A of Matérn processes at u = λΔ, with w = u²/2.
fn matern_transition(states: usize, u: &Tensor<1>) -> Tensor<3> {
    let decay = u.clone().neg().exp();
    let one = u.ones_like();
    let w = u.clone().square() * 0.5;
    let entries = match states {
        1 => vec![one],
        // [[1 + u, u], [−u, 1 − u]]
        2 => vec![
            u.clone() + 1.0,
            u.clone(),
            u.clone().neg(),
            u.clone().neg() + 1.0,
        ],
        // [[1 + u + w, u + 2w, w], [−w, 1 + u − 2w, u − w], [w − u, 2w − 3u, 1 − 2u + w]]
        _ => vec![
            u.clone() + w.clone() + 1.0,
            u.clone() + w.clone() * 2.0,
            w.clone(),
            w.clone().neg(),
            u.clone() - w.clone() * 2.0 + 1.0,
            u.clone() - w.clone(),
            w.clone() - u.clone(),
            w.clone() * 2.0 - u.clone() * 3.0,
            w - u.clone() * 2.0 + 1.0,
        ],
    };
    let [count] = u.dims();
    matrices(entries, states) * decay.reshape([count, 1, 1])
}

/// `q/λ·∫₀^u g(s)g(s)ᵀds` for steps `u = λΔ ≤ 1` by ten Gauss–Legendre nodes, with the impulse response g at places,
/// `[U, 10]`, and the relative density `q/λ`, `[1]` or `[U]`. It is a sum of squares, and no digits cancel.
fn integral(
    u: &Tensor<1>,
    density: Tensor<1>,
    impulse: impl FnOnce(Tensor<2>) -> Vec<Tensor<2>>,
) -> Tensor<3> {
    let [count] = u.dims();
    let nodes = NODES
        .iter()
        .flat_map(|&[node, weight]| [[0.5 - 0.5 * node, weight], [0.5 + 0.5 * node, weight]]);
    let (places, weights): (Vec<f64>, Vec<f64>) = nodes.map(|[x, w]| (x, w)).unzip();
    let row = |values: Vec<f64>| {
        let data = TensorData::new(values, [1, 2 * NODES.len()]);
        Tensor::<2>::from_data(data, (&u.device(), u.dtype()))
    };
    let (places, weights) = (row(places), row(weights));
    let impulse = impulse(u.clone().reshape([count, 1]) * places); // [U, 10]
    let states = impulse.len();
    let half = u.clone() * density * 0.5;
    let mut entries = vec![half.clone(); states * states];
    for row in 0..states {
        for column in row..states {
            let products = impulse[row].clone() * impulse[column].clone() * weights.clone();
            let entry = products.sum_dim(1).reshape([count]) * half.clone();
            entries[row * states + column] = entry.clone();
            entries[column * states + row] = entry;
        }
    }
    matrices(entries, states)
}
