//! Whether the outputs get a covariance.

use std::ops::ControlFlow;

use burn_gp_models::{Error, ExactConfig, Fit, FitModel, Fitted};

/// A trained model.
struct Trained {
    model: Fitted,
    /// The least loss, in nats for each row.
    loss: f64,
}

/// Trains with the default rank R and without a covariance of outputs, and keeps the covariance if the evidence gains
/// more nats than W has free numbers, `P·R − R·(R − 1)/2` without its rotations. Otherwise, noise would be taken for
/// correlations. With a rank in the configuration, only that is trained.
///
/// The second result is a sentence about a covariance that is not kept.
///
/// # Errors
///
/// As for [`FitModel::fit`].
pub fn fitted(
    config: &ExactConfig,
    x: &[Vec<f64>],
    y: &[Vec<f64>],
    fit: &Fit,
) -> Result<(Fitted, Option<String>), Error> {
    if config.rank.is_some() {
        return Ok((config.fit(x, y, fit)?, None));
    }
    let outputs = y.first().map_or(0, Vec::len);
    let correlated = trained(config, x, y, fit)?;
    let independent = trained(&config.clone().with_rank(0), x, y, fit)?;
    let rank = outputs.saturating_sub(1).min(2);
    let numbers = outputs * rank - rank * rank.saturating_sub(1) / 2;
    let gain = (independent.loss - correlated.loss) * x.len() as f64;
    if gain > numbers as f64 || gain.is_nan() {
        return Ok((correlated.model, None));
    }
    let gain = gain.max(0.0);
    let sentence = format!(
        "correlations of the functions of the outputs would raise the log evidence by only {gain:.1} with {numbers} more \
         numbers, so the outputs are independent; --rank {rank} has them all the same"
    );
    Ok((independent.model, Some(sentence)))
}

fn trained(
    config: &ExactConfig,
    x: &[Vec<f64>],
    y: &[Vec<f64>],
    fit: &Fit,
) -> Result<Trained, Error> {
    let mut loss = f64::INFINITY;
    let model = config.fit_with(x, y, fit, |report| {
        loss = loss.min(report.loss);
        ControlFlow::Continue(())
    })?;
    Ok(Trained { model, loss })
}
