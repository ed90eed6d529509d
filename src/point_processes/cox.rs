//! The log-Gaussian Cox process.

use burn::{module::Module, tensor::Tensor};

use super::IntegrationRule;
use crate::{
    layers::AnyLayer,
    ops::{NotPositiveDefinite, log_one_minus_exp},
    process::Marginals,
    variational::Evaluation,
};

/// A log-Gaussian Cox process. The number of points in any region is Poisson distributed with
/// intensity `λ(x) = e^{f(x)}` per unit volume, where the Gaussian process f is the function of any
/// [`Layer`](crate::layers::Layer).
///
/// It follows Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, appendix A.5, who use a posterior over
/// the weights of features: `ELBO = Σ_n μ(x_n) − ∫ e^{μ(x) + ½σ²(x)} dx − KL[q ‖ p]`, with the
/// marginals `f(x) ~ N(μ(x), σ²(x))` under q. An [`IntegrationRule`] computes the integral; it can
/// be the same in every step or redrawn.
#[derive(Module, Debug)]
pub struct CoxProcess {
    layer: AnyLayer,
}

impl CoxProcess {
    /// Creates a process whose log intensity is the single function of `layer`.
    pub fn new(layer: impl Into<AnyLayer>) -> Self {
        Self {
            layer: layer.into(),
        }
    }

    /// The layer.
    pub fn layer(&self) -> &AnyLayer {
        &self.layer
    }

    /// Updates the state that the layer keeps between optimizer steps.
    pub fn after_step(&mut self) {
        self.layer.after_step();
    }

    /// The evidence lower bound for all points, `[N, D]`, estimated from a batch. The sum over the
    /// batch is scaled up to `count` points, unlike the integral and the KL divergence.
    ///
    /// # Shapes
    ///
    /// - `points`: `[B, D]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If the layer has more than one function.
    #[track_caller]
    pub fn objective(
        &self,
        points: Tensor<2>,
        count: usize,
        rule: &IntegrationRule,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [events, _] = points.dims();
        let nodes = rule.points();
        let [places, _] = nodes.dims();
        let Evaluation {
            marginals: Marginals { mean, variance },
            kl,
        } = self.layer.evaluate(Tensor::cat(vec![points, nodes], 0))?;
        let [_, functions] = mean.dims();
        assert!(
            functions == 1,
            "a Cox process has one log intensity, but the layer has {functions} functions"
        );
        let of_nodes = |values: Tensor<2>| values.narrow(0, events, places);
        let intensity = expected_intensity(Marginals {
            mean: of_nodes(mean.clone()),
            variance: of_nodes(variance),
        });
        let fit = mean.narrow(0, 0, events).sum() * (count as f64 / events as f64);
        Ok(fit - rule.integral(intensity.mean.squeeze_dim(1)) - kl)
    }
}

/// Mean and variance of the intensity `e^f` for marginals `f ~ N(μ, σ²)`: `e^{μ + ½σ²}` and
/// `(e^{σ²} − 1)·e^{2μ + σ²}`.
///
/// # Shapes
///
/// - `marginals` and result: `[N, F]`
pub fn expected_intensity(marginals: Marginals) -> Marginals {
    let Marginals { mean, variance } = marginals;
    let mean = (mean + variance.clone() * 0.5).exp();
    Marginals {
        // e^v − 1 = e^v·(1 − e^{−v}), which keeps its precision for small v.
        variance: (log_one_minus_exp(variance.clone().neg()) + variance).exp()
            * mean.clone().square(),
        mean,
    }
}
