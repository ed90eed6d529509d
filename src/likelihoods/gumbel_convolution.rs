//! The distribution of a Gaussian plus Gumbel noise.

use burn::tensor::Tensor;

use super::gauss_hermite::nodes_and_weights;
use crate::ops::{is_on_cpu, log_normal_cdf, numbers};

/// From this variance on, the integral is over the noise instead of the Gaussian.
const WIDE: f64 = 0.64;

/// The number of Gauss–Hermite nodes below that variance. The error of F is below 10⁻⁵.
const HERMITE_NODES: usize = 10;

/// Weights, means and standard deviations of a normal mixture that stands in for the Gumbel
/// distribution once Gaussian noise of variance [`WIDE`] or more is added. They were fitted by
/// least squares under the constraint of the first two Gumbel moments. The error of F is below
/// 5·10⁻⁵; in the lower tail its relative error is below 3·10⁻⁴ as far as products with `e^{f}`
/// matter. (A mixture for the Gumbel distribution alone takes more components: S.
/// Frühwirth-Schnatter, R. Frühwirth, *Auxiliary mixture sampling with applications to logistic
/// models*, 2007.)
const MIXTURE: [(f64, f64, f64); 7] = [
    (2.045_680_790_640e-1, -0.788_126_637_392, 0.441_656_134_009),
    (3.566_125_371_631e-1, 0.023_305_478_180, 0.419_811_718_066),
    (2.095_924_792_771e-1, 0.949_091_128_066, 0.403_238_560_597),
    (1.546_506_131_870e-1, 1.820_161_108_905, 0.635_954_702_196),
    (5.280_542_380_599e-2, 2.968_475_780_376, 0.849_313_302_001),
    (1.765_249_781_219e-2, 4.120_186_900_786, 1.259_138_037_130),
    (4.118_376_330_985e-3, 4.913_493_165_492, 2.194_394_216_555),
];

/// Below this place, F of a narrow Gaussian is zero and the exponentials overflow in single
/// precision.
const LOWEST_PLACE: f64 = -80.0;

/// The lower bound of F before its logarithm is taken.
const SMALLEST: f64 = 1e-30;

/// `log F(u)`, `F(u) = E_{z ~ N(0, 1)}[exp(−e^{σz − u})]`: the log distribution function of
/// `σz + G` with a standard Gumbel variable G.
///
/// # Shapes
///
/// - `place`: u, `[T, N, C, P]`
/// - `variance`: σ², positive, `[1, N, C, P]`
pub(super) fn log_distribution(place: Tensor<4>, variance: &Tensor<4>) -> Tensor<4> {
    // Only on the CPU: reading the variances from a GPU would stall the CPU.
    if is_on_cpu(variance) {
        let extreme = |value: Tensor<1>| numbers(value.detach()).first().copied();
        if extreme(variance.clone().max()).is_some_and(|largest| largest < WIDE) {
            return narrow(place, variance);
        }
        if extreme(variance.clone().min()).is_some_and(|smallest| smallest >= WIDE) {
            return wide(place, variance);
        }
    }
    let is_narrow = variance.clone().lower_elem(WIDE).expand(place.dims());
    wide(place.clone(), variance).mask_where(is_narrow, narrow(place, variance))
}

/// Gauss–Hermite quadrature over z.
fn narrow(place: Tensor<4>, variance: &Tensor<4>) -> Tensor<4> {
    let deviation = variance.clone().clamp_max(WIDE).sqrt();
    let decay = place.clamp_min(LOWEST_PLACE).neg().exp().neg();
    let (nodes, weights) = nodes_and_weights(HERMITE_NODES);
    let terms = nodes.iter().zip(&weights).map(|(&z, &weight)| {
        let growth = (deviation.clone() * z).exp();
        (decay.clone() * growth).exp() * weight
    });
    let sum = terms.reduce(|sum, term| sum + term);
    sum.unwrap_or(decay).clamp_min(SMALLEST).log()
}

/// The normal mixture: `F(u) = Σ_k a_k·Φ((u − b_k)/√(σ² + s_k²))`.
fn wide(place: Tensor<4>, variance: &Tensor<4>) -> Tensor<4> {
    let log_part = |(_, mean, deviation): (f64, f64, f64)| {
        let scale = (variance.clone() + deviation * deviation).sqrt().recip();
        log_normal_cdf((place.clone() - mean) * scale)
    };
    let [first, rest @ ..] = MIXTURE;
    let log_first = log_part(first);
    // Relative to the first component, no other is large except where F is almost zero.
    let terms = rest.map(|part| (log_part(part) - log_first.clone()).exp() * part.0);
    let sum = terms.into_iter().reduce(|sum, term| sum + term);
    match sum {
        Some(sum) => (sum + first.0).log() + log_first,
        None => log_first,
    }
}
