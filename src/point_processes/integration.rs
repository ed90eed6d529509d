//! Integrals over a domain.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};
use rand::{Rng, RngExt};

use super::Domain;
use crate::likelihoods::legendre_nodes_and_weights;
use crate::parameter::vector;

/// Points and weights with `∫ g(x) dx ≈ Σ_q w_q·g(x_q)`.
#[derive(Clone, Debug)]
pub struct IntegrationRule {
    /// [Q, D]
    points: Tensor<2>,
    /// `[Q]`
    weights: Tensor<1>,
}

impl IntegrationRule {
    /// Creates a rule from points, `[Q, D]`, and weights, `[Q]`.
    ///
    /// # Panics
    ///
    /// If the numbers of points and weights differ.
    #[track_caller]
    pub fn new(points: Tensor<2>, weights: Tensor<1>) -> Self {
        assert!(
            points.dims()[0] == weights.dims()[0],
            "IntegrationRule: points {:?}, weights {:?}; expected [Q, D], [Q]",
            points.dims(),
            weights.dims()
        );
        Self { points, weights }
    }

    /// The product of Gauss–Legendre rules with `count` points per dimension, `count^D` in total.
    /// It is exact for polynomials of degree below `2·count` in each coordinate.
    pub fn quadrature(
        domain: &Domain,
        count: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let rule = legendre_nodes_and_weights(count);
        let mut nodes = vec![(Vec::new(), 1.0)];
        for (lower, upper) in domain.sides() {
            let half = 0.5 * (upper - lower);
            let extended = |(point, weight): &(Vec<f64>, f64)| {
                let longer = |&(node, share): &(f64, f64)| {
                    let coordinate = lower + half * (node + 1.0);
                    let point = point.iter().copied().chain([coordinate]).collect();
                    (point, weight * share * half)
                };
                rule.iter().map(longer).collect::<Vec<_>>()
            };
            nodes = nodes.iter().flat_map(extended).collect();
        }
        let (points, weights): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
        Self::of(domain, points.concat(), &weights, options)
    }

    /// `count` points drawn uniformly with equal weights. The estimate is unbiased, with an error
    /// of order `1/√count` in any dimension.
    pub fn monte_carlo(
        domain: &Domain,
        count: usize,
        random: &mut impl Rng,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let points = (0..count).flat_map(|_| {
            let sides: Vec<_> = domain.sides().collect();
            let one = |(lower, upper)| lower + (upper - lower) * random.random::<f64>();
            sides.into_iter().map(one).collect::<Vec<_>>()
        });
        let points = points.collect();
        let weights = vec![domain.volume() / count as f64; count];
        Self::of(domain, points, &weights, options)
    }

    fn of(
        domain: &Domain,
        points: Vec<f64>,
        weights: &[f64],
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        let shape = [weights.len(), domain.dimensions()];
        let points = Tensor::from_data(TensorData::new(points, shape), options.clone());
        Self::new(points, vector(weights, options))
    }

    /// The points, `[Q, D]`.
    pub fn points(&self) -> Tensor<2> {
        self.points.clone()
    }

    /// `Σ_q w_q·g_q`, `[1]`, for values at the points, `[Q]`.
    pub fn integral(&self, values: Tensor<1>) -> Tensor<1> {
        (values * self.weights.clone()).sum()
    }
}
