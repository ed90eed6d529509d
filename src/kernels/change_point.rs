//! A transition from one kernel to another.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelParameter, KernelPart,
    KernelUnits, NoFunctionDraws, PartInputs, PriorFeatures,
    points::{no_variances, require_fit, set_size},
};
use crate::{
    ops::sigmoid,
    parameter::{Positive, aligned, defaults, vector},
    register,
};

/// `k(x, x′) = (1 − w(x))·k₁(x, x′)·(1 − w(x′)) + w(x)·k₂(x, x′)·w(x′)` with
/// `w(x) = 1/(1 + e^(−s·(x_d − c)))`: one function before the location `c` in an input dimension
/// and another after it, with a transition of steepness `s` (Y. Saatçi, R. Turner and C. Rasmussen,
/// *Gaussian Process Change Point Models*, ICML 2010; with sigmoids, J. Lloyd et al.,
/// arXiv:1402.4304, appendix A).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{
///     Change, ChangePoint, ChangePointConfig, Constant, ConstantConfig, KernelConfig, KernelModule,
/// };
///
/// let device = Device::default();
/// let change = Change { location: 1.0, steepness: 50.0, ..Change::default() };
/// let (low, high) = (Constant::new(1.0, &device), Constant::new(9.0, &device));
/// let kernel = ChangePoint::new(low, high, change, &device);
/// let x = Tensor::<2>::from_data([[0.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.diagonal_at(x.clone()).into_data().iter().collect();
/// assert!((values[0] - 1.0).abs() < 1e-4 && (values[1] - 9.0).abs() < 1e-4);
///
/// let constant = |variance| ConstantConfig { variance }.into();
/// let config = ChangePointConfig { first: constant(1.0), second: constant(9.0), change };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.diagonal_at(x.clone()).into_data(), kernel.diagonal_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct ChangePoint {
    first: AnyKernel,
    second: AnyKernel,
    /// c, `[1]`
    location: Param<Tensor<1>>,
    steepness: Positive,
    #[module(skip)]
    dimension: usize,
}

/// Configuration of a [`ChangePoint`] kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct ChangePointConfig {
    /// The kernel before the change.
    #[setters(into)]
    pub first: KernelConfig,
    /// The kernel after the change.
    #[setters(into)]
    pub second: KernelConfig,
    /// The initial location and steepness of the change.
    #[serde(flatten)]
    pub change: Change,
}

register!(
    Kernel,
    "change-point",
    ChangePointConfig,
    "One kernel before a change along an input and another after it"
);

impl KernelDefinition for ChangePointConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        inputs.require(&[self.change.dimension]);
        let first = self.first.build(inputs, options.clone());
        let second = self.second.build(inputs, options.clone());
        ChangePoint::new(first, second, self.change, options).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        let input = PartInputs::Only(std::slice::from_ref(&self.change.dimension));
        vec![
            KernelParameter::new("location", KernelUnits::Place).on(input),
            KernelParameter::new("steepness", KernelUnits::PerInput).on(input),
        ]
    }

    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        vec![("steepness", Some(self.change.steepness))]
    }

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![
            KernelPart::new("first", &self.first),
            KernelPart::new("second", &self.second),
        ]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.first, &mut self.second]
    }

    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        let both = [&self.first, &self.second].map(|kernel| kernel.missing_dimension(dimensions));
        let own = Some(self.change.dimension).filter(|&named| named >= dimensions);
        both.into_iter().chain([own]).flatten().max()
    }
}

defaults! {
    /// The initial location and steepness of a [`ChangePoint`] kernel. By default it changes in the
    /// middle of the first standardized input, with steepness one.
    #[derive(Copy)]
    #[serde(default, deny_unknown_fields)]
    pub struct Change {
        /// The zero-based input dimension.
        pub dimension: usize = 0,
        /// The location c in that dimension.
        pub location: f64 = 0.0,
        /// The steepness s.
        pub steepness: f64 = 1.0,
    }
}

impl ChangePoint {
    /// Creates a change from `first` to `second`.
    ///
    /// # Panics
    ///
    /// If the steepness is not positive.
    #[track_caller]
    pub fn new(
        first: impl Kernel,
        second: impl Kernel,
        change: Change,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            first: first.boxed(),
            second: second.boxed(),
            location: Param::from_tensor(vector(&[change.location], options.clone())),
            steepness: Positive::new(&[change.steepness], options),
            dimension: change.dimension,
        }
    }

    /// `1 − w(x)` and `w(x)`, `[B, N, 1]`.
    fn weights(&self, x: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let distance = self.place().distance(x);
        (sigmoid(distance.clone().neg()), sigmoid(distance))
    }

    fn place(&self) -> Place {
        Place {
            location: self.location.val(),
            steepness: self.steepness.value(),
            dimension: self.dimension,
        }
    }
}

/// The place of a change.
#[derive(Clone)]
struct Place {
    /// c, `[1]`
    location: Tensor<1>,
    /// s, `[1]`
    steepness: Tensor<1>,
    dimension: usize,
}

impl Place {
    /// `s·(x_d − c)`, `[…, N, 1]`.
    fn distance<const R: usize>(&self, x: Tensor<R>) -> Tensor<R> {
        let [rows, dimensions] = set_size(&x);
        assert!(
            self.dimension < dimensions,
            "the dimension of the change, {}, counted from zero, is out of range for points {:?}",
            self.dimension,
            [rows, dimensions]
        );
        let aligned = |values: &Tensor<1>| aligned::<R>(values.clone(), values.dims()[0]);
        let distance = x.narrow(R - 1, self.dimension, 1) - aligned(&self.location);
        distance * aligned(&self.steepness)
    }
}

impl Kernel for ChangePoint {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("change-point", &self.steepness, &[&x1, &x2]);
        let (before1, after1) = self.weights(x1.clone());
        let (before2, after2) = self.weights(x2.clone());
        let first = self.first.covariance(x1.clone(), x2.clone());
        let second = self.second.covariance(x1, x2);
        first * before1 * before2.transpose() + second * after1 * after2.transpose()
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        require_fit("change-point", &self.steepness, &[&x]);
        let (before, after) = self.weights(x.clone());
        let first = self.first.matrix(x.clone()) * before.clone() * before.transpose();
        first + self.second.matrix(x) * after.clone() * after.transpose()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("change-point", &self.steepness, &[&x]);
        if let Some(none) = no_variances(&x) {
            return none;
        }
        let (before, after) = self.weights(x.clone());
        let square = |weight: Tensor<3>| weight.square().squeeze_dim::<2>(2);
        self.first.diagonal(x.clone()) * square(before) + self.second.diagonal(x) * square(after)
    }

    /// The features of both functions, weighted.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let first = (self.first).prior_features(dimensions, count, random, options.clone())?;
        let second = (self.second).prior_features(dimensions, count, random, options)?;
        let (before, after) = (self.place(), self.place());
        let first = first.weighted(move |x| sigmoid(before.distance(x).neg()));
        Ok(first.plus(second.weighted(move |x| sigmoid(after.distance(x)))))
    }
}
