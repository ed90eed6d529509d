//! Means with known terms.

use burn::{
    module::Module,
    tensor::{Int, Tensor, TensorCreationOptions},
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{AnyMean, Mean, MeanConfig, MeanDefinition};
use crate::register;

/// Configuration of an [`OffsetMean`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct OffsetMeanConfig {
    /// The zero-based input dimensions that are added.
    pub dimensions: Vec<usize>,
    /// The mean of the other inputs, which is trained.
    #[setters(into)]
    pub base: MeanConfig,
}

register!(
    Mean,
    "offset",
    OffsetMeanConfig,
    "Known terms from --offset or --exposure, and another mean"
);

impl OffsetMeanConfig {
    /// Adds the inputs of these zero-based dimensions and a trained constant.
    pub fn new(dimensions: Vec<usize>) -> Self {
        Self {
            dimensions,
            base: MeanConfig::constant(0.0),
        }
    }
}

/// Adds the first input.
impl Default for OffsetMeanConfig {
    fn default() -> Self {
        Self::new(vec![0])
    }
}

impl MeanDefinition for OffsetMeanConfig {
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
        let others = others(&self.dimensions, inputs).len();
        let base = self.base.init(others, outputs, options);
        OffsetMean::new(base, self.dimensions.clone()).into()
    }

    fn init_for(&self, inputs: &Tensor<2>, outputs: usize) -> AnyMean {
        let [_, dimensions] = inputs.dims();
        let others = columns(inputs.clone(), &others(&self.dimensions, dimensions));
        let base = self.base.init_for(&others, outputs);
        OffsetMean::new(base, self.dimensions.clone()).into()
    }

    fn check(&self) -> Result<(), String> {
        match self.dimensions.is_empty() {
            true => Err("an offset mean adds no dimension; name at least one".to_owned()),
            false => MeanDefinition::check(&*self.base),
        }
    }

    fn offset_dimensions(&self) -> Vec<usize> {
        self.dimensions.clone()
    }
}

/// `m(x) = Σ_d x_d + m₀(x)`: some inputs are known terms of the function, with the coefficient one, and another mean
/// takes the other inputs. A generalized linear model calls such a term an offset. With a log link, as in
/// [`Poisson`](crate::likelihoods::Poisson), the logarithm of an exposure e, such as a time of observation, makes `e`
/// times the rate of one unit of exposure: `log λ = f + log e` (P. McCullagh and J. Nelder, *Generalized Linear Models*,
/// 1989, §6.2).
///
/// The kernel should not depend on these inputs:
/// [`on_dimensions`](crate::kernels::KernelDefinition::on_dimensions) restricts it to the others. `fit` of ready-made
/// models leaves them in their units, or divides them by the scale of the targets if it scales these.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::means::{Mean, MeanConfig, OffsetMeanConfig};
///
/// // The place, and the logarithm of the time of observation.
/// let x = Tensor::<2>::from_data([[0.5, 0.0], [0.5, 3.0]], &Device::default());
/// let config = OffsetMeanConfig::new(vec![1]).with_base(MeanConfig::constant(-1.0));
/// let mean = MeanConfig::from(config).init(2, 1, &Device::default());
/// let means: Vec<f32> = mean.forward(x).into_data().iter().collect();
/// assert_eq!(means, [-1.0, 2.0]);
/// ```
#[derive(Module, Debug)]
pub struct OffsetMean {
    base: AnyMean,
    #[module(skip)]
    dimensions: Vec<usize>,
}

impl OffsetMean {
    /// Adds the inputs of these zero-based dimensions to `base`, which takes the other inputs.
    ///
    /// # Panics
    ///
    /// If there are no dimensions.
    #[track_caller]
    pub fn new(base: impl Into<AnyMean>, dimensions: Vec<usize>) -> Self {
        assert!(!dimensions.is_empty(), "OffsetMean: no dimension given");
        Self {
            base: base.into(),
            dimensions,
        }
    }

    /// The mean of the other inputs, m₀.
    pub fn base(&self) -> &AnyMean {
        &self.base
    }

    /// The zero-based dimensions that are added.
    pub fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }
}

/// The dimensions below `inputs` that are not added.
#[track_caller]
fn others(added: &[usize], inputs: usize) -> Vec<usize> {
    assert!(
        added.iter().all(|&dimension| dimension < inputs),
        "an offset mean adds dimensions {added:?}, counted from zero, but its inputs have {inputs}"
    );
    let others = (0..inputs).filter(|dimension| !added.contains(dimension));
    let others: Vec<usize> = others.collect();
    assert!(
        !others.is_empty(),
        "an offset mean adds all {inputs} dimensions of its inputs; expected another one"
    );
    others
}

/// Some columns of points, `[N, D]`.
fn columns(x: Tensor<2>, chosen: &[usize]) -> Tensor<2> {
    let indices: Vec<i64> = chosen.iter().map(|&column| column as i64).collect();
    let indices = Tensor::<1, Int>::from_data(indices.as_slice(), &x.device());
    x.select(1, indices)
}

impl Mean for OffsetMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, dimensions] = x.dims();
        let others = columns(x.clone(), &others(&self.dimensions, dimensions));
        let base = self.base.forward(others); // [N, P]
        match rows {
            0 => base,
            _ => base + columns(x, &self.dimensions).sum_dim(1),
        }
    }
}
