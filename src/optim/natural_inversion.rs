//! Natural-gradient matrix inversion, which updates the auxiliary matrix of inverse-free
//! posteriors.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{StepSizes, VarianceGap};
use crate::ops::{Congruence, ExactMatmul, congruence};

/// The maximum number of steps from a start that is far from the inverse.
pub const COLD_STEPS: usize = 100;

/// The iteration diverges if a diagonal entry of `LᵀAL` reaches this value: after a step of size
/// one, `L_ii` would not be positive.
pub(super) const DIVERGED: f64 = 3.0;

/// A stalled residual above this is a failure to converge, not rounding.
const FAR: f64 = 0.5;

/// Inverts a positive-definite matrix A by natural-gradient descent on
/// `KL[N(0, LLᵀ) ‖ N(0, A⁻¹)] = ½(tr(ALLᵀ) − log|ALLᵀ| − M)` over lower-triangular L. It uses
/// matrix products only. If A has changed little, the previous L is a good start.
///
/// A step is `L ← L − γ·L·Φ`, `Φ = tril(H) − ½(I + diag H)`, `H = LᵀAL` (S. Cortinovis, L.
/// Aitchison, S. Eleftheriadis and M. van der Wilk, *Inverse-Free Sparse Variational Gaussian
/// Processes*, arXiv:2604.00697, proposition 1). With γ = 1 the residual `‖H − I‖_F/√M` (eq. 8)
/// decreases quadratically once it is small. L stays lower-triangular with a positive diagonal.
///
/// The iteration diverges if an eigenvalue of H exceeds about 3.2, for example after a jump of A.
/// If some `H_ii ≥ 3`, L restarts at [`safe_start`], from which it converges for every A. A smaller
/// γ would not help.
///
/// [`run`](Self::run) reads the residual before every step. On a GPU, an
/// [`InverseFree`](crate::variational::InverseFree) posterior therefore makes a fixed number of steps
/// after each step of training, those after convergence without effect
/// ([`run_unread`](Self::run_unread)).
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{ops::ExactMatmul, optim::{NaturalInversion, safe_start}};
///
/// let device = Device::default();
/// let matrix = Tensor::<2>::from_data([[2.0, 1.0], [1.0, 3.0]], (&device, DType::F64));
/// let inversion = NaturalInversion { tolerance: 1e-10, ..NaturalInversion::default() };
/// let inverted = inversion.run(&matrix, safe_start(&matrix));
/// let inverse = inverted.lower.clone().exact_matmul(inverted.lower.transpose());
/// let exact = [[0.6, -0.2], [-0.2, 0.4]];
/// inverse.into_data().assert_approx_eq::<f64>(&exact.into(), burn::tensor::Tolerance::absolute(1e-9));
/// # assert!(inverted.report.steps < 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NaturalInversion {
    /// The step sizes γ.
    pub step_sizes: StepSizes,
    /// The residual at which to stop. It is checked before every step, so there may be no step at
    /// all.
    pub tolerance: f64,
    /// The maximum number of steps per call. A restart within a call allows up to [`COLD_STEPS`]
    /// more.
    pub max_steps: usize,
    /// Stops after this many steps of the final size without a new smallest residual, and returns
    /// the L with the smallest one. In single precision, rounding limits the residual to about
    /// `0.2·6e-8·κ(A)`.
    pub patience: Option<usize>,
}

impl Default for NaturalInversion {
    /// Steps of size 1 down to a residual of 5e-3, at most 100, with a patience of 3.
    fn default() -> Self {
        Self {
            step_sizes: StepSizes::FULL,
            tolerance: 5e-3,
            max_steps: COLD_STEPS,
            patience: Some(3),
        }
    }
}

/// The criterion for accepting an inversion.
#[derive(Clone, Copy, Debug)]
pub enum StoppingRule<'a> {
    /// Stop when the residual is below the configured tolerance. For any likelihood.
    Residual,
    /// Stop when the cost of the remaining error to the bound is below the tolerance. For a
    /// Gaussian likelihood.
    VarianceGap(&'a VarianceGap),
}

/// The reason why an inversion stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InversionStop {
    /// The stopping rule was met.
    Converged,
    /// The residual stopped decreasing.
    Plateau,
    /// The maximum number of steps was reached.
    StepLimit,
    /// The matrix is not finite or not positive definite; L is unchanged.
    Unusable,
}

/// A report on an inversion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InversionReport {
    /// The number of steps.
    pub steps: usize,
    /// The last residual computed, `‖LᵀAL − I‖_F/√M`. It is that of the result or, after
    /// [`InversionStop::StepLimit`], that of the step before.
    pub residual: f64,
    /// The number of restarts after divergence or a stall far from the inverse.
    pub resets: usize,
    /// The reason why it stopped.
    pub stop: InversionStop,
}

/// The result of an inversion.
#[derive(Clone, Debug)]
pub struct Inversion {
    /// L with `LLᵀ ≈ A⁻¹`, `[M, M]`.
    pub lower: Tensor<2>,
    /// A report on the inversion.
    pub report: InversionReport,
}

/// `βI` with `β² = 1/max_i Σ_j|A_ij|`, a start from which the inversion of A converges, because no
/// eigenvalue of `β²A` exceeds one.
///
/// # Shapes
///
/// - `matrix` (A): `[M, M]`
pub fn safe_start(matrix: &Tensor<2>) -> Tensor<2> {
    let [size, _] = matrix.dims();
    let largest = matrix.clone().abs().sum_dim(1).max(); // [1]
    let identity = Tensor::<2>::eye(size, &matrix.device()).cast(matrix.dtype());
    identity * largest.sqrt().recip().unsqueeze()
}

/// One step in T itself, `T − γ(TAT − T)`. With γ = 1 it is the Newton–Schulz step `2T − TAT`, and
/// `I − T⁺A = (I − TA)²`. The step in L differs by `γ²·LΦΦᵀLᵀ`.
///
/// # Shapes
///
/// - `matrix` (A), `inverse` (T): `[M, M]`
pub fn newton_schulz_step(matrix: Tensor<2>, inverse: Tensor<2>, step_size: f64) -> Tensor<2> {
    let twice = inverse
        .clone()
        .exact_matmul(matrix.exact_matmul(inverse.clone()));
    inverse.clone() - (twice - inverse) * step_size
}

impl NaturalInversion {
    /// Exactly one step of size 1 per call, which suffices if A changes slowly, for example with
    /// fixed inducing points.
    pub const ONE_STEP: Self = Self {
        step_sizes: StepSizes::FULL,
        tolerance: 0.0,
        max_steps: 1,
        patience: None,
    };

    /// Adjusts the settings for a first call far from the inverse: at least [`COLD_STEPS`] steps, a
    /// tolerance of at least 1e-9, and a patience.
    pub fn from_cold(self) -> Self {
        Self {
            max_steps: self.max_steps.max(COLD_STEPS),
            tolerance: self.tolerance.max(1e-9),
            patience: self.patience.or(Some(3)),
            ..self
        }
    }

    /// Inverts `matrix` (A), starting at `start` (L), until the residual is below the tolerance.
    ///
    /// # Shapes
    ///
    /// - `matrix`: `[M, M]`, symmetric; `start`: `[M, M]`, zeros above the diagonal; neither may be
    ///   on an autodiff device
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn run(&self, matrix: &Tensor<2>, start: Tensor<2>) -> Inversion {
        self.run_until(matrix, start, StoppingRule::Residual)
    }

    /// Like [`run`](Self::run), with a given stopping rule.
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn run_until(
        &self,
        matrix: &Tensor<2>,
        start: Tensor<2>,
        rule: StoppingRule<'_>,
    ) -> Inversion {
        let mut state = InversionState::new(*self, start);
        while state.steps < state.limit {
            let curvature = congruence(matrix.clone(), state.lower.clone());
            let (distance, largest) = curvature.distance_from_identity();
            let [size, _] = matrix.dims();
            state.residual = distance / (size as f64).sqrt();
            let usable = state.residual.is_finite() && largest < DIVERGED;
            if !usable {
                if !state.start_anew(matrix) {
                    return state.finish(InversionStop::Unusable);
                }
                continue;
            }
            let good = match rule {
                StoppingRule::Residual => state.residual < self.tolerance,
                StoppingRule::VarianceGap(gap) => gap.is_closed(matrix, &state.lower),
            };
            if good {
                return state.finish(InversionStop::Converged);
            }
            if state.stands_still() {
                if state.best.0 > FAR && state.start_anew(matrix) {
                    continue;
                }
                return state.finish(InversionStop::Plateau);
            }
            state.descend(&curvature);
        }
        state.finish(InversionStop::StepLimit)
    }
}

/// The state of an inversion.
struct InversionState {
    inversion: NaturalInversion,
    start: Tensor<2>,
    lower: Tensor<2>,
    steps: usize,
    limit: usize,
    residual: f64,
    resets: usize,
    /// The smallest residual so far, its L, and the number of final-size steps since.
    best: (f64, Tensor<2>, usize),
}

impl InversionState {
    fn new(inversion: NaturalInversion, start: Tensor<2>) -> Self {
        Self {
            inversion,
            best: (f64::INFINITY, start.clone(), 0),
            lower: start.clone(),
            start,
            steps: 0,
            limit: inversion.max_steps,
            residual: f64::NAN,
            resets: 0,
        }
    }

    /// Restarts at the safe start. Returns false if that was already tried.
    fn start_anew(&mut self, matrix: &Tensor<2>) -> bool {
        if self.resets > 0 {
            return false;
        }
        self.resets += 1;
        self.lower = safe_start(matrix);
        self.limit = self.limit.max(self.steps + COLD_STEPS);
        self.best = (f64::INFINITY, self.lower.clone(), 0);
        true
    }

    /// Records the best L so far. Returns true if it has not improved for too long.
    fn stands_still(&mut self) -> bool {
        if self.residual < self.best.0 {
            self.best = (self.residual, self.lower.clone(), 0);
        } else if self.inversion.step_sizes.is_final(self.steps) {
            self.best.2 += 1;
        }
        (self.inversion.patience).is_some_and(|patience| self.best.2 >= patience)
    }

    fn descend(&mut self, curvature: &Congruence) {
        let step_size = self.inversion.step_sizes.at(self.steps);
        self.lower = curvature.descend(self.lower.clone(), step_size);
        self.steps += 1;
    }

    fn finish(self, stop: InversionStop) -> Inversion {
        let (lower, residual) = match stop {
            InversionStop::Unusable => (self.start, self.residual),
            InversionStop::Plateau => (self.best.1, self.best.0),
            InversionStop::Converged | InversionStop::StepLimit => (self.lower, self.residual),
        };
        Inversion {
            lower,
            report: InversionReport {
                steps: self.steps,
                residual,
                resets: self.resets,
                stop,
            },
        }
    }
}
