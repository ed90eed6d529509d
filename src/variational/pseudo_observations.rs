//! What a diagonal matrix beside the prior covariance says about inducing variables.

use burn::{
    module::{Module, Param},
    tensor::{DType, Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use crate::{
    ops::add_diagonal,
    parameter::{Bounds, ParameterError, Parameters, Positive},
};

/// How the mean of `q(u)` follows from the trained `m̃`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeanForm {
    /// `m = K_uu·m̃`.
    Plain,
    /// `m = K_uu·P·m̃` with P the inverse of `K_uu + S̃`, or what stands for it: with a Gaussian
    /// likelihood and inducing points at the data, the optimum is `m̃ = y`, whatever the kernel.
    #[default]
    Preconditioned,
}

/// `m̃` and a diagonal `S̃ = diag(s̃)` that give P Gaussians over inducing variables
/// `q(u_p) = N(K_uu·v_p, (K_uu⁻¹ + S̃⁻¹)⁻¹)`, `v = m̃` or `v = (K_uu + S̃)⁻¹m̃` by the
/// [`MeanForm`]: in the second case, the posterior after observing `m̃` with noise of variances `s̃`
/// at the inducing variables.
///
/// All functions share one `S̃` under one kernel; functions with kernels of their own have one each.
#[derive(Module, Debug)]
pub struct PseudoObservations {
    /// m̃, [P, M]
    mean: Param<Tensor<2>>,
    /// s̃, M numbers for all functions or for each of them
    variances: Positive,
    #[module(skip)]
    form: MeanForm,
}

impl PseudoObservations {
    /// Observations with the given means `m̃`, `[P, M]`, and variances: M of them, or P·M.
    ///
    /// # Panics
    ///
    /// If there is another number of variances, or one does not lie above
    /// [`LOWER_BOUND`](crate::parameter::LOWER_BOUND).
    #[track_caller]
    pub fn new(mean: Tensor<2>, variances: &[f64], form: MeanForm) -> Self {
        let ([outputs, size], count) = (mean.dims(), variances.len());
        assert!(
            count == size || count == outputs * size,
            "PseudoObservations: mean [{outputs}, {size}], {count} variances; expected M or P·M"
        );
        let options = (&mean.device(), mean.dtype());
        Self {
            variances: Positive::new(variances, options),
            mean: Param::from_tensor(mean),
            form,
        }
    }

    /// The same with variances that training keeps above `floor`.
    ///
    /// # Errors
    ///
    /// When a variance does not lie above it.
    pub fn with_floor(self, floor: f64) -> Result<Self, ParameterError> {
        self.with_bounds("variances", Bounds::above(floor))
    }

    /// `m̃`, `[P, M]`.
    pub fn mean(&self) -> Tensor<2> {
        self.mean.val()
    }

    /// `s̃`, flat: `[M]`, or `[P·M]`.
    pub fn variances(&self) -> Tensor<1> {
        self.variances.value()
    }

    /// How the mean of `q(u)` follows from `m̃`.
    pub fn form(&self) -> MeanForm {
        self.form
    }

    /// How many functions there are, P, and how many inducing variables each has, M.
    pub fn dims(&self) -> [usize; 2] {
        self.mean.lazy_shape().dims()
    }

    /// `K_uu + S̃`.
    pub(crate) fn added_to<const D: usize>(&self, kuu: Tensor<D>) -> Tensor<D> {
        add_diagonal(kuu, self.variances())
    }
}

/// Configuration of [`PseudoObservations`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PseudoObservationsConfig {
    /// How the mean of `q(u)` follows from `m̃`.
    pub mean: MeanForm,
    /// The first value of every variance; twice the floor if that is more.
    pub variance: f64,
    /// What training keeps the variances above; [`default_floor`](Self::default_floor) if absent.
    pub floor: Option<f64>,
}

impl Default for PseudoObservationsConfig {
    /// Preconditioned, with variances that start at 1e-4.
    fn default() -> Self {
        Self {
            mean: MeanForm::Preconditioned,
            variance: 1e-4,
            floor: None,
        }
    }
}

impl PseudoObservationsConfig {
    /// With another form of the mean.
    pub fn with_mean(mut self, mean: MeanForm) -> Self {
        self.mean = mean;
        self
    }

    /// The floor in a precision: 1e-3 in single, where the residual of an inverse of `K_uu + S̃`
    /// stalls at about `1e-8·κ(K_uu + S̃)`, and that of every positive parameter in double.
    pub fn default_floor(precision: DType) -> Option<f64> {
        (precision != DType::F64).then_some(1e-3)
    }

    /// Observations of zero for `outputs` functions with `size` inducing variables each, and
    /// variances for `groups` of them: 1 or all.
    ///
    /// # Panics
    ///
    /// If the first variance or the floor is no number above zero.
    #[track_caller]
    pub(crate) fn init(
        &self,
        [outputs, size]: [usize; 2],
        groups: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> PseudoObservations {
        let mean = Tensor::<2>::zeros([outputs, size], options);
        let floor = (self.floor).or_else(|| Self::default_floor(mean.dtype()));
        let first = self.variance.max(2.0 * floor.unwrap_or(0.0));
        let observations = PseudoObservations::new(mean, &vec![first; groups * size], self.mean);
        match floor {
            None => observations,
            Some(floor) => match observations.with_floor(floor) {
                Ok(observations) => observations,
                Err(error) => panic!("PseudoObservationsConfig: floor {floor:e}: {error}"),
            },
        }
    }
}
