//! The Bayesian Gaussian-process latent variable model.

use core::f64::consts::PI;

use burn::{module::Module, tensor::Tensor};

use super::{LatentInputs, LatentProcess, statistics::Statistics};
use crate::{
    inducing::InducingPoints,
    inference::ConditionError,
    kernels::{AnyKernel, ExpectedProducts, Kernel, KernelModule, NoExpectedProducts},
    likelihoods::{Gaussian, check_finite},
    ops::{CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky},
    parameter::require_same_dtype,
};

/// The Bayesian Gaussian-process latent variable model: P outputs are functions of Q latent inputs,
/// `y_np = f_p(x_n) + ε`, `f_p ~ GP(0, k)`, `ε ~ N(0, σ²)`, where the inputs have the prior `N(0, I)` and the variational
/// distribution `q(x_n) = N(μ_n, diag S_n)`.
///
/// With the expected products `Ψ0, Ψ1, Ψ2` of the kernel ([`ExpectedProducts`]), `K_uu = LLᵀ`, `Λ = L⁻¹Ψ1ᵀ`,
/// `A = L⁻¹Ψ2L⁻ᵀ` and `B = I + A/σ²`, the bound at the optimal `q(u)` is
///
/// ```text
/// −½·Σ_p [N·log 2πσ² + log|B| + ‖y_p‖²/σ² − y_pᵀΛᵀB⁻¹Λy_p/σ⁴] − P·(Σ_n Ψ0_n − tr A)/(2σ²) − KL[q(x) ‖ p(x)]
/// ```
///
/// (M. Titsias and N. Lawrence, *Bayesian Gaussian Process Latent Variable Model*, AISTATS 2010, equations 10 and 14).
/// It is that of [`Collapsed`](crate::inference::Collapsed) at the inputs μ minus the divergence where S is zero.
/// The lengthscales of a kernel with one for each dimension grow without limit along dimensions that the outputs do not
/// need. Time N·M²·(Q + P) for P outputs, at most; memory for training N·M²·Q.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::StationaryConfig,
///     latent_inputs::{BayesianGplvm, LatentInputs},
///     likelihoods::Gaussian,
///     ops::{Jitter, number},
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let place = (&Device::default(), DType::F64);
/// let latent = |deviation| LatentInputs::new(
///     Tensor::from_data([[-1.0], [0.0], [1.0]], place), &[deviation; 3],
/// );
/// let outputs = Tensor::<2>::from_data([[-0.9, 1.1], [0.1, 0.0], [1.1, 0.9]], place);
/// let model = |deviation| BayesianGplvm::new(
///     StationaryConfig::rbf().init(1, place),
///     Gaussian::new(0.1, place),
///     InducingPoints::new(Tensor::from_data([[-1.0], [1.0]], place)),
///     latent(deviation),
///     Jitter::relative(1e-8),
/// );
/// let bound = number(model(0.3)?.bound(outputs.clone())?);
/// // Inputs that are known too well, or hardly at all, explain the outputs less well.
/// assert!(bound > number(model(1e-3)?.bound(outputs.clone())?));
/// assert!(bound > number(model(3.0)?.bound(outputs)?));
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct BayesianGplvm {
    kernel: AnyKernel,
    likelihood: Gaussian,
    inducing: InducingPoints,
    latent: LatentInputs,
    #[module(skip)]
    jitter: Jitter,
}

/// The optimal `q(u)` in whitened coordinates, `L⁻¹u ~ N(b_p, B⁻¹)`.
struct Optimum {
    /// The factor of B.
    precision: CholeskyFactor<2>,
    /// b, [M, P]
    mean: Tensor<2>,
}

impl BayesianGplvm {
    /// Creates the model with the given prior, noise, inducing points, `[M, Q]`, and distribution of the latent inputs.
    /// `jitter` is for `K_uu`.
    ///
    /// # Errors
    ///
    /// When the expected products of the kernel have no closed form here.
    ///
    /// # Panics
    ///
    /// If the inducing points and the latent inputs differ in the number of dimensions.
    #[track_caller]
    pub fn new(
        kernel: impl Kernel,
        likelihood: Gaussian,
        inducing: InducingPoints,
        latent: LatentInputs,
        jitter: Jitter,
    ) -> Result<Self, NoExpectedProducts> {
        let ([_, dimensions], [_, latent_dimensions]) = (inducing.points().dims(), latent.dims());
        assert!(
            dimensions == latent_dimensions,
            "BayesianGplvm: inducing points with {dimensions} dimensions, latent inputs with {latent_dimensions}"
        );
        kernel.expected_products()?;
        Ok(Self {
            kernel: kernel.boxed(),
            likelihood,
            inducing,
            latent,
            jitter,
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &AnyKernel {
        &self.kernel
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &Gaussian {
        &self.likelihood
    }

    /// The inducing points.
    pub fn inducing(&self) -> &InducingPoints {
        &self.inducing
    }

    /// The distribution of the latent inputs.
    pub fn latent(&self) -> &LatentInputs {
        &self.latent
    }

    /// The bound of the log evidence.
    ///
    /// # Shapes
    ///
    /// - `outputs` (Y): `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If there is not one row of outputs for each latent input.
    #[track_caller]
    pub fn bound(&self, outputs: Tensor<2>) -> Result<Tensor<1>, NotPositiveDefinite> {
        Ok(self.expected_evidence(outputs)? - self.latent.kl_from_prior())
    }

    /// The bound without the divergence of the latent inputs from their prior.
    ///
    /// # Shapes
    ///
    /// - `outputs` (Y): `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If there is not one row of outputs for each latent input.
    #[track_caller]
    pub fn expected_evidence(&self, outputs: Tensor<2>) -> Result<Tensor<1>, NotPositiveDefinite> {
        self.check(&outputs);
        let ([rows, columns], noise) = (outputs.dims(), self.likelihood.noise());
        let statistics = self.statistics(&self.factor()?);
        let optimum = Optimum::new(&statistics, outputs.clone(), noise.clone())?;
        // −½·E‖y − Λᵀb‖²/σ² − ½‖b‖² is largest at the optimal b, so no gradient needs to flow through b.
        let mean = optimum.mean.inner();
        let squares = statistics.expected_squares(outputs, mean.clone()) / noise.clone();
        let normalizer = optimum.precision.log_determinant()
            + (noise.clone() * (2.0 * PI)).log() * rows as f64
            + statistics.unexplained() / noise;
        Ok((squares + mean.square().sum() + normalizer * columns as f64) * -0.5)
    }

    /// The functions given the outputs, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `outputs` (Y): `[N, P]`
    ///
    /// # Errors
    ///
    /// When an output is not finite, or a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If there is not one row of outputs for each latent input.
    #[track_caller]
    pub fn condition(&self, outputs: Tensor<2>) -> Result<LatentProcess, ConditionError> {
        self.check(&outputs);
        check_finite(&outputs)?;
        let this = self.valid();
        let (factor, noise) = (this.factor()?, this.likelihood.noise());
        let optimum = Optimum::new(&this.statistics(&factor), outputs.inner(), noise)?;
        let Optimum { precision, mean } = optimum;
        Ok(LatentProcess::new(this, factor, mean, precision))
    }

    /// The expectations of the kernel.
    pub(super) fn expected(&self) -> ExpectedProducts {
        match self.kernel.expected_products() {
            Ok(expected) => expected,
            // `new` refuses such kernels.
            Err(refusal) => panic!("BayesianGplvm: {refusal}"),
        }
    }

    /// L, the factor of `K_uu`.
    fn factor(&self) -> Result<CholeskyFactor<2>, NotPositiveDefinite> {
        cholesky(self.kernel.matrix_at(self.inducing.points()), self.jitter)
    }

    fn statistics(&self, factor: &CholeskyFactor<2>) -> Statistics {
        let latent = (self.latent.mean(), self.latent.variance());
        Statistics::new(&self.expected(), latent, self.inducing.points(), factor)
    }

    #[track_caller]
    fn check(&self, outputs: &Tensor<2>) {
        let ([rows, _], own) = (self.latent.dims(), outputs.dims());
        let types = (
            ("latent inputs", self.latent.mean().dtype()),
            ("outputs", outputs.dtype()),
        );
        require_same_dtype(|| "BayesianGplvm".to_owned(), types.0, types.1);
        assert!(
            own[0] == rows,
            "BayesianGplvm: outputs {own:?}, {rows} latent inputs; expected [N, P]"
        );
    }
}

impl Optimum {
    fn new(
        statistics: &Statistics,
        outputs: Tensor<2>,
        noise: Tensor<1>,
    ) -> Result<Self, NotPositiveDefinite> {
        let one = Tensor::ones([1], (&outputs.device(), outputs.dtype()));
        let products = statistics.products.clone() / noise.clone().unsqueeze::<2>();
        let precision = cholesky(add_to_diagonal(products, one), Jitter::NONE)?; // of B
        let projected = statistics.covariances.clone().exact_matmul(outputs); // ΛY
        let half = precision.solve(projected / noise.unsqueeze::<2>());
        Ok(Self {
            mean: precision.solve_transposed(half),
            precision,
        })
    }
}
