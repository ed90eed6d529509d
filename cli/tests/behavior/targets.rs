//! Valid targets for each likelihood.

use std::fs;
use std::path::Path;

use burn_gp_core::likelihoods::{CensoredConfig, LikelihoodName, TargetKind, TweedieConfig};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const ROWS: usize = 60;

/// Writes one input, the noise, the trials or the upper limit of the target if the likelihood needs it, and the target
/// `y`.
pub fn write(path: &Path, likelihood: LikelihoodName) {
    let mut random = ChaCha8Rng::seed_from_u64(37);
    let mut text = String::from(match likelihood.target() {
        TargetKind::Measurements => "x,error,y\n",
        TargetKind::Successes => "x,tries,y\n",
        TargetKind::Intervals => "x,end,y\n",
        _ => "x,y\n",
    });
    for _ in 0..ROWS {
        let x: f64 = random.random_range(-2.0..2.0);
        let uniform: f64 = random.random_range(-0.5..0.5);
        let more = match likelihood.target() {
            TargetKind::Measurements => format!("{},", 0.1 + 0.2 * (uniform + 0.5)),
            TargetKind::Successes => format!("{},", 15.0 + (10.0 * uniform).round()),
            TargetKind::Intervals => upper(uniform, (2.0 * x).sin() + uniform),
            _ => String::new(),
        };
        let y = target(likelihood, (2.0 * x).sin() + uniform);
        text += &format!("{x},{more}{y}\n");
    }
    fs::write(path, text).unwrap();
}

/// An upper limit that is missing, equal to the lower one or above it.
fn upper(uniform: f64, lower: f64) -> String {
    match uniform {
        high if high > 0.2 => ",".to_owned(),
        low if low < -0.2 => format!("{lower},"),
        _ => format!("{},", lower + 0.5),
    }
}

fn target(likelihood: LikelihoodName, value: f64) -> String {
    if likelihood.is::<CensoredConfig>() || likelihood.is::<TweedieConfig>() {
        // Many zeros.
        return value.max(0.0).to_string();
    }
    match likelihood.target() {
        TargetKind::Numbers | TargetKind::Measurements | TargetKind::Intervals => value.to_string(),
        TargetKind::Counts => (4.0 * value + 5.0).round().max(0.0).to_string(),
        TargetKind::Successes => (8.0 / (1.0 + (-value).exp())).round().to_string(),
        TargetKind::PositiveNumbers => value.exp().to_string(),
        TargetKind::Fractions => (1.0 / (1.0 + (-value).exp())).to_string(),
        TargetKind::TwoClasses if value > 0.0 => "middle".to_owned(),
        TargetKind::TwoClasses => "low".to_owned(),
        TargetKind::Classes | TargetKind::OrderedClasses => match value {
            high if high > 0.5 => "high",
            middle if middle > 0.0 => "middle",
            _ => "low",
        }
        .to_owned(),
    }
}
