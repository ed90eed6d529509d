//! `burn-gp experiment`: experiments of papers, with published values beside ours.

use burn_gp_runs::{
    failure::Failure,
    standard_output::print,
    study::{self, Request, Study},
};
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use crate::figure::{Figure, Registration};

/// The command that lists the experiments.
const LIST: &str = "list";

/// An experiment: a study, or a figure with its own code.
#[derive(Debug)]
pub enum ExperimentCommand {
    /// The list of all experiments.
    List,
    /// A study and the user's request.
    Study(&'static Study, Box<Request>),
    /// A figure.
    Figure(Box<dyn Figure>),
}

/// Runs `burn-gp experiment`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn run(command: ExperimentCommand) -> Result<(), Failure> {
    execute(command).map_err(|failure| {
        failure.or_go_on(|| {
            Some("finished runs are kept; run the same command again to continue".into())
        })
    })
}

fn execute(command: ExperimentCommand) -> Result<(), Failure> {
    match command {
        ExperimentCommand::List => print(&list()),
        ExperimentCommand::Study(study, request) => study::execute(study, &request),
        ExperimentCommand::Figure(figure) => figure.run(),
    }
}

/// The studies that are commands of their own. Other studies belong to the figure of the same name, or are protocols
/// of another study.
fn commands() -> impl Iterator<Item = &'static Study> {
    let is_protocol = |study: &&Study| {
        let protocol = study.protocol.as_ref();
        protocol.is_some_and(|protocol| protocol.of.is_some())
    };
    let own = study::all().iter();
    let own = own.filter(|study| Registration::named(study.name).is_none());
    own.filter(move |study| !is_protocol(study))
}

impl Subcommand for ExperimentCommand {
    fn augment_subcommands(command: Command) -> Command {
        let studies = commands().map(|study| study.command());
        let figures = Registration::all().map(Registration::command);
        let mut all: Vec<Command> = studies.chain(figures).collect();
        all.sort_by(|a, b| a.get_name().cmp(b.get_name()));
        let list = Command::new(LIST).about("List the experiments, one line each");
        command.subcommand(list).subcommands(all)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        let is_study = || commands().any(|study| study.name == name);
        name == LIST || Registration::named(name).is_some() || is_study()
    }
}

impl FromArgMatches for ExperimentCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = (matches.subcommand())
            .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        if name == LIST {
            return Ok(Self::List);
        }
        if let Some(figure) = Registration::named(name) {
            return Ok(Self::Figure(figure.read(matches)?));
        }
        let study = (commands().find(|study| study.name == name))
            .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        let study = study.chosen(matches);
        Ok(Self::Study(study, Box::new(study.request(matches)?)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The name and the first help line of every experiment, sorted by name.
fn list() -> String {
    let commands = ExperimentCommand::augment_subcommands(Command::new("experiment"));
    let about = |command: &Command| command.get_about().map(ToString::to_string);
    let mut rows: Vec<(String, String)> = (commands.get_subcommands())
        .filter(|command| command.get_name() != LIST)
        .map(|command| {
            (
                command.get_name().to_owned(),
                about(command).unwrap_or_default(),
            )
        })
        .collect();
    rows.sort();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, about): &(String, String)| format!("{name:<width$}   {about}\n");
    rows.iter().map(line).collect()
}
