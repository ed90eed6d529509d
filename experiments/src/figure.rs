//! Experiments written as code, and their registry.

use std::fmt;

use burn_gp_runs::failure::Failure;
use clap::{ArgMatches, Args, Command};

/// An experiment written as code. Its fields are the options of its command.
pub trait Figure: fmt::Debug {
    /// Computes the parts that are missing in its folder, and writes tables, files and plots.
    ///
    /// # Errors
    ///
    /// [`Failure`] with advice for the user.
    fn run(&self) -> Result<(), Failure>;
}

/// The command of a figure.
pub(crate) struct Registration {
    name: &'static str,
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<Box<dyn Figure>, clap::Error>,
}

inventory::collect!(Registration);

impl Registration {
    /// The command `name`. The docs of `F` are its help: a line, and a paragraph.
    pub(crate) const fn of<F: Figure + Args + 'static>(name: &'static str) -> Self {
        Self {
            name,
            augment: F::augment_args,
            read: |matches| Ok(Box::new(F::from_arg_matches(matches)?)),
        }
    }

    /// All figures.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>.into_iter()
    }

    /// The figure with this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|figure| figure.name == name)
    }

    /// The command with its options.
    pub(crate) fn command(&self) -> Command {
        (self.augment)(Command::new(self.name))
    }

    /// The figure with the options of the command line.
    pub(crate) fn read(&self, matches: &ArgMatches) -> Result<Box<dyn Figure>, clap::Error> {
        (self.read)(matches)
    }
}
