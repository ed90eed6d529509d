//! The evidence of low-rank regression and its gradient.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use super::normal_equations::{NormalEquations, Solution};
use crate::{
    ops::{ExactMatmul, NotPositiveDefinite},
    process::blocks,
};

/// `Σ_p log N(y_p | 0, ΦΦᵀ + σ²I)`, in time N·R² (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526,
/// eq. 5).
///
/// With `B = I + ΦᵀΦ/σ²`, `m = B⁻¹Φᵀy/σ²` and `e = y − Φm` it equals
/// `−½·Σ_p [N·log 2πσ² + log|B| + ‖e_p‖²/σ² + ‖m_p‖²]`. This is a sum of squares; Woodbury's
/// identity would subtract two numbers that are almost equal if the fit is good.
///
/// Sums over data and R×R matrices are in double precision for any input type, over blocks of rows,
/// except on backends whose memory is not on the host. The gradients with respect to all three
/// arguments have closed forms: with `a = e/σ²`, `∂Φ = Σ_p a_pm_pᵀ − P·ΦB⁻¹/σ²`, `∂y = −a`,
/// `∂σ² = ½‖e‖²/σ⁴ − P·(N − R + tr B⁻¹)/(2σ²)`.
///
/// # Shapes
///
/// - `features` (Φ): `[N, R]`, `targets` (y): `[N, P]`, `noise` (σ²): `[1]`
/// - result: `[1]`
///
/// # Errors
///
/// When B cannot be factored because an entry is not finite.
///
/// # Panics
///
/// If features and targets have different numbers of rows.
#[track_caller]
pub fn low_rank_evidence(
    features: Tensor<2>,
    targets: Tensor<2>,
    noise: Tensor<1>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let (inputs, outputs) = (features.dims(), targets.dims());
    assert!(
        inputs[0] == outputs[0],
        "features {inputs:?}, targets {outputs:?}; expected [N, R], [N, P]"
    );
    let tracked = features.is_autodiff() || targets.is_autodiff() || noise.is_autodiff();
    let data = Data {
        features: features.clone().inner(),
        targets: targets.clone().inner(),
        noise: noise.clone().inner(),
    };
    let fit = Fit::new(&data, tracked)?;
    let Some(slopes) = fit.slopes else {
        return Ok(fit.evidence);
    };
    // This surrogate is linear in the arguments, with the closed-form gradients as coefficients.
    // Its value is subtracted, so it contributes only gradients.
    let surrogate = (features * slopes.features).sum()
        + (targets * slopes.targets).sum()
        + noise * slopes.noise;
    let zero = surrogate.clone() - surrogate.inner();
    Ok(zero + fit.evidence)
}

/// The detached arguments.
struct Data {
    features: Tensor<2>,
    targets: Tensor<2>,
    noise: Tensor<1>,
}

/// The evidence and its gradient, in the type of the data.
struct Fit {
    evidence: Tensor<1>,
    slopes: Option<Data>,
}

impl Data {
    /// Features and targets, in blocks of rows.
    fn blocks(&self) -> impl Iterator<Item = (Tensor<2>, Tensor<2>)> {
        blocks(&self.features)
            .into_iter()
            .zip(blocks(&self.targets))
    }
}

impl Fit {
    fn new(data: &Data, tracked: bool) -> Result<Self, NotPositiveDefinite> {
        let ([rows, rank], [_, outputs]) = (data.features.dims(), data.targets.dims());
        let prior = NormalEquations::prior(rank, outputs, &data.features);
        let equations = (data.blocks()).fold(prior, |equations, (features, targets)| {
            equations.with(features, targets, data.noise.clone())
        });
        let solution = equations.solve()?;
        let noise = data.noise.clone().cast(solution.mean.dtype());
        let slope = tracked.then(|| FeatureSlope::new(&solution, &noise, outputs));
        let mut squares = noise.zeros_like(); // ‖e‖²
        let (mut features_slope, mut targets_slope) = (Vec::new(), Vec::new());
        for (features, targets) in data.blocks() {
            let features = features.cast(noise.dtype());
            let targets = targets.cast(noise.dtype());
            let error = targets - features.clone().exact_matmul(solution.mean.clone());
            squares = squares + error.clone().square().sum();
            if let Some(slope) = &slope {
                let weighted = error / noise.clone().unsqueeze(); // a, [block, P]
                features_slope.push(slope.at(features, weighted.clone()));
                targets_slope.push(weighted.neg());
            }
        }
        let fit = (squares.clone() / noise.clone()) + solution.mean.square().sum();
        let spread = (noise.clone() * (2.0 * PI)).log() * rows as f64;
        let normalizer = (spread + solution.factor.log_determinant()) * outputs as f64;
        let evidence = (fit + normalizer) * -0.5;
        let dtype = data.features.dtype();
        let slopes = slope.map(|slope| {
            let free = slope.free_directions + (rows as f64 - rank as f64);
            let data_share = squares / noise.clone().square() * 0.5;
            Data {
                features: Tensor::cat(features_slope, 0).cast(dtype),
                targets: Tensor::cat(targets_slope, 0).cast(dtype),
                noise: (data_share - free / noise * (0.5 * outputs as f64)).cast(dtype),
            }
        });
        Ok(Self {
            evidence: evidence.cast(dtype),
            slopes,
        })
    }
}

/// The ingredients of the gradient with respect to the features.
struct FeatureSlope {
    /// mᵀ, [P, R]
    mean: Tensor<2>,
    /// `P·B⁻¹/σ²`, [R, R]
    covariance: Tensor<2>,
    /// tr B⁻¹
    free_directions: Tensor<1>,
}

impl FeatureSlope {
    fn new(solution: &Solution, noise: &Tensor<1>, outputs: usize) -> Self {
        let mean = solution.mean.clone().transpose();
        let [_, rank] = mean.dims();
        let identity = Tensor::<2>::eye(rank, &mean.device()).cast(mean.dtype());
        let half = solution.factor.solve(identity); // R⁻¹, B = RRᵀ
        let inverse = half.clone().transpose().exact_matmul(half.clone());
        Self {
            mean,
            covariance: inverse / noise.clone().unsqueeze() * outputs as f64,
            free_directions: half.square().sum(),
        }
    }

    /// `a·mᵀ − P·ΦB⁻¹/σ²` for a block of rows.
    fn at(&self, features: Tensor<2>, weighted_error: Tensor<2>) -> Tensor<2> {
        weighted_error.exact_matmul(self.mean.clone())
            - features.exact_matmul(self.covariance.clone())
    }
}
