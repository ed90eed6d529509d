//! Seeded generators of noisy functions, with any number of rows.

use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::{DataError, SetError};
use crate::names::nearest;
use crate::raw_table::RawTable;

/// A function to observe with noise. Inputs are uniform on its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyntheticFunction {
    /// sin(2x) + 0.6 sin(3.5x + 1) on \[0, 6\]: a smooth curve on the domain of the 1-D example of
    /// Snelson and Ghahramani, "Sparse Gaussian Processes using Pseudo-inputs" (2005).
    Sines,
    /// −1 for x < 0, else 1, on \[−1, 1\].
    Step,
    /// sin(x) / x on \[−10, 10\].
    Sinc,
    /// Levels 0.3, 0.9, −0.6 and 0 with smooth jumps at −0.6, 0 and 0.4, and 0.01 sin(50 sin(10x)),
    /// on \[−1, 1\]: the function of section 4.1 of arXiv:2505.18526.
    Levels,
    /// 10 sin(π x₁x₂) + 20 (x₃ − ½)² + 10 x₄ + 5 x₅ on \[0, 1\]ᴰ, D ≥ 5, of Friedman,
    /// "Multivariate Adaptive Regression Splines" (1991); further inputs are irrelevant.
    Friedman,
}

/// The functions by name.
const FUNCTIONS: [(&str, SyntheticFunction); 5] = [
    ("sines", SyntheticFunction::Sines),
    ("step", SyntheticFunction::Step),
    ("sinc", SyntheticFunction::Sinc),
    ("levels", SyntheticFunction::Levels),
    ("friedman", SyntheticFunction::Friedman),
];

impl SyntheticFunction {
    /// The name of the function in `synthetic:NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sines => "sines",
            Self::Step => "step",
            Self::Sinc => "sinc",
            Self::Levels => "levels",
            Self::Friedman => "friedman",
        }
    }

    /// The noise-free function at one input, `[D]`.
    ///
    /// # Panics
    /// When `input` is shorter than the function requires: 1, or 5 for Friedman's function.
    pub fn evaluate(self, input: &[f64]) -> f64 {
        match self {
            Self::Sines => (2.0 * input[0]).sin() + 0.6 * (3.5 * input[0] + 1.0).sin(),
            Self::Step => {
                if input[0] < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
            Self::Sinc => {
                if input[0] == 0.0 {
                    1.0
                } else {
                    input[0].sin() / input[0]
                }
            }
            Self::Levels => levels(input[0]),
            Self::Friedman => {
                10.0 * (PI * input[0] * input[1]).sin()
                    + 20.0 * (input[2] - 0.5).powi(2)
                    + 10.0 * input[3]
                    + 5.0 * input[4]
            }
        }
    }

    /// The bounds of the domain, the same for every input.
    fn domain(self) -> (f64, f64) {
        match self {
            Self::Sines => (0.0, 6.0),
            Self::Step | Self::Levels => (-1.0, 1.0),
            Self::Sinc => (-10.0, 10.0),
            Self::Friedman => (0.0, 1.0),
        }
    }
}

fn levels(x: f64) -> f64 {
    let rise = |jump: f64| 1.0 / (1.0 + (-200.0 * (x - jump)).exp());
    let [first, second, third] = [-0.6, 0.0, 0.4].map(rise);
    0.3 * (1.0 - first) + 0.9 * (first - second) - 0.6 * (second - third)
        + 0.01 * (50.0 * (10.0 * x).sin()).sin()
}

/// A synthetic set, written `synthetic:NAME?n=ROWS&noise=SD&seed=SEED`.
///
/// NAME is `sines`, `step`, `sinc`, `levels` or `friedman`. Every parameter is optional (`n=200`,
/// `noise=0.1`, `seed=0`), and `friedman` also takes `d` (10). The noise is Gaussian with constant
/// standard deviation. Equal texts give equal numbers, and a larger `n` continues the rows of a
/// smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Synthetic {
    /// The observed function.
    pub function: SyntheticFunction,
    /// The number of rows, at least 2.
    pub rows: usize,
    /// The number of inputs.
    pub columns: usize,
    /// The standard deviation of the noise.
    pub noise: f64,
    /// The seed for inputs and noise.
    pub seed: u64,
}

/// The maximum number of values of a set, which take two gigabytes.
const MOST_VALUES: usize = 1 << 28;

/// The prefix of the text of a synthetic set.
pub(crate) const PREFIX: &str = "synthetic:";

impl FromStr for Synthetic {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let refuse = |reason: String| {
            DataError::Set(SetError::Synthetic {
                text: text.to_owned(),
                reason,
            })
        };
        let body = text.strip_prefix(PREFIX).unwrap_or(text);
        let (name, parameters) = body.split_once('?').unwrap_or((body, ""));
        let function = function(name).map_err(refuse)?;
        let mut synthetic = Self {
            function,
            rows: 200,
            columns: match function {
                SyntheticFunction::Friedman => 10,
                _ => 1,
            },
            noise: 0.1,
            seed: 0,
        };
        let mut seen = Vec::new();
        for parameter in parameters.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = parameter
                .split_once('=')
                .ok_or_else(|| refuse(format!("{parameter:?} is not of the form key=value")))?;
            if seen.contains(&key) {
                return Err(refuse(format!("{key} is given twice")));
            }
            seen.push(key);
            synthetic.set(key, value).map_err(refuse)?;
        }
        Ok(synthetic)
    }
}

fn function(name: &str) -> Result<SyntheticFunction, String> {
    let names = || FUNCTIONS.iter().map(|(name, _)| *name);
    match FUNCTIONS.iter().find(|(known, _)| *known == name) {
        Some((_, function)) => Ok(*function),
        None => Err(match nearest(name, names()) {
            Some(near) => format!("there is no function {name:?}, did you mean {near:?}"),
            None => format!(
                "there is no function {name:?}, only {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        }),
    }
}

impl Synthetic {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "n" => {
                let rows = value.parse().ok().filter(|&rows| rows >= 2);
                self.rows = rows.ok_or(format!("n={value} is not a whole number of at least 2"))?;
            }
            "noise" => {
                let noise = value.parse().ok();
                self.noise = noise
                    .filter(|noise: &f64| noise.is_finite() && *noise >= 0.0)
                    .ok_or(format!("noise={value} is not a number of at least 0"))?;
            }
            "seed" => {
                let seed = value.parse().ok();
                self.seed = seed.ok_or(format!("seed={value} is not a whole number"))?;
            }
            "d" if self.function == SyntheticFunction::Friedman => {
                let columns = value.parse().ok().filter(|&columns| columns >= 5);
                self.columns =
                    columns.ok_or(format!("d={value} is not a whole number of at least 5"))?;
            }
            _ => {
                let keys = match self.function {
                    SyntheticFunction::Friedman => "n, noise, seed, d",
                    _ => "n, noise, seed",
                };
                return Err(format!("{key:?} is not one of {keys}"));
            }
        }
        Ok(())
    }

    /// Draws the rows: inputs uniform on the domain, targets equal to the function plus noise.
    ///
    /// # Shapes
    /// `[N, D + 1]`, row-major, the target last.
    ///
    /// # Errors
    /// [`SetError::SyntheticSize`] when the set exceeds the limit or the memory of the machine.
    fn draw(&self) -> Result<Vec<f64>, DataError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let (low, high) = self.function.domain();
        let mut values = Vec::new();
        let size = (self.rows).saturating_mul(self.columns.saturating_add(1));
        if size > MOST_VALUES || values.try_reserve_exact(size).is_err() {
            return Err(DataError::Set(SetError::SyntheticSize {
                name: self.to_string(),
                rows: self.rows,
                columns: self.columns,
            }));
        }
        for _ in 0..self.rows {
            let start = values.len();
            for _ in 0..self.columns {
                let unit: f64 = random.random();
                values.push(low + (high - low) * unit);
            }
            let noise: f64 = StandardNormal.sample(&mut random);
            let target = self.function.evaluate(&values[start..]) + self.noise * noise;
            values.push(target);
        }
        Ok(values)
    }

    /// Generates the set.
    pub(crate) fn read(&self) -> Result<RawTable, DataError> {
        let values = self.draw()?;
        let mut names: Vec<String> = match self.columns {
            1 => vec!["x".into()],
            columns => (1..=columns).map(|input| format!("x{input}")).collect(),
        };
        names.push("y".into());
        let rows = values.chunks_exact(names.len());
        let rows = rows.map(|row| row.iter().copied());
        Ok(RawTable::of_numbers(&self.to_string(), names, rows))
    }
}

impl fmt::Display for Synthetic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{PREFIX}{}?n={}&noise={}&seed={}",
            self.function.name(),
            self.rows,
            self.noise,
            self.seed
        )?;
        match self.function {
            SyntheticFunction::Friedman => write!(formatter, "&d={}", self.columns),
            _ => Ok(()),
        }
    }
}
