//! The statistics of a standardizer, gathered in one pass over rows.

use crate::columns::Schema;
use crate::encoding::InputScale;
use crate::standardizer::{
    Standardizer, is_constant, largest, root_mean_square, unit_of_constant, with_scale_of_place,
};

/// The moments and the ranges of inputs and targets, gathered row by row.
///
/// The result equals that of [`Standardizer::fit`] up to rounding. Memory does not depend on the number of
/// rows.
///
/// ```
/// use burn_gp_datasets::{DataSource, Standardizer, StreamedStatistics};
///
/// # fn main() -> Result<(), burn_gp_datasets::DataError> {
/// let data = DataSource::resolve("synthetic:sines?n=500&noise=0.1&seed=1", None)?.load(None)?;
/// let mut statistics = StreamedStatistics::new(data.columns());
/// for row in 0..data.rows() {
///     statistics.push(data.inputs.row(row), data.targets[row]);
/// }
/// let all: Vec<usize> = (0..data.rows()).collect();
/// let (streamed, whole) = (
///     statistics.standardizer(&data.schema),
///     Standardizer::fit(&data, &all),
/// );
/// assert!((streamed.target_scale - whole.target_scale).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedStatistics {
    /// `[D]`
    inputs: Vec<Moments>,
    target: Moments,
}

impl StreamedStatistics {
    /// Empty statistics for rows with `columns` inputs.
    pub fn new(columns: usize) -> Self {
        Self {
            inputs: vec![Moments::default(); columns],
            target: Moments::default(),
        }
    }

    /// Adds a row. Missing inputs are NaN.
    ///
    /// # Shapes
    /// - `inputs`: `[D]`
    ///
    /// # Panics
    /// When the number of inputs is not D.
    pub fn push(&mut self, inputs: &[f64], target: f64) {
        assert_eq!(
            inputs.len(),
            self.inputs.len(),
            "a row has {} inputs; expected {}",
            inputs.len(),
            self.inputs.len()
        );
        for (moments, &value) in self.inputs.iter_mut().zip(inputs) {
            moments.push(value);
        }
        self.target.push(target);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.target.count as usize
    }

    /// Whether all targets are the same up to rounding.
    pub fn has_constant_target(&self) -> bool {
        self.target.is_constant()
    }

    /// The inputs that have one value in all rows, up to rounding, with that value. Inputs that are always
    /// missing are not among them.
    pub(crate) fn constant_inputs(&self) -> Vec<(usize, f64)> {
        let inputs = self.inputs.iter().enumerate();
        inputs
            .filter(|(_, moments)| moments.count > 0.0 && moments.is_constant())
            .map(|(column, moments)| (column, moments.low))
            .collect()
    }

    /// The largest absolute value of a target; zero without rows.
    pub(crate) fn largest_target(&self) -> f64 {
        match self.target.count > 0.0 {
            true => self.target.low.abs().max(self.target.high.abs()),
            false => 0.0,
        }
    }

    /// The standardizer of inputs and target; `schema` says which inputs have a fixed scale.
    pub fn standardizer(&self, schema: &Schema) -> Standardizer {
        let (target_mean, mut target_scale) = self.target.mean_and_scale();
        if self.target.is_constant() {
            target_scale = unit_of_constant(target_mean);
        }
        Standardizer {
            target_mean,
            target_scale,
            ..self.input_standardizer(schema)
        }
    }

    /// The standardizer of the inputs alone.
    pub fn input_standardizer(&self, schema: &Schema) -> Standardizer {
        let scales = schema.input_scales();
        let (input_mean, input_scale): (Vec<f64>, Vec<f64>) = (self.inputs.iter().zip(&scales))
            .map(|(moments, scale)| {
                let (mean, deviation) = moments.mean_and_scale();
                match scale {
                    InputScale::Deviation | InputScale::OfPlace => (mean, deviation),
                    InputScale::Fixed(scale) => (mean, *scale),
                }
            })
            .unzip();
        let is_constant = |column: usize| self.inputs[column].is_constant();
        Standardizer {
            input_mean,
            input_scale: with_scale_of_place(&scales, input_scale, is_constant, root_mean_square),
            ..Standardizer::identity(self.inputs.len())
        }
    }

    /// `standardizer` with inputs mapped to [−1, 1] by their ranges; `schema` says which inputs share a scale.
    pub fn with_input_ranges(&self, standardizer: Standardizer, schema: &Schema) -> Standardizer {
        let (input_mean, input_scale) = self.inputs.iter().map(Moments::middle_and_half).unzip();
        let scales = schema.input_scales();
        let is_constant = |column: usize| self.inputs[column].is_constant();
        Standardizer {
            input_mean,
            input_scale: with_scale_of_place(&scales, input_scale, is_constant, largest),
            ..standardizer
        }
    }
}

/// The moments and the range of some numbers, by the updates of Welford (Technometrics 4, 1962).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    count: f64,
    mean: f64,
    /// The sum of the squared deviations from the mean.
    squares: f64,
    low: f64,
    high: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    /// Adds a number; NaN is ignored.
    fn push(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    fn is_constant(&self) -> bool {
        self.count == 0.0 || is_constant([self.low, self.high].into_iter())
    }

    fn mean_and_scale(&self) -> (f64, f64) {
        match self.is_constant() {
            true => (self.mean, 1.0),
            false => (self.mean, (self.squares / self.count).sqrt()),
        }
    }

    fn middle_and_half(&self) -> (f64, f64) {
        match self.is_constant() {
            true if self.count == 0.0 => (0.0, 1.0),
            true => (0.5 * self.low + 0.5 * self.high, 1.0),
            false => (
                0.5 * self.low + 0.5 * self.high,
                0.5 * self.high - 0.5 * self.low,
            ),
        }
    }
}
