//! A user's request to a study.

use std::collections::BTreeMap;
use std::path::PathBuf;

use burn_gp_datasets::{DataError, DataSource, SetError};
use serde_json::{Map, Value};

use super::cell::Cell;
use super::data_at_hand::data_at_hand;
use super::definition::Study;
use super::options::CommonOptions;
use crate::devices::ComputeTarget;
use crate::failure::Failure;
use crate::option_error::OptionError;
use crate::ranges::{MOST_PARTS, at_least_one, from_one_to, positive};

/// The runs that the user asks for, and options that change them.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The data sets; those of the study if empty.
    pub data_sets: Vec<String>,
    /// Files to use as data sets, by name.
    pub files: BTreeMap<String, String>,
    /// The values of each axis; those of the study if empty.
    pub values: Vec<Vec<String>>,
    /// The values of the first axis to keep from the study's list; all if absent.
    pub among: Option<Vec<String>>,
    /// The number of seeds.
    pub seeds: Option<u64>,
    /// An explicit list of seeds, which overrides `seeds` if it is not empty.
    pub seed_list: Vec<u64>,
    /// The values of the study's options, by name.
    pub given: Map<String, Value>,
}

/// A [`Choice`] with the options that all experiments have.
#[derive(Clone, Debug)]
pub struct Request {
    /// The choice.
    pub choice: Choice,
    /// Scale, folder and device.
    pub common: CommonOptions,
}

impl Choice {
    /// Checks that the requested values are valid.
    ///
    /// # Errors
    ///
    /// [`OptionError`].
    pub fn check(&self, study: &Study) -> Result<(), OptionError> {
        from_one_to(MOST_PARTS, flag(study.seeds.option), self.seeds)?;
        for (name, value) in &self.given {
            at_least_one(flag(name), value.as_u64())?;
            if let Some(number) = value.as_f64() {
                positive(flag(name), number)?;
            }
        }
        for (axis, values) in study.axes.iter().zip(&self.values) {
            for value in values {
                at_least_one(
                    flag(axis.option.unwrap_or(&axis.name)),
                    value.parse::<u64>().ok(),
                )?;
            }
        }
        Ok(())
    }
}

/// An option as the user types it.
fn flag(name: &str) -> String {
    format!("--{name}")
}

impl Request {
    /// A request for the runs of a study by default.
    pub fn by_default(common: &CommonOptions) -> Self {
        Self {
            choice: Choice::default(),
            common: common.clone(),
        }
    }

    /// The device and the floating-point type of the runs.
    ///
    /// # Errors
    ///
    /// If no device is available.
    pub fn place(&self, study: &Study) -> Result<ComputeTarget, OptionError> {
        match study.single_precision {
            true => self.common.place_in_single_precision(),
            false => self.common.place(),
        }
    }

    /// The value of the `data` option for a data set.
    pub fn source_of(&self, study: &Study, data: &str) -> String {
        let given = self.choice.files.get(data).cloned();
        given.unwrap_or_else(|| match self.files_of(study, data) {
            Some([train, _]) => train.display().to_string(),
            None => data.to_owned(),
        })
    }

    /// The file with the test rows of a data set, if they have their own.
    pub fn test_of(&self, study: &Study, data: &str) -> Option<String> {
        let [_, test] = self.files_of(study, data)?;
        Some(test.display().to_string())
    }

    /// The files with the training and the test rows of a data set that is neither registered nor given as a file.
    fn files_of(&self, study: &Study, data: &str) -> Option<[PathBuf; 2]> {
        if self.choice.files.contains_key(data) {
            return None;
        }
        let folder = self.common.data_dir().unwrap_or_default();
        let folder = folder.join(study.data.files_in?);
        Some(["train", "test"].map(|part| folder.join(format!("{data}.{part}.csv.gz"))))
    }

    /// Checks that a data set is on disk.
    fn require(&self, study: &Study, data: &str) -> Result<(), DataError> {
        let files = self.files_of(study, data);
        match files.filter(|files| !files.iter().all(|file| file.is_file())) {
            Some(files) => Err(DataError::Set(SetError::NotOnDisk {
                name: data.to_owned(),
                paths: files.into(),
                how: "save its training rows and its test rows there as CSV, with a header and the target last"
                    .into(),
            })),
            None => {
                let source = self.source_of(study, data);
                DataSource::resolve(&source, self.common.data_dir().as_deref()).map(|_| ())
            }
        }
    }

    /// The seeds.
    pub fn seeds(&self, study: &Study) -> Vec<u64> {
        if !self.choice.seed_list.is_empty() {
            return self.choice.seed_list.clone();
        }
        let default = self.common.by_scale(study.seeds.quick, study.seeds.paper);
        let first = self.common.seed;
        (first..first + self.choice.seeds.unwrap_or(default)).collect()
    }

    /// The requested data sets that are available.
    ///
    /// # Errors
    ///
    /// [`Failure::NoData`] if no data set is available.
    pub fn data_sets(&self, study: &Study) -> Result<Vec<String>, Failure> {
        let data = &study.data;
        if data.option.is_none() {
            for name in &data.names {
                self.require(study, name)?;
            }
            return Ok(data.names.clone());
        }
        let is_compared = study.figures || !study.published.is_empty();
        let are_of_paper = is_compared && data.of_paper.is_none();
        let known = are_of_paper.then_some(data.names.as_slice());
        let source = |name: &str| self.source_of(study, name);
        let default: Vec<String> = match self.common.by_scale(data.quick, data.paper) {
            [] => data.names.clone(),
            names => names.iter().map(ToString::to_string).collect(),
        };
        let asked = &self.choice.data_sets;
        let data_dir = self.common.data_dir();
        data_at_hand(asked, &default, known, source, data_dir.as_deref())
    }

    /// The requested cells on a data set; the last axis varies fastest.
    pub fn cells(&self, study: &Study, data: &str) -> Vec<Cell> {
        let mut cells = vec![Cell {
            data: data.to_owned(),
            values: Vec::new(),
        }];
        for (index, axis) in study.axes.iter().enumerate() {
            let asked = self
                .choice
                .values
                .get(index)
                .filter(|values| !values.is_empty());
            let listed = axis.values.iter().map(|value| value.name.clone());
            let values = asked.cloned().unwrap_or_else(|| listed.collect());
            let mut longer = Vec::new();
            for cell in &cells {
                longer.extend(values.iter().map(|value| {
                    let values = cell.values.iter().chain([value]);
                    Cell {
                        data: cell.data.clone(),
                        values: values.cloned().collect(),
                    }
                }));
            }
            cells = longer;
        }
        cells.retain(|cell| self.is_asked_for(study, cell));
        cells
    }

    /// Whether the user asked for every value of a cell. On an axis without a request, the default values
    /// of the study count.
    fn is_asked_for(&self, study: &Study, cell: &Cell) -> bool {
        let (data, scale) = (&cell.data, self.common.scale);
        let mut values = study.axes.iter().zip(&cell.values).enumerate();
        values.all(|(index, (axis, value))| {
            let asked = self.choice.values.get(index);
            if asked.is_some_and(|values| !values.is_empty()) {
                return true;
            }
            let among = self.choice.among.as_ref().filter(|_| index == 0);
            let is_among = among.is_none_or(|names| names.contains(value));
            is_among && (axis.by_default)(value, data, scale)
        })
    }
}
