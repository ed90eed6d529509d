//! The data of a run: loaded, divided, standardised by the training rows.

use std::collections::HashSet;

use burn_gp_datasets::{
    DataError, DataSource, DataWarning, Dataset, LabelCoding, Matrix, Schema, Split, Standardizer,
    TargetColumn, warnings,
};

use crate::arguments::LikelihoodName;
use crate::settings::{Settings, SplitChoice};

/// Some rows of the data.
#[derive(Clone, Debug)]
pub struct Part {
    /// Their numbers in the data, from 0.
    pub rows: Vec<usize>,
    /// Standardised inputs, `[N, D]`.
    pub inputs: Matrix,
    /// Standardised targets, or labels 0 and 1, `[N]`.
    pub targets: Vec<f64>,
    /// Targets in the units of the data, or labels 0 and 1, `[N]`.
    pub observed: Vec<f64>,
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
}

/// The data of a run.
#[derive(Clone, Debug)]
pub struct PreparedData {
    /// Their name.
    pub name: String,
    /// Whether they are generated.
    pub synthetic: bool,
    /// The columns.
    pub schema: Schema,
    /// The statistics of the training rows.
    pub standardizer: Standardizer,
    /// Which label is which class, for classification.
    pub labels: Option<LabelCoding>,
    /// Rows to fit on.
    pub train: Part,
    /// Rows to choose by; may be empty.
    pub validation: Part,
    /// Rows to report on.
    pub test: Part,
    /// What the user may want to know.
    pub warnings: Vec<DataWarning>,
}

impl PreparedData {
    /// Loads, divides and standardises.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the data or their division.
    pub fn load(source: &DataSource, settings: &Settings) -> Result<Self, DataError> {
        let target = settings.data.target.as_ref();
        let target = target.map(|name| TargetColumn::Name(name.clone()));
        let dataset = source.load(target.as_ref())?;
        let split = divide(source, &dataset, settings)?;
        let (labels, standardizer, observed) = match settings.likelihood {
            LikelihoodName::Gaussian => {
                let standardizer = Standardizer::fit(&dataset, &split.train);
                (None, standardizer, dataset.targets.clone())
            }
            LikelihoodName::Bernoulli => {
                let coding = LabelCoding::of(&dataset)?;
                let labels = coding.encode(&dataset.targets, &dataset.origin)?;
                let standardizer = Standardizer::fit_inputs(&dataset, &split.train);
                (Some(coding), standardizer, labels)
            }
        };
        let part = |rows: &[usize]| {
            let observed: Vec<f64> = rows.iter().map(|&row| observed[row]).collect();
            Part {
                rows: rows.to_vec(),
                inputs: standardizer.transform_inputs(&dataset.inputs.select(rows)),
                targets: standardizer.transform_targets(&observed),
                observed,
            }
        };
        Ok(Self {
            name: dataset.name.clone(),
            synthetic: source.is_synthetic(),
            train: part(&split.train),
            validation: part(&split.validation),
            test: part(&split.test),
            labels,
            standardizer,
            warnings: warnings(&dataset),
            schema: dataset.schema,
        })
    }

    /// Number of inputs, D.
    pub fn dimensions(&self) -> usize {
        self.schema.input_names.len()
    }

    /// Number of different training inputs.
    pub fn distinct_training_inputs(&self) -> usize {
        let inputs = &self.train.inputs;
        let key = |row: usize| -> Vec<u64> {
            // Adding zero makes the two zeros one.
            let bits = inputs.row(row).iter().map(|value| (value + 0.0).to_bits());
            bits.collect()
        };
        let keys: HashSet<Vec<u64>> = (0..inputs.rows()).map(key).collect();
        keys.len()
    }

    /// A checksum of the rows of every part and their numbers.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for part in [&self.train, &self.validation, &self.test] {
            for &row in &part.rows {
                hasher.update(&(row as u64).to_le_bytes());
            }
            for value in part.inputs.values().iter().chain(&part.targets) {
                hasher.update(&value.to_le_bytes());
            }
        }
        hasher.finalize()
    }
}

fn divide(source: &DataSource, dataset: &Dataset, settings: &Settings) -> Result<Split, DataError> {
    let (rows, seed) = (dataset.rows(), settings.seed);
    let split = match settings.data.split {
        SplitChoice::Own(index) => source.mask(rows)?.split(index)?,
        SplitChoice::Random(fraction) => Split::random(rows, fraction, seed)?,
    };
    match settings.data.validation_fraction {
        Some(fraction) => split.hold_out_validation(fraction, seed),
        None => Ok(split),
    }
}
