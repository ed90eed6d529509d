//! The arguments in the parentheses after the name of a kernel.

use burn_gp_core::{kernels::KernelConfig, parameter::LOWER_BOUND};
use serde_json::{Map, Value, json};

use super::{KernelExpressionError, kernels::KernelName};

/// An option and its value.
#[derive(Clone, Debug)]
pub struct NumberOption {
    pub name: String,
    pub value: f64,
    /// Whether the value is in standardized units, as typed or after a conversion.
    pub is_standardized: bool,
    /// The position of the first character of the option.
    pub place: usize,
}

/// The largest input number, and the largest option that is passed on as an integer.
const LARGEST_COUNT: f64 = 1e6;

/// The largest size, such as a number of components or units, which each take memory.
const LARGEST_SIZE: f64 = 500.0;

impl NumberOption {
    fn require(&self, holds: bool, expected: &'static str) -> Result<(), KernelExpressionError> {
        if holds {
            return Ok(());
        }
        Err(KernelExpressionError::Value {
            place: self.place,
            option: self.name.clone(),
            value: self.value,
            expected,
        })
    }

    /// The value as a positive integer.
    pub fn count(&self) -> Result<usize, KernelExpressionError> {
        let whole = self.value.fract() == 0.0 && (1.0..=LARGEST_COUNT).contains(&self.value);
        self.require(whole, "a positive whole number")?;
        Ok(self.value as usize)
    }

    /// The value as a size.
    fn size(&self) -> Result<usize, KernelExpressionError> {
        let is_small = self.value <= LARGEST_SIZE;
        self.require(is_small, "a whole number from 1 to 500")?;
        self.count()
    }
}

/// The kernels and options in the parentheses of a kernel.
pub struct Arguments {
    pub kernel: KernelName,
    pub place: usize,
    pub operands: Vec<KernelConfig>,
    pub options: Vec<NumberOption>,
}

impl Arguments {
    /// Creates empty arguments for the kernel at character `place`.
    pub fn new(kernel: KernelName, place: usize) -> Self {
        Self {
            kernel,
            place,
            operands: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Adds an option.
    ///
    /// # Errors
    ///
    /// If the kernel has no such option.
    pub fn add_option(&mut self, option: NumberOption) -> Result<(), KernelExpressionError> {
        if let Some(known) = self.kernel.options()
            && !known.contains(&option.name.as_str())
        {
            return Err(KernelExpressionError::UnknownOption {
                place: option.place,
                kernel: self.kernel.name(),
                option: option.name,
                known: known.join(", "),
            });
        }
        self.options.push(option);
        Ok(())
    }

    /// The kernels, of which there must be `COUNT`.
    ///
    /// # Errors
    ///
    /// If there are more or fewer.
    pub fn operands<const COUNT: usize>(
        &self,
    ) -> Result<[Box<KernelConfig>; COUNT], KernelExpressionError> {
        let operands: Vec<_> = self.operands.iter().cloned().map(Box::new).collect();
        let found = operands.len();
        operands
            .try_into()
            .map_err(|_| KernelExpressionError::Operands {
                place: self.place,
                kernel: self.kernel.name(),
                expected: match COUNT {
                    0 => "no kernels",
                    1 => "one kernel",
                    _ => "two kernels",
                },
                found,
            })
    }

    /// The options as fields of a configuration. Whole numbers become integers, which suit fields of any
    /// numeric type.
    pub fn fields(&self) -> Map<String, Value> {
        let options = self.options.iter();
        let fields = options.map(|NumberOption { name, value, .. }| {
            let whole = value.fract() == 0.0 && value.abs() <= LARGEST_COUNT;
            let value = if whole {
                json!(*value as i64)
            } else {
                json!(value)
            };
            (name.replace('-', "_"), value)
        });
        fields.collect()
    }

    /// The last option with this name.
    fn option(&self, name: &str) -> Option<&NumberOption> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// The value of an option, or its default.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        self.option(name).map_or(default, |option| option.value)
    }

    /// The value of an option for the initial value of a positive parameter.
    ///
    /// # Errors
    ///
    /// If it is not positive.
    pub fn positive(&self, name: &str, default: f64) -> Result<f64, KernelExpressionError> {
        Ok(self.positive_if_given(name)?.unwrap_or(default))
    }

    /// The value of an option that must be positive; `None` if absent.
    ///
    /// # Errors
    ///
    /// If it is not positive.
    pub fn positive_if_given(&self, name: &str) -> Result<Option<f64>, KernelExpressionError> {
        let Some(option) = self.option(name) else {
            return Ok(None);
        };
        match option.is_standardized {
            true => option.require(
                option.value > LOWER_BOUND,
                "a number above 1e-6 in standardized units",
            )?,
            false => option.require(option.value > 0.0, "a positive number")?,
        }
        Ok(Some(option.value))
    }

    /// The value of an option that is a count.
    ///
    /// # Errors
    ///
    /// If it is not a positive integer.
    pub fn count(&self, name: &str, default: usize) -> Result<usize, KernelExpressionError> {
        self.option(name).map_or(Ok(default), NumberOption::count)
    }

    /// The value of an option that is a size.
    ///
    /// # Errors
    ///
    /// If it is not a positive integer, or too large.
    pub fn size(&self, name: &str, default: usize) -> Result<usize, KernelExpressionError> {
        self.option(name).map_or(Ok(default), NumberOption::size)
    }

    /// The value of an option with a few allowed values.
    ///
    /// # Errors
    ///
    /// If the value is not allowed.
    pub fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(f64, T)],
        default: T,
        expected: &'static str,
    ) -> Result<T, KernelExpressionError> {
        let Some(option) = self.option(name) else {
            return Ok(default);
        };
        let found = choices.iter().find(|(value, _)| *value == option.value);
        option.require(found.is_some(), expected)?;
        Ok(found.map_or(default, |(_, choice)| *choice))
    }
}
