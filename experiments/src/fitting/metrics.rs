//! The training log as metrics of burn's learner.

use std::sync::Arc;

use burn::lr_scheduler::module_lr_scheduler::ModuleLearningRate;
use burn::tensor::TensorReadError;
use burn::train::metric::{Metric, MetricMetadata, MetricName, SerializedEntry};
use burn_gp_models::training::{ExaminedModel, LearnedStep, StepReport};

use super::{LogEntry, SharedRunState};

/// Enters every step in the log.
#[derive(Clone)]
pub struct StepMetric(pub SharedRunState);

impl Metric for StepMetric {
    type Input = LearnedStep;

    fn name(&self) -> MetricName {
        Arc::new("loss".into())
    }

    fn update(
        &mut self,
        step: &LearnedStep,
        metadata: &MetricMetadata,
    ) -> Result<SerializedEntry, TensorReadError> {
        let &LearnedStep { step, loss } = step;
        if loss.is_finite() {
            let rate = metadata.lr.as_ref().map(ModuleLearningRate::base);
            let mut state = self.0.lock();
            let seconds = state.clock.seconds();
            state.log.entries.push(LogEntry {
                report: StepReport {
                    step,
                    loss,
                    learning_rate: rate.unwrap_or(f64::NAN),
                },
                seconds,
                validation: None,
            });
        }
        Ok(elsewhere())
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        Ok(elsewhere())
    }

    fn clear(&mut self) {}
}

/// Enters the score of a validation in the log, beside its step.
#[derive(Clone)]
pub struct ValidationMetric(pub SharedRunState);

impl Metric for ValidationMetric {
    type Input = ExaminedModel;

    fn name(&self) -> MetricName {
        Arc::new("validation_nlpd".into())
    }

    fn update(
        &mut self,
        examined: &ExaminedModel,
        _metadata: &MetricMetadata,
    ) -> Result<SerializedEntry, TensorReadError> {
        let mut state = self.0.lock();
        let seconds = state.clock.seconds();
        if let Some(entry) = state.log.entries.last_mut() {
            entry.seconds = seconds;
            entry.validation = Some(examined.score);
        }
        Ok(elsewhere())
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        Ok(elsewhere())
    }

    fn clear(&mut self) {}
}

/// What burn's logger is told: entries without a value, which it passes over, so that it writes no files of its own.
fn elsewhere() -> SerializedEntry {
    SerializedEntry::not_available(None)
}
