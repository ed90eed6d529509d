//! Configuration of a layer on basis functions.

use burn::tensor::{Tensor, TensorCreationOptions};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::GpLayer;
use crate::{
    features::AnyNetwork,
    kernels::Basis,
    means::MeanConfig,
    ops::NotPositiveDefinite,
    process::{CovarianceShape, VarianceCorrection, VariationalGaussian},
    variational::WeightSpace,
};

/// A layer of P functions with a network's outputs as basis functions and a posterior over their
/// weights (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526).
pub type BasisLayer = GpLayer<Basis>;

/// Configuration of a [`BasisLayer`].
///
/// ```
/// use burn::{nn::LinearConfig, tensor::{Device, Tensor}};
/// use burn_gp_core::layers::{BasisLayerConfig, Layer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let network = LinearConfig::new(3, 4).init(&device);
/// let layer = BasisLayerConfig::new(3, 4, 2).init(network, &device);
/// let values = layer.evaluate(Tensor::ones([5, 3], &device))?;
/// assert_eq!(values.marginals.mean.dims(), [5, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct BasisLayerConfig {
    /// The number of inputs of the network, D.
    pub inputs: usize,
    /// The number of outputs of the network, R.
    pub rank: usize,
    /// The number of functions, P.
    pub outputs: usize,
    /// The mean function. The default is zero.
    #[serde(default)]
    pub mean: MeanConfig,
    /// The constant that the network's outputs are multiplied by. The default is `1/√R`.
    #[serde(default)]
    #[setters(strip_option)]
    pub scale: Option<f64>,
    /// Whether the covariance of the weights is full or diagonal.
    #[serde(default)]
    pub covariance: CovarianceShape,
    /// The role of the variance that the features do not explain.
    #[serde(default)]
    pub correction: VarianceCorrection,
}

impl BasisLayerConfig {
    /// Creates a configuration of `outputs` functions of a network with `inputs` inputs and `rank`
    /// outputs.
    pub fn new(inputs: usize, rank: usize, outputs: usize) -> Self {
        Self {
            inputs,
            rank,
            outputs,
            mean: MeanConfig::zero(),
            scale: None,
            covariance: CovarianceShape::default(),
            correction: VarianceCorrection::default(),
        }
    }

    /// Initializes the layer around `network`, on the network's device and in its precision.
    pub fn init(
        &self,
        network: impl Into<AnyNetwork>,
        options: impl Into<TensorCreationOptions>,
    ) -> BasisLayer {
        let options = options.into();
        let usual = (self.rank.max(1) as f64).sqrt().recip();
        let weights = VariationalGaussian::standard(
            self.rank,
            self.outputs,
            self.covariance,
            options.clone(),
        );
        GpLayer::of(
            Basis::new(network).times(self.scale.unwrap_or(usual)),
            self.mean.init(self.inputs, self.outputs, options),
            WeightSpace::new(weights, self.correction),
        )
    }
}

impl BasisLayer {
    /// Makes predictions raise the prior variance to the largest one among `inputs`, `[N, D]`, as
    /// [`WeightSpace::with_level_of`] does. Pass the training inputs once training is over.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn with_level_of(self, inputs: Tensor<2>) -> Result<Self, NotPositiveDefinite> {
        let Some(weights) = self.posterior().downcast_ref::<WeightSpace>().cloned() else {
            return Ok(self);
        };
        let (kernel, mean, _) = self.into_parts();
        let weights = weights.with_level_of(&kernel, inputs)?;
        Ok(Self::of(kernel, mean, weights))
    }
}
