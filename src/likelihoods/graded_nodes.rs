//! Quadrature nodes on a line that cluster around several places.

use core::f64::consts::PI;

use burn::tensor::{Bool, Tensor, TensorData};

use super::{mode::Standardized, quadrature::SMALLEST_VARIANCE};
use crate::{ops::softplus, process::Marginals};

/// A place where a function of `f` changes, and the distance over which it changes.
#[derive(Clone, Debug)]
pub struct QuadratureCenter {
    /// The place, `[N, P]`.
    pub center: Tensor<2>,
    /// The distance, positive, `[N, P]`.
    pub width: Tensor<2>,
}

/// Nodes on either side of the mean of the Gaussian.
pub(super) const NODES: usize = 16;

/// The number of standard deviations covered on either side of the mean. The tails beyond hold
/// 10⁻¹⁰ of the Gaussian.
pub(super) const REACH: f64 = 6.5;

/// Nodes on either side of a kink of the log density.
const NODES_AROUND_KINK: usize = 24;

/// A kink more than this many standard deviations from the mean has no effect on the integral.
const FARTHEST_BEND: f64 = 7.0;

/// Nodes on either side of the mode of density × Gaussian.
const NODES_AROUND_MODE: usize = 40;

/// The number of standard deviations that the nodes extend beyond the mode and beyond the mean.
const REACH_AROUND_MODE: f64 = 8.0;

/// At each place the first set has the share `ρ_1⁴/(ρ_1⁴ + ρ_2⁴)`, where ρ is the number of nodes
/// per unit length. With a smaller power, a set gets shares of features that are too narrow for it;
/// with a larger one, the shares themselves change over too short a distance.
const POWER: f64 = 4.0;

/// The log node density of an unused set.
const NONE: f64 = -1e4;

/// Nodes `f = μ + σ·z_s` and weights `w_s` of `E_{f ~ N(μ, σ²)}[g(f)] ≈ Σ_s w_s·g(f_s)`, chosen for
/// each marginal separately.
///
/// There are two sets of nodes `c_k + d_k·sinh(i·h_k)`, `i = −n … n`. Their spacing is `h_k·d_k`
/// near `c_k` and h_k times the distance from it farther away. A set therefore resolves features of
/// width d_k at c_k, and wider ones farther off. The trapezoidal rule in i is then exact up to
/// terms of order `exp(−5/h_k)`. Smooth shares divide the integrand between the sets, with most of
/// it going to the set whose nodes are denser at a place. One set covers the Gaussian, the other
/// any narrower feature.
///
/// `z_s` and `w_s` are constants to autodiff: gradients are sums of the integrand's gradients over
/// the same nodes.
#[derive(Clone, Debug)]
pub struct GradedNodes {
    /// `z_s`, `[S, N, P]`
    places: Tensor<3>,
    /// `log w_s`, `[S, N, P]`
    log_weights: Tensor<3>,
}

impl GradedNodes {
    /// Nodes for the expectation of a log density. They cluster around the mean of the Gaussian and
    /// around the kink of the log density. A kink that is wider than the Gaussian or too far from
    /// it gets no nodes.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, P]`
    /// - `count`: nodes on either side of the mean
    pub fn around(marginals: &Marginals, kink: QuadratureCenter, count: usize) -> Self {
        let Standardized { center, width, .. } = Standardized::new(marginals, kink);
        let unused = center.clone().abs().greater_elem(FARTHEST_BEND);
        let unused = unused.bool_or(width.clone().greater_elem(1.0));
        let center = center.mask_fill(unused.clone(), 0.0);
        let width = width.mask_fill(unused.clone(), 1.0);
        let reach = center.clone().abs() + REACH;
        let gaussian = Set::of_gaussian(&center, count);
        let kink = Set::new(center, width, reach, NODES_AROUND_KINK).without(unused);
        Self::of(&gaussian, &kink)
    }

    /// Nodes for the expectation of a density. They cluster around the mean of the Gaussian and
    /// around the mode of density × Gaussian next to the peak of the density. If a heavy-tailed
    /// density has its peak far from the mean, most of the product may lie near either place.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, P]`
    /// - `log_density`: from values of `f`, `[S, N, P]`, to `[S, N, P]`
    pub fn around_mode(
        marginals: &Marginals,
        peak: QuadratureCenter,
        log_density: impl Fn(Tensor<3>) -> Tensor<3>,
    ) -> Self {
        let (center, width) = Standardized::new(marginals, peak).mode(log_density);
        let reach = center.clone().abs() + REACH_AROUND_MODE;
        let gaussian = Set::of_gaussian(&center, NODES);
        let mode = Set::new(center, width, reach, NODES_AROUND_MODE);
        Self::of(&gaussian, &mode)
    }

    /// Combines two sets of nodes.
    fn of(gaussian: &Set, other: &Set) -> Self {
        let (places, log_weights) = [(gaussian, other), (other, gaussian)]
            .into_iter()
            .map(|(own, other)| {
                let places = own.nodes();
                let log_density = own.log_density(&places);
                let lead = (other.log_density(&places) - log_density.clone()) * POWER;
                let log_share = softplus(lead).neg();
                let log_normal = (places.clone().square() + (2.0 * PI).ln()) * -0.5;
                // The interval between nodes is the reciprocal of their density.
                (own.kept_near(places), log_share - log_density + log_normal)
            })
            .unzip();
        Self {
            places: Tensor::cat(places, 0),
            log_weights: Tensor::cat(log_weights, 0),
        }
    }

    /// `μ + σ·z_s`, `[S, N, P]`.
    fn points(&self, marginals: Marginals) -> Tensor<3> {
        let deviation = marginals.variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        deviation.unsqueeze::<3>() * self.places.clone() + marginals.mean.unsqueeze::<3>()
    }

    /// `E_{f ~ N(μ, σ²)}[g(f)]`, `[N, P]`.
    ///
    /// # Shapes
    ///
    /// - `marginals`: the marginals for which the nodes were made, `[N, P]`
    /// - `integrand`: from values of `f`, `[S, N, P]`, to `[S, N, P]`
    pub fn expectation(
        &self,
        marginals: Marginals,
        integrand: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let weights = self.log_weights.clone().exp();
        let weights = weights.clone() / weights.sum_dim(0);
        (integrand(self.points(marginals)) * weights)
            .sum_dim(0)
            .squeeze_dim(0)
    }

    /// `log E_{f ~ N(μ, σ²)}[exp g(f)]`, `[N, P]`, without overflow. Shapes are as in
    /// [`expectation`](Self::expectation).
    pub fn log_expectation(
        &self,
        marginals: Marginals,
        exponent: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let exponent = exponent(self.points(marginals)) + self.log_weights.clone();
        // The shift cancels in the value and in the gradient.
        let largest = exponent.clone().detach().max_dim(0);
        let sum = (exponent - largest.clone()).exp().sum_dim(0);
        (sum.log() + largest).squeeze_dim(0)
    }
}

/// Nodes `c + d·sinh(i·h)`, `i = −n … n`, in standard deviations from the mean of the Gaussian. All
/// tensors are `[1, N, P]`.
struct Set {
    /// c
    center: Tensor<3>,
    /// d
    width: Tensor<3>,
    /// h
    spacing: Tensor<3>,
    /// n
    count: usize,
    /// True where the set is not used.
    unused: Option<Tensor<3, Bool>>,
}

impl Set {
    /// Creates a set whose last nodes lie `reach` away from the center.
    fn new(center: Tensor<2>, width: Tensor<2>, reach: Tensor<2>, count: usize) -> Self {
        let ratio = reach / width.clone();
        let last = (ratio.clone() + (ratio.square() + 1.0).sqrt()).log(); // its inverse sinh
        Self {
            center: center.unsqueeze(),
            width: width.unsqueeze(),
            spacing: (last * (1.0 / count as f64)).unsqueeze(),
            count,
            unused: None,
        }
    }

    /// The nodes around the mean of the Gaussian, in the shape of `like`.
    fn of_gaussian(like: &Tensor<2>, count: usize) -> Self {
        let zero = like.zeros_like();
        let one = zero.clone() + 1.0;
        Self::new(zero, one.clone(), one * REACH, count)
    }

    fn without(self, unused: Tensor<2, Bool>) -> Self {
        Self {
            unused: Some(unused.unsqueeze()),
            ..self
        }
    }

    /// The nodes, `[2n + 1, N, P]`.
    fn nodes(&self) -> Tensor<3> {
        let count = self.count as i64;
        let steps: Vec<f64> = (-count..=count).map(|step| step as f64).collect();
        let data = TensorData::new(steps, [2 * self.count + 1, 1, 1]);
        let options = (&self.center.device(), self.center.dtype());
        let growth = (Tensor::<3>::from_data(data, options) * self.spacing.clone()).exp();
        let sinh = (growth.clone() - growth.recip()) * 0.5;
        sinh * self.width.clone() + self.center.clone()
    }

    /// The log of the number of nodes per unit length, `−log h − ½·log((z − c)² + d²)`, at places
    /// z, `[S, N, P]`.
    fn log_density(&self, places: &Tensor<3>) -> Tensor<3> {
        let squares = (places.clone() - self.center.clone()).square() + self.width.clone().square();
        let log_spacing = self.spacing.clone().log();
        let log_spacing = match &self.unused {
            Some(unused) => log_spacing.mask_fill(unused.clone(), -NONE),
            None => log_spacing,
        };
        squares.log() * -0.5 - log_spacing
    }

    /// Moves nodes that lie far beyond both the mean and the center to where integrands are finite.
    /// Such nodes have negligible weight.
    fn kept_near(&self, places: Tensor<3>) -> Tensor<3> {
        let first = self.center.clone().clamp_max(0.0) - REACH_AROUND_MODE;
        let last = self.center.clone().clamp_min(0.0) + REACH_AROUND_MODE;
        let shape = places.dims();
        (places.max_pair(first.expand(shape))).min_pair(last.expand(shape))
    }
}
