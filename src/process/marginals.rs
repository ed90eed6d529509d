//! The marginals of processes.

use burn::tensor::{Tensor, TensorData};
use rand::Rng;

use crate::random::normals_of;

/// Means and variances of independent Gaussians.
#[derive(Clone, Debug)]
pub struct Marginals {
    /// The means, `[N, F]`.
    pub mean: Tensor<2>,
    /// The variances, `[N, F]`.
    pub variance: Tensor<2>,
}

/// Variances below this are clamped in draws, so that the derivative of the square root stays
/// finite.
const SMALLEST_VARIANCE: f64 = 1e-12;

impl Marginals {
    /// Draws `μ + σ∘ε` with standard normal `ε`, `[N, F]`. Gradients flow to the means and
    /// variances.
    pub fn draw(self, random: &mut impl Rng) -> Tensor<2> {
        let options = (&self.mean.device(), self.mean.dtype());
        let noise = normals_of(self.mean.dims(), random, options);
        self.at(noise)
    }

    /// `μ + σ∘ε` with the same `ε` for every row, `[F]`.
    ///
    /// The values in a row depend only on its own mean and variance. They are not a joint draw: all
    /// rows are the same number of standard deviations away from their means.
    ///
    /// # Panics
    ///
    /// If `noise` does not have one value per function.
    #[track_caller]
    pub fn at_common_noise(self, noise: &[f64]) -> Tensor<2> {
        let [_, functions] = self.mean.dims();
        assert!(
            noise.len() == functions,
            "Marginals: {} noise values for {functions} functions",
            noise.len()
        );
        let options = (&self.mean.device(), self.mean.dtype());
        let noise = TensorData::new(noise.to_vec(), [1, functions]);
        self.at(Tensor::from_data(noise, options))
    }

    /// `μ + σ∘ε` for an `ε` of broadcastable shape.
    fn at(self, noise: Tensor<2>) -> Tensor<2> {
        self.mean + self.variance.clamp_min(SMALLEST_VARIANCE).sqrt() * noise
    }

    /// The mean and variance of an equally weighted mixture of `components`: the mean of the means,
    /// and the mean of the variances plus the variance of the means. `None` if there are no
    /// components.
    pub fn of_mixture(components: Vec<Self>) -> Option<Self> {
        let share = (components.len() as f64).recip();
        if components.len() == 1 {
            return components.into_iter().next();
        }
        let (means, variances): (Vec<_>, Vec<_>) = (components.into_iter())
            .map(|component| (component.mean, component.variance))
            .unzip();
        let sum = |terms: Vec<Tensor<2>>| terms.into_iter().reduce(|sum, term| sum + term);
        let mean = sum(means.clone())? * share;
        let spread = means
            .into_iter()
            .map(|other| (other - mean.clone()).square());
        let variance = (sum(variances)? + sum(spread.collect())?) * share;
        Some(Self { mean, variance })
    }

    /// Marginals of the same functions at zero inputs.
    pub(crate) fn at_none(self) -> Self {
        let [_, functions] = self.mean.dims();
        let options = (&self.mean.device(), self.mean.dtype());
        let none = Tensor::zeros([0, functions], options);
        Self {
            mean: none.clone(),
            variance: none,
        }
    }
}
