//! The temperature of class probabilities.

use serde::{Deserialize, Serialize};

/// The range of temperatures. If the model is right about every row, the likelihood has no maximum.
const LEAST: f64 = 0.05;
const MOST: f64 = 20.0;

/// The number of times that the search halves the range, up to the rounding of a temperature.
const HALVINGS: usize = 60;

/// How many rows the prior of a temperature counts for.
const PRIOR_ROWS: f64 = 2.0;

/// The least probability. In single precision, smaller ones are rounded to zero.
const LEAST_PROBABILITY: f64 = 1e-30;

/// A temperature T of class probabilities: `p_k^(1/T) / Σ_j p_j^(1/T)`. Above one, probabilities move toward each other;
/// the order of the classes stays
/// (Guo, Pleiss, Sun and Weinberger, *On calibration of modern neural networks*, 2017, section 4.2).
///
/// ```
/// use burn_gp_models::Temperature;
///
/// // A model that is certain, but right three times in four.
/// let probabilities = [0.99, 0.01].repeat(40);
/// let labels: Vec<f64> = (0..40).map(|row| f64::from(u8::from(row % 4 == 0))).collect();
/// let temperature = Temperature::fit(&probabilities, 2, &labels);
/// let calibrated = temperature.apply(&probabilities);
/// assert!((0.74..0.8).contains(&calibrated[0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Temperature {
    /// The number of rows that it was fitted on.
    pub rows: usize,
    /// The number of classes, C.
    pub classes: usize,
    /// T, positive.
    pub value: f64,
}

/// The contents of a [`Temperature`] in a file.
#[derive(Deserialize)]
struct Unchecked {
    rows: usize,
    classes: usize,
    value: f64,
}

impl TryFrom<Unchecked> for Temperature {
    type Error = String;

    fn try_from(file: Unchecked) -> Result<Self, String> {
        let Unchecked {
            rows,
            classes,
            value,
        } = file;
        match classes > 1 && value > 0.0 && value.is_finite() {
            true => Ok(Self {
                rows,
                classes,
                value,
            }),
            false => Err(format!(
                "the temperature is {value} for {classes} classes; expected a positive number and at least two classes"
            )),
        }
    }
}

impl Temperature {
    /// The temperature at which `Σ_n log p_n,label + 2·(log 1/T − 1/T)` is largest, for the labels of rows that the model
    /// has not seen. The second term is a gamma prior of 1/T with the mode 1, which counts like two rows: a model that is
    /// right about all of a few rows need not be right about others. The sum is concave in 1/T, so that it has one
    /// maximum. It is sought from 0.05 to 20.
    ///
    /// # Shapes
    ///
    /// - `probabilities`: `[N, C]`, row-major
    /// - `labels`: `[N]`, from 0 to C − 1
    ///
    /// # Panics
    ///
    /// If there are no rows, the numbers of probabilities and labels do not match, or a label is not a class.
    #[track_caller]
    pub fn fit(probabilities: &[f64], classes: usize, labels: &[f64]) -> Self {
        Self::with_prior(probabilities, classes, labels, PRIOR_ROWS)
    }

    /// The temperature with the highest likelihood `Σ_n log p_n,label` of the labels, from 0.05 to 20.
    ///
    /// # Shapes
    ///
    /// As [`fit`](Self::fit).
    ///
    /// # Panics
    ///
    /// As [`fit`](Self::fit).
    #[track_caller]
    pub fn of_highest_likelihood(probabilities: &[f64], classes: usize, labels: &[f64]) -> Self {
        Self::with_prior(probabilities, classes, labels, 0.0)
    }

    #[track_caller]
    fn with_prior(probabilities: &[f64], classes: usize, labels: &[f64], prior_rows: f64) -> Self {
        let rows = labels.len();
        assert!(
            rows > 0 && probabilities.len() == rows * classes,
            "{} probabilities of {classes} classes for {rows} labels",
            probabilities.len()
        );
        let logarithms: Vec<f64> = probabilities.iter().map(|&p| logarithm(p)).collect();
        // Σ_n [log p_label − Σ_k p_k(T)·log p_k] + r·(T − 1), the derivative with respect to 1/T, which decreases with it.
        let slope = |inverse: f64| -> f64 {
            let each = logarithms.chunks_exact(classes).zip(labels);
            each.map(|(own, &label)| {
                let weighted = powers(own, inverse);
                let mean: f64 = weighted.iter().zip(own).map(|(p, log)| p * log).sum();
                own[label as usize] - mean
            })
            .sum::<f64>()
                + prior_rows * (inverse.recip() - 1.0)
        };
        let (mut low, mut high) = (MOST.recip().ln(), LEAST.recip().ln());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match slope(middle.exp()) > 0.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        Self {
            rows,
            classes,
            value: (-0.5 * (low + high)).exp(),
        }
    }

    /// The probabilities at this temperature.
    ///
    /// # Shapes
    ///
    /// - `probabilities`, result: `[N, C]`, row-major
    ///
    /// # Panics
    ///
    /// If the number of probabilities is not a multiple of the number of classes.
    #[track_caller]
    pub fn apply(&self, probabilities: &[f64]) -> Vec<f64> {
        let classes = self.classes;
        assert!(
            probabilities.len().is_multiple_of(classes),
            "{} probabilities of {classes} classes",
            probabilities.len()
        );
        let rows = probabilities.chunks_exact(classes);
        rows.flat_map(|row| {
            let logarithms: Vec<f64> = row.iter().map(|&p| logarithm(p)).collect();
            powers(&logarithms, self.value.recip())
        })
        .collect()
    }
}

/// `log p`. NaN stays.
pub(super) fn logarithm(p: f64) -> f64 {
    match p < LEAST_PROBABILITY {
        true => LEAST_PROBABILITY.ln(),
        false => p.ln(),
    }
}

/// `p_k^a / Σ_j p_j^a` for the logarithms of probabilities.
fn powers(logarithms: &[f64], exponent: f64) -> Vec<f64> {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers = logarithms
        .iter()
        .map(|own| (exponent * (own - largest)).exp());
    let powers: Vec<f64> = powers.collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}
