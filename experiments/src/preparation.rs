//! The data of a run: loaded, divided, standardized by the training rows.

use burn::tensor::DType;
use burn_gp::{
    inducing::distinct_rows,
    likelihoods::{ImpossibleTarget, Likelihood},
    patches::ImageShape,
};
use burn_gp_datasets::{
    ColumnRoles, DataError, DataSource, DataWarning, EqualInputs, Labels, Location, Matrix, Origin,
    Schema, Split, Standardizer, TargetColumn,
};

use crate::arguments::{InputScaleName, LikelihoodName};
use crate::likelihood::TargetKind;
use crate::settings::{SettingError, Settings, SplitChoice};

/// Some rows of the data.
#[derive(Clone, Debug)]
pub struct Part {
    /// Their numbers in the data, from 0.
    pub rows: Vec<usize>,
    /// Standardized inputs, `[N, D]`.
    pub inputs: Matrix,
    /// Standardized targets, or as they are where the likelihood needs that; labels as numbers of
    /// their classes, from 0: `[N]`.
    pub targets: Vec<f64>,
    /// Targets in the units of the data, or labels as numbers of their classes, `[N]`.
    pub observed: Vec<f64>,
    /// The variance of each target's noise in squared standardized units, where it is known, `[N]`.
    pub noise: Option<Vec<f64>>,
}

impl Part {
    /// Number of rows, N.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Some of the rows, by their places among them.
    fn select(&self, places: &[usize]) -> Self {
        let numbers = |values: &[f64]| places.iter().map(|&place| values[place]).collect();
        Self {
            rows: places.iter().map(|&place| self.rows[place]).collect(),
            inputs: self.inputs.select(places),
            targets: numbers(&self.targets),
            observed: numbers(&self.observed),
            noise: self.noise.as_deref().map(numbers),
        }
    }

    /// What a likelihood takes: the targets, and the noise beside them where it is known. Row-major,
    /// with the number of columns.
    pub fn likelihood_targets(&self) -> (Vec<f64>, usize) {
        match &self.noise {
            None => (self.targets.clone(), 1),
            Some(noise) => {
                let rows = self.targets.iter().zip(noise);
                (
                    rows.flat_map(|(&target, &noise)| [target, noise]).collect(),
                    2,
                )
            }
        }
    }
}

/// The data of a run.
#[derive(Clone, Debug)]
pub struct PreparedData {
    /// Their name.
    pub name: String,
    /// Whether they are generated.
    pub synthetic: bool,
    /// The shape of the inputs, if they are images.
    pub image: Option<ImageShape>,
    /// The columns, and which label is which class.
    pub schema: Schema,
    /// The statistics of the training rows.
    pub standardizer: Standardizer,
    /// Rows to fit on.
    pub train: Part,
    /// Rows to choose by; may be empty.
    pub validation: Part,
    /// Rows to report on.
    pub test: Part,
    /// What the user may want to know.
    pub warnings: Vec<DataWarning>,
    /// Where each row comes from.
    origin: Origin,
}

/// A target that the likelihood cannot take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{location}: the target is {value}{}, but the likelihood {likelihood} takes {takes}; correct it or choose another likelihood{}",
    self.in_precision(), self.advice()
)]
pub struct TargetError {
    /// Where it is.
    pub location: Location,
    /// Its value.
    pub value: f64,
    /// The likelihood.
    pub likelihood: &'static str,
    /// What it takes.
    pub takes: String,
    /// What the value is in the precision of the run, where only that is impossible.
    rounded: Option<Box<(f64, &'static str)>>,
}

impl TargetError {
    /// The target `value` at `location`, in the units of the data.
    pub fn new(location: Location, value: f64, impossible: ImpossibleTarget) -> Self {
        Self {
            location,
            value,
            likelihood: impossible.likelihood,
            takes: impossible.expected,
            rounded: impossible.rounded.map(Box::new),
        }
    }

    /// What the value is in the precision of the run, as a part of the message.
    fn in_precision(&self) -> String {
        let rounded = self.rounded.as_deref();
        rounded.map_or_else(String::new, |(value, precision)| {
            format!(", which is {value} in {precision}")
        })
    }

    /// What else can be done.
    fn advice(&self) -> &'static str {
        match self.rounded {
            Some(_) => ", or use --dtype f64",
            None => "",
        }
    }
}

impl PreparedData {
    /// Loads, divides and standardizes.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the data or their division.
    pub fn load(source: &DataSource, settings: &Settings) -> Result<Self, DataError> {
        let column = |name: &String| TargetColumn::Name(name.clone());
        let kind = settings.likelihood.target();
        let roles = ColumnRoles {
            target: (settings.data.target.as_ref()).map_or(TargetColumn::Last, column),
            noise: settings.data.noise_column.as_ref().map(column),
            labels: labels(settings),
        };
        let dataset = source.load_columns(&roles)?;
        let equal = EqualInputs::from(&dataset);
        let split = divide(source, &equal, settings)?;
        let standardizer = match kind {
            _ if source.has_common_scale() => Standardizer::identity(dataset.columns()),
            TargetKind::Numbers => Standardizer::fit(&dataset, &split.train),
            _ => Standardizer::fit_inputs(&dataset, &split.train),
        };
        let standardizer = match settings.data.input_scale {
            InputScaleName::Standard => standardizer,
            InputScaleName::Range => standardizer.with_input_ranges(&dataset, &split.train),
        };
        let part = |rows: &[usize]| {
            let select =
                |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
            let observed = select(&dataset.targets);
            let variances = |noise: &Vec<f64>| {
                let squares: Vec<f64> = select(noise).iter().map(|noise| noise * noise).collect();
                standardizer.transform_variances(&squares)
            };
            Part {
                rows: rows.to_vec(),
                inputs: standardizer.transform_inputs(&dataset.inputs.select(rows)),
                targets: standardizer.transform_targets(&observed),
                noise: dataset.noise.as_ref().map(variances),
                observed,
            }
        };
        Ok(Self {
            name: dataset.name.clone(),
            synthetic: source.is_synthetic(),
            image: (dataset.image)
                .map(|image| ImageShape::new(image.height, image.width, image.channels)),
            train: part(&split.train),
            validation: part(&split.validation),
            test: part(&split.test),
            standardizer,
            warnings: source.warnings(&dataset, &equal, &split),
            schema: dataset.schema,
            origin: dataset.origin,
        })
    }

    /// The same data with a random share of the training rows for validation instead, in the scale of
    /// them all.
    ///
    /// # Errors
    ///
    /// When no rows would be left.
    pub fn holding_out(&self, share: f64, seed: u64) -> Result<Self, DataError> {
        let all = Split {
            train: (0..self.train.len()).collect(),
            ..Split::default()
        };
        let equal = EqualInputs::among(&self.train.inputs);
        let split = all.hold_out_validation(equal, share, seed)?;
        Ok(Self {
            train: self.train.select(&split.train),
            validation: self.train.select(&split.validation),
            ..self.clone()
        })
    }

    /// Fails on the first target that the likelihood cannot take in this precision.
    ///
    /// # Errors
    ///
    /// [`TargetError`].
    pub fn check_targets(
        &self,
        likelihood: &impl Likelihood,
        precision: DType,
    ) -> Result<(), TargetError> {
        for part in [&self.train, &self.validation, &self.test] {
            let (targets, columns) = part.likelihood_targets();
            let checked = likelihood.check_targets_in(precision, &targets, columns);
            checked.map_err(|impossible| {
                let location = self.origin.location(part.rows[impossible.row]);
                TargetError::new(location, part.observed[impossible.row], impossible)
            })?;
        }
        Ok(())
    }

    /// How many classes the labels are of; zero if the targets are no labels.
    pub fn classes(&self) -> usize {
        let classes = self.schema.classes.as_ref();
        classes.map_or(0, |classes| classes.count())
    }

    /// Fails when the likelihood takes another number of classes.
    ///
    /// # Errors
    ///
    /// [`SettingError::Classes`].
    pub fn check_classes(&self, settings: &Settings) -> Result<(), SettingError> {
        let likelihood = settings.likelihood;
        likelihood.check_classes(&self.schema.target_name, self.classes())
    }

    /// Number of inputs, D.
    pub fn dimensions(&self) -> usize {
        self.schema.input_names.len()
    }

    /// Number of different training inputs.
    pub fn distinct_training_inputs(&self) -> usize {
        let inputs = &self.train.inputs;
        distinct_rows(inputs.values(), inputs.columns()).len()
    }

    /// A checksum of the rows of every part and their numbers.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for part in [&self.train, &self.validation, &self.test] {
            for &row in &part.rows {
                hasher.update(&(row as u64).to_le_bytes());
            }
            let noise = part.noise.iter().flatten();
            for value in (part.inputs.values().iter().chain(&part.targets)).chain(noise) {
                hasher.update(&value.to_le_bytes());
            }
        }
        hasher.finalize()
    }
}

/// How labels are ordered, if the likelihood takes labels.
fn labels(settings: &Settings) -> Option<Labels> {
    let likelihood = settings.likelihood;
    (likelihood.target() == TargetKind::Classes).then(|| match &settings.data.class_order {
        Some(order) => Labels::InOrder(order.clone()),
        None if likelihood == LikelihoodName::Ordinal => Labels::Ordered,
        None => Labels::Unordered,
    })
}

fn divide(
    source: &DataSource,
    equal: &EqualInputs,
    settings: &Settings,
) -> Result<Split, DataError> {
    let (rows, seed) = (equal.rows(), settings.seed);
    let split = match settings.data.split {
        SplitChoice::Own(index) => source.mask(rows)?.split(index)?,
        SplitChoice::Random(fraction) => Split::random(equal, fraction, seed)?,
    };
    match settings.data.validation_fraction {
        Some(fraction) => split.hold_out_validation(equal, fraction, seed),
        None => Ok(split),
    }
}
