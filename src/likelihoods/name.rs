//! Likelihoods chosen by name.

use super::{LikelihoodConfig, TargetKind};
use crate::custom::Choice;

/// A likelihood chosen by name.
pub type LikelihoodName = Choice<LikelihoodStart>;

/// The kind of the targets of a likelihood, and its configuration for given data.
#[derive(Clone, Copy, Debug)]
pub struct LikelihoodStart {
    pub(super) target: TargetKind,
    pub(super) config: fn(f64, usize) -> LikelihoodConfig,
}

impl LikelihoodName {
    /// The kind of the targets.
    pub fn target(self) -> TargetKind {
        self.make.target
    }

    /// The configuration with this initial noise variance and number of classes, as far as the
    /// likelihood has them.
    pub fn config(self, noise: f64, classes: usize) -> LikelihoodConfig {
        (self.make.config)(noise, classes)
    }

    /// Whether the likelihood has an initial noise variance.
    pub fn has_noise(self) -> bool {
        self.config(1.0, 3) != self.config(2.0, 3)
    }
}
