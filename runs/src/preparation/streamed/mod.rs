//! Data that do not fit into memory: rows of a Parquet file that are read during training.

mod gathered;
mod places;
mod rows;

use std::sync::Arc;

use burn_gp_core::likelihoods::LikelihoodName;
use burn_gp_datasets::{
    BlockFile, ColumnError, ColumnRoles, DataError, DataSource, Dataset, Features, KeptColumns,
    MissingValues, NewRows, SplitError, Standardizer, StreamedStatistics, StreamedWarnings,
};

use super::{PreparedData, check_codes, held_out_file, keeping_levels, labels, level_names};
use crate::arguments::{InputScaleName, RunOptions};

use gathered::Gathered;
use places::{Place, Places};

pub use rows::StreamedRows;

/// The approximate number of training rows that stay in memory, for the inducing points, the plots and the
/// start.
const SAMPLE_ROWS: f64 = 20_000.0;

/// The approximate maximum number of rows held out for testing, and for validation.
const HELD_OUT_ROWS: f64 = 100_000.0;

/// Reads all rows once to compute statistics and to collect the rows that stay in memory.
///
/// # Errors
///
/// If the file or its columns cannot be used, or no training or test rows are left.
pub fn load(
    file: BlockFile,
    likelihood: LikelihoodName,
    options: &RunOptions,
    source: &DataSource,
    mut watch: impl FnMut(usize, usize),
) -> Result<PreparedData, DataError> {
    let roles = ColumnRoles {
        labels: labels(options, likelihood),
        ..options.columns(source)
    };
    let sample = file.sample(&roles)?;
    check_codes(options, &sample)?;
    let places = places(options, file.rows());
    let wanted = wanted_rows(options, roles.inputs.missing);
    let (mut pass, mut first) = (Pass::new(&sample, file.blocks()), 0);
    for block in 0..file.blocks() {
        let features = file.read(block, &sample.schema, &wanted)?;
        let ids = features.texts_of(sample.schema.id.as_deref());
        pass.add(first, (&features, ids), &places);
        first += features.inputs.rows();
        watch(first, file.rows());
    }
    pass.check(&sample, options)?;
    let standardizer = standardizer(&pass.statistics, &sample, likelihood, options);
    let part = |gathered: &Gathered| gathered.part(&file, &standardizer);
    let mut warnings = pass.warnings.warnings(&sample, &pass.statistics);
    let [validation, test] =
        held_out_file::read_all(&sample.schema, &standardizer, options, &mut warnings)?;
    let train = part(&pass.sample);
    Ok(PreparedData {
        name: sample.name.clone(),
        synthetic: false,
        image: None,
        likelihood,
        calibration: train.select(&[]),
        validation: validation.unwrap_or_else(|| part(&pass.validation)),
        test: test.unwrap_or_else(|| part(&pass.test)),
        warnings,
        levels: level_names(options, &sample.schema),
        schema: sample.schema.clone(),
        columns: sample.columns,
        left_out: file.rows() - pass.used,
        stream: Some(Arc::new(StreamedRows {
            checksum: pass.checksum.finalize(),
            training_rows: pass.training_rows,
            file,
            schema: sample.schema,
            standardizer: standardizer.clone(),
            places,
            wanted,
        })),
        train,
        standardizer,
    })
}

/// One pass over all rows.
struct Pass {
    statistics: StreamedStatistics,
    warnings: StreamedWarnings,
    sample: Gathered,
    validation: Gathered,
    test: Gathered,
    /// The number of training rows of each block.
    training_rows: Vec<usize>,
    /// The number of rows with a target and all inputs.
    used: usize,
    checksum: crc32fast::Hasher,
}

impl Pass {
    fn new(sample: &Dataset, blocks: usize) -> Self {
        let gathered = || Gathered::new(sample.columns());
        Self {
            statistics: StreamedStatistics::new(sample.columns()),
            warnings: StreamedWarnings::default(),
            sample: gathered(),
            validation: gathered(),
            test: gathered(),
            training_rows: Vec::with_capacity(blocks),
            used: 0,
            checksum: crc32fast::Hasher::new(),
        }
    }

    /// Adds a block whose first row has the number `first`, with the names of its rows.
    fn add(
        &mut self,
        first: usize,
        (features, ids): (&Features, Option<&[String]>),
        places: &Places,
    ) {
        let mut training_rows = 0;
        self.warnings.push(features);
        for (row, place) in places.of_block(features) {
            let (number, id) = (first + row, ids.map(|ids| ids[row].as_str()));
            self.used += 1;
            let (inputs, target) = (features.inputs.row(row), places::target(features, row));
            for value in inputs.iter().chain([&target]) {
                self.checksum.update(&value.to_le_bytes());
            }
            match place {
                Place::Test => self.test.push(number, features, row, id),
                Place::Validation => self.validation.push(number, features, row, id),
                Place::Training => {
                    training_rows += 1;
                    self.statistics.push(inputs, target);
                    if places.is_in_sample(number) {
                        self.sample.push(number, features, row, id);
                    }
                }
            }
        }
        self.training_rows.push(training_rows);
    }

    /// Checks that every requested part has rows, and that the target varies.
    fn check(&self, sample: &Dataset, options: &RunOptions) -> Result<(), DataError> {
        let rows = self.used;
        let empty = |part, fraction| SplitError::EmptyPart {
            rows,
            part,
            divided: part,
            fraction,
        };
        if self.sample.is_empty() {
            return Err(empty("training", 1.0 - options.test_fraction()).into());
        }
        if self.test.is_empty() && options.test_fraction() > 0.0 {
            return Err(empty("test", options.test_fraction()).into());
        }
        match options.validation_fraction {
            Some(fraction) if self.validation.is_empty() => {
                Err(empty("validation", fraction).into())
            }
            _ if self.statistics.has_constant_target() => {
                Err(DataError::Column(ColumnError::ConstantTarget {
                    source_name: sample.origin.source().to_owned(),
                    column: sample.target_label(),
                    value: sample.targets[0].to_string(),
                }))
            }
            _ => Ok(()),
        }
    }
}

/// The division of the rows. The held-out parts are limited so that they fit into memory.
fn places(options: &RunOptions, rows: usize) -> Places {
    let most = HELD_OUT_ROWS / rows as f64;
    Places {
        seed: options.seed(),
        test: options.test_fraction().min(most),
        validation: options.validation_fraction.unwrap_or(0.0).min(most),
        sample: SAMPLE_ROWS / rows as f64,
        group: options.group.clone(),
    }
}

/// What a block must have. Rows with gaps are filled or, with `--missing drop`, left out; any other value that a
/// column cannot have stops the run, as it does in memory.
fn wanted_rows(options: &RunOptions, missing: MissingValues) -> NewRows {
    NewRows {
        header: None,
        lenient: missing == MissingValues::Drop,
        fill_gaps: true,
        keep: match &options.group {
            Some(group) => KeptColumns::Named(vec![group.clone()]),
            None => KeptColumns::None,
        },
    }
}

fn standardizer(
    statistics: &StreamedStatistics,
    sample: &Dataset,
    likelihood: LikelihoodName,
    options: &RunOptions,
) -> Standardizer {
    let standardizer = match likelihood.target() {
        kind if kind.is_any_number() => statistics.standardizer(&sample.schema),
        _ => statistics.input_standardizer(&sample.schema),
    };
    let standardizer = match options.input_scale() {
        InputScaleName::Standard => standardizer,
        InputScaleName::Range => statistics.with_input_ranges(standardizer, &sample.schema),
    };
    keeping_levels(standardizer, sample, options)
}
