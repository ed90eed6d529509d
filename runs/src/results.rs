//! The results of a training run: scores, the model, predictions and plots in its folder.

use std::path::Path;

use burn_gp_core::parameter::at_floor;
use burn_gp_models::{AnyTrained, Predictor, SavedModel, Summary, training::Model};

use crate::arguments::{CONFIG, RunOptions, to_toml};
use crate::baselines::baselines;
use crate::calibration::calibrated;
use crate::checksums::seal;
use crate::devices::ComputeTarget;
use crate::diagnostics::skipped_steps;
use crate::early_stopping::nlpd_without_network;
use crate::evaluation::{Evaluation, Levels, evaluate};
use crate::failure::Failure;
use crate::fitting::{Fitted, RunState, Session};
use crate::illustrations::{RunPlots, model_name};
use crate::input_noise::{self, InputNoiseReport};
use crate::leave_one_out::LeaveOneOutScores;
use crate::noise_for_signal::takes_noise_for_signal;
use crate::output::{self, ModelContext, OutputFolder};
use crate::plan::Plan;
use crate::plots::{Caption, LossPoint};
use crate::preparation::PreparedData;
use crate::progress::RowProgress;
use crate::pure_error::unlikely_noise;
use crate::report::{self, Metrics, TrainingFigures};
use crate::scores::{PINBALL, Scores};
use crate::standard_error::warn;
use crate::standard_output::inform;

/// Evaluates the trained model and writes all results.
///
/// # Errors
///
/// If a covariance matrix cannot be factored, or rows or files cannot be read or written.
pub fn write_results(
    session: &Session,
    plan: &Plan,
    data: &PreparedData,
    folder: &OutputFolder,
    quiet: bool,
) -> Result<(), Failure> {
    let fitted = session.fitted(quiet)?;
    let (predictor, calibration) = calibrated(fitted.model.predictor()?, data, quiet)?;
    let evaluation = (!data.test.is_empty())
        .then(|| evaluation_of_tests(&predictor, &session.state.options, data, quiet))
        .transpose()?;
    let mut metrics = metrics(session, &fitted, data, evaluation.as_ref());
    metrics.calibration = calibration;
    let state = &session.state;
    let options = &state.options;
    let mut saved = saved_model(fitted.model, plan, data, ComputeTarget::of(options)?);
    saved.context.calibration = predictor.calibration().cloned();
    saved.context.input_noise = metrics.input_noise.clone();
    let model = model_name(options);
    let mut undrawn = Vec::new();
    folder.finish(|next| {
        saved.save(next)?;
        output::write_text(&next.join(output::METRICS), &json(&metrics, next)?)?;
        output::write_text(&next.join(CONFIG), &to_toml(options))?;
        write_log(state, next)?;
        if let Some(evaluation) = &evaluation {
            let path = next.join(output::PREDICTIONS);
            output::write_predictions(&path, data, evaluation)?;
        }
        let plots = RunPlots {
            folder: next,
            caption: Caption::new(&data.name, &model),
            data,
            options,
            log: &state.log,
            curve: state.test_scores.as_ref().map(|scores| &scores.curve),
            kept: LossPoint {
                step: fitted.step as u64,
                loss: fitted.loss,
            },
            predictor: &predictor,
            model: &saved.model,
            evaluation: evaluation.as_ref(),
        };
        undrawn = plots.draw()?;
        seal(next).map_err(Failure::writing(next))
    })?;
    undrawn.iter().for_each(warn);
    match quiet {
        true => metrics.warnings.iter().for_each(warn),
        // The table has the warnings too.
        false => inform(
            &(report::table(&metrics, data, saved.summary.config.kernel(), folder.path()) + "\n"),
        ),
    }
    Ok(())
}

/// Predicts and scores the test rows, whose inputs have the same errors as those of the training rows.
fn evaluation_of_tests(
    predictor: &Predictor,
    options: &RunOptions,
    data: &PreparedData,
    quiet: bool,
) -> Result<Evaluation, Failure> {
    let progress = RowProgress::new("test row", data.test.len(), quiet);
    let (scale, levels) = (&data.standardizer, Levels::default());
    Ok(match input_noise::deviations(options, data)? {
        None => evaluate(predictor, &data.test, scale, &levels, progress)?,
        Some(deviations) => {
            let test = input_noise::with_deviations(&data.test, &deviations);
            let predictor = predictor.with_uncertain_inputs();
            evaluate(&predictor, &test, scale, &levels, progress)?
        }
    })
}

/// What scores leave out if training rows have known noise, and test rows have no column of it.
const TRAINED_NOISE: &str = "the test rows have no known noise (--noise-column), so their scores have the trained noise alone";

/// The metrics of the trained model, with warnings if it may be unreliable.
fn metrics(
    session: &Session,
    fitted: &Fitted,
    data: &PreparedData,
    evaluation: Option<&Evaluation>,
) -> Metrics {
    let state = &session.state;
    let nlpd_without_network = nlpd_without_network(session, &state.options, data);
    let steps = session.steps_made();
    let tried = (state.stopping_point.as_ref()).map_or(0, |point| point.steps_tried);
    let figures = TrainingFigures {
        objective: fitted.loss,
        steps,
        step_kept: fitted.step,
        stopping_point: state.stopping_point.clone(),
        nlpd_without_network,
        train_seconds: state.clock.seconds(),
        seconds_per_step: state.clock.seconds() / (steps + tried).max(1) as f64,
    };
    let at_floor = at_floor(&fitted.model);
    let scores = evaluation.map(|evaluation| evaluation.scores.clone());
    let hyperparameters = fitted.model.hyperparameters();
    let mut metrics = Metrics::new(
        &state.options,
        data,
        scores,
        figures,
        &at_floor,
        &hyperparameters,
    );
    if let Some(evaluation) = evaluation {
        let (found, warnings) = baselines(data, &evaluation.original);
        metrics.baselines = found;
        // A quantile is not the mean, which has the least RMSE.
        let follows_quantile = |scores: &Scores| scores.get(PINBALL).is_some();
        if !metrics.scores.as_ref().is_some_and(follows_quantile) {
            metrics.warnings.extend(warnings);
        }
    }
    (metrics.warnings).extend(skipped_steps(session.trainer.skipped_steps()));
    if data.train.has_row_noise() && !data.test.is_empty() && !data.test.has_row_noise() {
        metrics.warnings.push(TRAINED_NOISE.to_owned());
    }
    let noise = state.input_noise.as_ref();
    metrics.input_noise = noise.map(|noise| InputNoiseReport::new(noise, &state.options, data));
    if noise.is_none() && !data.train.has_row_noise() {
        (metrics.warnings).extend(unlikely_noise(&hyperparameters, data));
    }
    leave_one_out(&mut metrics, session, data);
    metrics
}

/// Adds the scores of the prediction of each training row from all others, and a warning if they show that the model
/// mistakes noise for signal. Models without a closed form have none.
fn leave_one_out(metrics: &mut Metrics, session: &Session, data: &PreparedData) {
    let (model, rows) = (session.kept_model(), session.trainer.data());
    let Some(Ok(others)) = model.leave_one_out(rows) else {
        return;
    };
    metrics.leave_one_out = LeaveOneOutScores::new(
        &others,
        (&data.train.targets, &data.train.observed),
        &data.standardizer,
    );
    // The noise of a row is more than that of the likelihood if its inputs have errors, or it has known noise.
    if metrics.input_noise.is_some() || data.train.has_row_noise() {
        return;
    }
    if let Some(warning) = takes_noise_for_signal(model, rows, &others) {
        // In this case, the data do not favor less noise.
        (metrics.warnings).retain(|other| !other.starts_with("likelihood.noise"));
        metrics.warnings.push(warning);
    }
}

/// Writes the log of the steps, and the learning curve if there is one.
fn write_log(state: &RunState, folder: &Path) -> Result<(), Failure> {
    if let Some(scores) = &state.test_scores {
        let curve = scores.curve.to_csv();
        output::write_text(&folder.join(output::LEARNING_CURVE), &curve)?;
    }
    output::write_text(&folder.join(output::TRAINING_LOG), &state.log.to_csv())
}

/// The model with everything that prediction needs.
fn saved_model(
    model: AnyTrained,
    plan: &Plan,
    data: &PreparedData,
    place: ComputeTarget,
) -> SavedModel<ModelContext> {
    SavedModel {
        model,
        summary: Summary {
            config: plan.model.clone(),
            dimensions: data.dimensions(),
            target_columns: data.train.likelihood_targets().1,
            data_count: data.training_rows(),
            precision: place.precision(),
        },
        context: ModelContext {
            data: data.name.clone(),
            schema: data.schema.clone(),
            left_out: data.left_out_columns(),
            levels: data.levels.clone(),
            standardizer: data.standardizer.clone(),
            likelihood: data.likelihood,
            calibration: None,
            input_noise: None,
        },
    }
}

fn json<T: serde::Serialize>(value: &T, folder: &Path) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::other);
    Ok(text.map_err(Failure::writing(folder))? + "\n")
}
