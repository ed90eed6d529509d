//! Covariances of the levels of a category, or of outputs, of low rank.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs,
    definition::positive,
    levels::{codes, equal, indicators},
    points::{covariance_shape, expanded, require_dimensions, require_type},
};
use crate::{
    ops::ExactMatmul,
    parameter::{Positive, defaults},
    random::normals,
    register,
};

/// `k(c, c′) = Γ_cc′` with `Γ = WWᵀ + diag κ`: any covariances of the levels c = 0, 1, …, C − 1 of one input
/// dimension, `W [C, R]` of rank R and κ positive.
///
/// If the levels are outputs, the product with a kernel on the other dimensions is the intrinsic
/// coregionalization model, `Cov[f_p(x), f_r(x′)] = Γ_pr·k(x, x′)` (E. Bonilla, K. Chai and C. Williams,
/// *Multi-task Gaussian Process Prediction*, NIPS 2007, eq. 2), and a sum of such products is the linear model of
/// coregionalization (M. Álvarez, L. Rosasco and N. Lawrence, *Kernels for Vector-Valued Functions: a Review*,
/// arXiv:1106.6251, section 4.2). Without W, for R = 0, levels are independent.
///
/// A code is rounded to a whole number. Every number that is none of the C levels is an unseen level of its own:
/// its covariances with other levels are 0 and its variance is the mean of diag Γ.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Index, IndexConfig, KernelConfig, KernelModule};
///
/// let device = Device::default();
/// let weights = Tensor::<2>::from_data([[0.9], [-0.5]], &device);
/// let kernel = Index::new(weights, &[0.2, 0.3], 0, &device);
/// let levels = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(levels).into_data().iter().collect();
/// for (value, expected) in values.iter().zip([1.01, -0.45, -0.45, 0.55]) {
///     assert!((value - expected).abs() < 1e-6);
/// }
///
/// let config = IndexConfig::new(5).with_rank(2).with_dimension(3);
/// assert_eq!(KernelConfig::from(config).missing_dimension(3), Some(3));
/// ```
#[derive(Module, Debug)]
pub struct Index {
    /// W, `[C, R]`, of all members side by side; `None` for rank zero
    weights: Option<Param<Tensor<2>>>,
    /// κ, `[C]`
    own_variance: Positive,
    #[module(skip)]
    dimension: usize,
}

defaults! {
    /// Configuration of an [`Index`] kernel, by default of two levels in the first input dimension.
    ///
    /// W starts at random, with variance `1/(2R)`, and κ at ½, so that all levels have variance one on average. It
    /// must not start at zero or with equal columns: the gradient would keep it so.
    #[derive(Eq)]
    #[serde(default, deny_unknown_fields)]
    pub struct IndexConfig {
        /// The zero-based input dimension of the levels.
        pub dimension: usize = 0,
        /// The number of levels, C.
        pub levels: usize = 2,
        /// The rank of WWᵀ, R.
        pub rank: usize = 1,
        /// The seed of the first W.
        pub seed: u64 = 0,
    }
}

register!(
    Kernel,
    "index",
    IndexConfig,
    "A low-rank covariance matrix between the levels of a category (codes 0, 1, 2, …)"
);

impl IndexConfig {
    /// Covariances of `levels` levels in the first input dimension, with rank one.
    pub fn new(levels: usize) -> Self {
        Self {
            levels,
            ..Self::default()
        }
    }
}

impl KernelDefinition for IndexConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        inputs.require(&[self.dimension]);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let shape = [self.levels, self.rank];
        let deviation = (0.5 / self.rank.max(1) as f64).sqrt();
        let weights = match self.rank {
            0 => Tensor::zeros([self.levels, 0], options.clone()),
            _ => normals(shape, &mut random, options.clone()) * deviation,
        };
        Index::new(weights, &vec![0.5; self.levels], self.dimension, options).boxed()
    }

    fn check(&self) -> Result<(), String> {
        match self.rank > self.levels {
            true => Err(format!(
                "rank {} of the covariance of {} levels; it can be at most their number",
                self.rank, self.levels
            )),
            false => Ok(()),
        }
    }

    positive!(levels);

    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        Some(self.dimension).filter(|&named| named >= dimensions)
    }

    fn code_dimension(&self) -> Option<usize> {
        Some(self.dimension)
    }

    fn level_dimensions(&self, _dimensions: usize) -> Vec<(usize, Option<usize>)> {
        vec![(self.dimension, Some(self.levels))]
    }
}

impl Index {
    /// Creates the kernel from W, `[C, R]`, and κ, whose levels are the numbers in input dimension `dimension`,
    /// counted from zero.
    ///
    /// # Panics
    ///
    /// If the numbers of levels differ, or a value of κ is not positive.
    #[track_caller]
    pub fn new(
        weights: Tensor<2>,
        own_variance: &[f64],
        dimension: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let [levels, rank] = weights.dims();
        assert!(
            levels == own_variance.len(),
            "Index: weights {:?}, {} variances; expected [C, R] and C",
            [levels, rank],
            own_variance.len()
        );
        Self {
            weights: (rank > 0).then(|| Param::from_tensor(weights)),
            own_variance: Positive::new(own_variance, options),
            dimension,
        }
    }

    /// Γ, `[C, C]`.
    pub fn covariance_of_levels(&self) -> Tensor<2> {
        let own = self.own_variance.value().unsqueeze_dim::<2>(1); // [C, 1]
        let [levels, _] = own.dims();
        let same = Tensor::<2>::eye(levels, &own.device()).cast(own.dtype());
        let diagonal = same * own;
        match &self.weights {
            Some(weights) => {
                let weights = weights.val();
                weights.clone().exact_matmul(weights.transpose()) + diagonal
            }
            None => diagonal,
        }
    }

    /// W of each member, `[B, C, R]`.
    fn weights(&self) -> Option<Tensor<3>> {
        let (weights, members) = (self.weights.as_ref()?.val(), self.own_variance.members());
        let [levels, columns] = weights.dims();
        let each = weights.reshape([levels, members, columns / members]);
        Some(each.swap_dims(0, 1))
    }

    /// The levels at points, `[B, N, D]`.
    #[track_caller]
    fn levels(&self, x: &Tensor<3>) -> Levels {
        require_type("index", self.own_variance.dtype(), x.dtype());
        let codes = codes("index", x, self.dimension);
        let own = self.own_variance.aligned::<3>(); // [B, 1, C]
        let indicators = indicators(&codes, self.own_variance.count()); // [B, N, C]
        let weights = self.weights();
        let total = match &weights {
            // diag Γ, [B, 1, C]
            Some(weights) => own.clone() + weights.clone().square().sum_dim(2).swap_dims(1, 2),
            None => own.clone(),
        };
        let seen = indicators.clone().sum_dim(2); // [B, N, 1]
        let unseen = (seen.neg() + 1.0) * total.mean_dim(2);
        let of_level = (indicators.clone() * own).sum_dim(2);
        Levels {
            weights: weights.map(|weights| indicators.exact_matmul(weights)),
            own: of_level + unseen,
            codes,
        }
    }
}

/// What the covariances of points depend on.
struct Levels {
    /// `[B, N, 1]`
    codes: Tensor<3>,
    /// `w_c`, `[B, N, R]`
    weights: Option<Tensor<3>>,
    /// `κ_c`, or the variance of an unseen level, `[B, N, 1]`
    own: Tensor<3>,
}

impl Kernel for Index {
    /// `⟨w_c, w_c′⟩ + κ_c·[c = c′]`
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_dimensions("index", 1, &[&x1, &x2]);
        let [batch, _, _] = covariance_shape(&x1, &x2);
        let batch = batch.max(self.own_variance.members());
        let (first, second) = (self.levels(&x1), self.levels(&x2));
        let own = equal(&first.codes, &second.codes) * first.own;
        match first.weights.zip(second.weights) {
            Some((first, second)) => {
                let second = expanded(second, batch).swap_dims(1, 2);
                expanded(first, batch).exact_matmul(second) + own
            }
            None => own,
        }
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        let Levels { weights, own, .. } = self.levels(&x);
        let own = own.squeeze_dim::<2>(2);
        match weights {
            Some(weights) => weights.square().sum_dim(2).squeeze_dim::<2>(2) + own,
            None => own,
        }
    }
}
