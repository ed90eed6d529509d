//! Sparse regression with two sets of inducing variables and their optimal distributions.

mod bounds;
mod features;
mod optimum;

use burn::{module::Module, tensor::Tensor};

use super::{ConditionError, parts::parts};
use crate::{
    inducing::AnyInducing,
    kernels::{Kernel, KernelModule, Kernels},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{BlockFactor, Jitter, NotPositiveDefinite, column_squares},
    parameter::Priors,
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};
use optimum::Optimum;

/// Sparse regression with inducing variables `u` at Z and orthogonal ones `v_⊥` at O, with the
/// optimal `q(u)q(v_⊥)` substituted into the evidence lower bound (J. Shi, M. Titsias and A. Mnih,
/// *Sparse Orthogonal Variational Inference for Gaussian Processes*, arXiv:1910.10596, eq. 30).
///
/// The function is the sum of `f_∥`, which `u` determines, and an independent `f_⊥` with covariance
/// `C = K − Q`, `Q = K_fu K_uu⁻¹ K_uf`. `v_⊥ = f_⊥(O)` explains `R = C_fv C_vv⁻¹ C_vf` of it. With
/// `U = Q + R`, the approximation of K by all of Z∪O, the bound is
///
/// `−½yᵀ(U + σ²I)⁻¹y − ½log|Q + σ²I| − ½log|I + σ⁻²R| − ½N·log 2π − tr(K − U)/(2σ²)`.
///
/// With `Λ = L⁻¹K_uf` and `Γ = L_v⁻¹C_vf`, where `L` and `L_v` are the factors of `K_uu` and
/// `C_vv`, all computations use `B = I + σ⁻²ΛΛᵀ` and `B_v = I + σ⁻²ΓΓᵀ`. Time N·M² + M³ for the M
/// of the larger set; for two sets of equal size, a single set of all inducing variables takes four
/// times the first term and eight times the second. Memory N·M in training and M² in prediction.
#[derive(Module, Debug)]
pub struct CollapsedOrthogonal {
    kernel: Kernels,
    mean: AnyMean,
    likelihood: Gaussian,
    inducing: AnyInducing,
    orthogonal: AnyInducing,
    #[module(skip)]
    jitter: Jitter,
    #[module(skip)]
    priors: Priors,
}

parts!(CollapsedOrthogonal, kernels);

impl CollapsedOrthogonal {
    /// Creates sparse regression with the given prior, noise, inducing variables (Z) and orthogonal
    /// inducing variables (O). `jitter` is for `K_uu` and for `C_vv`, which is singular if a point
    /// of O is also in Z.
    pub fn new(
        kernel: impl Kernel,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        inducing: impl Into<AnyInducing>,
        orthogonal: impl Into<AnyInducing>,
        jitter: Jitter,
    ) -> Self {
        Self {
            kernel: kernel.into(),
            mean: mean.into(),
            likelihood,
            inducing: inducing.into(),
            orthogonal: orthogonal.into(),
            jitter,
            priors: Priors::default(),
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The orthogonal inducing variables.
    pub fn orthogonal(&self) -> &AnyInducing {
        &self.orthogonal
    }

    /// The jitter of `K_uu` and `C_vv`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }
}

impl CollapsedOrthogonal {
    /// The bound at the optimal `q(u)q(v_⊥)`, eq. 30 summed over outputs.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [_, outputs] = targets.dims();
        let fit = self.fit(inputs.clone(), targets)?;
        let features = fit.features;
        let explained = column_squares(features.inducing) + column_squares(features.orthogonal);
        let unexplained = (self.kernel().diagonal_at(inputs) - explained).sum();
        let penalty =
            fit.orthogonal_factor.log_determinant() + unexplained / self.likelihood.noise();
        Ok(fit.log_density - penalty * (0.5 * outputs as f64))
    }

    /// `q(u)q(v_⊥)` is a Gaussian with independent blocks over the whitened variables of Z∪O, whose
    /// covariance has the factor `[[L, 0], [Aᵀ, L_v]]`, `A = L⁻¹K_uv`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<ConditionedProcess>, ConditionError> {
        let this = self.valid();
        let Optimum {
            factor,
            precisions,
            means,
        } = this.optimum(inputs, targets)?;
        let [inducing, orthogonal] = precisions.factors()?;
        let process = ConditionedProcess::new(
            this.kernel,
            this.inducing.union(&[&this.orthogonal]),
            factor.joined(),
            Tensor::cat(means.into(), 0).transpose(), // [P, M + M2]
            WhitenedCovariance::Precision(BlockFactor::uncoupled(inducing, orthogonal).joined()),
        );
        Ok(WithMean::new(process, this.mean))
    }
}
