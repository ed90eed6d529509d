//! `burn-gp experiment`: experiments of papers, with the papers' numbers beside ours.

mod folder;
mod in_process;
mod options;
mod reported;
mod solve_gp;

use clap::Subcommand;

use crate::failure::Failure;
use crate::standard_output::print;

use folder::ExperimentFolder;
use options::CommonOptions;
use reported::Reported;

/// The experiments.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// The experiments, a line each
    List,
    /// Snelson's data with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Figure 2)
    Snelson(solve_gp::SnelsonOptions),
    /// Regression with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Tables 2, 6 and 7)
    SolveRegression(solve_gp::RegressionOptions),
    /// Whitened and unwhitened SVGP and SOLVE-GP in the course of training (arXiv:1910.10596, Figure 3b)
    SolveAblation(solve_gp::AblationOptions),
    /// Time of a training step of SVGP and SOLVE-GP (arXiv:1910.10596, Figure 4 and Table 4)
    SolveCost(solve_gp::CostOptions),
}

/// Runs `burn-gp experiment`.
///
/// # Errors
///
/// [`Failure`], which says what to do.
pub fn run(command: ExperimentCommand) -> Result<(), Failure> {
    match command {
        ExperimentCommand::List => print(&list()),
        ExperimentCommand::Snelson(options) => solve_gp::snelson(&options),
        ExperimentCommand::SolveRegression(options) => solve_gp::regression(&options),
        ExperimentCommand::SolveAblation(options) => solve_gp::ablation(&options),
        ExperimentCommand::SolveCost(options) => solve_gp::cost(&options),
    }
}

/// Name and content of every experiment, as its help begins.
fn list() -> String {
    let commands = ExperimentCommand::augment_subcommands(clap::Command::new("experiment"));
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
    let experiments = commands.get_subcommands().skip(1); // the first is this list
    let rows: Vec<Vec<String>> = experiments
        .map(|command| {
            vec![
                command.get_name().to_owned(),
                about(command).unwrap_or_default(),
            ]
        })
        .collect();
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let line = |row: &Vec<String>| format!("{:<width$}   {}\n", row[0], row[1]);
    rows.iter().map(line).collect()
}
