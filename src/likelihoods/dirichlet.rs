//! Classification as regression on Dirichlet-distributed probabilities.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, Softmax, SoftmaxConfig,
    TargetKind,
    classes::{indicators, two_or_more},
    gaussian::expected_log_normal,
};
use crate::{
    parameter::{ParameterError, defaults},
    process::Marginals,
    register,
};

/// Classes with one latent function each, which are trained by regression: the label y makes a Dirichlet distribution of
/// the class probabilities with concentrations `α_c = α_ε + 1[y = c]`. Its gamma variables are approximated by
/// log-normal ones of equal mean and variance, so that class c has the pseudo-target
/// `ỹ_c = log α_c − s_c²/2` with the noise variance `s_c² = log(1/α_c + 1)`, and
/// `p̃(y | f) = Π_c N(ỹ_c; f_c, s_c²)`
/// (D. Milios, R. Camoriano, P. Michiardi, L. Rosasco and M. Filippone, *Dirichlet-based Gaussian Processes for
/// Large-scale Calibrated Classification*, NeurIPS 2018, arXiv:1805.10915, section 4).
///
/// Training uses p̃: [`expected_log_density`](Likelihood::expected_log_density) has a closed form, and a Gaussian
/// posterior is exact. It is a density of pseudo-targets, so evidence lower bounds cannot be compared with those of
/// other likelihoods. Everything about new labels, the log densities of test labels among them, is of their
/// probabilities `p(y = c | f) = exp(f_c)/Σ_j exp(f_j)`, which are those of [`Softmax`].
///
/// Pseudo-targets of other classes are far below zero, so a constant mean fits better than none. The concentration α_ε is
/// not trained, as pseudo-targets change with it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     likelihoods::{Dirichlet, DirichletConfig, Likelihood},
///     process::Marginals,
/// };
///
/// let device = Device::default();
/// let likelihood: Dirichlet = DirichletConfig { classes: 2, concentration: 1.0 }.init(&device);
/// let targets = Tensor::<2>::from_data([[0.0]], &device);
/// let marginals = Marginals {
///     mean: Tensor::from_data([[0.0, 0.0]], &device),
///     variance: Tensor::from_data([[0.0, 0.0]], &device),
/// };
/// let probability: f64 = likelihood.log_predictive_density(targets, marginals).exp().into_scalar::<f64>();
/// assert!((probability - 0.5).abs() < 1e-3, "{probability}");
/// ```
#[derive(Module, Debug)]
pub struct Dirichlet {
    softmax: Softmax,
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    concentration: f64,
}

defaults! {
    /// Configuration of a [`Dirichlet`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct DirichletConfig {
        /// The number of classes, C.
        pub classes: usize = 2,
        /// The concentration α_ε of every class before its labels are counted.
        pub concentration: f64 = 0.01,
    }
}

register!(
    Likelihood,
    "dirichlet",
    DirichletConfig,
    "Unordered classes, trained by regression on Dirichlet-distributed probabilities"
);

impl LikelihoodDefinition for DirichletConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Classes
    }

    fn set_for_data(&mut self, _noise: f64, classes: usize) {
        self.classes = classes;
    }

    fn check(&self) -> Result<(), ParameterError> {
        two_or_more(self.classes)?;
        ParameterError::check_positive("likelihood.concentration", self.concentration)
    }
}

impl DirichletConfig {
    /// Creates the likelihood. It holds no tensors.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes, or the concentration is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Dirichlet {
        let Self {
            classes,
            concentration,
        } = *self;
        assert!(
            concentration > 0.0 && concentration.is_finite(),
            "a Dirichlet likelihood with concentration {concentration}; expected a positive number"
        );
        Dirichlet {
            softmax: SoftmaxConfig::new(classes).init(options),
            classes,
            concentration,
        }
    }
}

/// The mean and the variance of the logarithm of the log-normal variable with the mean and the variance of a gamma
/// variable of shape `alpha` and scale one.
fn log_normal_of(alpha: f64) -> (f64, f64) {
    let variance = alpha.recip().ln_1p();
    (alpha.ln() - 0.5 * variance, variance)
}

impl Likelihood for Dirichlet {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("dirichlet")
            .with_latents(self.classes)
            .with_classes(self.classes)
    }

    /// The logarithm of the probability of the label. Training uses other densities.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        self.softmax.log_density(targets, function)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        self.softmax.conditional_moments(function)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        self.softmax.sample(function, random)
    }

    /// `Σ_c log N(ỹ_c; μ_c, s_c²) − σ_c²/(2s_c²)`, the expectation of `log p̃(y | f)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (other_target, other_noise) = log_normal_of(self.concentration);
        let (own_target, own_noise) = log_normal_of(1.0 + self.concentration);
        let own = indicators(targets, self.classes); // [N, C·P]
        let noise = own.clone() * (own_noise - other_noise) + other_noise;
        let pseudo_targets = own * (own_target - other_target) + other_target;
        expected_log_normal(pseudo_targets, marginals, noise)
    }

    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        self.softmax.log_predictive_density(targets, marginals)
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        self.softmax.predict(marginals)
    }
}
