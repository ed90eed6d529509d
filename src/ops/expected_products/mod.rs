//! Expectations of squared exponential covariances, and of their products, over normal inputs.

mod pairs;

use burn::tensor::Tensor;

use pairs::Pairs;

/// `Ψ1_nm = E[k(x_n, z_m)]` of the squared exponential kernel for independent inputs `x_nd ~ N(μ_nd, S_nd)`:
///
/// ```text
/// Ψ1_nm = σ²·Π_d (1 + S_nd/ℓ_d²)^(−1/2)·exp(−(μ_nd − z_md)²/(2(ℓ_d² + S_nd)))
/// ```
///
/// (M. Titsias and N. Lawrence, *Bayesian Gaussian Process Latent Variable Model*, AISTATS 2010, section 3.2). It is
/// the covariance with the points where the variances S are zero. Distances are sums of squared differences of
/// coordinates. Time N·M·D. The gradient is that of its parts, all on the device.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::ops::{expected_covariance, number};
///
/// let place = (&Device::default(), DType::F64);
/// let [mean, variance] = [0.5, 3.0].map(|value| Tensor::<2>::full([1, 1], value, place));
/// let points = Tensor::<2>::zeros([1, 1], place);
/// let one = Tensor::<1>::ones([1], place);
/// let expected = number(expected_covariance(mean, variance, points, one.clone(), one).reshape([1]));
/// // (1 + 3)^(−½)·exp(−0.25/8)
/// assert!((expected - 0.5 * (-0.25_f64 / 8.0).exp()).abs() < 1e-12);
/// ```
///
/// # Shapes
///
/// - `mean` (μ): `[N, D]`, `variance` (S): `[N, D]`, not negative, `points` (z): `[M, D]`
/// - `lengthscales` (ℓ): `[D]`, or `[1]` for all, `kernel_variance` (σ²): `[1]`
/// - result: `[N, M]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn expected_covariance(
    mean: Tensor<2>,
    variance: Tensor<2>,
    points: Tensor<2>,
    lengthscales: Tensor<1>,
    kernel_variance: Tensor<1>,
) -> Tensor<2> {
    check(
        "expected_covariance",
        &mean,
        &variance,
        &points,
        &lengthscales,
    );
    let spread = Spread::new(variance, lengthscales, 1.0);
    let exponent = spread.distances(mean, points) + spread.log_determinants; // [N, M]
    (exponent * -0.5).exp() * kernel_variance.unsqueeze::<2>()
}

/// `Ψ2 = Σ_n E[k(z, x_n)·k(x_n, z)ᵀ]` of the squared exponential kernel for independent inputs
/// `x_nd ~ N(μ_nd, S_nd)`:
///
/// ```text
/// Ψ2_mm′ = σ⁴·Σ_n Π_d (1 + 2S_nd/ℓ_d²)^(−1/2)·exp(−(z_md − z_m′d)²/(4ℓ_d²) − (μ_nd − z̄_d)²/(ℓ_d² + 2S_nd))
/// ```
///
/// with `z̄ = (z_m + z_m′)/2` (M. Titsias and N. Lawrence, *Bayesian Gaussian Process Latent Variable Model*, AISTATS
/// 2010, section 3.2). It is `K_zx·K_xz` where the variances S are zero. Only the `M(M + 1)/2` different pairs of points
/// are computed, in time N·M²·D/2; with autodiff, memory N·M²·D.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::ops::{expected_products, number};
///
/// let place = (&Device::default(), DType::F64);
/// let [mean, variance] = [0.5, 4.0].map(|value| Tensor::<2>::full([1, 1], value, place));
/// let points = Tensor::<2>::zeros([1, 1], place);
/// let one = Tensor::<1>::ones([1], place);
/// let expected = number(expected_products(mean, variance, points, one.clone(), one).reshape([1]));
/// // (1 + 8)^(−½)·exp(−0.25/9)
/// assert!((expected - (-0.25_f64 / 9.0).exp() / 3.0).abs() < 1e-12);
/// ```
///
/// # Shapes
///
/// - `mean` (μ): `[N, D]`, `variance` (S): `[N, D]`, not negative, `points` (z): `[M, D]`
/// - `lengthscales` (ℓ): `[D]`, or `[1]` for all, `kernel_variance` (σ²): `[1]`
/// - result: `[M, M]`, symmetric
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn expected_products(
    mean: Tensor<2>,
    variance: Tensor<2>,
    points: Tensor<2>,
    lengthscales: Tensor<1>,
    kernel_variance: Tensor<1>,
) -> Tensor<2> {
    check(
        "expected_products",
        &mean,
        &variance,
        &points,
        &lengthscales,
    );
    let [count, dimensions] = points.dims();
    let pairs = Pairs::of(count);
    let [first, second] = pairs.points(&points); // [T, D] each
    let middle = (first.clone() + second.clone()) * 0.5;
    let lengthscales = lengthscales.expand([dimensions]);
    let apart = (first - second) / lengthscales.clone().unsqueeze::<2>();
    let apart = apart.square().sum_dim(1).transpose() * 0.25; // Σ_d (z_md − z_m′d)²/(4ℓ_d²), [1, T]
    let spread = Spread::new(variance, lengthscales, 2.0);
    let distances = spread.distances(mean, middle); // [N, T]
    let exponent = distances + spread.log_determinants * 0.5 + apart;
    let sums = exponent.neg().exp().sum_dim(0); // [1, T]
    pairs.matrix(sums * kernel_variance.square().unsqueeze::<2>())
}

/// The variances of inputs beside the squared lengthscales.
struct Spread {
    /// `1/(ℓ_d² + c·S_nd)`, [N, D]
    precisions: Tensor<2>,
    /// `Σ_d log(1 + c·S_nd/ℓ_d²)`, [N, 1]
    log_determinants: Tensor<2>,
}

impl Spread {
    /// For c covariances that are multiplied.
    fn new(variance: Tensor<2>, lengthscales: Tensor<1>, c: f64) -> Self {
        let squares = lengthscales.square().unsqueeze::<2>(); // ℓ², [1, D] or [1, 1]
        let variance = variance * c;
        let relative = variance.clone() / squares.clone();
        Self {
            precisions: (variance + squares).recip(),
            log_determinants: (relative + 1.0).log().sum_dim(1),
        }
    }

    /// `Σ_d (μ_nd − p_td)²/(ℓ_d² + c·S_nd)` for means μ, [N, D], and points p, [T, D]: [N, T].
    fn distances(&self, mean: Tensor<2>, points: Tensor<2>) -> Tensor<2> {
        let ([_, dimensions], points) = (mean.dims(), points.transpose()); // [D, T]
        let of_dimension = |dimension: usize| {
            let mean = mean.clone().narrow(1, dimension, 1); // [N, 1]
            let difference = mean - points.clone().narrow(0, dimension, 1); // [N, T]
            difference.square() * self.precisions.clone().narrow(1, dimension, 1)
        };
        let first = of_dimension(0);
        (1..dimensions).fold(first, |sum, dimension| sum + of_dimension(dimension))
    }
}

/// Panics unless the shapes match.
#[track_caller]
fn check(
    operation: &str,
    mean: &Tensor<2>,
    variance: &Tensor<2>,
    points: &Tensor<2>,
    lengthscales: &Tensor<1>,
) {
    let ([_, dimensions], [lengths]) = (mean.dims(), lengthscales.dims());
    assert!(
        dimensions > 0
            && mean.dims() == variance.dims()
            && points.dims()[1] == dimensions
            && (lengths == 1 || lengths == dimensions),
        "{operation}: mean {:?}, variance {:?}, points {:?}, lengthscales [{lengths}]; expected [N, D], [N, D], [M, D] \
         and [D] or [1]",
        mean.dims(),
        variance.dims(),
        points.dims(),
    );
}
