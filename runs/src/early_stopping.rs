//! Early stopping: the number of steps, as determined on held-out rows.

use burn_gp_core::{likelihoods::GaussianConfig, metrics, ops::Stationary};
use burn_gp_models::{
    InducingConfig, SgprConfig,
    training::{FullBatchTrainer, FullBatchTraining, Model, Trainer, TrainingData},
};

use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::fitting::{Session, StoppingPoint};
use crate::plan::EarlyStopping;
use crate::preparation::PreparedData;

/// The number of rows above which sparse regression would take more than seconds.
const MOST_ROWS: usize = 10_000;

const INDUCING: usize = 128;
const ITERATIONS: usize = 200;
const FIRST_NOISE: f64 = 0.1;

/// The step at which the finished `session` predicted the held-out rows best. `None` if it never predicted
/// them.
pub fn stopping_point(session: &Session, data: &PreparedData) -> Option<StoppingPoint> {
    let state = &session.state;
    let progress = &state.validation.as_ref()?.progress;
    Some(StoppingPoint {
        held_out: data.validation.len(),
        step: progress.best_step,
        steps_tried: state.step(),
        nlpd: progress.best_score?,
    })
}

/// The mean negative log density of the test rows under sparse regression on the rows of `session`, which shows
/// what a network gains. Returns `None` for models without a network, without early stopping or test rows, for
/// non-Gaussian likelihoods, and for more than `MOST_ROWS` rows.
pub fn nlpd_without_network(
    session: &Session,
    options: &RunOptions,
    data: &PreparedData,
) -> Option<f64> {
    let is_found = session.state.stopping_point.is_some();
    let is_comparable = options.model_fields().network().is_some()
        && data.likelihood.is::<GaussianConfig>()
        && data.training_rows() <= MOST_ROWS
        && !data.test.is_empty();
    (is_found && is_comparable)
        .then(|| sparse_regression(session.trainer.data(), data, options.seed()))
        .flatten()
}

/// The mean negative log density of the test rows under collapsed sparse regression on `data`. `None` if the fit
/// fails, which is not an error.
fn sparse_regression(data: &TrainingData, prepared: &PreparedData, seed: u64) -> Option<f64> {
    let noise = GaussianConfig { noise: FIRST_NOISE };
    let config = SgprConfig {
        inducing: InducingConfig {
            seed,
            ..InducingConfig::new(INDUCING.min(data.len()))
        },
        ..SgprConfig::new(Stationary::Matern52).with_likelihood(noise)
    };
    let training = FullBatchTraining {
        iterations: ITERATIONS,
        ..FullBatchTraining::default()
    };
    let mut trainer = FullBatchTrainer::new(config.init(data).ok()?, data.clone(), training);
    while !trainer.is_finished() {
        trainer.step().ok()?;
    }
    let model = trainer.model().trained(data).ok()?;
    let part = &prepared.test;
    let (inputs, targets) = (&part.inputs, &part.targets);
    let slopes = prepared.standardizer.log_slopes(&part.observed);
    let predictor = model.predictor().ok()?;
    let densities = predictor.log_density(inputs.values(), inputs.columns(), targets);
    let densities = densities.ok()?.into_iter().zip(slopes);
    let densities: Vec<f64> = densities.map(|(density, slope)| density + slope).collect();
    Some(metrics::negative_log_density(&densities)).filter(|nlpd| nlpd.is_finite())
}

/// The data with a share of the training rows held out for the search for the number of steps. `None` without
/// early stopping, or if early stopping is a default and the rows cannot be divided because all are equal.
///
/// # Errors
///
/// If the rows cannot be divided.
pub fn held_out(
    options: &RunOptions,
    data: &PreparedData,
) -> Result<Option<(f64, PreparedData)>, Failure> {
    let wish = EarlyStopping::of(options);
    if data.stream.is_some() {
        return Ok(None);
    }
    let Some(share) = wish.share(data.train.len()) else {
        return Ok(None);
    };
    match data.holding_out(share, options.seed()) {
        Ok(held_out) => Ok(Some((share, held_out))),
        Err(_) if wish == EarlyStopping::BySize => Ok(None),
        Err(error) => Err(error.into()),
    }
}
