//! What a likelihood means for data and model.

use burn_gp::likelihoods::{
    BetaConfig, GammaConfig, GaussianConfig, HeteroskedasticConfig, LikelihoodConfig,
    NegativeBinomialConfig, OrdinalConfig, RobustMaxConfig, SoftmaxConfig, StudentTConfig,
};

use crate::arguments::{LikelihoodName, MeanName, name_of};
use crate::setting_error::SettingError;

/// More labels than this are a number that was taken for a class.
const MOST_CLASSES: usize = 1000;

/// The path of the rate of errors of the likelihood robust-max, which experiments of papers leave at
/// its first value.
pub const ROBUST_MAX_ERRORS: &str = "likelihood.epsilon";

/// What targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Any numbers: they are standardized.
    Numbers,
    /// Labels.
    Classes,
    /// 0, 1, 2, …
    Counts,
    /// Numbers of zero or more.
    PositiveNumbers,
    /// Numbers between 0 and 1.
    Fractions,
}

impl LikelihoodName {
    /// What its targets are.
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

    /// Whether it has a first noise variance.
    pub fn has_noise(self) -> bool {
        matches!(
            self,
            Self::Gaussian | Self::Heteroskedastic | Self::StudentT
        )
    }

    /// The mean function unless told otherwise: a constant where a function of zero means a target
    /// of one or a half, and targets may be far from it.
    pub fn default_mean(self) -> MeanName {
        match self.target() {
            TargetKind::Numbers | TargetKind::Classes => MeanName::Zero,
            TargetKind::Counts | TargetKind::PositiveNumbers | TargetKind::Fractions => {
                MeanName::Constant
            }
        }
    }

    /// The constant function whose targets have the mean of `targets`.
    pub fn first_constant(self, targets: &[f64]) -> f64 {
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        match self.target() {
            TargetKind::Numbers | TargetKind::Classes => 0.0,
            TargetKind::Counts | TargetKind::PositiveNumbers if mean > 0.0 => mean.ln(),
            TargetKind::Fractions if mean > 0.0 && mean < 1.0 => (mean / (1.0 - mean)).ln(),
            // Targets that the likelihood refuses.
            _ => 0.0,
        }
    }

    /// The likelihood with this first noise variance, for this many classes.
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

    /// Checks the number of different labels of the target `target`.
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
