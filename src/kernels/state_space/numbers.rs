//! The matrices of a kernel of time in plain numbers, and the derivatives of functions of them.

use super::{
    block::{Block, Motion, first_states},
    factor::Factor,
};

/// The matrices of a block for one step, without its variance, and their derivatives with respect to the parameters of
/// its factors.
#[derive(Debug, Default)]
struct Matrices {
    /// A, `[b, b]`
    transition: Vec<f64>,
    /// Q, `[b, b]`
    noise: Vec<f64>,
    /// P, `[b, b]`
    prior: Vec<f64>,
    /// ∂A and ∂Q of each parameter, `[b, b]`
    slopes: Vec<[Vec<f64>; 2]>,
}

impl Matrices {
    fn identity() -> Self {
        Self {
            transition: vec![1.0],
            noise: vec![0.0],
            prior: vec![1.0],
            slopes: Vec::new(),
        }
    }

    fn of_factor(factor: &Factor<f64>, step: f64, wants_slopes: bool) -> Self {
        let entries = factor.size() * factor.size();
        let [mut transition, mut noise, mut prior] = [(); 3].map(|()| vec![0.0; entries]);
        factor.write_transition(step, &mut transition);
        factor.write_noise(step, &transition, &mut noise);
        factor.write_prior(&mut prior);
        let mut slopes = Vec::new();
        if wants_slopes {
            let [mut of_transition, mut of_noise] = [(); 2].map(|()| vec![0.0; entries]);
            factor.write_transition_slope(step, &transition, &mut of_transition);
            factor.write_noise_slope(step, &mut of_noise);
            slopes.push([of_transition, of_noise]);
            slopes.extend(factor.slopes_of_damping(step));
        }
        Self {
            transition,
            noise,
            prior,
            slopes,
        }
    }

    /// Those of a product: `A₁⊗A₂`, `P₁⊗P₂`, and `Q = Q₁⊗P₂ + (P₁ − Q₁)⊗Q₂`, because `A₁P₁A₁ᵀ = P₁ − Q₁`.
    fn times(self, other: Self) -> Self {
        let kept = difference(&self.prior, &self.noise);
        let other_kept = difference(&other.prior, &other.noise);
        let mut noise = kronecker(&self.noise, &other.prior);
        let added = kronecker(&kept, &other.noise);
        noise
            .iter_mut()
            .zip(added)
            .for_each(|(sum, term)| *sum += term);
        let own = self.slopes.iter().map(|[transition, noise]| {
            [
                kronecker(transition, &other.transition),
                kronecker(noise, &other_kept),
            ]
        });
        let others = other.slopes.iter().map(|[transition, noise]| {
            [
                kronecker(&self.transition, transition),
                kronecker(&kept, noise),
            ]
        });
        Self {
            slopes: own.chain(others).collect(),
            transition: kronecker(&self.transition, &other.transition),
            prior: kronecker(&self.prior, &other.prior),
            noise,
        }
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// The Kronecker product of square matrices.
fn kronecker(first: &[f64], second: &[f64]) -> Vec<f64> {
    let [a, b] = [first, second].map(|matrix| matrix.len().isqrt());
    let mut product = Vec::with_capacity(first.len() * second.len());
    for row in 0..a * b {
        for own in &first[row / b * a..][..a] {
            product.extend(second[row % b * b..][..b].iter().map(|other| own * other));
        }
    }
    product
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl Block<f64> {
    /// A and Q without the variance for a step. P of a line depends on time, and is zero here.
    fn matrices(&self, step: f64, wants_slopes: bool) -> Matrices {
        match &self.motion {
            Motion::Stationary(factors) => {
                let all = factors
                    .iter()
                    .map(|factor| Matrices::of_factor(factor, step, wants_slopes));
                all.reduce(Matrices::times)
                    .unwrap_or_else(Matrices::identity)
            }
            // [[1, Δ], [0, 1]]
            Motion::Line => Matrices {
                transition: vec![1.0, step, 0.0, 1.0],
                noise: vec![0.0; 4],
                prior: vec![0.0; 4],
                slopes: Vec::new(),
            },
        }
    }

    /// Writes A and Q for a step, `[b, b]` each.
    fn write(&self, step: f64, transition: &mut [f64], noise: &mut [f64]) {
        // A single factor needs no memory of its own.
        if let [factor] = self.factors() {
            factor.write_transition(step, transition);
            factor.write_noise(step, transition, noise);
        } else {
            let own = self.matrices(step, false);
            transition.copy_from_slice(&own.transition);
            noise.copy_from_slice(&own.noise);
        }
        noise.iter_mut().for_each(|entry| *entry *= self.variance);
    }

    /// Adds the derivatives with respect to the parameters, given those with respect to A and Q for a step.
    fn add_slopes(&self, step: f64, [a, q]: [&[f64]; 2], slopes: &mut [f64]) {
        if let [factor] = self.factors() {
            let entries = factor.size() * factor.size();
            let [mut own, mut slope] = [[0.0; 9]; 2];
            let (own, slope) = (&mut own[..entries], &mut slope[..entries]);
            factor.write_transition(step, own);
            factor.write_transition_slope(step, own, slope);
            slopes[1] += dot(a, slope);
            factor.write_noise(step, own, slope);
            slopes[0] += dot(q, slope);
            factor.write_noise_slope(step, slope);
            slopes[1] += self.variance * dot(q, slope);
            if let Some([transition, noise]) = factor.slopes_of_damping(step) {
                slopes[2] += dot(a, &transition) + self.variance * dot(q, &noise);
            }
            return;
        }
        let own = self.matrices(step, true);
        slopes[0] += dot(q, &own.noise);
        for (slope, [transition, noise]) in slopes[1..].iter_mut().zip(&own.slopes) {
            *slope += dot(a, transition) + self.variance * dot(q, noise);
        }
    }

    /// P(t) without the variance.
    fn unit_prior(&self, time: f64) -> Vec<f64> {
        match &self.motion {
            Motion::Stationary(_) => self.matrices(0.0, false).prior,
            // [[t², t], [t, 1]]
            Motion::Line => vec![time * time, time, time, 1.0],
        }
    }
}

/// A kernel of time as a linear state-space model in plain numbers: the matrices of [`StateSpace`](super::StateSpace),
/// and the derivatives that autodiff has of them, without tensors.
///
/// ```
/// use burn_gp_core::kernels::StateSpaceNumbers;
///
/// # fn main() -> Result<(), &'static str> {
/// // A season of twelve steps that changes slowly: a cosine times Matérn-1/2.
/// let decay = StateSpaceNumbers::matern(1, 96.0, 1.0);
/// let season = StateSpaceNumbers::cosine(12.0, 0.5).times(&decay);
/// let season = season.ok_or("a line times another kernel")?;
/// let matrices = season.matrices(&[1.0], 0.0);
/// assert_eq!(season.blocks(), [2]);
/// assert_eq!(matrices.prior, [0.5, 0.0, 0.0, 0.5]);
/// // The variance, the frequency of the cosine and the rate of the other.
/// assert_eq!(season.slopes(&[1.0], 0.0, &matrices).len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StateSpaceNumbers {
    pub(super) blocks: Vec<Block<f64>>,
}

/// A and Q of U steps, `[U, Σb²]`, and P0, `[Σb²]`, in blocks that are packed one after the other; or the derivatives
/// of a function of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSpaceMatrices {
    /// A
    pub transitions: Vec<f64>,
    /// Q
    pub process_noise: Vec<f64>,
    /// P0
    pub prior: Vec<f64>,
}

impl StateSpaceNumbers {
    fn of_block(block: Block<f64>) -> Self {
        Self {
            blocks: vec![block],
        }
    }

    /// Matérn with ν = `states` − ½.
    ///
    /// # Panics
    ///
    /// Unless there are one to three states.
    #[track_caller]
    pub fn matern(states: usize, lengthscale: f64, variance: f64) -> Self {
        assert!(
            (1..=3).contains(&states),
            "StateSpaceNumbers::matern: {states} states; expected one to three"
        );
        let rate = (2.0 * states as f64 - 1.0).sqrt() / lengthscale; // √(2ν)/ℓ
        Self::of_block(Block::stationary(
            variance,
            vec![Factor::Matern { states, rate }],
        ))
    }

    /// `σ²·cos(2π(t − t′)/p)`
    pub fn cosine(period: f64, variance: f64) -> Self {
        let frequency = 2.0 * core::f64::consts::PI / period;
        Self::of_block(Block::stationary(
            variance,
            vec![Factor::Cosine { frequency }],
        ))
    }

    /// σ²
    pub fn constant(variance: f64) -> Self {
        Self::of_block(Block::stationary(variance, Vec::new()))
    }

    /// `σ²·t·t′`
    pub fn line(variance: f64) -> Self {
        Self::of_block(Block::line(variance))
    }

    /// The sum of two kernels.
    pub fn plus(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// The product of two kernels, unless a line is multiplied by anything but a constant. Its parameters are, for each
    /// pair of blocks, the product of their variances, and those of the factors of both.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let pairs = (self.blocks.iter())
            .flat_map(|first| other.blocks.iter().map(|second| first.times(second)));
        Some(Self {
            blocks: pairs.collect::<Option<_>>()?,
        })
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        let counts = self.blocks.iter().map(|block| block.parameters().count());
        counts.sum()
    }

    /// The sizes b of the blocks.
    pub fn blocks(&self) -> Vec<usize> {
        self.blocks.iter().map(Block::size).collect()
    }

    /// h, `[s]`: the value is the sum of the first states of all blocks.
    pub fn row(&self) -> Vec<f64> {
        first_states(&self.blocks)
    }

    /// A and Q of steps, and P at the first time.
    pub fn matrices(&self, steps: &[f64], first: f64) -> StateSpaceMatrices {
        let entries = self.entries();
        let mut transitions = vec![0.0; steps.len() * entries];
        let mut process_noise = transitions.clone();
        let mut place = 0;
        for &step in steps {
            for block in &self.blocks {
                let own = place..place + block.size().pow(2);
                block.write(
                    step,
                    &mut transitions[own.clone()],
                    &mut process_noise[own.clone()],
                );
                place = own.end;
            }
        }
        let of_block = |block: &Block<f64>| {
            let mut prior = block.unit_prior(first);
            prior.iter_mut().for_each(|entry| *entry *= block.variance);
            prior
        };
        StateSpaceMatrices {
            transitions,
            process_noise,
            prior: self.blocks.iter().flat_map(of_block).collect(),
        }
    }

    /// Σb²
    fn entries(&self) -> usize {
        self.blocks.iter().map(|block| block.size().pow(2)).sum()
    }

    /// The derivatives of a function with respect to the parameters, given those with respect to the matrices: for each
    /// block the variance, and of each of its factors the rate `√(2ν)/ℓ` or the frequency `2π/p`, and the damping ratio ζ of
    /// an oscillator.
    ///
    /// # Panics
    ///
    /// If the sizes of the matrices do not match.
    #[track_caller]
    pub fn slopes(&self, steps: &[f64], first: f64, of: &StateSpaceMatrices) -> Vec<f64> {
        let entries = self.entries();
        let sizes = [&of.transitions, &of.process_noise, &of.prior].map(Vec::len);
        assert!(
            sizes == [steps.len() * entries, steps.len() * entries, entries],
            "StateSpaceNumbers: derivatives of {sizes:?} entries; expected [U·Σb², U·Σb², Σb²] for {} steps and \
             {entries} entries",
            steps.len()
        );
        let mut slopes = vec![0.0; self.parameters()];
        let (mut place, mut parameter) = (0, 0);
        for block in &self.blocks {
            let size = block.size().pow(2);
            let own = &mut slopes[parameter..][..block.parameters().count()];
            own[0] = dot(&of.prior[place..][..size], &block.unit_prior(first));
            for (index, &step) in steps.iter().enumerate() {
                let at = index * entries + place;
                let a = &of.transitions[at..][..size];
                let q = &of.process_noise[at..][..size];
                block.add_slopes(step, [a, q], own);
            }
            place += size;
            parameter += own.len();
        }
        slopes
    }
}
