//! Errors of the training inputs: `--input-noise`.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_datasets::{Matrix, NoiseOfInput, counted, nearest};
use burn_gp_models::{InputErrors, InputNoise};
use serde::{Deserialize, Serialize};

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::preparation::{Part, PreparedData};
use crate::scores::four_decimals;

/// What `metrics.json` and the model say of errors of the training inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputNoiseReport {
    /// The columns with the standard deviations of their errors, in their units.
    pub columns: Vec<NoiseOfInput>,
    /// The number of times that the model was trained again.
    pub rounds: usize,
    /// Whether another round would change the noise by less than 1 %.
    pub has_settled: bool,
    /// The standard deviation of the noise that the errors make, in the units of the target after its transformation: the
    /// root of the mean variance of the training rows.
    pub standard_deviation: f64,
}

impl InputNoiseReport {
    /// From the noise on the scale of the model.
    pub fn new(noise: &InputNoise, options: &RunOptions, data: &PreparedData) -> Self {
        let rows = noise.variances.len().max(1) as f64;
        let mean = noise.variances.iter().sum::<f64>() / rows;
        Self {
            columns: options.input_noise.clone().unwrap_or_default(),
            rounds: noise.rounds,
            has_settled: noise.has_settled,
            standard_deviation: mean.sqrt() * data.standardizer.target_scale,
        }
    }

    /// What it is, in a sentence.
    pub fn text(&self, target: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        let rounds = counted(self.rounds, "round");
        let end = match self.has_settled {
            true => "",
            false => ", in which it did not settle",
        };
        format!(
            "{}, which makes noise of standard deviation {} in {target} after {rounds}{end}",
            columns.join(", "),
            four_decimals(self.standard_deviation)
        )
    }
}

/// The standard deviations of the errors of the standardized inputs, `[D]`; `None` without `--input-noise`.
///
/// # Errors
///
/// If a column is no number among the inputs, is transformed, or is given twice.
pub fn deviations(
    options: &RunOptions,
    data: &PreparedData,
) -> Result<Option<Vec<f64>>, OptionError> {
    let Some(given) = &options.input_noise else {
        return Ok(None);
    };
    let mut deviations: Vec<Option<f64>> = vec![None; data.dimensions()];
    for NoiseOfInput { column, value } in given {
        let input = position(column, data)?;
        let transforms = &data.standardizer.input_transforms;
        if transforms.iter().any(|(own, _)| *own == input) {
            return Err(OptionError::TransformedNoisyInput(column.clone()));
        }
        let scaled = value.get() / data.standardizer.input_scale[input];
        if deviations[input].replace(scaled).is_some() {
            return Err(OptionError::InputNoiseTwice(column.clone()));
        }
    }
    let deviations = deviations.into_iter().map(Option::unwrap_or_default);
    Ok(Some(deviations.collect()))
}

/// The position of the input that is the number in a column.
fn position(column: &str, data: &PreparedData) -> Result<usize, OptionError> {
    let schema = &data.schema;
    let is_level = data.levels.iter().any(|level| level == column);
    match schema.number_input(column) {
        Some(input) if !is_level => Ok(input),
        _ if schema.source_names().contains(&column) => {
            Err(OptionError::NoisyCategory(column.to_owned()))
        }
        _ => Err(OptionError::NoNoisyInput {
            column: column.to_owned(),
            nearest: nearest(column, schema.source_names().into_iter()),
        }),
    }
}

/// The errors of the training inputs; `None` without `--input-noise`.
///
/// # Errors
///
/// Same as [`deviations`].
pub fn errors_of_inputs(
    options: &RunOptions,
    data: &PreparedData,
    (device, dtype): (&Device, DType),
) -> Result<Option<InputErrors>, OptionError> {
    let deviations = deviations(options, data)?;
    Ok(deviations.map(|deviations| {
        let columns = deviations.len();
        let values = TensorData::new(deviations, [1, columns]);
        InputErrors::new(Tensor::from_data(values, (device, dtype)))
            .besides_row_noise(data.train.has_row_noise())
    }))
}

/// The rows with their inputs followed by the standard deviations of the errors, `[N, 2D]`, for a predictor with
/// uncertain inputs.
pub fn with_deviations(part: &Part, deviations: &[f64]) -> Part {
    let inputs = &part.inputs;
    let rows = inputs.values().chunks_exact(inputs.columns());
    let values = rows.flat_map(|row| [row, deviations].concat());
    Part {
        inputs: Matrix::new(inputs.rows(), 2 * inputs.columns(), values.collect()),
        ..part.clone()
    }
}
