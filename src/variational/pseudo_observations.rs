//! Pseudo-observations of inducing variables with independent noise.

use burn::{
    module::{Module, Param},
    tensor::{DType, Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use crate::{
    ops::add_diagonal,
    parameter::{Bounds, LOWER_BOUND, ParameterError, Parameters, Positive, defaults},
};

/// The relation between the mean of `q(u)` and the trained `m̃`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeanForm {
    /// `m = K_uu·m̃`.
    Plain,
    /// `m = K_uu·P·m̃`, where P is the inverse of `K_uu + S̃` or an approximation of it. With a
    /// Gaussian likelihood and inducing points at the data, the optimum is `m̃ = y` for every
    /// kernel.
    #[default]
    Preconditioned,
}

/// `m̃` and a diagonal `S̃ = diag(s̃)` that define P Gaussians over inducing variables,
/// `q(u_p) = N(K_uu·v_p, (K_uu⁻¹ + S̃⁻¹)⁻¹)`.
///
/// Depending on the [`MeanForm`], `v = m̃` or `v = (K_uu + S̃)⁻¹m̃`. The second form is the
/// posterior after observing `m̃` at the inducing variables, with noise of variances `s̃`.
///
/// Functions that share a kernel share one `S̃`; functions with separate kernels have one each.
#[derive(Module, Debug)]
pub struct PseudoObservations {
    /// m̃, [P, M]
    mean: Param<Tensor<2>>,
    /// s̃: M values that all functions share, or M per function
    variances: Positive,
    #[module(skip)]
    form: MeanForm,
}

impl PseudoObservations {
    /// Creates pseudo-observations from the means `m̃`, `[P, M]`, and M or P·M variances.
    ///
    /// # Panics
    ///
    /// If the number of variances is neither M nor P·M, or if a variance is not above
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

    /// Adds a lower bound `floor`, above which the variances stay in training.
    ///
    /// # Errors
    ///
    /// When a variance is not above `floor`.
    pub fn with_floor(self, floor: f64) -> Result<Self, ParameterError> {
        self.with_bounds("variances", Bounds::above(floor))
    }

    /// `m̃`, `[P, M]`.
    pub fn mean(&self) -> Tensor<2> {
        self.mean.val()
    }

    /// `s̃`, flat: `[M]` or `[P·M]`.
    pub fn variances(&self) -> Tensor<1> {
        self.variances.value()
    }

    /// The relation between the mean of `q(u)` and `m̃`.
    pub fn form(&self) -> MeanForm {
        self.form
    }

    /// The number of functions, P, and of inducing variables per function, M.
    pub fn dims(&self) -> [usize; 2] {
        self.mean.lazy_shape().dims()
    }

    /// An identity matrix for each `S̃`, `[1, M, M]` or `[P, M, M]`.
    pub(crate) fn identities(&self) -> Tensor<3> {
        let mean = self.mean.val();
        let ([_, size], [count]) = (self.dims(), self.variances().dims());
        let identity = Tensor::<2>::eye(size, &mean.device()).cast(mean.dtype());
        identity.unsqueeze::<3>().repeat_dim(0, count / size)
    }

    /// `K_uu + S̃`.
    pub(crate) fn added_to(&self, kuu: Tensor<3>) -> Tensor<3> {
        add_diagonal(kuu, self.variances())
    }
}

defaults! {
    /// Configuration of [`PseudoObservations`]. The default is the preconditioned mean, with
    /// variances that start at 1e-4.
    #[derive(Copy)]
    #[serde(default, deny_unknown_fields)]
    pub struct PseudoObservationsConfig {
        /// The relation between the mean of `q(u)` and `m̃`.
        pub mean: MeanForm = MeanForm::Preconditioned,
        /// The initial value of every variance, raised to twice the floor if it is below that.
        pub variance: f64 = 1e-4,
        /// The lower bound of the variances in training; [`default_floor`](Self::default_floor) if
        /// absent. If it is at most [`LOWER_BOUND`](crate::parameter::LOWER_BOUND), that bound
        /// applies, as for every positive parameter.
        #[setters(strip_option)]
        pub floor: Option<f64> = None,
    }
}

impl PseudoObservationsConfig {
    /// The default floor for a precision. In single precision it is 1e-3, because the residual of
    /// an inverse of `K_uu + S̃` stalls at about `1e-8·κ(K_uu + S̃)`. In double precision it is the
    /// floor of every positive parameter.
    pub fn default_floor(precision: DType) -> Option<f64> {
        (precision != DType::F64).then_some(1e-3)
    }

    /// The configuration with the floor for `precision`, in whichever precision it is used.
    pub fn with_floor_of(mut self, precision: DType) -> Self {
        let default = || Self::default_floor(precision).unwrap_or(LOWER_BOUND);
        self.floor.get_or_insert_with(default);
        self
    }

    /// The values that must be positive, with their paths in the configuration of a posterior.
    pub(super) fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        vec![
            ("observations.variance", Some(self.variance)),
            ("observations.floor", self.floor),
        ]
    }

    /// Pseudo-observations of zero for `outputs` functions with `size` inducing variables each.
    /// `groups` is the number of sets of variances: 1 or `outputs`.
    ///
    /// # Panics
    ///
    /// If the initial variance or the floor is not a positive number.
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
        match floor.filter(|&floor| floor > LOWER_BOUND) {
            None => observations,
            Some(floor) => match observations.with_floor(floor) {
                Ok(observations) => observations,
                Err(error) => panic!("PseudoObservationsConfig: floor {floor:e}: {error}"),
            },
        }
    }
}
