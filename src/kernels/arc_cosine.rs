//! Arc-cosine kernels.

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions, activation::relu},
};
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, PriorFeatures,
    definition::positive,
    distances::squared_distances,
    points::{at_each, no_variances, require_fit, with_offset},
};
use crate::{
    ops::{ExactMatmul, arc_sine, is_on_cpu},
    parameter::{Positive, both_tracked, defaults},
    random::normals,
    register,
};

/// The order of an [`ArcCosine`] kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArcCosineOrder {
    /// Step units, from 0 to 1. The functions are as rough as those of Matérn-1/2.
    Step,
    /// Rectified linear units.
    #[default]
    Ramp,
    /// Rectified quadratic units.
    Quadratic,
}

impl ArcCosineOrder {
    /// The order n.
    fn exponent(self) -> i32 {
        match self {
            Self::Step => 0,
            Self::Ramp => 1,
            Self::Quadratic => 2,
        }
    }

    /// `J_n(0)/π`.
    fn at_zero(self) -> f64 {
        match self {
            Self::Step | Self::Ramp => 1.0,
            Self::Quadratic => 3.0,
        }
    }
}

/// `k_n(x, x′) = σ²/π·(‖x̃‖·‖x̃′‖)ⁿ·J_n(θ)`, where θ is the angle between `x̃` and `x̃′`, and
/// `x̃ = (√w_d·x_d for all d, √b)`. It corresponds to an infinitely wide layer of threshold units.
///
/// - `J_0 = π − θ`
/// - `J_1 = sin θ + (π − θ)·cos θ`
/// - `J_2 = 3·sin θ·cos θ + (π − θ)·(1 + 2cos²θ)`
///
/// (Y. Cho and L. Saul, *Kernel Methods for Deep Learning*, NIPS 2009, eqs. 1–6; weights and bias
/// as in GPflow.)
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{ArcCosine, ArcCosineConfig, ArcCosineOrder, KernelConfig, KernelModule};
///
/// let device = Device::default();
/// let kernel = ArcCosine::new(ArcCosineOrder::Ramp, &[1.0], 1.0, 1.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [3.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // Like a wide network with ramps, it has more variance far from zero.
/// assert!(values[3] > values[0]);
///
/// let same = KernelConfig::from(ArcCosineConfig::default()).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct ArcCosine {
    #[module(skip)]
    order: ArcCosineOrder,
    weight_variance: Positive,
    bias_variance: Positive,
    variance: Positive,
}

defaults! {
    /// Configuration of an [`ArcCosine`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct ArcCosineConfig {
        /// The order.
        pub order: ArcCosineOrder = ArcCosineOrder::Ramp,
        /// One weight variance per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every weight variance.
        pub weight_variance: f64 = 1.0,
        /// The initial value of the bias variance.
        pub bias_variance: f64 = 1.0,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "arc-cosine",
    ArcCosineConfig,
    "Infinitely wide layer of threshold units"
);

impl KernelDefinition for ArcCosineConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let weights = inputs.values(self.ard, self.weight_variance);
        let (bias, variance) = (self.bias_variance, self.variance);
        let mut kernel = ArcCosine::new(self.order, &weights, bias, variance, options);
        kernel.weight_variance = kernel.weight_variance.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("variance", KernelUnits::Variance)]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(weight_variance bias_variance variance);
}

impl ArcCosine {
    /// Creates an arc-cosine kernel with weight variances w (one, or one per dimension), bias
    /// variance b and variance σ².
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(
        order: ArcCosineOrder,
        weight_variances: &[f64],
        bias_variance: f64,
        variance: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            order,
            weight_variance: Positive::new(weight_variances, options.clone()),
            bias_variance: Positive::new(&[bias_variance], options.clone()),
            variance: Positive::new(&[variance], options),
        }
    }

    /// `x̃/‖x̃‖`, `[B, N, D + 1]`, and `‖x̃‖`, `[B, N, 1]`.
    fn directions(&self, x: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let weights = self.weight_variance.aligned();
        let extended = with_offset(x, weights, self.bias_variance.aligned());
        let norm = extended.clone().square().sum_dim(2).sqrt();
        (extended / norm.clone(), norm)
    }
}

impl Kernel for ArcCosine {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("arc-cosine", &self.weight_variance, &[&x1, &x2]);
        let ((x1, norm1), (x2, norm2)) = (self.directions(x1), self.directions(x2));
        let angular = angular(self.order, squared_distances(x1, x2)); // J_n/π
        let scale = power(norm1.exact_matmul(norm2.transpose()), self.order);
        let product = match scale {
            Some(scale) => angular * scale,
            None => angular,
        };
        product * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("arc-cosine", &self.weight_variance, &[&x]);
        if let Some(none) = no_variances(&x) {
            return none;
        }
        let squares = x.clone().square() * self.weight_variance.aligned(); // [B, N, D]
        let squared_norm = squares.sum_dim(2).squeeze_dim::<2>(2) + self.bias_variance.aligned();
        let variance = at_each(self.variance.value() * self.order.at_zero(), &x);
        match power(squared_norm, self.order) {
            Some(scale) => variance * scale,
            None => variance,
        }
    }

    /// Threshold units with random weights, in pairs: `σ·Θ(a)·aⁿ` and `σ·Θ(−a)·(−a)ⁿ` with
    /// `a = wᵀx̃`, `w ~ N(0, I)` (eq. 1 of the paper).
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let units = normals([count, dimensions + 1], random, options);
        let (order, variance) = (self.order, self.variance.value());
        let (weights, bias) = (self.weight_variance.aligned(), self.bias_variance.aligned());
        let units = PriorFeatures::random([count, 2], move |x| {
            let extended = with_offset(x, weights.clone(), bias.clone());
            let (units, extended) = both_tracked(units.clone(), extended);
            let sums = units.exact_matmul(extended.transpose()); // [F, N]
            let both = Tensor::stack::<3>(vec![sums.clone(), sums.neg()], 1);
            threshold(both, order)
        });
        Ok(units.scaled(variance))
    }
}

/// `Θ(a)·aⁿ`.
fn threshold(a: Tensor<3>, order: ArcCosineOrder) -> Tensor<3> {
    match order {
        ArcCosineOrder::Step => {
            let dtype = a.dtype();
            a.greater_elem(0.0).float().cast(dtype)
        }
        ArcCosineOrder::Ramp => relu(a),
        ArcCosineOrder::Quadratic => relu(a).square(),
    }
}

/// `bⁿ`, or `None` for n = 0.
fn power<const D: usize>(base: Tensor<D>, order: ArcCosineOrder) -> Option<Tensor<D>> {
    match order {
        ArcCosineOrder::Step => None,
        ArcCosineOrder::Ramp => Some(base),
        ArcCosineOrder::Quadratic => Some(base.square()),
    }
}

/// `J_n(θ)/π` as a function of the squared chord `q = 4·sin²(θ/2)`, which resolves small angles
/// better than `cos θ`.
///
/// Since `dJ_n/d cos θ = n²·J_(n−1)`, the derivative is `−n²/2·J_(n−1)`. The derivative of `J_0`,
/// `−1/(2·sin θ)`, jumps at coincident points; the mean of its one-sided values is used there.
fn angular(order: ArcCosineOrder, chord: Tensor<3>) -> Tensor<3> {
    let q = chord.clone().detach();
    let cosine = q.clone() * -0.5 + 1.0;
    let sine = (q.clone() * (q.clone() * -0.25 + 1.0).clamp_min(0.0)).sqrt();
    let half_chord = (q.sqrt() * 0.5).clamp_max(1.0);
    let half_angle = if is_on_cpu(&half_chord) {
        half_chord.asin()
    } else {
        arc_sine(half_chord)
    };
    let rest = half_angle * -2.0 + PI; // π − θ
    let ramp = || sine.clone() + rest.clone() * cosine.clone();
    let exponent = f64::from(order.exponent());
    let (value, slope) = match order {
        ArcCosineOrder::Step => {
            let coincident = sine.clone().equal_elem(0.0);
            let slope = sine.recip().mask_fill(coincident, 0.0) * -0.5;
            (rest, slope)
        }
        ArcCosineOrder::Ramp => (ramp(), rest.clone() * (-0.5 * exponent.powi(2))),
        ArcCosineOrder::Quadratic => {
            let slope = ramp() * (-0.5 * exponent.powi(2));
            let square = cosine.clone().square() * 2.0 + 1.0;
            (sine * cosine * 3.0 + rest * square, slope)
        }
    };
    // This term is zero; only its derivative matters.
    let tangent = (chord.clone() - chord.detach()) * slope;
    (value + tangent) * PI.recip()
}
