//! Blocks of features as functions of the points.

use core::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use burn::tensor::Tensor;

use crate::parameter::both_tracked;

/// The values of the features at points, `[N, D]`, as blocks, `[F, J, N]` each.
type Function = dyn Fn(Tensor<2>) -> Vec<Tensor<3>> + Send + Sync;

/// Blocks of F draws of J features each.
#[derive(Clone)]
pub(super) struct FeatureBlocks {
    /// F and J of each block.
    sizes: Vec<[usize; 2]>,
    function: Arc<Function>,
}

impl FeatureBlocks {
    /// Creates features of these sizes, F and J of each block.
    pub fn new(
        sizes: Vec<[usize; 2]>,
        function: impl Fn(Tensor<2>) -> Vec<Tensor<3>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            sizes,
            function: Arc::new(function),
        }
    }

    /// The number of all features.
    pub fn count(&self) -> usize {
        let counts = self.sizes.iter();
        counts.fold(0, |sum, [draws, features]| {
            sum.saturating_add(draws.saturating_mul(*features))
        })
    }

    /// Each draw alone has the covariance of its block, so F draws are divided by √F.
    pub fn evaluate(&self, x: Tensor<2>) -> Tensor<2> {
        let with_autodiff = x.is_autodiff();
        let blocks = (self.function)(x).into_iter().map(|block| {
            let [draws, features, points] = block.dims();
            // A block of steps has no gradient.
            let block = if with_autodiff {
                block.autodiff()
            } else {
                block
            };
            block.reshape([draws * features, points]) * (draws as f64).sqrt().recip()
        });
        Tensor::cat(blocks.collect(), 0)
    }

    pub fn plus(self, other: Self) -> Self {
        let sizes = [self.sizes, other.sizes].concat();
        let (first, second) = (self.function, other.function);
        Self::new(sizes, move |x| {
            let mut blocks = first(x.clone());
            blocks.extend(second(x));
            blocks
        })
    }

    /// The products of every block with every other.
    #[track_caller]
    pub fn times(self, other: Self) -> Self {
        let product = |&[draws, own]: &[usize; 2], &[others, features]: &[usize; 2]| {
            assert!(
                draws == others || draws == 1 || others == 1,
                "a product of {draws} and {others} draws of features; expected equally many, or one"
            );
            [draws.max(others), own.saturating_mul(features)]
        };
        let sizes = pairs(&self.sizes, &other.sizes, product);
        let (first, second) = (self.function, other.function);
        Self::new(sizes, move |x| {
            pairs(&first(x.clone()), &second(x), outer_product)
        })
    }

    /// Multiplies the features by weights, `[1, 1, N]` or `[1, 1, 1]`.
    pub fn weighted(
        self,
        weights: impl Fn(&Tensor<2>) -> Tensor<3> + Send + Sync + 'static,
    ) -> Self {
        let function = self.function;
        Self::new(self.sizes, move |x| {
            let weights = weights(&x);
            let weighted = |block| {
                let (block, weights) = both_tracked(block, weights.clone());
                block * weights
            };
            function(x).into_iter().map(weighted).collect()
        })
    }

    pub fn at(self, map: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static) -> Self {
        let function = self.function;
        Self::new(self.sizes, move |x| function(map(x)))
    }

    /// The features at one point of a pair without those at the other.
    pub fn differences(
        self,
        map: impl Fn(Tensor<2>) -> [Tensor<2>; 2] + Send + Sync + 'static,
    ) -> Self {
        let function = self.function;
        Self::new(self.sizes, move |x| {
            let [first, second] = map(x).map(&*function);
            let pairs = first.into_iter().zip(second);
            pairs.map(|(first, second)| first - second).collect()
        })
    }
}

impl Debug for FeatureBlocks {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        (formatter.debug_struct("FeatureBlocks"))
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}

fn pairs<T>(first: &[T], second: &[T], product: impl Fn(&T, &T) -> T) -> Vec<T> {
    let with_all = |one| second.iter().map(|other| product(one, other)).collect();
    first.iter().flat_map::<Vec<_>, _>(with_all).collect()
}

/// The products of the features of each draw.
///
/// # Shapes
///
/// - `first`: `[F, J, N]`, `second`: `[F, J′, N]`; an F of one fits any other
/// - result: `[F, J·J′, N]`
fn outer_product(first: &Tensor<3>, second: &Tensor<3>) -> Tensor<3> {
    let (first, second) = both_tracked(first.clone(), second.clone());
    let product = first.unsqueeze_dim::<4>(2) * second.unsqueeze_dim(1);
    let [draws, own, others, points] = product.dims();
    product.reshape([draws, own * others, points])
}
