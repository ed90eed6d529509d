//! A renderer that reports steps instead of metrics.

use burn::train::{
    logger::{EvaluationProgressLogger, TrainingProgressLogger},
    metric::MetricDefinition,
    renderer::{
        EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
        MetricsRendererTraining,
    },
};

/// A renderer that calls a function after every step and every examination. burn's own renderer
/// writes lines instead.
pub struct StepRenderer<F>(F);

impl<F: FnMut() + Send + Sync> StepRenderer<F> {
    /// A renderer that calls `update`.
    pub fn new(update: F) -> Self {
        Self(update)
    }
}

impl StepRenderer<fn()> {
    /// A renderer that shows nothing.
    pub fn silent() -> Self {
        Self(|| {})
    }
}

impl<F: FnMut() + Send + Sync> MetricsRendererTraining for StepRenderer<F> {
    fn update_train(&mut self, _state: MetricState) {}
    fn update_valid(&mut self, _state: MetricState) {}
}

impl<F: FnMut() + Send + Sync> MetricsRendererEvaluation for StepRenderer<F> {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl<F: FnMut() + Send + Sync> MetricsRenderer for StepRenderer<F> {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

impl<F: FnMut() + Send + Sync> TrainingProgressLogger for StepRenderer<F> {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _epoch: usize) {}
    fn start_split(&mut self, _split: &str, _total_items: usize) {}
    fn update_split(&mut self, _items_processed: usize) {
        (self.0)();
    }
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _event: String) {}
}

impl<F: FnMut() + Send + Sync> EvaluationProgressLogger for StepRenderer<F> {
    fn start_global_progress(&mut self, _total_tests: usize) {}
    fn start_test(&mut self, _name: &str, _total_items: usize) {}
    fn update_test_progress(&mut self, _items_processed: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _event: String) {}
}
