//! A layer built from a kernel, a mean and a posterior.

use std::any::Any;

use burn::{module::Module, tensor::Tensor};

use super::Layer;
use crate::{
    inducing::{AnyInducing, InducingPatches},
    kernels::{Convolutional, FunctionPrior, Kernels},
    means::AnyMean,
    ops::NotPositiveDefinite,
    parameter::{Part, Role, require_precision},
    patches::PatchGrid,
    process::{Marginals, Process, WithMean},
    variational::{AnyPosterior, Evaluation},
};

/// P functions `f(x) = m(x) + g(x)` with the prior `g_p ~ GP(0, k_p)` and any posterior over their
/// inducing variables.
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
pub struct GpLayer<K: Module = Kernels> {
    kernel: K,
    mean: AnyMean,
    posterior: Part<AnyPosterior<K>>,
}

impl GpLayer {
    /// Creates a layer.
    pub fn new(
        kernels: impl Into<Kernels>,
        mean: impl Into<AnyMean>,
        posterior: impl Into<AnyPosterior>,
    ) -> Self {
        Self::of(kernels.into(), mean, posterior)
    }

    /// The KL divergence of the distribution of the inducing variables from the prior, `[1]`. It
    /// costs a factorization. If marginals are needed too, [`evaluate`](Layer::evaluate) gives both
    /// with a single one.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn kl(&self) -> Result<Tensor<1>, NotPositiveDefinite> {
        // The divergence does not depend on the inputs.
        let first = self.inducing_inputs().swap_remove(0);
        let x = match self.grid() {
            Some(grid) => Tensor::zeros([1, grid.image().len()], (&first.device(), first.dtype())),
            None => first.narrow(0, 0, 1),
        };
        Ok(self.evaluate(x)?.kl)
    }
}

impl<K: FunctionPrior> GpLayer<K> {
    /// Creates a layer with a prior of any type.
    pub fn of(kernel: K, mean: impl Into<AnyMean>, posterior: impl Into<AnyPosterior<K>>) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            posterior: Part::new(Role::Posterior, posterior.into()),
        }
    }

    /// The kernels of the functions.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The mean function.
    pub fn mean(&self) -> &AnyMean {
        &self.mean
    }

    /// The posterior.
    pub fn posterior(&self) -> &AnyPosterior<K> {
        &self.posterior
    }

    /// The kernels, the mean and the posterior.
    pub fn into_parts(self) -> (K, AnyMean, AnyPosterior<K>) {
        (self.kernel, self.mean, self.posterior.into_inner())
    }
}

impl<K: FunctionPrior> Layer for GpLayer<K> {
    #[track_caller]
    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        require_precision("GpLayer", &x, &*self.posterior);
        let Evaluation { marginals, kl } = self.posterior.evaluate(&self.kernel, x.clone())?;
        Ok(Evaluation {
            marginals: Marginals {
                mean: self.mean.add_to(marginals.mean, x),
                variance: marginals.variance,
            },
            kl,
        })
    }

    fn condition(&self) -> Result<Box<dyn Process + Send + Sync>, NotPositiveDefinite> {
        let process = self.posterior.condition(&self.kernel)?;
        Ok(Box::new(WithMean::new(process, self.mean.valid())))
    }

    fn after_step(&mut self) {
        self.posterior.after_step(&self.kernel);
    }

    fn synchronize(&mut self) {
        self.posterior.synchronize(&self.kernel);
    }

    fn inducing_inputs(&self) -> Vec<Tensor<2>> {
        let inputs = |set: &AnyInducing| match set.downcast_ref::<InducingPatches>() {
            Some(patches) => Some(patches.patches()),
            None => set.inputs(),
        };
        let sets = self.posterior.inducing().into_iter();
        sets.filter_map(inputs).collect()
    }

    /// The patches of the images, if the kernel is convolutional.
    fn grid(&self) -> Option<&PatchGrid> {
        let kernels = (&self.kernel as &dyn Any).downcast_ref::<Kernels>()?;
        let kernel = kernels.first().downcast_ref::<Convolutional>();
        kernel.map(Convolutional::grid)
    }
}
