//! Scalar functions.

use burn::tensor::Tensor;
use burn_gp_core::ops;

use super::{Case, exact};

type Function = fn(Tensor<1>) -> Tensor<1>;

/// The map of standard normal numbers to arguments of a function.
type Arguments = fn(f64) -> f64;

/// The number of arguments of each function.
const COUNT: usize = 67;

/// From large negative numbers to large positive ones.
fn any(normal: f64) -> f64 {
    normal * normal * normal
}

/// From nearly zero to large numbers.
fn positive(normal: f64) -> f64 {
    (2.0 * normal).exp()
}

fn negative(normal: f64) -> f64 {
    -positive(normal)
}

/// Close to zero and on both sides of it.
fn above_minus_one(normal: f64) -> f64 {
    positive(normal) - 0.9
}

/// Between −1 and 1, without the ends, where the derivative of the arcsine is infinite.
fn within_one(normal: f64) -> f64 {
    0.999 * normal.tanh()
}

pub(super) fn cases() -> Vec<Case> {
    let functions: [(&str, Function, Arguments); 10] = [
        ("softplus", ops::softplus, any),
        ("sigmoid", ops::sigmoid, any),
        ("tanh", ops::tanh, any),
        ("log_normal_cdf", ops::log_normal_cdf, any),
        ("arc_sine", ops::arc_sine, within_one),
        ("exp_minus_one", ops::exp_minus_one, any),
        ("log_gamma", ops::log_gamma, positive),
        ("stirling_remainder", ops::stirling_remainder, positive),
        ("log_one_minus_exp", ops::log_one_minus_exp, negative),
        ("log_ratio", ops::log_ratio, above_minus_one),
    ];
    let cases = functions.into_iter().map(|(name, function, arguments)| {
        exact(name, move |harness| {
            let x: Vec<f64> = harness.normals(COUNT).into_iter().map(arguments).collect();
            let x = harness.given(&x, [COUNT]);
            harness.output("values", function(x));
        })
    });
    cases.chain([matern()]).collect()
}

/// The Matérn covariance of any smoothness, with a smoothness for each member.
fn matern() -> Case {
    exact("matern", |harness| {
        let squares: Vec<f64> = harness
            .normals(2 * 7 * 5)
            .into_iter()
            .map(positive)
            .collect();
        let squares = harness.given(&squares, [2, 7, 5]);
        let smoothness = harness.given(&[0.7, 1.9], [2]);
        harness.output("covariances", ops::matern(squares, smoothness));
    })
}
