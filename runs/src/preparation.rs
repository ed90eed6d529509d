//! The data of a run: loaded, split, and standardized by the training rows.

mod calibration_rows;
mod held_out_file;
mod intervals;
mod levels;
mod offsets;
mod part;
mod rows;
mod streamed;
mod transforms;
mod weightless_rows;

use std::sync::Arc;

use burn::tensor::DType;
use burn_gp_core::{
    inducing::distinct_rows,
    likelihoods::{
        GaussianConfig, ImpossibleTarget, LikelihoodDescription, LikelihoodName, TargetKind,
    },
    patches::ImageShape,
};
use burn_gp_datasets::{
    ColumnReport, ColumnRoles, ColumnTransforms, Companion, DataError, DataSource, DataWarning,
    Dataset, EqualInputs, Labels, Location, MissingValues, Purpose, RowRole, Schema, Split,
    SplitError, Standardizer, TransformError, TransformName, TransformOfColumn,
};

use crate::arguments::{InputScaleName, RunOptions};
use crate::option_error::OptionError;

use calibration_rows::calibration_rows;
pub use intervals::Intervals;
use intervals::with_middles;
pub use levels::level_names;
use levels::{check_codes, keeping_levels};
use offsets::kernel_inputs;
pub use offsets::on_kernel_inputs;
pub use part::{Part, RowSource};
pub use rows::Rows;
pub use streamed::StreamedRows;
pub use transforms::{impossible_inputs, impossible_targets};
use weightless_rows::without_weightless_rows;

/// The maximum number of classes. With more labels, the target is probably numeric.
const MOST_CLASSES: usize = 1000;

/// The data of a run.
#[derive(Clone, Debug)]
pub struct PreparedData {
    /// The name of the data.
    pub name: String,
    /// Whether the data are synthetic.
    pub synthetic: bool,
    /// The shape of the inputs, if they are images.
    pub image: Option<ImageShape>,
    /// The likelihood of the targets.
    pub likelihood: LikelihoodName,
    /// The columns and the class labels.
    pub schema: Schema,
    /// The names of the columns in which a missing value is an unknown level.
    pub levels: Vec<String>,
    /// The statistics of the training rows.
    pub standardizer: Standardizer,
    /// The training rows, or a sample of them if they are read during training.
    pub train: Part,
    /// The training rows that are read during training, if they do not fit into memory.
    pub stream: Option<Arc<StreamedRows>>,
    /// The rows that predictions are calibrated on; may be empty.
    pub calibration: Part,
    /// The validation rows; may be empty.
    pub validation: Part,
    /// The test rows.
    pub test: Part,
    /// Warnings for the user.
    pub warnings: Vec<DataWarning>,
    /// All columns of the file and their use, if their kinds were inferred.
    pub columns: Vec<ColumnReport>,
    /// The number of rows that were left out because they lack the target or an input.
    pub left_out: usize,
}

/// A target that the likelihood does not support.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{location}: the target is {value}{}, but the likelihood {likelihood} takes {takes}; correct it or choose another likelihood{}",
    self.in_precision(), self.advice()
)]
pub struct TargetError {
    /// The location of the target.
    pub location: Location,
    /// The value of the target.
    pub value: f64,
    /// The likelihood.
    pub likelihood: &'static str,
    /// The values that the likelihood supports.
    pub takes: String,
    /// The value rounded to the precision of the run, if only the rounded value is invalid.
    rounded: Option<Box<(f64, &'static str)>>,
}

impl TargetError {
    /// An error for the target `value` at `location`, in the units of the data.
    pub fn new(location: Location, value: f64, impossible: ImpossibleTarget) -> Self {
        Self {
            location,
            value,
            likelihood: impossible.likelihood,
            takes: impossible.expected,
            rounded: impossible.rounded.map(Box::new),
        }
    }

    /// The part of the message about the rounded value.
    fn in_precision(&self) -> String {
        let rounded = self.rounded.as_deref();
        rounded.map_or_else(String::new, |(value, precision)| {
            format!(", which is {value} in {precision}")
        })
    }

    /// Additional advice.
    fn advice(&self) -> &'static str {
        match self.rounded {
            Some(_) => ", or use --dtype f64",
            None => "",
        }
    }
}

impl PreparedData {
    /// Loads, splits and standardizes the data.
    ///
    /// # Errors
    ///
    /// If the data or the split is invalid.
    pub fn load(source: &DataSource, options: &RunOptions) -> Result<Self, DataError> {
        Self::load_watched(source, options, |_, _| ())
    }

    /// Like [`load`](Self::load). If rows are read during training, `watch` is called repeatedly with the
    /// number of rows read so far and the total.
    ///
    /// # Errors
    ///
    /// If the data or the split is invalid.
    pub fn load_watched(
        source: &DataSource,
        options: &RunOptions,
        watch: impl FnMut(usize, usize),
    ) -> Result<Self, DataError> {
        let likelihood = options.likelihood(source);
        if let Some(file) = options.block_file(source)? {
            let wanted = options.transform.as_deref().unwrap_or_default();
            require_none(wanted, "rows that are read during training")?;
            return streamed::load(file, likelihood, options, source, watch);
        }
        let roles = ColumnRoles {
            labels: labels(options, likelihood),
            ..options.columns(source)
        };
        let dataset = source.load_columns(&roles)?.checked_magnitudes()?;
        check_codes(options, &dataset)?;
        let equal = EqualInputs::from(&dataset);
        let split = divide(source, &dataset, &equal, options)?;
        let (split, calibration) = calibration_rows(split, &dataset, &equal, options)?;
        let split = without_weightless_rows(split, &dataset);
        let standardizer =
            transforming_standardizer(source, &dataset, &split.train, options, likelihood)?;
        let all = Rows {
            source: Arc::new(RowSource {
                origin: dataset.origin.clone(),
                kept: dataset.kept.clone(),
            }),
            inputs: &dataset.inputs,
            targets: &dataset.targets,
            attributes: &dataset.attributes,
        };
        let mut warnings = source.warnings(&dataset, &equal, &split);
        let [validation, test] =
            held_out_file::read_all(&dataset.schema, &standardizer, options, &mut warnings)?;
        let part = |rows: &[usize]| all.part(rows, &standardizer);
        Ok(Self {
            name: dataset.name.clone(),
            synthetic: source.is_synthetic(),
            image: (dataset.image)
                .map(|image| ImageShape::new(image.height, image.width, image.channels)),
            likelihood,
            train: part(&split.train),
            calibration: part(&calibration),
            validation: validation.unwrap_or_else(|| part(&split.validation)),
            test: test.unwrap_or_else(|| part(&split.test)),
            standardizer,
            warnings,
            levels: level_names(options, &dataset.schema),
            schema: dataset.schema,
            columns: dataset.columns,
            stream: None,
            left_out: dataset.left_out,
        })
    }

    /// The number of training rows, N.
    pub fn training_rows(&self) -> usize {
        let streamed = self.stream.as_ref();
        streamed.map_or(self.train.len(), |stream| stream.count())
    }

    /// The same data with a random share of the training rows as validation rows. The
    /// standardization does not change.
    ///
    /// # Errors
    ///
    /// If no training rows would be left.
    pub fn holding_out(&self, share: f64, seed: u64) -> Result<Self, SplitError> {
        let all = Split {
            train: (0..self.train.len()).collect(),
            ..Split::default()
        };
        let equal = match self.train.attributes.texts(RowRole::Group) {
            Some(groups) => EqualInputs::of_groups(groups),
            None => EqualInputs::among(&self.train.inputs),
        };
        let split = all.hold_out_validation(equal, share, seed)?;
        Ok(Self {
            train: self.train.select(&split.train),
            validation: self.train.select(&split.validation),
            ..self.clone()
        })
    }

    /// Fails on the first target that the likelihood does not support in this precision.
    ///
    /// # Errors
    ///
    /// [`TargetError`].
    pub fn check_targets(
        &self,
        likelihood: &LikelihoodDescription,
        precision: DType,
    ) -> Result<(), TargetError> {
        for part in self.parts() {
            let (targets, columns) = part.likelihood_targets();
            let checked = likelihood.check_targets_in(precision, &targets, columns);
            checked.map_err(|impossible| {
                let location = part.source.location(part.rows[impossible.row]);
                TargetError::new(location, part.observed[impossible.row], impossible)
            })?;
        }
        Ok(())
    }

    /// The parts.
    fn parts(&self) -> [&Part; 4] {
        [&self.train, &self.calibration, &self.validation, &self.test]
    }

    /// The positions in the source of the rows of a part, from 0.
    pub fn source_rows<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = usize> + 'a {
        part.rows.iter().map(|&row| part.source.position(row))
    }

    /// The names of the columns that are not inputs.
    pub fn left_out_columns(&self) -> Vec<String> {
        let is_left_out = |column: &&ColumnReport| {
            matches!(column.purpose, Purpose::Dropped | Purpose::LeftOut(_))
        };
        let left_out = self.columns.iter().filter(is_left_out);
        left_out.map(|column| column.name.clone()).collect()
    }

    /// The row names of a part, with the name of their column.
    pub fn ids(&self, part: &Part) -> Vec<(String, Vec<String>)> {
        let ids = part.attributes.texts(RowRole::Id).map(<[String]>::to_vec);
        self.schema.id.clone().zip(ids).into_iter().collect()
    }

    /// The number of classes; zero if the targets are not class labels.
    pub fn classes(&self) -> usize {
        let classes = self.schema.classes.as_ref();
        classes.map_or(0, |classes| classes.count())
    }

    /// Fails if the likelihood does not support the number of classes.
    ///
    /// # Errors
    ///
    /// [`OptionError::Classes`].
    pub fn check_classes(&self) -> Result<(), OptionError> {
        let (kind, found) = (self.likelihood.target(), self.classes());
        let (takes, advice) = match kind {
            _ if kind.has_classes() && found > MOST_CLASSES => (
                "at most 1000",
                "if it is numeric, choose a regression likelihood",
            ),
            TargetKind::TwoClasses if found != 2 => (
                "2",
                "use --likelihood softmax for more classes, or a regression likelihood for numbers",
            ),
            TargetKind::OrderedClasses if found < 3 => {
                ("3 or more", "use --likelihood bernoulli for two classes")
            }
            _ => return Ok(()),
        };
        Err(OptionError::Classes {
            target: self.schema.target_name.clone(),
            found,
            likelihood: self.likelihood.name(),
            takes,
            advice,
        })
    }

    /// The number of inputs, D.
    pub fn dimensions(&self) -> usize {
        self.schema.input_names.len()
    }

    /// The number of distinct training inputs of the kernel.
    pub fn distinct_training_inputs(&self) -> usize {
        let inputs = &self.train.inputs;
        let own = kernel_inputs(&self.schema);
        if own.len() == inputs.columns() {
            return distinct_rows(inputs.values(), inputs.columns()).len();
        }
        let rows = inputs.values().chunks_exact(inputs.columns());
        let values = rows.flat_map(|row| own.iter().map(|&input| row[input]));
        distinct_rows(&values.collect::<Vec<_>>(), own.len()).len()
    }

    /// The training rows without duplicates, which repeat the inputs and the target of an earlier row.
    pub fn distinct_training_rows(&self) -> Vec<usize> {
        let (inputs, targets) = (&self.train.inputs, &self.train.targets);
        let columns = inputs.columns();
        let rows = inputs.values().chunks_exact(columns).zip(targets);
        let values: Vec<f64> = rows
            .flat_map(|(inputs, target)| inputs.iter().chain([target]).copied())
            .collect();
        distinct_rows(&values, columns + 1)
    }

    /// A checksum of the columns and the rows of all parts, including column names and row numbers.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        // Serialization cannot fail: the schema is written with every model.
        hasher.update(&serde_json::to_vec(&self.schema).unwrap_or_default());
        if let Some(stream) = &self.stream {
            hasher.update(&stream.checksum().to_le_bytes());
        }
        for part in self.parts() {
            for &row in &part.rows {
                hasher.update(&(row as u64).to_le_bytes());
            }
            let columns = [
                part.noise.as_deref(),
                part.attributes.numbers(Companion::Trials),
                part.attributes.numbers(RowRole::Weights),
            ];
            let intervals = part.intervals.iter().flat_map(|own| &own.observed);
            let others = (columns.into_iter().flatten().flatten()).chain(intervals.flatten());
            for value in (part.inputs.values().iter().chain(&part.targets)).chain(others) {
                hasher.update(&value.to_le_bytes());
            }
        }
        hasher.finalize()
    }
}

/// Fails if columns are to be transformed that cannot be.
fn require_none(wanted: &[TransformOfColumn], what: &'static str) -> Result<(), TransformError> {
    match wanted.is_empty() {
        true => Ok(()),
        false => Err(TransformError::Unsuitable { what }),
    }
}

/// Fails if the target is to be transformed but not to be normal then, or has known noise, which is not that of the
/// transformed target.
fn require_gaussian(
    wanted: &[TransformOfColumn],
    target: &str,
    (likelihood, has_row_noise): (LikelihoodName, bool),
) -> Result<(), TransformError> {
    let is_transformed =
        |own: &&TransformOfColumn| own.column == target && own.value != TransformName::None;
    let own = wanted.iter().find(is_transformed);
    if own.is_some() && has_row_noise {
        return require_none(wanted, "a target with known noise (--noise-column)");
    }
    match own.filter(|_| !likelihood.is::<GaussianConfig>()) {
        None => Ok(()),
        Some(own) => Err(TransformError::Likelihood {
            column: own.column.clone(),
            transform: own.value,
            likelihood: likelihood.name(),
        }),
    }
}

/// The standardizer by the rows `train`, with the transformations that the user wants.
///
/// # Errors
///
/// If columns are to be transformed that cannot be.
fn transforming_standardizer(
    source: &DataSource,
    dataset: &Dataset,
    train: &[usize],
    options: &RunOptions,
    likelihood: LikelihoodName,
) -> Result<Standardizer, DataError> {
    let wanted = options.transform.as_deref().unwrap_or_default();
    if source.has_common_scale() {
        require_none(wanted, "images")?;
    }
    let has_row_noise = dataset.attributes.numbers(Companion::RowNoise).is_some();
    require_gaussian(wanted, dataset.target_name(), (likelihood, has_row_noise))?;
    let transforms = ColumnTransforms::fit(dataset, wanted, train)?;
    if transforms.is_empty() {
        return Ok(standardizer(source, dataset, train, options, likelihood));
    }
    let transformed = transforms.apply(dataset);
    let fitted = standardizer(source, &transformed, train, options, likelihood);
    Ok(fitted.with_transforms(transforms, dataset, train))
}

/// The standardizer by the rows `train` of transformed data.
fn standardizer(
    source: &DataSource,
    dataset: &Dataset,
    train: &[usize],
    options: &RunOptions,
    likelihood: LikelihoodName,
) -> Standardizer {
    let standardizer = match likelihood.target() {
        _ if source.has_common_scale() => Standardizer::identity(dataset.columns()),
        TargetKind::Intervals => Standardizer::fit(&with_middles(dataset), train),
        TargetKind::Numbers | TargetKind::Measurements => Standardizer::fit(dataset, train),
        _ => Standardizer::fit_inputs(dataset, train),
    };
    let standardizer = match options.input_scale() {
        InputScaleName::Standard => standardizer,
        InputScaleName::Range => standardizer.with_input_ranges(dataset, train),
    };
    let standardizer = match options.input_columns(source).missing {
        MissingValues::Median => standardizer.with_medians(dataset, train),
        _ => standardizer,
    };
    keeping_levels(standardizer, dataset, options)
}

/// The order of the labels, if the targets are labels.
fn labels(options: &RunOptions, likelihood: LikelihoodName) -> Option<Labels> {
    let kind = likelihood.target();
    kind.has_classes().then(|| match &options.class_order {
        Some(order) => Labels::InOrder(order.clone()),
        None if kind == TargetKind::OrderedClasses => Labels::Ordered,
        None => Labels::Unordered,
    })
}

fn divide(
    source: &DataSource,
    dataset: &Dataset,
    equal: &EqualInputs,
    options: &RunOptions,
) -> Result<Split, DataError> {
    let (seed, fraction) = (options.seed(), options.test_fraction());
    let groups = (dataset.attributes.texts(RowRole::Group)).map(EqualInputs::of_groups);
    let together = groups.as_ref().unwrap_or(equal);
    let fold = options.fold.zip(options.folds);
    let split = match (
        fold,
        options.split,
        dataset.attributes.numbers(RowRole::Time),
    ) {
        (Some((fold, folds)), ..) => Split::fold(together, fold - 1, folds, seed)?,
        (_, None, _) if fraction == 0.0 => Split {
            train: (0..dataset.rows()).collect(),
            ..Split::default()
        },
        (_, Some(index), _) => source.mask(equal.rows())?.split(index)?,
        (_, None, Some(times)) => Split::by_time(times, fraction)?,
        (_, None, None) => {
            let split = Split::random(together, fraction, seed)?;
            split.keeping_levels(dataset, together, groups.is_none())
        }
    };
    match options.validation_fraction {
        Some(fraction) => Ok(split.hold_out_validation(together, fraction, seed)?),
        None => Ok(split),
    }
}
