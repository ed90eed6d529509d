//! Properties of likelihoods that matter for data and models.

use burn_gp::likelihoods::{
    BetaConfig, GammaConfig, GaussianConfig, HeteroskedasticConfig, LikelihoodConfig,
    NegativeBinomialConfig, OrdinalConfig, RobustMaxConfig, SoftmaxConfig, StudentTConfig,
};

use crate::arguments::{LikelihoodName, MeanName, name_of};
use crate::setting_error::SettingError;

/// The largest number of classes; with more labels, the target is probably a number.
const MOST_CLASSES: usize = 1000;

/// The path of the error rate of the likelihood robust-max. Experiments of papers keep its initial
/// value.
pub const ROBUST_MAX_ERRORS: &str = "likelihood.epsilon";

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Any numbers; they are standardized.
    Numbers,
    /// Class labels.
    Classes,
    /// 0, 1, 2, …
    Counts,
    /// Numbers of zero or more.
    PositiveNumbers,
    /// Numbers between 0 and 1.
    Fractions,
}

impl LikelihoodName {
    /// The kind of the targets.
    pub fn target(self) -> TargetKind {
        match self {
            Self::Gaussian | Self::Heteroskedastic | Self::FixedNoise | Self::StudentT => {
                TargetKind::Numbers
            }
            Self::Bernoulli
            | Self::BernoulliLogit
            | Self::Softmax
            | Self::RobustMax
            | Self::Ordinal => TargetKind::Classes,
            Self::Poisson | Self::NegativeBinomial => TargetKind::Counts,
            Self::Exponential | Self::Gamma => TargetKind::PositiveNumbers,
            Self::Beta => TargetKind::Fractions,
        }
    }

    /// Whether the likelihood has an initial noise variance.
    pub fn has_noise(self) -> bool {
        matches!(
            self,
            Self::Gaussian | Self::Heteroskedastic | Self::StudentT
        )
    }

    /// The default mean function. It is constant if a zero function implies a target of one or one
    /// half, because targets may be far from it.
    pub fn default_mean(self) -> MeanName {
        match self.target() {
            TargetKind::Numbers | TargetKind::Classes => MeanName::Zero,
            TargetKind::Counts | TargetKind::PositiveNumbers | TargetKind::Fractions => {
                MeanName::Constant
            }
        }
    }

    /// The constant function for which targets have the mean of `targets`.
    pub fn first_constant(self, targets: &[f64]) -> f64 {
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        match self.target() {
            TargetKind::Numbers | TargetKind::Classes => 0.0,
            TargetKind::Counts | TargetKind::PositiveNumbers if mean > 0.0 => mean.ln(),
            TargetKind::Fractions if mean > 0.0 && mean < 1.0 => (mean / (1.0 - mean)).ln(),
            // The likelihood does not support these targets and reports them later.
            _ => 0.0,
        }
    }

    /// The likelihood with this initial noise variance and number of classes.
    pub fn config(self, noise: f64, classes: usize) -> LikelihoodConfig {
        match self {
            Self::Gaussian => GaussianConfig { noise }.into(),
            Self::Heteroskedastic => HeteroskedasticConfig { noise }.into(),
            Self::FixedNoise => LikelihoodConfig::FixedNoise,
            Self::StudentT => StudentTConfig {
                scale: noise.sqrt(),
                ..StudentTConfig::default()
            }
            .into(),
            Self::Bernoulli => LikelihoodConfig::Bernoulli,
            Self::BernoulliLogit => LikelihoodConfig::BernoulliLogit,
            Self::Softmax => SoftmaxConfig::new(classes).into(),
            Self::RobustMax => RobustMaxConfig::new(classes).into(),
            Self::Ordinal => OrdinalConfig { classes }.into(),
            Self::Poisson => LikelihoodConfig::Poisson,
            Self::NegativeBinomial => NegativeBinomialConfig::default().into(),
            Self::Exponential => LikelihoodConfig::Exponential,
            Self::Gamma => GammaConfig::default().into(),
            Self::Beta => BetaConfig::default().into(),
        }
    }

    /// Checks the number of distinct labels of the target `target`.
    ///
    /// # Errors
    ///
    /// [`SettingError::Classes`].
    pub fn check_classes(self, target: &str, found: usize) -> Result<(), SettingError> {
        let (takes, advice) = match self {
            _ if self.target() == TargetKind::Classes && found > MOST_CLASSES => (
                "at most 1000",
                "if it is a number, choose a regression likelihood",
            ),
            Self::Bernoulli | Self::BernoulliLogit if found != 2 => (
                "2",
                "use --likelihood softmax for more classes, or a regression likelihood for numbers",
            ),
            Self::Ordinal if found < 3 => {
                ("3 or more", "use --likelihood bernoulli for two classes")
            }
            _ => return Ok(()),
        };
        Err(SettingError::Classes {
            target: target.to_owned(),
            found,
            likelihood: name_of(self),
            takes,
            advice,
        })
    }
}
