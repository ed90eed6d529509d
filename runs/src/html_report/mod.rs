//! `burn-gp report`: one HTML page about trained models.

mod effects;
mod page;
mod sections;
mod table;
mod trained_run;

use std::path::PathBuf;

use clap::Args;

use crate::arguments::TrainedModelOptions;
use crate::failure::Failure;
use crate::output::Destination;
use crate::standard_error::{tell, warn};

use trained_run::TrainedRun;

/// The options of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders written by `train`; with several, the report compares their scores
    #[arg(value_name = "DIR", required = true)]
    pub model_dirs: Vec<PathBuf>,
    /// HTML file to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// The options of every command that uses a trained model.
    #[command(flatten)]
    pub shared: TrainedModelOptions,
}

/// Runs `burn-gp report`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    let folders = &arguments.model_dirs;
    let mut destination = None;
    for folder in folders {
        let claimed = Destination::claim(&arguments.out, arguments.shared.overwrite, None, folder)?;
        destination = Some(claimed);
    }
    let runs = folders
        .iter()
        .map(|folder| TrainedRun::read(folder, arguments))
        .collect::<Result<Vec<TrainedRun>, Failure>>()?;
    for run in &runs {
        run.left_out_files.iter().for_each(warn);
        if let Err(reason) = &run.effects {
            warn(format!(
                "{}: effects of inputs not shown: {reason}",
                run.name
            ));
        }
    }
    if let Some(destination) = destination {
        destination.write(&page::page(&runs))?;
        tell(&format!("wrote {}", arguments.out.display()));
    }
    Ok(())
}
