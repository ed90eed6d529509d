//! Training: steps, validation, checkpoints, and how it stops.

mod any_trainer;
mod checkpoint;
mod interrupt;
mod session;
mod training_log;
mod validation;

pub use any_trainer::AnyTrainer;
pub use checkpoint::{CHECKPOINT_FOLDER, Checkpoint, Checkpoints, read as read_checkpoint};
pub use interrupt::Interrupt;
pub use session::{Fitted, Outcome, Session};
pub use training_log::{LogEntry, TrainingLog};
pub use validation::{Validation, ValidationProgress};
