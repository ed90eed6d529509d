//! A kernel of comparisons of two items.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelPart, NoFunctionDraws,
    PartInputs, PriorFeatures,
    inputs::groups_of,
    points::{no_covariances, no_variances, require_dimensions, set_size},
};
use crate::{ops::diagonals, register};

/// The variances of comparisons of several members or sets are computed for so many rows in one call.
const TILE: usize = 64;

/// The covariance of differences of utilities: with a function `u` of one item and `f(a, b) = u(a) − u(b)`,
/// `k((a, b), (a′, b′)) = k_u(a, a′) − k_u(a, b′) − k_u(b, a′) + k_u(b, b′)`,
/// for rows that have the inputs of an item a and then those of an item b (N. Houlsby, F. Huszár, Z. Ghahramani and
/// M. Lengyel, *Bayesian Active Learning for Classification and Preference Learning*, arXiv:1112.5745, section 3.2).
///
/// With a [`Bernoulli`](crate::likelihoods::Bernoulli) likelihood and without a mean, the model is that of W. Chu and Z.
/// Ghahramani, *Preference Learning with Gaussian Processes*, ICML 2005: `p(a ≻ b) = Φ(u(a) − u(b))`. A function of this
/// kernel changes its sign if the items change places, so `p(a ≻ b) = 1 − p(b ≻ a)`. The utility of an item is known up
/// to a constant: relative to an item r, it is `f(a, r)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Linear, LinearConfig, Preference, PreferenceConfig};
///
/// let device = Device::default();
/// let kernel = Preference::new(Linear::new(&[1.0], &device));
/// let x = Tensor::<2>::from_data([[3.0, 1.0], [1.0, 3.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // (3 − 1)·(1 − 3)
/// assert!((values[1] + 4.0).abs() < 1e-5);
///
/// let base = LinearConfig::default().into();
/// let same = KernelConfig::from(PreferenceConfig { base }).init(2, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Preference {
    base: AnyKernel,
    /// The number of blocks of columns, of which each has a column for every dimension.
    #[module(skip)]
    coordinates: usize,
}

/// Configuration of a [`Preference`] kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct PreferenceConfig {
    /// The kernel of the utility of an item, whose inputs are half of those of the whole kernel.
    #[setters(into)]
    pub base: KernelConfig,
}

register!(
    Kernel,
    "preference",
    PreferenceConfig,
    "Comparisons of two items, whose inputs are side by side, by a function of one item with another kernel"
);

impl KernelDefinition for PreferenceConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        require_pairs(inputs.dimensions);
        let item = KernelInputs {
            dimensions: inputs.dimensions / 2,
            ..inputs
        };
        Preference {
            base: self.base.build(item, options),
            coordinates: inputs.coordinates,
        }
        .boxed()
    }

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).on(PartInputs::Halves)]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }

    fn share_among(&mut self, groups: &[usize]) {
        let item: Vec<usize> = (0..groups.len() / 2).collect();
        self.base.share_among(&groups_of(groups, &item));
    }

    fn check_inputs(&self, dimensions: usize) -> Result<(), String> {
        match dimensions.is_multiple_of(2) {
            true => self.base.check_inputs(dimensions / 2),
            false => Err(format!(
                "the preference kernel compares two items and takes an even number of inputs, those of the first item and \
                 then those of the second, not {dimensions}"
            )),
        }
    }

    fn equal_dimensions(&self, dimensions: usize) -> Vec<[usize; 2]> {
        let item = dimensions / 2;
        (0..item).map(|input| [input, input + item]).collect()
    }
}

/// Panics if an item would have half an input.
#[track_caller]
fn require_pairs(dimensions: usize) {
    assert!(
        dimensions.is_multiple_of(2),
        "a preference kernel of {dimensions} inputs; expected an even number"
    );
}

impl Preference {
    /// Compares items by a function of one item with the kernel `base`.
    pub fn new(base: impl Kernel) -> Self {
        Self {
            base: base.boxed(),
            coordinates: 1,
        }
    }

    /// `[k_u(a_n, b_n)]` for pairs of points, `[B, N, D/2]` each, `[B, N]`.
    fn of_pairs(&self, a: Tensor<3>, b: Tensor<3>) -> Tensor<2> {
        let [_, rows, inputs] = a.dims();
        let [members, _] = self.base.diagonal(a.clone().narrow(1, 0, 1)).dims();
        if members == 1 {
            let [a, b] = [a, b].map(|points| points.reshape([rows, 1, inputs]));
            return self.base.covariance(a, b).reshape([1, rows]);
        }
        // Sets of one point would not have the leading axis of the members or of the sets.
        let tiles = (0..rows).step_by(TILE).map(|first| {
            let count = TILE.min(rows - first);
            let [a, b] = [&a, &b].map(|points| points.clone().narrow(1, first, count));
            diagonals(self.base.covariance(a, b))
        });
        let tiles: Vec<_> = tiles.collect();
        Tensor::cat(tiles, 1)
    }
}

/// The inputs of both items, `[…, N, D/2]` each, of rows `[…, N, D]` with these blocks of columns.
#[track_caller]
fn items<const R: usize>(x: Tensor<R>, coordinates: usize) -> [Tensor<R>; 2] {
    let [_, columns] = set_size(&x);
    require_pairs(columns / coordinates);
    let item = columns / (2 * coordinates);
    [0, 1].map(|half| {
        let block = |block: usize| {
            let first = (2 * block + half) * item;
            x.clone().narrow(R - 1, first, item)
        };
        let mut blocks: Vec<_> = (0..coordinates).map(block).collect();
        match blocks.len() {
            1 => blocks.swap_remove(0),
            _ => Tensor::cat(blocks, R - 1),
        }
    })
}

impl Kernel for Preference {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_dimensions("preference", 1, &[&x1, &x2]);
        if let Some(none) = no_covariances(&x1, &x2) {
            return none;
        }
        let [first, second] = items(x1, self.coordinates);
        let others = items(x2, self.coordinates);
        // In this order, items that change places change the sign exactly.
        let [first, second] = [first, second].map(|item| {
            let [with_first, with_second] = others
                .clone()
                .map(|other| self.base.covariance(item.clone(), other));
            with_first - with_second
        });
        first - second
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        if let Some(none) = no_covariances(&x, &x) {
            return none;
        }
        let [first, second] = items(x, self.coordinates);
        let between = self.base.covariance(first.clone(), second.clone());
        let within = self.base.matrix(first) + self.base.matrix(second);
        within - (between.clone() + between.transpose())
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        if let Some(none) = no_variances(&x) {
            return none;
        }
        let [first, second] = items(x, self.coordinates);
        let between = self.of_pairs(first.clone(), second.clone());
        self.base.diagonal(first) + self.base.diagonal(second) - between * 2.0
    }

    /// The differences of the features of the utilities of both items.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let base = (self.base).prior_features(dimensions / 2, count, random, options)?;
        let coordinates = self.coordinates;
        Ok(base.differences(move |x| items(x, coordinates)))
    }
}
