//! Scores of several outputs: of each over its known test targets, and of all.

use burn_gp_core::metrics::{
    coverage, mean_absolute_error, mean_standardized_log_loss, normal_negative_log_density,
    root_mean_squared_error,
};
use serde_json::{Map, Value, json};

/// The names of the scores.
pub const NAMES: [&str; 5] = ["rmse", "mae", "nlpd", "msll", "coverage"];

/// The predictions and targets of one output at test rows.
#[derive(Clone, Debug, Default)]
pub struct ScoredOutput {
    /// The known targets.
    pub targets: Vec<f64>,
    /// The means of their predictions.
    pub mean: Vec<f64>,
    /// The variances, noise included.
    pub variance: Vec<f64>,
    /// The ends of the central intervals.
    pub lower: Vec<f64>,
    /// See `lower`.
    pub upper: Vec<f64>,
    /// The mean and the variance of the known training targets.
    pub training: (f64, f64),
}

impl ScoredOutput {
    /// The scores in the order of [`NAMES`]; `None` without a target.
    pub fn scores(&self) -> Option<[f64; 5]> {
        if self.targets.is_empty() {
            return None;
        }
        let (targets, mean) = (&*self.targets, &*self.mean);
        let log_density = |row: usize| {
            -normal_negative_log_density(
                &targets[row..=row],
                &mean[row..=row],
                &self.variance[row..=row],
            )
        };
        let densities: Vec<f64> = (0..targets.len()).map(log_density).collect();
        let (average, variance) = self.training;
        Some([
            root_mean_squared_error(targets, mean),
            mean_absolute_error(targets, mean),
            normal_negative_log_density(targets, mean, &self.variance),
            mean_standardized_log_loss(&densities, targets, average, variance),
            coverage(targets, &self.lower, &self.upper),
        ])
    }
}

/// `rmse[a]`, … of each output, `rmse[macro]`, the mean over outputs, and `rmse[pooled]`, over all targets. RMSE and
/// MAE of all are of targets divided by the standard deviation of the training targets of their output.
pub fn named_scores(names: &[String], all: &[ScoredOutput]) -> Map<String, Value> {
    let mut named = Map::new();
    let scored: Vec<(&String, &ScoredOutput, [f64; 5])> = (names.iter().zip(all))
        .filter_map(|(name, own)| Some((name, own, own.scores()?)))
        .collect();
    if scored.is_empty() {
        return named;
    }
    for (score, kind) in NAMES.into_iter().enumerate() {
        let mut values: Vec<(f64, f64)> = Vec::new();
        for (name, own, scores) in &scored {
            named.insert(format!("{kind}[{name}]"), json!(scores[score]));
            let deviation = own.training.1.sqrt();
            let scale = match kind {
                "rmse" | "mae" if deviation > 0.0 => deviation,
                _ => 1.0,
            };
            values.push((own.targets.len() as f64, scores[score] / scale));
        }
        let outputs = values.len() as f64;
        let rows = values.iter().map(|own| own.0).sum::<f64>();
        let average = values.iter().map(|own| own.1).sum::<f64>() / outputs;
        let pooled = |of: fn(f64) -> f64| {
            values
                .iter()
                .map(|(count, value)| count * of(*value))
                .sum::<f64>()
                / rows
        };
        let pooled = match kind {
            "rmse" => pooled(|value| value * value).sqrt(),
            _ => pooled(|value| value),
        };
        named.insert(format!("{kind}[macro]"), json!(average));
        named.insert(format!("{kind}[pooled]"), json!(pooled));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::{ScoredOutput, named_scores};

    fn output(targets: &[f64], mean: &[f64], training: (f64, f64)) -> ScoredOutput {
        ScoredOutput {
            targets: targets.to_vec(),
            mean: mean.to_vec(),
            variance: vec![1.0; mean.len()],
            lower: mean.iter().map(|mean| mean - 2.0).collect(),
            upper: mean.iter().map(|mean| mean + 2.0).collect(),
            training,
        }
    }

    #[test]
    fn scores_are_of_each_output_and_of_all() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let all = [
            output(&[1.0, 2.0, 3.0], &[1.0, 2.0, 6.0], (2.0, 9.0)),
            output(&[10.0], &[6.0], (0.0, 4.0)),
            output(&[], &[], (0.0, 1.0)),
        ];
        let scores = named_scores(&names, &all);
        let close = |name: &str, expected: f64| {
            let found = scores[name].as_f64().unwrap_or(f64::NAN);
            assert!(
                (found - expected).abs() < 1e-12,
                "{name}: {found}, not {expected}"
            );
        };
        close("rmse[a]", 3.0_f64.sqrt());
        close("rmse[b]", 4.0);
        assert!(!scores.contains_key("rmse[c]"));
        // In standard deviations: √3/3 and 2; squared over all four targets, (3·1/3 + 4)/4.
        close("rmse[macro]", (3.0_f64.sqrt() / 3.0 + 2.0) / 2.0);
        close("rmse[pooled]", 1.25_f64.sqrt());
        close("coverage[pooled]", 0.5);
        close("coverage[macro]", 1.0 / 3.0);
        let half = 0.5 * (2.0 * std::f64::consts::PI).ln();
        close("nlpd[b]", half + 8.0);
        close(
            "msll[b]",
            half + 8.0 - (half + 0.5 * 4.0_f64.ln() + 100.0 / 8.0),
        );
    }
}
