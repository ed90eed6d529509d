//! Targets with Student-t noise.

use super::{TargetDistribution, normal::cdf_of_normal};

/// Densities below `exp(−NEGLIGIBLE)` of the maximum are ignored.
const NEGLIGIBLE: f64 = 36.0;

/// The largest spacing of nodes in `log w`. The integrand is analytic in a strip of half-width π/2
/// around the real line, so the error of the trapezoidal rule is of order `exp(−π²/0.3) = 5e-15`.
const LARGEST_STEP: f64 = 0.3;

/// `y = f + s·t`, where `t` has a Student-t distribution with ν degrees of freedom: a scale mixture
/// of normals, `y | w ~ N(μ, σ² + s²/w)` with `w ~ Gamma(ν/2, ν/2)`. The trapezoidal rule
/// integrates over `log w`. The terms are smooth even if the noise is much narrower than the
/// function, and its nodes depend only on ν.
#[derive(Clone, Debug)]
pub struct StudentTTarget {
    /// `s²/w` and the weight, for every node.
    nodes: Vec<(f64, f64)>,
    /// The scale s.
    scale: f64,
}

impl StudentTTarget {
    /// Creates the distribution with scale s and ν degrees of freedom.
    pub fn new(scale: f64, degrees: f64) -> Self {
        let shape = 0.5 * degrees;
        // The standard deviation of log w is about 1/√shape.
        let step = LARGEST_STEP.min(0.6 / shape.sqrt());
        let log_density = |place: f64| shape * (place - place.exp_m1());
        let half_line = |direction: f64| {
            (1..)
                .map(move |index| direction * step * f64::from(index))
                .take_while(|&place| log_density(place) > -NEGLIGIBLE)
        };
        let places = half_line(-1.0).chain([0.0]).chain(half_line(1.0));
        let nodes: Vec<(f64, f64)> = places
            .map(|place| (scale * scale * (-place).exp(), log_density(place).exp()))
            .collect();
        let total: f64 = nodes.iter().map(|(_, weight)| weight).sum();
        let normalize = |(variance, weight)| (variance, weight / total);
        Self {
            nodes: nodes.into_iter().map(normalize).collect(),
            scale,
        }
    }
}

impl TargetDistribution for StudentTTarget {
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let terms = self
            .nodes
            .iter()
            .map(|(noise, weight)| weight * cdf_of_normal(target, mean[0], variance[0] + noise));
        terms.sum()
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        (mean[0], self.scale.hypot(variance[0].max(0.0).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without uncertainty in the function this is the Student-t distribution, which has an
    /// elementary form for two and four degrees of freedom.
    #[test]
    fn a_certain_function_leaves_the_noise() {
        for scale in [1e-3, 1.0, 40.0] {
            for standard in [-30.0f64, -3.0, -0.2, 0.0, 0.7, 2.0, 11.0] {
                let at = |degrees: f64| {
                    StudentTTarget::new(scale, degrees).cdf(scale * standard + 5.0, &[5.0], &[0.0])
                };
                let root = (2.0 + standard * standard).sqrt();
                let two = 0.5 + 0.5 * standard / root;
                assert!((at(2.0) - two).abs() < 1e-12, "{standard}: {}", at(2.0));
                let sine = standard / (4.0 + standard * standard).sqrt();
                let four = 0.5 + 0.75 * (sine - sine.powi(3) / 3.0);
                assert!((at(4.0) - four).abs() < 1e-12, "{standard}: {}", at(4.0));
            }
        }
    }

    /// With very many degrees of freedom the noise is Gaussian up to a difference of order 1/ν.
    #[test]
    fn many_degrees_of_freedom_are_gaussian() {
        let target = StudentTTarget::new(0.5, 1e9);
        for place in [-1.0, 0.2, 3.0] {
            let expected = cdf_of_normal(place, 0.3, 0.7 + 0.25);
            assert!((target.cdf(place, &[0.3], &[0.7]) - expected).abs() < 1e-9);
        }
    }
}
