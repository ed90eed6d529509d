//! A layer built from a kernel, a mean and a posterior.

use burn::{module::Module, tensor::Tensor};

use super::Layer;
use crate::{
    inducing::InducingPoints,
    kernels::{AnyKernel, FunctionPrior, Kernels},
    means::AnyMean,
    ops::NotPositiveDefinite,
    parameter::require_precision,
    process::{Marginals, WithMean},
    variational::{AnyPosterior, Evaluation, Functions, Posterior},
};

/// P functions `f(x) = m(x) + g(x)` with the prior `g_p ~ GP(0, k_p)` and any posterior over their
/// inducing variables.
///
/// The default types are those that [`GpLayerConfig`](super::GpLayerConfig) chooses at run time.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::StationaryConfig,
///     layers::{GpLayer, Layer},
///     means::ZeroMean,
///     ops::{Jitter, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::Whitened,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let layer = |functions| {
///     let kernel = StationaryConfig::new(Stationary::Matern52).init(2, &device);
///     let points = Tensor::from_data([[0.0, 0.0], [1.0, 1.0]], &device);
///     let distribution =
///         VariationalGaussian::standard(2, functions, CovarianceShape::Full, &device);
///     let jitter = Jitter::for_precision(DType::F32);
///     let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
///     GpLayer::new(kernel, ZeroMean::new(functions), posterior)
/// };
/// let values = layer(3).evaluate(Tensor::ones([5, 2], &device))?;
/// assert_eq!(values.marginals.mean.dims(), [5, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct GpLayer<
    K: Module = Kernels<AnyKernel>,
    Q: Module = Functions<AnyPosterior<InducingPoints>>,
> {
    kernel: K,
    mean: AnyMean,
    posterior: Q,
}

impl<K: FunctionPrior, Q: Posterior<K>> GpLayer<K, Q> {
    /// Creates a layer.
    pub fn new(kernel: K, mean: impl Into<AnyMean>, posterior: Q) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            posterior,
        }
    }

    /// The kernel, or the separate kernels of the functions.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The mean function.
    pub fn mean(&self) -> &AnyMean {
        &self.mean
    }

    /// The posterior.
    pub fn posterior(&self) -> &Q {
        &self.posterior
    }

    /// The kernel, the mean and the posterior.
    pub fn into_parts(self) -> (K, AnyMean, Q) {
        (self.kernel, self.mean, self.posterior)
    }
}

impl GpLayer {
    /// The KL divergence of the distribution of the inducing variables from the prior, `[1]`. It
    /// costs a factorization. If marginals are needed too, [`evaluate`](Layer::evaluate) gives both
    /// with a single one.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn kl(&self) -> Result<Tensor<1>, NotPositiveDefinite> {
        // The divergence does not depend on the inputs.
        let points = self.posterior.independent().inducing()[0].points();
        Ok(self.evaluate(points.narrow(0, 0, 1))?.kl)
    }
}

impl<K: FunctionPrior, Q: Posterior<K>> Layer for GpLayer<K, Q> {
    type Process = WithMean<Q::Process>;

    #[track_caller]
    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        require_precision("GpLayer", &x, &self.posterior);
        let Evaluation { marginals, kl } = self.posterior.evaluate(&self.kernel, x.clone())?;
        Ok(Evaluation {
            marginals: Marginals {
                mean: self.mean.add_to(marginals.mean, x),
                variance: marginals.variance,
            },
            kl,
        })
    }

    fn condition(&self) -> Result<Self::Process, NotPositiveDefinite> {
        let process = self.posterior.condition(&self.kernel)?;
        Ok(WithMean::new(process, self.mean.valid()))
    }

    fn after_step(self) -> Self {
        let posterior = self.posterior.after_step(&self.kernel);
        Self { posterior, ..self }
    }

    fn synchronized(self) -> Self {
        let posterior = self.posterior.synchronized(&self.kernel);
        Self { posterior, ..self }
    }
}
