//! The command line of a study.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde_json::{Map, Value};

use super::data_names::{by_name, named};
use super::file::{Axis, Study};
use super::options::CommonOptions;
use super::request::{Choice, Request};
use crate::arguments::RunOptions;

/// The name of the option that chooses the protocol.
const PROTOCOL: &str = "protocol";

impl Study {
    /// The subcommand of the study, which is one of `studies`.
    pub fn command(&'static self, studies: &'static [Self]) -> Command {
        // Otherwise clap would use the doc comment of `CommonOptions` as the description of the
        // subcommand.
        let command = Command::new(self.name.as_str()).args(self.protocol_argument(studies));
        let command = CommonOptions::augment_args(self.augment(command));
        let command = command.about(self.about.as_str());
        match self.help.is_empty() {
            true => command.long_about(None::<&str>),
            false => command.long_about(format!("{}\n\n{}", self.about, self.help.trim())),
        }
    }

    /// The members of `studies` that the command of this study can run, each with the name of its
    /// protocol. Empty if there is only one.
    fn protocols(&'static self, studies: &'static [Self]) -> Vec<(&'static str, &'static Self)> {
        let is_own = |other: &&'static Self| {
            let of = other
                .protocol
                .as_ref()
                .and_then(|protocol| protocol.of.as_ref());
            of == Some(&self.name)
        };
        let others = studies.iter().filter(is_own);
        let named = |study: &'static Self| Some((study.protocol.as_ref()?.name.as_str(), study));
        std::iter::once(self)
            .chain(others)
            .filter_map(named)
            .collect()
    }

    /// The option that chooses among several protocols.
    fn protocol_argument(&'static self, studies: &'static [Self]) -> Option<Arg> {
        let protocols = self.protocols(studies);
        let (first, _) = protocols.first().filter(|_| protocols.len() > 1)?;
        let values = protocols.iter().map(|(name, study)| {
            let help = study
                .protocol
                .as_ref()
                .map_or("", |protocol| &protocol.help);
            PossibleValue::new(*name).help(help)
        });
        let argument = Arg::new(PROTOCOL).long(PROTOCOL).value_name("WHICH");
        Some(
            (argument.default_value(*first))
                .value_parser(PossibleValuesParser::new(values))
                .help("Figure or table to reproduce"),
        )
    }

    /// The member of `studies` that the command line of this study selects.
    pub fn chosen(&'static self, studies: &'static [Self], matches: &ArgMatches) -> &'static Self {
        let name = matches.try_get_one::<String>(PROTOCOL).ok().flatten();
        let protocols = self.protocols(studies);
        let asked = protocols
            .iter()
            .find(|(own, _)| Some(*own) == name.map(String::as_str));
        asked.map_or(self, |(_, study)| study)
    }

    /// Adds the options of this study to `command`, except for those that all experiments have.
    pub fn augment(&'static self, mut command: Command) -> Command {
        if !self.data.fixed {
            command = command.arg(self.data_argument());
        }
        for axis in &self.axes {
            command = command.args(axis.argument());
        }
        let seeds = &self.seeds;
        let seeds_help = match seeds.paper == seeds.quick {
            true => format!("{} [default: {}]", seeds.help, seeds.paper),
            false => format!(
                "{} [default: {}; quick: {}]",
                seeds.help, seeds.paper, seeds.quick
            ),
        };
        command = command.arg(
            Arg::new(seeds.option.as_str())
                .long(seeds.option.as_str())
                .value_name("COUNT")
                .value_parser(value_parser!(u64))
                .help(seeds_help),
        );
        for option in &self.options {
            let mut argument = RunOptions::argument(&option.fields[0]).id(option.name.as_str());
            if let Some(least) = option.least {
                argument = argument.value_parser(value_parser!(u32).range(i64::from(least)..));
            }
            command = command.arg(
                unheaded(argument)
                    .long(option.name.as_str())
                    .help(option.help.as_str()),
            );
        }
        command
    }

    fn data_argument(&'static self) -> Arg {
        let data = &self.data;
        let all = if data.paper.is_empty() {
            &data.names
        } else {
            &data.paper
        };
        let quick = match data.quick.as_slice() {
            [] => String::new(),
            names => format!("; quick: {}", names.join(",")),
        };
        let example = data
            .quick
            .first()
            .or(all.first())
            .map_or("", String::as_str);
        let help = format!(
            "Data sets or files, such as {example} [default: {}{quick}]",
            all.join(",")
        );
        Arg::new(data.option.as_str())
            .long(data.option.as_str())
            .value_name("NAMES")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(help)
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
        let values = self
            .axes
            .iter()
            .map(|axis| axis.option.as_deref().map(all).unwrap_or_default());
        let mut options = Vec::new();
        for option in &self.options {
            if let Some(word) = all(&option.name).first() {
                let parsed = RunOptions::parse_field(&option.fields[0], word)?;
                let value = parsed.values().next().cloned().unwrap_or_default();
                let fields = option
                    .fields
                    .iter()
                    .map(|field| (field.clone(), value.clone()));
                options.push((option, fields.collect::<Map<String, Value>>()));
            }
        }
        let asked = match self.data.fixed {
            true => Vec::new(),
            false => all(&self.data.option),
        };
        let invalid = |reason| clap::Error::raw(ErrorKind::ValueValidation, reason);
        Ok(Choice {
            data_sets: asked.iter().cloned().map(|data| named(data).0).collect(),
            files: by_name(asked).map_err(invalid)?,
            values: values.collect(),
            among: None,
            seeds: matches.get_one(&self.seeds.option).copied(),
            seed_list: Vec::new(),
            options,
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
        let option = self.option.as_deref()?;
        let names = || self.values.iter().map(|value| value.name.as_str());
        let default = (self.default.clone()).unwrap_or_else(|| match self.field {
            Some(_) => names().collect::<Vec<_>>().join(","),
            None => "all".into(),
        });
        let argument = match &self.field {
            Some(field) => unheaded(RunOptions::argument(field)).id(option),
            None => {
                let values = self
                    .values
                    .iter()
                    .map(|value| PossibleValue::new(value.name.as_str()).help(value.help.as_str()));
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

/// A type that stands for one study, so that the study's options can be part of a clap struct.
pub trait KnownStudy {
    /// The study.
    fn study() -> &'static Study;
}

/// The options of an experiment that runs the study `S`.
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

impl<S: KnownStudy> Args for ChoiceOf<S> {
    fn augment_args(command: Command) -> Command {
        S::study().augment(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: KnownStudy> FromArgMatches for ChoiceOf<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            choice: S::study().choice(matches)?,
            study: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
