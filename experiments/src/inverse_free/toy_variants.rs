//! The variants of Figure 1.

use burn_gp_core::{
    optim::NaturalInversion,
    process::CovarianceShape,
    variational::{
        AuxiliaryUpdate, InverseFreeConfig, LSvgpConfig, MeanForm, PosteriorConfig,
        PseudoObservationsConfig, WhitenedConfig,
    },
};

/// A bound with its training method.
pub(super) struct Variant {
    /// The name in the paper: N for natural gradients, P for a preconditioned mean.
    pub title: &'static str,
    /// The name in the folder.
    pub name: &'static str,
    /// The posterior.
    pub posterior: PosteriorConfig,
    /// The bound with Cholesky factors that this variant should follow, if any.
    pub counterpart: Option<&'static str>,
}

impl Variant {
    /// Whether natural gradients update the auxiliary matrix.
    pub fn is_natural(&self) -> bool {
        let config = self.posterior.downcast_ref::<InverseFreeConfig>();
        config.is_some_and(|config| matches!(config.auxiliary, AuxiliaryUpdate::NaturalGradient(_)))
    }
}

/// All variants, those with Cholesky factors first.
pub(super) fn variants() -> [Variant; 7] {
    let covariance = CovarianceShape::Full;
    let observations = |mean| PseudoObservationsConfig::default().with_mean(mean);
    let relaxed = |mean, auxiliary| {
        PosteriorConfig::from(InverseFreeConfig {
            observations: observations(mean),
            auxiliary,
            probes: None,
        })
    };
    let l_svgp = |mean| {
        PosteriorConfig::from(LSvgpConfig {
            observations: observations(mean),
        })
    };
    let (plain, preconditioned) = (MeanForm::Plain, MeanForm::Preconditioned);
    let adam = AuxiliaryUpdate::TRAINED;
    let natural = AuxiliaryUpdate::NaturalGradient(NaturalInversion::ONE_STEP);
    let variant = |title, name, posterior, counterpart| Variant {
        title,
        name,
        posterior,
        counterpart,
    };
    [
        variant(
            "W-SVGP",
            "w",
            PosteriorConfig::from(WhitenedConfig { covariance }),
            None,
        ),
        variant("L-SVGP", "l", l_svgp(plain), None),
        variant("L-SVGP (P)", "l-p", l_svgp(preconditioned), None),
        variant("R-SVGP", "r", relaxed(plain, adam), Some("L-SVGP")),
        variant(
            "R-SVGP (P)",
            "r-p",
            relaxed(preconditioned, adam),
            Some("L-SVGP (P)"),
        ),
        variant("R-SVGP (N)", "r-n", relaxed(plain, natural), Some("L-SVGP")),
        variant(
            "R-SVGP (NP)",
            "r-np",
            relaxed(preconditioned, natural),
            Some("L-SVGP (P)"),
        ),
    ]
}
