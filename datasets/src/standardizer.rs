//! Standardization to zero mean and unit variance, with the statistics of the training rows.

use serde::{Deserialize, Serialize};

use crate::column_transforms::transformed_inputs;
use crate::counted::counted;
use crate::dataset::Dataset;
use crate::encoding::InputScale;
use crate::matrix::Matrix;
use crate::transform::{TargetTransform, Transform};

/// An affine map of each input column and of the target, x ↦ (x − mean) / scale.
///
/// `mean` and `scale` are the mean and the population standard deviation of the training rows, or,
/// for inputs, optionally the middle and half the length of their range. A column that is constant
/// up to rounding has scale 1, so it is centered but not scaled. Constant targets, such as a single one, have
/// their absolute value as scale, or 1 if they are 0, because nothing else is known about the variation of
/// other targets. Inputs that mark a level of a category or a missing value have a fixed scale. The three inputs
/// of a place on the Earth share one scale, which keeps distances in proportion. A missing value
/// becomes `input_fill`.
///
/// A column with a [`Transform`] is transformed first; mean, scale and fill are then those of the transformed values.
///
/// Reading one from a file fails if a scale is not positive and finite, or a mean is not finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Standardizer {
    /// `[D]`
    pub input_mean: Vec<f64>,
    /// `[D]`
    pub input_scale: Vec<f64>,
    /// The values of missing inputs, `[D]`; if empty, `input_mean`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_fill: Vec<f64>,
    /// 0 if the target is not transformed.
    pub target_mean: f64,
    /// 1 if the target is not transformed.
    pub target_scale: f64,
    /// The transformations of inputs, by their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_transforms: Vec<(usize, Transform)>,
    /// The transformation of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_transform: Option<TargetTransform>,
}

/// The contents of a [`Standardizer`] in a file.
#[derive(Deserialize)]
struct Unchecked {
    input_mean: Vec<f64>,
    input_scale: Vec<f64>,
    #[serde(default)]
    input_fill: Vec<f64>,
    target_mean: f64,
    target_scale: f64,
    #[serde(default)]
    input_transforms: Vec<(usize, Transform)>,
    #[serde(default)]
    target_transform: Option<TargetTransform>,
}

impl TryFrom<Unchecked> for Standardizer {
    type Error = String;

    fn try_from(file: Unchecked) -> Result<Self, String> {
        let (means, scales) = (file.input_mean.len(), file.input_scale.len());
        if means != scales {
            return Err(format!(
                "{} of input_mean but {scales} of input_scale",
                counted(means, "value")
            ));
        }
        let (target_mean, target_scale) = (vec![file.target_mean], vec![file.target_scale]);
        let is_scale = |value: f64| value > 0.0 && value.is_finite();
        check("input_mean", &file.input_mean, "finite", f64::is_finite)?;
        check("input_fill", &file.input_fill, "finite", f64::is_finite)?;
        check("target_mean", &target_mean, "finite", f64::is_finite)?;
        check(
            "input_scale",
            &file.input_scale,
            "positive and finite",
            is_scale,
        )?;
        check(
            "target_scale",
            &target_scale,
            "positive and finite",
            is_scale,
        )?;
        check_transforms(&file)?;
        Ok(Self {
            input_transforms: file.input_transforms,
            target_transform: file.target_transform,
            input_mean: file.input_mean,
            input_scale: file.input_scale,
            input_fill: file.input_fill,
            target_mean: file.target_mean,
            target_scale: file.target_scale,
        })
    }
}

/// Checks the transformations.
fn check_transforms(file: &Unchecked) -> Result<(), String> {
    let columns = file.input_mean.len();
    let target = file.target_transform.as_ref();
    let each = file.input_transforms.iter().map(|(_, transform)| transform);
    let all = each.chain(target.map(|target| &target.transform));
    if let Some(found) = all.into_iter().find(|transform| !transform.is_possible()) {
        return Err(format!("impossible numbers of the transformation {found}"));
    }
    if let Some((column, _)) = file
        .input_transforms
        .iter()
        .find(|(column, _)| *column >= columns)
    {
        return Err(format!(
            "a transformation of input {column}, but there are {columns}"
        ));
    }
    match target {
        Some(own)
            if !(own.data_mean.is_finite()
                && own.data_scale > 0.0
                && own.data_scale.is_finite()) =>
        {
            Err("data_mean must be finite, and data_scale positive and finite".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks that all values of a field are valid.
fn check(
    name: &str,
    values: &[f64],
    expected: &str,
    is_possible: impl Fn(f64) -> bool,
) -> Result<(), String> {
    match values.iter().find(|&&value| !is_possible(value)) {
        Some(value) => Err(format!("{name} has {value}; expected {expected} numbers")),
        None => Ok(()),
    }
}

impl Standardizer {
    /// Computes the statistics of the rows `train` of `data`.
    ///
    /// # Panics
    /// When `train` is empty or contains a row that is not in `data`.
    pub fn fit(data: &Dataset, train: &[usize]) -> Self {
        let mut fitted = Self::fit_inputs(data, train);
        let targets = train.iter().map(|&row| data.targets[row]);
        (fitted.target_mean, fitted.target_scale) = mean_and_scale(targets.clone());
        if is_constant(targets) {
            fitted.target_scale = unit_of_constant(fitted.target_mean);
        }
        fitted
    }

    /// Whether targets are transformed.
    pub fn scales_targets(&self) -> bool {
        (self.target_mean, self.target_scale) != (0.0, 1.0) || self.target_transform.is_some()
    }

    /// Like [`fit`](Self::fit), but does not transform the target, as required for class labels.
    ///
    /// # Panics
    /// When `train` is empty or contains a row that is not in `data`.
    pub fn fit_inputs(data: &Dataset, train: &[usize]) -> Self {
        assert!(
            !train.is_empty(),
            "a standardizer needs at least one training row"
        );
        let scales = data.schema.input_scales();
        let (input_mean, input_scale): (Vec<f64>, Vec<f64>) = (scales.iter().enumerate())
            .map(|(column, scale)| {
                let (mean, deviation) = mean_and_scale(values(data, train, column));
                match scale {
                    InputScale::Deviation | InputScale::OfPlace => (mean, deviation),
                    InputScale::Fixed(scale) => (mean, *scale),
                }
            })
            .unzip();
        let is_constant = |column| is_constant(values(data, train, column));
        Self {
            input_mean,
            input_scale: with_scale_of_place(&scales, input_scale, is_constant, root_mean_square),
            input_fill: Vec::new(),
            target_mean: 0.0,
            target_scale: 1.0,
            input_transforms: Vec::new(),
            target_transform: None,
        }
    }

    /// Maps inputs to [−1, 1] by the range of the rows `train` instead. Inputs of other rows may
    /// lie outside. The inputs of a place are all divided by the longest half of their ranges.
    ///
    /// # Panics
    /// When `train` is empty or contains a row that is not in `data`.
    pub fn with_input_ranges(self, data: &Dataset, train: &[usize]) -> Self {
        let (input_mean, input_scale) = (0..data.columns())
            .map(|column| middle_and_half(values(data, train, column)))
            .unzip();
        let scales = data.schema.input_scales();
        let is_constant = |column| is_constant(values(data, train, column));
        Self {
            input_mean,
            input_scale: with_scale_of_place(&scales, input_scale, is_constant, largest),
            ..self
        }
    }

    /// Fills missing inputs with the medians of the rows `train` instead of their means.
    ///
    /// # Panics
    /// When `train` is empty or contains a row that is not in `data`.
    pub fn with_medians(self, data: &Dataset, train: &[usize]) -> Self {
        let medians = (0..data.columns()).map(|column| median(values(data, train, column)));
        Self {
            input_fill: medians.collect(),
            ..self
        }
    }

    /// Keeps a column whose values are codes of levels as it is.
    pub fn keep_codes(&mut self, column: usize) {
        self.input_mean[column] = 0.0;
        self.input_scale[column] = 1.0;
    }

    /// Keeps a known term of the function in the units of the function: those of the data, or those of standardized
    /// targets, from which the mean of the term is subtracted like that of the targets.
    pub fn keep_offset(&mut self, column: usize) {
        match self.scales_targets() {
            true => self.input_scale[column] = self.target_scale,
            false => self.keep_codes(column),
        }
    }

    /// Fills missing values of a column that tells categories apart with a number that is no level in any of the
    /// rows: a negative whole number, so that no code is equal either.
    pub fn fill_with_unknown_level(&mut self, data: &Dataset, column: usize) {
        if self.input_fill.is_empty() {
            self.input_fill.clone_from(&self.input_mean);
        }
        let known = data.inputs.column(column).filter(|value| !value.is_nan());
        self.input_fill[column] = known.fold(0.0, f64::min).floor() - 1.0;
    }

    /// The identity map for `columns` inputs and the target.
    pub fn identity(columns: usize) -> Self {
        Self {
            input_mean: vec![0.0; columns],
            input_scale: vec![1.0; columns],
            input_fill: Vec::new(),
            target_mean: 0.0,
            target_scale: 1.0,
            input_transforms: Vec::new(),
            target_transform: None,
        }
    }

    /// (x − mean) / scale for every input, transformed if it has a transformation, after missing inputs are filled.
    ///
    /// # Shapes
    /// `[N, D]` → `[N, D]`
    ///
    /// # Panics
    /// When D differs from the fitted data's.
    pub fn transform_inputs(&self, inputs: &Matrix) -> Matrix {
        let transformed = (!self.input_transforms.is_empty())
            .then(|| transformed_inputs(inputs, &self.input_transforms));
        let inputs = transformed.as_ref().unwrap_or(inputs);
        let mut standard = self.map_inputs(inputs, |value, mean, scale| (value - mean) / scale);
        if !inputs.values().iter().any(|value| value.is_nan()) {
            return standard;
        }
        for (column, (mean, scale)) in self.input_mean.iter().zip(&self.input_scale).enumerate() {
            let fill = self.input_fill.get(column).unwrap_or(mean);
            standard.fill_missing(column, (fill - mean) / scale);
        }
        standard
    }

    /// x · scale + mean for every input: undoes [`transform_inputs`](Self::transform_inputs).
    ///
    /// # Shapes
    /// `[N, D]` → `[N, D]`
    ///
    /// # Panics
    /// When D differs from the fitted data's.
    pub fn inverse_inputs(&self, inputs: &Matrix) -> Matrix {
        let original = self.map_inputs(inputs, |value, mean, scale| value * scale + mean);
        let (rows, columns) = (original.rows(), original.columns());
        let mut values = original.into_values();
        for &(column, ref transform) in &self.input_transforms {
            for value in values.iter_mut().skip(column).step_by(columns) {
                *value = transform.invert(*value);
            }
        }
        Matrix::new(rows, columns, values)
    }

    /// (y − mean) / scale for every target, transformed if there is a transformation.
    pub fn transform_targets(&self, targets: &[f64]) -> Vec<f64> {
        let own = self.target_transform.as_ref();
        let standard = |&value: &f64| {
            let value = own.map_or(value, |own| own.transform.apply(value));
            (value - self.target_mean) / self.target_scale
        };
        targets.iter().map(standard).collect()
    }

    /// y · scale + mean for every target, quantile or draw, with the transformation inverted. Without a
    /// transformation, also for predicted means.
    pub fn inverse_targets(&self, targets: &[f64]) -> Vec<f64> {
        let own = self.target_transform.as_ref();
        let original = |value: &f64| {
            let value = value * self.target_scale + self.target_mean;
            own.map_or(value, |own| own.transform.invert(value))
        };
        targets.iter().map(original).collect()
    }

    /// v / scale² for every variance in the units of the target.
    pub fn transform_variances(&self, variances: &[f64]) -> Vec<f64> {
        let square = self.target_scale * self.target_scale;
        variances.iter().map(|variance| variance / square).collect()
    }

    /// v · scale² for every variance in standardized units, without the transformation.
    pub fn inverse_variances(&self, variances: &[f64]) -> Vec<f64> {
        let square = self.target_scale * self.target_scale;
        variances.iter().map(|variance| variance * square).collect()
    }

    fn map_inputs(&self, inputs: &Matrix, map: impl Fn(f64, f64, f64) -> f64) -> Matrix {
        let columns = self.input_mean.len();
        assert_eq!(
            inputs.columns(),
            columns,
            "a standardizer of {columns} columns was given a {} x {} matrix",
            inputs.rows(),
            inputs.columns()
        );
        let mut values = Vec::with_capacity(inputs.values().len());
        for row in inputs.values().chunks_exact(columns) {
            let parameters = self.input_mean.iter().zip(&self.input_scale);
            let mapped = row.iter().zip(parameters);
            values.extend(mapped.map(|(&value, (&mean, &scale))| map(value, mean, scale)));
        }
        Matrix::new(inputs.rows(), columns, values)
    }
}

/// The scales of inputs, in which those of a place have one scale: what `together` makes of the scales of the
/// coordinates that vary, and of zero for the others. It is 1 if no coordinate varies.
pub(crate) fn with_scale_of_place(
    kinds: &[InputScale],
    mut scales: Vec<f64>,
    is_constant: impl Fn(usize) -> bool,
    together: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let is_of_place = |column: &usize| kinds[*column] == InputScale::OfPlace;
    let columns: Vec<usize> = (0..kinds.len()).filter(is_of_place).collect();
    let own = columns.iter().map(|&column| match is_constant(column) {
        true => 0.0,
        false => scales[column],
    });
    let own: Vec<f64> = own.collect();
    let shared = match own.iter().any(|&scale| scale > 0.0) {
        true => together(&own),
        false => 1.0,
    };
    for column in columns {
        scales[column] = shared;
    }
    scales
}

/// The root of the mean of the squares.
pub(crate) fn root_mean_square(values: &[f64]) -> f64 {
    let squares = values.iter().map(|value| value * value);
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}

/// The largest of positive numbers.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The values of a column in the rows `train` that have one.
fn values<'a>(
    data: &'a Dataset,
    train: &'a [usize],
    column: usize,
) -> impl Iterator<Item = f64> + Clone + 'a {
    let values = train.iter().map(move |&row| data.inputs.get(row, column));
    values.filter(|value| !value.is_nan())
}

/// The median of the values; 0 if there are none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => 0.5 * values[middle - 1] + 0.5 * values[middle],
    }
}

/// Variation below this fraction of the column's magnitude is rounding error.
const CONSTANT: f64 = 1e-12;

/// Mean and population standard deviation in two passes, with scale 1 for a constant column.
///
/// Deviations are squared relative to the largest one, so that neither 1e200 overflows nor 1e-200
/// underflows.
fn mean_and_scale(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    if count == 0.0 {
        return (0.0, 1.0);
    }
    let rough: f64 = values.clone().map(|value| value / count).sum();
    let mean = rough
        + values
            .clone()
            .map(|value| (value - rough) / count)
            .sum::<f64>();
    if is_constant(values.clone()) {
        return (mean, 1.0);
    }
    let largest = values
        .clone()
        .map(|value| (value - mean).abs())
        .fold(0.0, f64::max);
    let squares: f64 = values.map(|value| ((value - mean) / largest).powi(2)).sum();
    (mean, largest * (squares / count).sqrt())
}

/// The scale of constant targets.
pub(crate) fn unit_of_constant(target: f64) -> f64 {
    match target.abs() {
        size if size.is_normal() => size,
        _ => 1.0,
    }
}

/// The middle of the range of the values and half its length; the latter is 1 for a constant
/// column.
fn middle_and_half(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let middle = match low <= high {
        true => 0.5 * low + 0.5 * high,
        false => 0.0,
    };
    match is_constant(values) {
        true => (middle, 1.0),
        false => (middle, 0.5 * high - 0.5 * low),
    }
}

/// Whether all values are equal up to rounding.
pub(crate) fn is_constant(values: impl Iterator<Item = f64>) -> bool {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        low = low.min(value);
        high = high.max(value);
    }
    high - low <= CONSTANT * high.abs().max(low.abs())
}
