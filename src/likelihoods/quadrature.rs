//! Expectations under independent Gaussians, by quadrature.

use burn::tensor::{Tensor, TensorData};

use super::{
    gauss_hermite::nodes_and_weights,
    graded_nodes::{NODES, REACH},
    quasi_monte_carlo::normal_points,
};
use crate::process::Marginals;

/// Variances at or below this have a zero gradient. The square root is not differentiable at zero,
/// to which posteriors clamp variances that rounding made negative.
pub(super) const SMALLEST_VARIANCE: f64 = 1e-20;

/// Gauss–Hermite nodes per dimension in two dimensions, a common choice.
const HERMITE_NODES: usize = 20;

/// Quasi-Monte Carlo nodes in the defaults.
pub(super) const QUASI_MONTE_CARLO_NODES: usize = 128;

/// Nodes `z_s` in L dimensions and weights `w_s` of `E_{z ~ N(0, I)}[g(z)] ≈ Σ_s w_s·g(z_s)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{likelihoods::Quadrature, process::Marginals};
///
/// let device = Device::default();
/// let column = |value| Tensor::<2>::full([1, 1], value, &device);
/// let marginals = Marginals { mean: column(3.0), variance: column(4.0) };
/// let square = Quadrature::gauss_hermite(10, 1).expectation(marginals, |f| f.clone() * f);
/// // E[f²] = μ² + σ²
/// assert!((square.into_scalar::<f64>() - 13.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quadrature {
    /// The nodes, row-major, `[S, L]`.
    nodes: Vec<f64>,
    /// The weights, `[S]`.
    weights: Vec<f64>,
    /// L
    latents: usize,
}

impl Quadrature {
    /// The default for likelihoods with `latents` functions per output: 33 [graded](Self::graded)
    /// nodes for one, Gauss–Hermite quadrature with 20² nodes for two, and 128 quasi-Monte Carlo
    /// nodes for more.
    pub fn default_for(latents: usize) -> Self {
        match latents {
            1 => Self::graded(NODES),
            2 => Self::gauss_hermite(HERMITE_NODES, 2),
            _ => Self::quasi_monte_carlo(QUASI_MONTE_CARLO_NODES, latents),
        }
    }

    /// The trapezoidal rule after the map `z = sinh t`, for functions of one variable, with `count`
    /// nodes on either side of the mean that reach 6.5 standard deviations. It integrates
    /// polynomials of low degree to ten digits. Its nodes are denser around the mean than those of
    /// Gauss–Hermite quadrature with as many nodes: with 16, it resolves features as narrow as a
    /// fifth of a standard deviation.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    #[track_caller]
    pub fn graded(count: usize) -> Self {
        assert!(
            count > 0,
            "graded nodes take 1 or more on either side, got 0"
        );
        let spacing = REACH.asinh() / count as f64;
        let steps = (0..=2 * count).map(|node| (node as f64 - count as f64) * spacing);
        let (nodes, weights): (Vec<f64>, Vec<f64>) = steps
            .map(|t| (t.sinh(), t.cosh() * (-0.5 * t.sinh().powi(2)).exp()))
            .unzip();
        let total: f64 = weights.iter().sum();
        Self {
            nodes,
            weights: weights.iter().map(|weight| weight / total).collect(),
            latents: 1,
        }
    }

    /// Gauss–Hermite quadrature with `count` nodes per dimension, as a product rule in several
    /// dimensions. It is exact for polynomials of degree below `2·count` in each dimension.
    ///
    /// # Panics
    ///
    /// If `count` is zero, or above 200, where the weights underflow, or if there are no
    /// dimensions.
    #[track_caller]
    pub fn gauss_hermite(count: usize, latents: usize) -> Self {
        assert!(
            (1..=200).contains(&count) && latents > 0,
            "Gauss-Hermite quadrature takes 1 to 200 nodes in each of 1 or more dimensions, got \
             {count} in {latents}"
        );
        let (line, line_weights) = nodes_and_weights(count);
        let total = count.pow(latents as u32);
        let (mut nodes, mut weights) = (Vec::with_capacity(total * latents), Vec::new());
        for number in 0..total {
            let mut weight = 1.0;
            let mut digits = number;
            for _ in 0..latents {
                nodes.push(line[digits % count]);
                weight *= line_weights[digits % count];
                digits /= count;
            }
            weights.push(weight);
        }
        Self {
            nodes,
            weights,
            latents,
        }
    }

    /// `count` evenly distributed nodes of equal weight, which are always the same: a scrambled
    /// Sobol sequence with mirror images. For smooth functions the error decreases almost as
    /// `1/count`, faster than the `1/√count` of random nodes.
    ///
    /// # Panics
    ///
    /// If `count` is zero, odd (every node has a mirror image) or above 2¹⁷.
    #[track_caller]
    pub fn quasi_monte_carlo(count: usize, latents: usize) -> Self {
        assert!(
            (2..=1 << 17).contains(&count) && count.is_multiple_of(2) && latents > 0,
            "quasi-Monte Carlo takes an even number of 2 to 131072 nodes, got {count} in {latents} \
             dimensions"
        );
        Self {
            nodes: normal_points(count, latents),
            weights: vec![1.0 / count as f64; count],
            latents,
        }
    }

    /// `E_{f ~ N(μ, diag(σ²))}[g(f)]`.
    ///
    /// # Shapes
    ///
    /// - `marginals`: `[N, F]`, F a multiple of the dimensions L
    /// - `integrand`: from values of `f`, `[S, N, F]`, to `[S, N, …]`
    /// - result: `[N, …]`
    pub fn expectation(
        &self,
        marginals: Marginals,
        integrand: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let (points, weights) = self.points(marginals);
        self.weighted_sum(integrand(points), weights)
    }

    /// `log E_{f ~ N(μ, diag(σ²))}[exp g(f)]`, without overflow. Shapes are as in
    /// [`expectation`](Self::expectation).
    pub fn log_expectation(
        &self,
        marginals: Marginals,
        exponent: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let (points, weights) = self.points(marginals);
        let exponent = exponent(points);
        let [_, rows, columns] = exponent.dims();
        // The shift cancels in the value and in the gradient.
        let largest = exponent.clone().detach().max_dim(0);
        let scaled = (exponent - largest.clone()).exp();
        self.weighted_sum(scaled, weights).log() + largest.reshape([rows, columns])
    }

    /// `Σ_s w_s·v_s`, `[N, …]`, of values `[S, N, …]`.
    pub(super) fn weighted_sum(&self, values: Tensor<3>, weights: Tensor<3>) -> Tensor<2> {
        let [_, rows, columns] = values.dims();
        (values * weights).sum_dim(0).reshape([rows, columns])
    }

    /// `μ + σ·z_s`, [S, N, F], and `w_s`, [S, 1, 1]. Each function of an output has its own
    /// dimension; all outputs share the nodes.
    pub(super) fn points(&self, marginals: Marginals) -> (Tensor<3>, Tensor<3>) {
        let Marginals { mean, variance } = marginals;
        let [_, functions] = mean.dims();
        let outputs = functions / self.latents;
        let (count, options) = (self.weights.len(), (&mean.device(), mean.dtype()));
        let weights = TensorData::new(self.weights.clone(), [count, 1, 1]);
        let nodes: Tensor<3> = if self.latents == 1 {
            Tensor::from_data(TensorData::new(self.nodes.clone(), [count, 1, 1]), options)
        } else {
            let spread = self.nodes.iter().flat_map(|&node| vec![node; outputs]);
            let data = TensorData::new(spread.collect::<Vec<f64>>(), [count, 1, functions]);
            Tensor::from_data(data, options)
        };
        let deviation = variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        (
            deviation.unsqueeze::<3>() * nodes + mean.unsqueeze::<3>(),
            Tensor::from_data(weights, options),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Quadrature;

    /// Moments of the standard normal.
    #[test]
    fn graded_nodes_integrate_polynomials() {
        let rule = Quadrature::default_for(1);
        assert_eq!(rule.weights.len(), 33);
        for (power, moment) in [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (5, 0.0), (6, 15.0)] {
            let terms = rule.nodes.iter().zip(&rule.weights);
            let sum: f64 = terms.map(|(z, w)| w * z.powi(power)).sum();
            // The tail beyond the last nodes: 2·φ(6.5)·6.5⁵ for the sixth power.
            assert!((sum - moment).abs() < 1e-5, "power {power}: {sum}");
            assert!(
                power > 2 || (sum - moment).abs() < 1e-8,
                "power {power}: {sum}"
            );
        }
    }

    /// The product rule gives mixed moments exactly: `E[z_0²·z_1⁴] = 3`.
    #[test]
    fn products_of_moments() {
        let rule = Quadrature::gauss_hermite(5, 2);
        let terms = rule.nodes.chunks_exact(2).zip(&rule.weights);
        let sum: f64 = terms.map(|(z, w)| w * z[0].powi(2) * z[1].powi(4)).sum();
        assert!((sum - 3.0).abs() < 1e-13, "{sum}");
        assert_eq!(rule.weights.len(), 25);
    }
}
