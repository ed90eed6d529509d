//! The distribution of latent inputs.

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

use crate::parameter::{Part, Positive, Role};

/// The variational distribution of the latent inputs of N rows, independent of each other:
/// `q(x_n) = N(μ_n, diag S_n)`, with the prior `p(x_n) = N(0, I)`.
///
/// The means and the standard deviations `√S` are trained. Their role is that of a posterior, so that they are no
/// hyperparameters.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{latent_inputs::LatentInputs, ops::number};
///
/// let place = (&Device::default(), DType::F64);
/// let latent = LatentInputs::new(Tensor::from_data([[1.0, 0.0]], place), &[1.0, 0.5]);
/// // ½·(1² + 0² + 0.25 − log 0.25 − 1)
/// let expected = 0.5 * (1.0 + 0.25 - 0.25_f64.ln() - 1.0);
/// assert!((number(latent.kl_from_prior()) - expected).abs() < 1e-9);
/// ```
#[derive(Module, Debug)]
pub struct LatentInputs {
    mean: Part<Param<Tensor<2>>>,
    deviation: Part<Positive>,
}

impl LatentInputs {
    /// Creates the distribution with the given means and standard deviations.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ): `[N, Q]`
    /// - `deviations` (√S): N·Q values, row-major
    ///
    /// # Panics
    ///
    /// If there is not one standard deviation for each mean, or one is not positive.
    #[track_caller]
    pub fn new(mean: Tensor<2>, deviations: &[f64]) -> Self {
        let [rows, dimensions] = mean.dims();
        assert!(
            deviations.len() == rows * dimensions,
            "LatentInputs: means [{rows}, {dimensions}], {} standard deviations; expected one for each mean",
            deviations.len()
        );
        let deviation = Positive::new(deviations, (&mean.device(), mean.dtype()));
        Self {
            mean: Part::new(Role::Posterior, Param::from_tensor(mean)),
            deviation: Part::new(Role::Posterior, deviation),
        }
    }

    /// The number of rows, N, and of latent dimensions, Q.
    pub fn dims(&self) -> [usize; 2] {
        self.mean.val().dims()
    }

    /// μ, `[N, Q]`.
    pub fn mean(&self) -> Tensor<2> {
        self.mean.val()
    }

    /// √S, `[N, Q]`.
    pub fn deviation(&self) -> Tensor<2> {
        self.deviation.value().reshape(self.dims())
    }

    /// S, `[N, Q]`.
    pub fn variance(&self) -> Tensor<2> {
        self.deviation().square()
    }

    /// The divergence from the prior, `½·Σ_nq (μ_nq² + S_nq − log S_nq − 1)`, `[1]`.
    pub fn kl_from_prior(&self) -> Tensor<1> {
        let variance = self.variance();
        let each = self.mean().square() + variance.clone() - variance.log() - 1.0;
        each.sum() * 0.5
    }
}
