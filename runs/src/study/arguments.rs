//! The command line of a study.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde_json::Map;

use super::data_names::{by_name, named};
use super::definition::{Axis, Protocol, Study, StudyOption, all};
use super::options::CommonOptions;
use super::request::{Choice, Request};
use crate::arguments::RunOptions;

/// The name of the option that chooses the protocol.
const PROTOCOL: &str = "protocol";

impl Study {
    /// The subcommand of the study.
    pub fn command(&'static self) -> Command {
        // Otherwise clap would use the doc comment of `CommonOptions` as the description of the
        // subcommand.
        let command = Command::new(self.name).args(self.protocol_argument());
        let command = CommonOptions::augment_args(self.augment(command));
        let command = command.about(self.about);
        match self.help.is_empty() {
            true => command.long_about(None::<&str>),
            false => command.long_about(format!("{}\n\n{}", self.about, self.help.trim())),
        }
    }

    /// The studies that the command of this study can run, with their protocols. Empty if there is only
    /// one.
    fn protocols(&'static self) -> Vec<(&'static Protocol, &'static Self)> {
        let of = |study: &'static Self| study.protocol.as_ref()?.of;
        let others = all().iter().filter(|&other| of(other) == Some(self.name));
        let with_protocol = |study: &'static Self| Some((study.protocol.as_ref()?, study));
        std::iter::once(self)
            .chain(others)
            .filter_map(with_protocol)
            .collect()
    }

    /// The option that chooses among several protocols.
    fn protocol_argument(&'static self) -> Option<Arg> {
        let protocols = self.protocols();
        let (first, _) = protocols.first().filter(|_| protocols.len() > 1)?;
        let values = (protocols.iter())
            .map(|(protocol, _)| PossibleValue::new(protocol.name).help(protocol.help));
        let argument = Arg::new(PROTOCOL).long(PROTOCOL).value_name("WHICH");
        Some(
            (argument.default_value(first.name))
                .value_parser(PossibleValuesParser::new(values))
                .help("Figure or table to reproduce"),
        )
    }

    /// The study that the command line of this study selects.
    pub fn chosen(&'static self, matches: &ArgMatches) -> &'static Self {
        let name = matches.try_get_one::<String>(PROTOCOL).ok().flatten();
        let protocols = self.protocols();
        let asked = protocols
            .iter()
            .find(|(own, _)| Some(own.name) == name.map(String::as_str));
        asked.map_or(self, |(_, study)| study)
    }

    /// Adds the options of this study to `command`, except for those that all experiments have.
    pub fn augment(&'static self, command: Command) -> Command {
        let seeds = &self.seeds;
        let seeds_help = match seeds.paper == seeds.quick {
            true => format!("{} [default: {}]", seeds.help, seeds.paper),
            false => format!(
                "{} [default: {}; quick: {}]",
                seeds.help, seeds.paper, seeds.quick
            ),
        };
        let seeds = Arg::new(seeds.option).long(seeds.option).help(seeds_help);
        (command.args(self.data_argument()))
            .args(self.axes.iter().filter_map(Axis::argument))
            .arg(seeds.value_name("COUNT").value_parser(value_parser!(u64)))
            .args(self.options.iter().map(StudyOption::argument))
    }

    fn data_argument(&self) -> Option<Arg> {
        let data = &self.data;
        let option = data.option?;
        let all = match data.paper {
            [] => data.names.join(","),
            names => names.join(","),
        };
        let quick = match data.quick {
            [] => String::new(),
            names => format!("; quick: {}", names.join(",")),
        };
        let names = data.quick.first().copied();
        let example = names.or(all.split(',').next()).unwrap_or_default();
        let help = format!("Data sets or files, such as {example} [default: {all}{quick}]");
        Some(
            (Arg::new(option).long(option).value_name("NAMES"))
                .value_delimiter(',')
                .action(ArgAction::Append)
                .help(help),
        )
    }

    /// Reads the choice of runs from the command line.
    ///
    /// # Errors
    ///
    /// If the value of an option is invalid.
    pub fn choice(&'static self, matches: &ArgMatches) -> Result<Choice, clap::Error> {
        let all = |name: &str| -> Vec<String> {
            let values = matches.get_raw(name).into_iter().flatten();
            values
                .map(|value| value.to_string_lossy().into_owned())
                .collect()
        };
        let mut given = Map::new();
        for option in &self.options {
            if let Some(word) = all(option.name).first() {
                let parsed = RunOptions::parse_field(option.field, word)?;
                let value = parsed.values().next().cloned().unwrap_or_default();
                given.insert(option.name.to_owned(), value);
            }
        }
        let asked = self.data.option.map(all).unwrap_or_default();
        let values = self.axes.iter();
        let values = values.map(|axis| axis.option.map(all).unwrap_or_default());
        let invalid = |reason| clap::Error::raw(ErrorKind::ValueValidation, reason);
        Ok(Choice {
            data_sets: asked.iter().cloned().map(|data| named(data).0).collect(),
            files: by_name(asked).map_err(invalid)?,
            values: values.collect(),
            among: None,
            seeds: matches.get_one(self.seeds.option).copied(),
            seed_list: Vec::new(),
            given,
        })
    }

    /// Reads the choice of runs and the options that all experiments have from the command line.
    ///
    /// # Errors
    ///
    /// See [`choice`](Self::choice).
    pub fn request(&'static self, matches: &ArgMatches) -> Result<Request, clap::Error> {
        Ok(Request {
            choice: self.choice(matches)?,
            common: CommonOptions::from_arg_matches(matches)?,
        })
    }
}

impl Axis {
    /// The option that chooses among the values of this axis, if there is one.
    fn argument(&'static self) -> Option<Arg> {
        let option = self.option?;
        let names = || self.values.iter().map(|value| value.name.as_str());
        let default = match (self.default, &self.field) {
            (Some(default), _) => default.to_owned(),
            (None, Some(_)) => names().collect::<Vec<_>>().join(","),
            (None, None) => "all".into(),
        };
        let argument = match &self.field {
            Some(field) => unheaded(RunOptions::argument(field)).id(option),
            None => {
                let values = (self.values.iter())
                    .map(|value| PossibleValue::new(value.name.as_str()).help(value.help));
                Arg::new(option).value_parser(PossibleValuesParser::new(values))
            }
        };
        let value_name: &'static str = option.to_uppercase().leak();
        Some(
            argument
                .long(option)
                .value_name(value_name)
                .value_delimiter(',')
                .action(ArgAction::Append)
                .help(format!("{} [default: {default}]", self.help)),
        )
    }
}

impl StudyOption {
    fn argument(&self) -> Arg {
        let argument = unheaded(RunOptions::argument(self.field)).id(self.name);
        let argument = argument.long(self.name).help(self.help);
        match self.least {
            Some(least) => argument.value_parser(value_parser!(u32).range(i64::from(least)..)),
            None => argument,
        }
    }
}

/// Removes the heading and the second paragraph of a `train` option, because the options of
/// experiments have neither.
fn unheaded(argument: Arg) -> Arg {
    argument
        .help_heading(None::<&str>)
        .long_help(None::<&str>)
        .allow_negative_numbers(true)
        .display_order(None)
        .conflicts_with(clap::builder::Resettable::<clap::Id>::Reset)
}

/// The options of an experiment that runs the study `S`: a type that stands for one study, so that the study's
/// options can be part of a clap struct.
#[derive(Clone, Debug)]
pub struct ChoiceOf<S> {
    /// The runs.
    pub choice: Choice,
    study: PhantomData<S>,
}

impl<S> ChoiceOf<S> {
    /// Combines the choice with the options that all experiments have.
    pub fn request(&self, common: &CommonOptions) -> Request {
        Request {
            choice: self.choice.clone(),
            common: common.clone(),
        }
    }
}

impl<S: Default + Into<&'static Study>> Args for ChoiceOf<S> {
    fn augment_args(command: Command) -> Command {
        let study: &'static Study = S::default().into();
        study.augment(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Default + Into<&'static Study>> FromArgMatches for ChoiceOf<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let study: &'static Study = S::default().into();
        Ok(Self {
            choice: study.choice(matches)?,
            study: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
