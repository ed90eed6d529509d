//! Training: steps, validation, checkpoints, and how it stops.

mod any_trainer;
mod checkpoint;
mod checkpointer;
mod interrupt;
mod learning;
mod metrics;
mod pace;
mod run_state;
mod session;
mod stopping_point;
mod training_log;
mod validation;

pub use any_trainer::AnyTrainer;
pub use checkpoint::{CHECKPOINT_FOLDER, Checkpoint, Checkpoints, read as read_checkpoint};
pub use interrupt::Interrupt;
pub use pace::Pace;
pub use run_state::{Clock, RunState, SharedRunState, Snapshot};
pub use session::{Fitted, Outcome, Session};
pub use stopping_point::StoppingPoint;
pub use training_log::{LogEntry, TrainingLog};
pub use validation::{Validation, ValidationProgress};
