//! The progress of burn's learner on the terminal.

use burn::train::logger::{EvaluationProgressLogger, TrainingProgressLogger};
use burn::train::metric::MetricDefinition;
use burn::train::renderer::{
    EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
    MetricsRendererTraining,
};

use super::SharedRunState;
use crate::progress::Progress;

/// Shows the last entry of the log after every step and every validation.
pub struct ProgressRenderer {
    pub progress: Progress,
    pub state: SharedRunState,
}

impl TrainingProgressLogger for ProgressRenderer {
    fn update_split(&mut self, _items_processed: usize) {
        let last = self.state.lock().log.entries.last().copied();
        if let Some(entry) = last {
            self.progress.update(&entry);
        }
    }

    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _epoch: usize) {}
    fn start_split(&mut self, _split: &str, _total_items: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _event: String) {}
}

/// The log has what the metrics say.
impl MetricsRendererTraining for ProgressRenderer {
    fn update_train(&mut self, _state: MetricState) {}
    fn update_valid(&mut self, _state: MetricState) {}
}

impl MetricsRenderer for ProgressRenderer {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

/// A run evaluates its model itself, after training.
impl MetricsRendererEvaluation for ProgressRenderer {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl EvaluationProgressLogger for ProgressRenderer {
    fn start_global_progress(&mut self, _total_tests: usize) {}
    fn start_test(&mut self, _name: &str, _total_items: usize) {}
    fn update_test_progress(&mut self, _items_processed: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _event: String) {}
}
