//! Training: steps, validation, checkpoints and stopping.

mod callback;
mod checkpoint;
mod interrupt;
mod learning_curve;
mod rounds;
mod run_state;
mod session;
mod stopping_point;

pub use crate::training_log::{LogEntry, TrainingLog};
pub use checkpoint::{CHECKPOINT_FOLDER, Checkpoint, Checkpoints, read as read_checkpoint};
pub use interrupt::Interrupt;
pub use learning_curve::{LearningCurve, TestScores};
pub use run_state::{Clock, RunState};
pub use session::{Fitted, Outcome, Session};
pub use stopping_point::StoppingPoint;
