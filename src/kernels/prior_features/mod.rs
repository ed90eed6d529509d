//! Features of kernels, from which functions are drawn.

mod blocks;
mod fourier;
mod monomials;
mod refusal;

use burn::tensor::{Tensor, TensorCreationOptions};

use blocks::FeatureBlocks;
pub(super) use fourier::FourierFeatures;
pub(super) use monomials::Monomials;
pub use refusal::NoFunctionDraws;

/// Features φ with `E[φ(x)ᵀφ(x′)] = k(x, x′)`. With `w ~ N(0, I)`, `wᵀφ` is a draw of a function whose
/// covariance is that of the kernel k.
///
/// Features come in blocks of F independent draws with J features each, and each draw alone has the
/// covariance of the block: `k(x, x′) = Σ_blocks E[1/F·Σ_f Σ_j φ_fj(x)·φ_fj(x′)]`. A kernel with
/// finitely many features has a block of F = 1 in which nothing is random. This makes the features of
/// a product of kernels products of features, draw by draw.
///
/// Gradients flow to the points, and to the hyperparameters of the kernel.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{Kernel, KernelModule, Linear, Polynomial, Product},
///     rand::{SeedableRng, rngs::ChaCha8Rng},
/// };
///
/// # fn main() -> Result<(), burn_gp_core::kernels::NoFunctionDraws> {
/// let device = Device::default();
/// let kernel = Product::new(
///     Linear::new(&[2.0], &device),
///     Polynomial::new(&[1.0], 1.0, 2, &device),
/// );
/// let mut random = ChaCha8Rng::seed_from_u64(0);
/// let features = kernel.prior_features(2, 100, &mut random, (&device).into())?;
/// // Two features of the linear kernel times the monomials of two inputs up to degree two.
/// assert_eq!(features.count(), 2 * 6);
/// let x = Tensor::<2>::from_data([[1.0, -0.5], [0.3, 2.0]], &device);
/// let values = features.evaluate(x.clone());
/// let covariance = values.clone().transpose().matmul(values);
/// assert!((covariance - kernel.matrix_at(x)).abs().max().into_scalar::<f64>() < 1e-4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PriorFeatures {
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Fourier(Box<FourierFeatures>),
    Blocks(FeatureBlocks),
}

impl PriorFeatures {
    /// The maximum number of features of a polynomial kernel and of a product of kernels.
    pub const LIMIT: usize = 1 << 18;

    /// The features of a kernel that has finitely many, `k(x, x′) = φ(x)ᵀφ(x′)`. `features` maps
    /// points, `[N, D]`, to the values of `count` features, `[N, R]`.
    pub fn exact(
        count: usize,
        features: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static,
    ) -> Self {
        Self::random([1, count], move |x| features(x).transpose().unsqueeze())
    }

    /// Features with `E[Σ_j φ_fj(x)·φ_fj(x′)] = k(x, x′)` for each f of F independent draws.
    /// `features` maps points, `[N, D]`, to the values of F draws of J features, `[F, J, N]`. The
    /// `sizes` are F and J.
    pub fn random(
        sizes: [usize; 2],
        features: impl Fn(Tensor<2>) -> Tensor<3> + Send + Sync + 'static,
    ) -> Self {
        FeatureBlocks::new(vec![sizes], move |x| vec![features(x)]).into()
    }

    /// The number of features, R.
    pub fn count(&self) -> usize {
        match &self.form {
            Form::Fourier(features) => features.count(),
            Form::Blocks(blocks) => blocks.count(),
        }
    }

    /// φ(x).
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[R, N]`
    pub fn evaluate(&self, x: Tensor<2>) -> Tensor<2> {
        match &self.form {
            Form::Fourier(features) => features.evaluate(x),
            Form::Blocks(blocks) => blocks.evaluate(x),
        }
    }

    /// The features of the sum of two kernels.
    pub fn plus(self, other: Self) -> Self {
        match (self.form, other.form) {
            (Form::Fourier(first), Form::Fourier(second)) => first.plus(*second).into(),
            (first, second) => first.into_blocks().plus(second.into_blocks()).into(),
        }
    }

    /// The features of the product of two kernels whose features were drawn one after the other.
    ///
    /// # Errors
    ///
    /// When there are more than [`LIMIT`](Self::LIMIT).
    ///
    /// # Panics
    ///
    /// If the numbers of draws F differ.
    #[track_caller]
    pub fn times(self, other: Self) -> Result<Self, NoFunctionDraws> {
        match (self.form, other.form) {
            (Form::Fourier(first), Form::Fourier(second)) => Ok(first.times(*second).into()),
            (first, second) => {
                let product = first.into_blocks().times(second.into_blocks());
                NoFunctionDraws::refuse_more("Product", product.count())?;
                Ok(product.into())
            }
        }
    }

    /// The features of a kernel times a variance, `[1]`.
    pub fn scaled(self, variance: Tensor<1>) -> Self {
        let deviation = variance.sqrt();
        match self.form {
            Form::Fourier(features) => features.times_deviation(deviation).into(),
            Form::Blocks(blocks) => {
                let deviation = deviation.reshape([1, 1, 1]);
                let scaled = move |_: &Tensor<2>| deviation.clone();
                blocks.weighted(scaled).into()
            }
        }
    }

    /// The features of `v(x)·k(x, x′)·v(x′)`. `weights` maps points, `[N, D]`, to v, `[N, 1]`.
    pub fn weighted(
        self,
        weights: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static,
    ) -> Self {
        let weights = move |x: &Tensor<2>| weights(x.clone()).transpose().unsqueeze();
        self.form.into_blocks().weighted(weights).into()
    }

    /// The features of `k(g(x), g(x′))` for a map g of points, `[N, D]` to `[N, Q]`.
    pub fn at(self, map: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static) -> Self {
        self.form.into_blocks().at(map).into()
    }

    /// The features of `k(a, a′) − k(a, b′) − k(b, a′) + k(b, b′)`, where a map of points, `[N, D]`, gives a and b,
    /// `[N, Q]` each.
    pub(super) fn differences(
        self,
        map: impl Fn(Tensor<2>) -> [Tensor<2>; 2] + Send + Sync + 'static,
    ) -> Self {
        self.form.into_blocks().differences(map).into()
    }

    /// The features of a kernel that uses only the `active` ones of `dimensions` input dimensions.
    pub(super) fn on_dimensions(
        self,
        active: &[usize],
        dimensions: usize,
        select: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static,
    ) -> Self {
        match self.form {
            Form::Fourier(features) => features.on_dimensions(active, dimensions).into(),
            form => form.into_blocks().at(select).into(),
        }
    }
}

impl Form {
    fn into_blocks(self) -> FeatureBlocks {
        match self {
            Self::Fourier(features) => features.into_blocks(),
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl From<FourierFeatures> for PriorFeatures {
    fn from(features: FourierFeatures) -> Self {
        Self {
            form: Form::Fourier(Box::new(features)),
        }
    }
}

impl From<FeatureBlocks> for PriorFeatures {
    fn from(blocks: FeatureBlocks) -> Self {
        Self {
            form: Form::Blocks(blocks),
        }
    }
}

/// One point at zero, `[1, D]`.
pub(super) fn origin(dimensions: usize, options: TensorCreationOptions) -> Tensor<2> {
    Tensor::zeros([1, dimensions], options)
}
