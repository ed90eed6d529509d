//! The Student-t likelihood.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    AnyLikelihood, GradedNodes, Likelihood, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution,
    distributions::StudentTTarget,
    graded_nodes::NODES,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
};
use crate::{
    ops::{log_ratio, stirling_remainder},
    parameter::{DegreesOfFreedom, ParameterError, Positive, defaults, numbers},
    process::Marginals,
    register,
};

/// The upper bound of `(y − f)²/(νs²)`, which keeps squares finite in single precision.
const LARGEST_SQUARE: f64 = 1e37;

/// `y = f + s·t`, where `t` has a Student-t distribution with ν > 2 degrees of freedom and `s` is a
/// trained scale: noise with outliers. The variance of `y` given `f` is `s²·ν/(ν − 2)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, StudentT, StudentTConfig};
///
/// let device = Device::default();
/// let likelihood: StudentT = StudentTConfig { scale: 1.0, degrees_of_freedom: 3.0, ..Default::default() }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // The density at the center with three degrees of freedom.
/// assert!((density - (2.0 / (std::f64::consts::PI * 3.0_f64.sqrt())).ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct StudentT {
    scale: Positive,
    /// ν, if it is trained.
    degrees_of_freedom: Option<DegreesOfFreedom>,
    #[module(skip)]
    fixed_degrees: f64,
}

defaults! {
    /// Configuration of a [`StudentT`] likelihood. By default the degrees of freedom are trained and
    /// start at 4.
    #[serde(deny_unknown_fields)]
    pub struct StudentTConfig {
        /// The initial value of the scale s, in the units of the targets.
        pub scale: f64 = 0.3,
        /// The degrees of freedom ν, or their initial value if they are trained.
        pub degrees_of_freedom: f64 = 4.0,
        /// Whether the degrees of freedom are trained.
        pub train_degrees_of_freedom: bool = true,
    }
}

register!(
    Likelihood,
    "student-t",
    StudentTConfig,
    "Real numbers with outliers"
);

impl LikelihoodDefinition for StudentTConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.scale = noise.sqrt();
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("scale", 1))
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.scale", self.scale)?;
        self.check_degrees()
    }
}

impl StudentTConfig {
    /// Checks the degrees of freedom.
    pub(super) fn check_degrees(&self) -> Result<(), ParameterError> {
        let bounds = (DegreesOfFreedom::LOWER_BOUND, f64::INFINITY);
        let path = "likelihood.degrees_of_freedom";
        ParameterError::check_between(path, self.degrees_of_freedom, bounds)
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the scale is not positive, or the degrees of freedom are not above 2.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> StudentT {
        let degrees = self.degrees_of_freedom;
        assert!(
            degrees > DegreesOfFreedom::LOWER_BOUND && degrees.is_finite(),
            "a Student-t likelihood with {degrees} degrees of freedom has no variance; they must \
             exceed {}",
            DegreesOfFreedom::LOWER_BOUND
        );
        let options = options.into();
        let trained = || DegreesOfFreedom::new(&[degrees], options.clone());
        StudentT {
            degrees_of_freedom: self.train_degrees_of_freedom.then(trained),
            scale: Positive::new(&[self.scale], options.clone()),
            fixed_degrees: degrees,
        }
    }
}

impl StudentT {
    /// The scale s, `[1]`, or `[P]` if each output has its own.
    pub fn scale(&self) -> Tensor<1> {
        self.scale.value()
    }

    /// The degrees of freedom ν, `[1]`, or `[P]` if each output has its own.
    pub fn degrees_of_freedom(&self) -> Tensor<1> {
        match &self.degrees_of_freedom {
            Some(degrees) => degrees.value(),
            None => self.scale().zeros_like() + self.fixed_degrees,
        }
    }

    /// The variance of a target given the function, `s²·ν/(ν − 2)`.
    fn noise(&self) -> Tensor<1> {
        let degrees = self.degrees_of_freedom();
        self.scale().square() * degrees.clone() / (degrees - 2.0)
    }
}

impl Likelihood for StudentT {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("student-t")
    }

    /// `log Γ((ν + 1)/2) − log Γ(ν/2) − ½·log(πνs²) − (ν + 1)/2·log(1 + (y − f)²/(νs²))`, without
    /// the large parts of the log-gamma functions, which cancel for large ν.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let (scale, degrees) = (self.scale(), self.degrees_of_freedom());
        let half = (degrees.clone() + 1.0) * 0.5;
        let width = degrees.clone() * scale.clone().square(); // ν·s²
        let remainders =
            stirling_remainder(half.clone()) - stirling_remainder(degrees.clone() * 0.5);
        let constant = remainders + log_ratio(degrees.recip()) * 0.5
            - scale.log()
            - (1.0 + (2.0 * PI).ln()) * 0.5;
        let squares = (targets.unsqueeze::<3>() - function).square() / width.unsqueeze::<3>();
        let squares = squares.clamp_max(LARGEST_SQUARE);
        // A device's own `log1p` may take the logarithm of the rounded sum; `half` would multiply
        // that error.
        let growth = squares.clone() * log_ratio(squares);
        constant.unsqueeze::<3>() - growth * half.unsqueeze::<3>()
    }

    /// The log density changes from a parabola to a logarithm over a distance of `s·√ν`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let width = self.degrees_of_freedom().sqrt() * self.scale();
        let kink = QuadratureCenter {
            center: targets.clone(),
            width: targets.zeros_like() + width.unsqueeze::<2>(),
        };
        let nodes = GradedNodes::around(&marginals, kink, NODES);
        sum_outputs(nodes.expectation(marginals, |function| self.log_density(targets, function)))
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Some(QuadratureCenter {
            center: targets.clone(),
            width: targets.zeros_like() + self.scale().unsqueeze::<2>(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = self.noise().unsqueeze::<3>().expand(function.dims());
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let (scale, degrees) = (self.scale.to_vec(), numbers(self.degrees_of_freedom()));
        draw(function, 1, |f, output| {
            let scale = of_output(&scale, output);
            let noise = rand_distr::StudentT::new(of_output(&degrees, output));
            f[0] + noise.map_or(0.0, |noise| scale * noise.sample(random))
        })
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let scale = of_all_outputs(&self.scale.to_vec())?;
        let degrees = of_all_outputs(&numbers(self.degrees_of_freedom()))?;
        Some(Arc::new(StudentTTarget::new(scale, degrees)))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        Marginals {
            variance: marginals.variance + self.noise().unsqueeze::<2>(),
            mean: marginals.mean,
        }
    }
}
