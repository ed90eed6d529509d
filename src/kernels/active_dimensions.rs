//! A kernel on a subset of the input dimensions.

use burn::{
    module::Module,
    tensor::{Int, Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelPart, NoFunctionDraws,
    NoSpectrum, NoStateSpace, PartInputs, PriorFeatures, SpectralSample, StateSpace, Structure,
    inputs::groups_of,
    points::{require_dimensions, set_size},
};
use crate::register;

/// `k(x_A, x′_A)`: a kernel that uses only the input dimensions `A`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{ActiveDimensions, ActiveDimensionsConfig, KernelConfig, KernelModule, Linear, LinearConfig};
///
/// let device = Device::default();
/// let kernel = ActiveDimensions::new(Linear::new(&[1.0], &device), vec![1]);
/// let x = Tensor::<2>::from_data([[100.0, 2.0], [-7.0, 3.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // The first input is not used.
/// assert!((values[1] - 6.0).abs() < 1e-5);
///
/// let base = LinearConfig::default().into();
/// let config = ActiveDimensionsConfig { base, dimensions: vec![1] };
/// let same = KernelConfig::from(config).init(2, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct ActiveDimensions {
    base: AnyKernel,
    #[module(skip)]
    dimensions: Vec<usize>,
}

/// Configuration of an [`ActiveDimensions`] kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct ActiveDimensionsConfig {
    /// The kernel on the selected dimensions.
    #[setters(into)]
    pub base: KernelConfig,
    /// The zero-based dimensions.
    pub dimensions: Vec<usize>,
}

register!(
    Kernel,
    "active-dimensions",
    ActiveDimensionsConfig,
    "Another kernel on some of the inputs"
);

impl KernelDefinition for ActiveDimensionsConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let (active, columns) = inputs.restricted(&self.dimensions);
        ActiveDimensions::new(self.base.build(active, options), columns).boxed()
    }

    fn check(&self) -> Result<(), String> {
        match self.dimensions.is_empty() {
            true => Err("active dimensions are empty; name at least one dimension".to_owned()),
            false => Ok(()),
        }
    }

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).on(PartInputs::Only(&self.dimensions))]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }

    fn share_among(&mut self, groups: &[usize]) {
        let own = groups_of(groups, &self.dimensions);
        self.base.share_among(&own);
    }
}

/// A Matérn-5/2 kernel on the first input.
impl Default for ActiveDimensionsConfig {
    fn default() -> Self {
        Self {
            base: KernelConfig::default(),
            dimensions: vec![0],
        }
    }
}

impl ActiveDimensions {
    /// Applies `base` to the given zero-based dimensions, in the given order.
    ///
    /// # Panics
    ///
    /// If `dimensions` is empty.
    #[track_caller]
    pub fn new(base: impl Kernel, dimensions: Vec<usize>) -> Self {
        assert!(
            !dimensions.is_empty(),
            "ActiveDimensions: no dimension given"
        );
        Self {
            base: base.boxed(),
            dimensions,
        }
    }

    fn select(&self, x: Tensor<3>) -> Tensor<3> {
        select(x, &self.dimensions)
    }
}

/// The columns of `active` dimensions of points, `[…, N, D]`.
fn select<const R: usize>(x: Tensor<R>, active: &[usize]) -> Tensor<R> {
    let [rows, dimensions] = set_size(&x);
    assert!(
        active.iter().all(|&active| active < dimensions),
        "active dimensions {active:?}, counted from zero, are out of range for points {:?}",
        [rows, dimensions]
    );
    let indices: Vec<i64> = active.iter().map(|&d| d as i64).collect();
    let indices = Tensor::<1, Int>::from_data(indices.as_slice(), &x.device());
    x.select(R - 1, indices)
}

impl Kernel for ActiveDimensions {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_dimensions("active-dimensions", 1, &[&x1, &x2]);
        self.base.covariance(self.select(x1), self.select(x2))
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        self.base.matrix(self.select(x))
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.base.diagonal(self.select(x))
    }

    fn structure(&self) -> Structure<'_> {
        Structure::ActiveDimensions(&self.base, &self.dimensions)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        match *self.dimensions {
            [0] => self.base.state_space(),
            _ => Err(NoStateSpace::of::<Self>()),
        }
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let base = (self.base).spectrum(self.dimensions.len(), count, random)?;
        let components = base.into_iter();
        Ok(components
            .map(|component| component.spread(&self.dimensions, dimensions))
            .collect())
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let active = self.dimensions.clone();
        let base = (self.base).prior_features(active.len(), count, random, options)?;
        Ok(base.on_dimensions(&self.dimensions, dimensions, move |x| select(x, &active)))
    }
}
