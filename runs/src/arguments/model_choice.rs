//! The models that `--model` names: every registered model, and presets of some of them.

use burn_gp_core::{
    custom::Registered,
    inference::{ConjugateGradientsSettings, IterationRule},
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, PosteriorConfig,
        SolveGpConfig, UnwhitenedConfig, UnwhitenedSolveGpConfig,
    },
};
use burn_gp_models::{
    ActionsConfig, ComputationAwareConfig, ConjugateGradientsConfig, ConvolutionalForm,
    DeepGpConfig, LastLayerConfig, ModelConfig, ModelName, SvgpConfig, training::Model,
};
use serde::{Deserialize, Serialize};

/// A registered model under another name, for most of them with other values than its defaults.
#[derive(Debug)]
pub struct Preset {
    name: &'static str,
    help: &'static str,
    config: fn() -> ModelConfig,
    /// The field that the name decides, so that no option sets it.
    decided: Option<&'static str>,
}

/// The presets. Presets of the same model follow each other in the help.
static PRESETS: [Preset; 13] = [
    Preset {
        name: "cagp-opt",
        help: "As computation-aware, with trained actions (CaGP-Opt), L-BFGS",
        config: || ComputationAwareConfig::default().into(),
        decided: None,
    },
    Preset {
        name: "cagp-cg",
        help: "As cagp-opt, with actions from conjugate gradients in every step (CaGP-CG), Adam",
        config: iterations,
        decided: Some("actions.rule"),
    },
    Preset {
        name: "itergp",
        help: "As cagp-cg, with actions chosen by a --policy (IterGP), Adam",
        config: iterations,
        decided: None,
    },
    Preset {
        name: "cggp",
        help: "Short name of conjugate-gradients (CGGP)",
        config: || ConjugateGradientsConfig::default().into(),
        decided: None,
    },
    Preset {
        name: "conv-gp",
        help: "Sparse variational with a convolutional kernel, for images",
        config: convolutional,
        decided: Some("hidden"),
    },
    Preset {
        name: "deep-conv-gp",
        help: "As conv-gp, on feature maps of convolutional layers",
        config: convolutional,
        decided: None,
    },
    Preset {
        name: "bll",
        help: "Short name of last-layer",
        config: || LastLayerConfig::default().into(),
        decided: None,
    },
    Preset {
        name: "svgp-unwhitened",
        help: "As svgp, not whitened",
        config: || with_posterior(UnwhitenedConfig::default()),
        decided: Some("posterior"),
    },
    Preset {
        name: "solve",
        help: "As svgp, with a second, orthogonal set of inducing points (SOLVE-GP)",
        config: || with_posterior(SolveGpConfig::default()),
        decided: Some("posterior"),
    },
    Preset {
        name: "solve-unwhitened",
        help: "As solve, not whitened",
        config: || with_posterior(UnwhitenedSolveGpConfig::default()),
        decided: Some("posterior"),
    },
    Preset {
        name: "odvgp",
        help: "As solve-unwhitened, but the second set only affects the mean (orthogonally decoupled)",
        config: || with_posterior(OrthogonallyDecoupledConfig::default()),
        decided: Some("posterior"),
    },
    Preset {
        name: "l-svgp",
        help: "As svgp, with a pseudo-observation and a noise variance for each inducing variable",
        config: || with_posterior(LSvgpConfig::default()),
        decided: Some("posterior"),
    },
    Preset {
        name: "inverse-free",
        help: "As l-svgp, with matrix products only: an approximate inverse replaces the factorization",
        config: || with_posterior(InverseFreeConfig::default()),
        decided: Some("posterior"),
    },
];

/// The choice by the data.
static AUTO: Preset = Preset {
    name: "auto",
    help: "Chooses exact, sgpr or svgp by the number of rows, the likelihood and --minutes, or vecchia for many \
           rows of few inputs if it predicts held-out training rows better, and starts from exact regression on \
           some of the rows; `train` only",
    config: || SvgpConfig::default().into(),
    decided: None,
};

fn iterations() -> ModelConfig {
    let actions = ActionsConfig::Iterations {
        rule: IterationRule::Residuals,
        count: ActionsConfig::default().count(),
        tolerance: ConjugateGradientsSettings::default().tolerance,
        seed: 0,
    };
    (ComputationAwareConfig::default().with_actions(actions)).into()
}

fn convolutional() -> ModelConfig {
    let mut config = DeepGpConfig::default();
    config.output = config.output.with_form(ConvolutionalForm::default());
    config.into()
}

fn with_posterior(posterior: impl Into<PosteriorConfig>) -> ModelConfig {
    SvgpConfig::default().with_posterior(posterior).into()
}

/// A value of `--model`. In files it is the name.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ModelChoice {
    /// A registered model.
    Registered(ModelName),
    /// A preset.
    Preset(&'static Preset),
}

impl ModelChoice {
    /// The choice by the data.
    pub const AUTO: Self = Self::Preset(&AUTO);

    /// Every model by name, each registered one before its presets.
    pub fn named() -> impl Iterator<Item = Self> {
        ModelName::all().flat_map(|model| {
            let presets = PRESETS.iter().map(Self::Preset);
            let own = presets.filter(move |preset| preset.config().name() == model.name());
            std::iter::once(Self::Registered(model)).chain(own)
        })
    }

    /// Every value of `--model`.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::AUTO).chain(Self::named())
    }

    /// The model with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|model| model.name() == name)
    }

    /// The registered model with this configuration.
    pub fn of<C: Registered<dyn Model>>() -> Self {
        Self::Registered(ModelName::of::<C>())
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registered(model) => model.name(),
            Self::Preset(preset) => preset.name,
        }
    }

    /// A line of help.
    pub fn help(self) -> &'static str {
        match self {
            Self::Registered(model) => model.help(),
            Self::Preset(preset) => preset.help,
        }
    }

    /// The configuration to which options add their values.
    pub fn config(self) -> ModelConfig {
        match self {
            Self::Registered(model) => model.config(),
            Self::Preset(preset) => (preset.config)(),
        }
    }

    /// The field that the name decides, if any.
    pub(super) fn decided(self) -> Option<&'static str> {
        match self {
            Self::Registered(_) => None,
            Self::Preset(preset) => preset.decided,
        }
    }
}

impl PartialEq for ModelChoice {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl From<ModelChoice> for String {
    fn from(model: ModelChoice) -> Self {
        model.name().to_owned()
    }
}

impl TryFrom<String> for ModelChoice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::find(&name).ok_or_else(|| {
            let names = Self::all().map(|model| format!("`{}`", model.name()));
            let names: Vec<String> = names.collect();
            let names = names.join(", ");
            format!("unknown variant `{name}`, expected one of {names}")
        })
    }
}
