//! The expected log probability that a normal variable is beyond a limit.

use burn::tensor::Tensor;

use super::{
    GradedNodes, QuadratureCenter, censored_moments::square_below_zero, graded_nodes::NODES,
};
use crate::{ops::log_normal_cdf, process::Marginals};

/// `E_{f ~ N(μ, σ_f²)}[log Φ(±(f − limit)/σ)]`, `[N, P]`, for a limit `[N, P]` or `[1, P]` and the noise variance σ²,
/// `[1, P]`. `side` is 1 for the probability of noisy values above the limit, and −1 for those below.
///
/// With x the distance of the function beyond the limit in standard deviations of the noise,
/// `log Φ(x) = −½·E[min(x + ε, 0)²] + r(x)` with `ε ~ N(0, 1)`. The expectation of the first term has a closed form.
/// That of r, which is smooth and grows like `log |x|`, is found by quadrature with nodes around the limit.
pub(super) fn expected_log_probability_beyond(
    marginals: &Marginals,
    limit: Tensor<2>,
    side: f64,
    noise: Tensor<2>,
) -> Tensor<2> {
    let deviation = noise.clone().sqrt();
    let relative = marginals.variance.clone() / noise;
    let zero = marginals.mean.zeros_like();
    let kink = QuadratureCenter {
        center: zero.clone() + limit.clone(),
        width: zero + deviation.clone(),
    };
    let beyond = (marginals.mean.clone() - limit.clone()) * side;
    let spread = (relative + 1.0).sqrt();
    let square = square_below_zero(beyond / deviation.clone(), spread);
    let nodes = GradedNodes::around(marginals, kink, NODES);
    let rest = nodes.expectation(marginals.clone(), |function| {
        let beyond = (function - limit.unsqueeze::<3>()) * side;
        let beyond = beyond / deviation.unsqueeze::<3>();
        let one = beyond.zeros_like() + 1.0;
        log_normal_cdf(beyond.clone()) + square_below_zero(beyond, one) * 0.5
    });
    rest - square * 0.5
}
