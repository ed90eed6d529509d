//! Studies: grids of training runs with a table.
//!
//! A [`Study`] defines the runs, their options at quick scale and in the paper, and the columns of
//! the table. [`execute`] performs the requested runs, each in its own process and folder, and shows
//! a table of all finished runs in the folder. [`sweep`], [`compare`] and the tables of papers are
//! studies.

mod arguments;
mod cell;
mod data_at_hand;
mod data_names;
mod definition;
mod departures;
mod details;
mod execution;
mod experiment;
mod finished;
mod folder;
mod line;
mod options;
mod plots;
mod published;
mod request;
mod run_request;
mod size_plots;
mod sweep;
mod sweep_table;
mod table;
mod table_definition;
mod watch;

pub use crate::arguments::ScaleName;
pub use crate::devices::ComputeTarget;
pub use arguments::ChoiceOf;
pub use cell::Cell;
pub use data_at_hand::data_at_hand;
pub use definition::{
    Axis, AxisValue, DataSets, Note, PaperSizes, Protocol, RegisteredStudy, Seeds, Study,
    StudyOption, all, named,
};
pub use departures::{Departure, departures_of, joined};
pub use details::{CellDetails, CellText};
pub use execution::{PlannedCell, execute, identity, make, open, place_of, planned, show};
pub use experiment::Experiment;
pub use finished::{FinishedCell, RunNumbers};
pub use folder::ExperimentFolder;
pub use line::{Entry, ResultRow, points, table};
pub use options::CommonOptions;
pub use plots::{Along, Curves, Panel, Plot};
pub use published::{Reported, Row};
pub use request::{Choice, Request};
pub use run_request::{OptionSource, RunRequest, merged};
pub use sweep::{CompareArguments, SweepArguments, compare, sweep};
pub use table_definition::{Column, Content, Spread, Table};
pub use watch::{RunSupervisor, all_made};
