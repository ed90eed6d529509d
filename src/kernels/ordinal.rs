//! Categories whose levels have an order.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions, activation::softmax},
};
use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelPart, NoFunctionDraws,
    PartInputs, PriorFeatures, StationaryConfig,
    levels::{codes, counts, equal},
    points::{one_set, require_dimensions, require_type, set_size},
};
use crate::{parameter::aligned, register};

/// `k(F(c), F(c′))` for the levels c = 0, 1, …, C − 1 of one input dimension, with an increasing F from
/// `F(0) = 0` to `F(C − 1) = 1` whose steps are trained: neighboring levels may be close or far apart.
///
/// The steps are the softmax of C − 1 numbers. Between two levels, F is linear; above the last it is constant. Every
/// whole number below 0 is an unknown level of its own: its covariances with other levels are 0, and its variance is
/// that of the first level. Numbers below −½ are rounded.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, OrdinalKernel, OrdinalKernelConfig, StationaryConfig};
///
/// let device = Device::default();
/// let base = StationaryConfig::rbf().with_lengthscale(0.5);
/// // The steps to the second and to the third level are equal at first.
/// let kernel = OrdinalKernel::new(base.clone().init(1, &device), 3, 0, &device);
/// let levels = Tensor::<2>::from_data([[0.0], [1.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(levels.clone()).into_data().iter().collect();
/// assert!((values[1] - (-0.5_f64).exp()).abs() < 1e-6 && (values[2] - (-2.0_f64).exp()).abs() < 1e-6);
///
/// // An unknown level knows nothing of others.
/// let unknown = Tensor::<2>::from_data([[-1.0], [0.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(unknown).into_data().iter().collect();
/// assert_eq!(values, [1.0, 0.0, 0.0, 1.0]);
///
/// let config = OrdinalKernelConfig::new(base, 3);
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(levels.clone()).into_data(), kernel.matrix_at(levels).into_data());
/// ```
#[derive(Module, Debug)]
pub struct OrdinalKernel {
    base: AnyKernel,
    /// Their softmax are the steps, `[C − 1]`.
    steps: Param<Tensor<1>>,
    #[module(skip)]
    levels: usize,
    #[module(skip)]
    dimension: usize,
}

/// Configuration of an [`OrdinalKernel`] kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct OrdinalKernelConfig {
    /// The kernel on F(c).
    #[setters(into)]
    pub base: KernelConfig,
    /// The zero-based input dimension of the levels.
    #[serde(default)]
    pub dimension: usize,
    /// The number of levels, C.
    #[serde(default = "two")]
    pub levels: usize,
}

fn two() -> usize {
    2
}

register!(
    Kernel,
    "ordinal",
    OrdinalKernelConfig,
    "Another kernel on the levels of an ordered category, numbered from 0, at trained distances"
);

impl KernelDefinition for OrdinalKernelConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        inputs.require(&[self.dimension]);
        let base = (self.base).build(KernelInputs::new(1), options.clone());
        OrdinalKernel::new(base, self.levels, self.dimension, options).boxed()
    }

    fn check(&self) -> Result<(), String> {
        match self.levels < 2 {
            true => Err(format!(
                "an order of levels needs at least 2, got {}",
                self.levels
            )),
            false => Ok(()),
        }
    }

    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        vec![("levels", Some(self.levels as f64))]
    }

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).on(PartInputs::Mapped)]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }

    /// The kernel on F(c) does not change.
    fn share_among(&mut self, _groups: &[usize]) {}

    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        let own = Some(self.dimension).filter(|&named| named >= dimensions);
        own.or_else(|| self.base.missing_dimension(1))
    }

    fn check_inputs(&self, _dimensions: usize) -> Result<(), String> {
        self.base.check_inputs(1)
    }

    fn code_dimension(&self) -> Option<usize> {
        Some(self.dimension)
    }

    fn level_dimensions(&self, _dimensions: usize) -> Vec<(usize, Option<usize>)> {
        vec![(self.dimension, Some(self.levels))]
    }
}

/// A Matérn-5/2 kernel on two levels in the first input dimension.
impl Default for OrdinalKernelConfig {
    fn default() -> Self {
        Self::new(KernelConfig::default(), two())
    }
}

impl OrdinalKernelConfig {
    /// The kernel `base` on `levels` levels in the first input dimension.
    pub fn new(base: impl Into<KernelConfig>, levels: usize) -> Self {
        Self {
            base: base.into(),
            dimension: 0,
            levels,
        }
    }
}

impl OrdinalKernel {
    /// Applies `base` to `levels` levels, which are numbers in input dimension `dimension`, counted from zero. All
    /// steps are equal at first.
    ///
    /// # Panics
    ///
    /// If there are fewer than two levels.
    #[track_caller]
    pub fn new(
        base: impl Kernel,
        levels: usize,
        dimension: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        assert!(
            levels > 1,
            "OrdinalKernel: {levels} levels; expected at least 2"
        );
        Self {
            base: base.boxed(),
            steps: Param::from_tensor(Tensor::zeros([levels - 1], options)),
            levels,
            dimension,
        }
    }

    /// F of the levels at points, `[B, N, 1]`.
    #[track_caller]
    fn places(&self, x: Tensor<3>) -> Tensor<3> {
        require_type("ordinal", self.steps.val().dtype(), x.dtype());
        places(x, self.steps(), self.dimension)
    }

    /// The steps of each member, `[B, 1, C − 1]`.
    fn steps(&self) -> Tensor<3> {
        let steps = self.steps.val();
        let [count] = steps.dims();
        aligned(steps, count / (self.levels - 1))
    }
}

/// `F(c) = Σ_j s_j·min(max(c − j, 0), 1)` at points, `[B, N, D]`: `[B, N, 1]`.
#[track_caller]
fn places(x: Tensor<3>, steps: Tensor<3>, dimension: usize) -> Tensor<3> {
    let ([rows, dimensions], [_, _, count]) = (set_size(&x), steps.dims());
    assert!(
        dimension < dimensions,
        "the ordinal kernel reads levels from dimension {dimension}, counted from zero, of points {:?}",
        [rows, dimensions]
    );
    let codes = x.narrow(2, dimension, 1);
    let before = counts(count, &codes.device(), codes.dtype()).unsqueeze::<3>();
    let passed = (codes - before).clamp(0.0, 1.0); // [B, N, C − 1]
    (passed * softmax(steps, 2)).sum_dim(2)
}

/// The codes up to this are unknown levels.
const UNKNOWN: f64 = -0.5;

/// The levels at points.
struct Levels {
    /// Whole numbers, `[B, N, 1]`
    codes: Tensor<3>,
    /// 0 for unknown levels and 1 elsewhere, `[B, N, 1]`
    known: Tensor<3>,
}

impl Levels {
    fn at(x: &Tensor<3>, dimension: usize) -> Self {
        let codes = codes("ordinal", x, dimension);
        let known = codes.clone().greater_elem(UNKNOWN);
        Self {
            known: known.float().cast(codes.dtype()),
            codes,
        }
    }
}

/// `k·h_c·h_c′ + v·(1 − h_c)·[c = c′]`, where h is 1 for known levels and 0 for others, for covariances k,
/// `[B, N1, N2]`, and variances v of the first points, `[B, N1]`.
fn with_unknown(
    covariance: Tensor<3>,
    variance: Tensor<2>,
    first: &Levels,
    second: &Levels,
) -> Tensor<3> {
    let across = second.known.clone().swap_dims(1, 2);
    let unknown = first.known.clone().neg() + 1.0;
    let own = equal(&first.codes, &second.codes) * unknown * variance.unsqueeze_dim::<3>(2);
    covariance * first.known.clone() * across + own
}

impl Kernel for OrdinalKernel {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_dimensions("ordinal", 1, &[&x1, &x2]);
        let places = [x1.clone(), x2.clone()].map(|x| self.places(x));
        let [first, second] = [x1, x2].map(|x| Levels::at(&x, self.dimension));
        let [x1, x2] = places;
        let variance = self.base.diagonal(x1.clone());
        with_unknown(self.base.covariance(x1, x2), variance, &first, &second)
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        let places = self.places(x.clone());
        let levels = Levels::at(&x, self.dimension);
        let variance = self.base.diagonal(places.clone());
        with_unknown(self.base.matrix(places), variance, &levels, &levels)
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.base.diagonal(self.places(x))
    }

    /// The features of the base at F(c) for known levels, and for each unknown level c one of its own:
    /// `φ(x) = [h_c·φ_base(F(c)), (1 − h_c)·√v·φ_unknown(c)]`.
    fn prior_features(
        &self,
        _dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let base = (self.base).prior_features(1, count, random, options.clone())?;
        let unknown = unknown_level(options.clone()).prior_features(1, count, random, options)?;
        let (steps, dimension, kernel) = (self.steps(), self.dimension, self.base.clone());
        let known = base
            .at(move |x| places(one_set(x), steps.clone(), dimension).squeeze_dim(0))
            .weighted(move |x| Levels::at(&one_set(x), dimension).known.squeeze_dim(0));
        let unknown = unknown
            .at(move |x| codes("ordinal", &one_set(x), dimension).squeeze_dim(0))
            .weighted(move |x| {
                let known = Levels::at(&one_set(x), dimension).known;
                let first_level = kernel.diagonal(known.zeros_like()); // v, [1, N]
                let deviation = first_level.sqrt().unsqueeze_dim::<3>(2);
                ((known.neg() + 1.0) * deviation).squeeze_dim(0)
            });
        Ok(known.plus(unknown))
    }
}

/// A kernel that is 1 for equal codes and 2·10⁻²² for neighbors.
fn unknown_level(options: TensorCreationOptions) -> AnyKernel {
    let kernel = StationaryConfig::rbf().with_lengthscale(0.1);
    kernel.build(KernelInputs::new(1), options)
}
