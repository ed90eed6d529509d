//! What stands in the parentheses after a kernel's name.

use burn_gp::{kernels::KernelConfig, parameter::LOWER_BOUND};

use super::{KernelExpressionError, kernels::KernelName};

/// An option with its value.
#[derive(Clone, Debug)]
pub struct NumberOption {
    pub name: String,
    pub value: f64,
    /// The character that the option begins at.
    pub place: usize,
}

/// The largest count: a number of components, a width, an input.
const LARGEST_COUNT: f64 = 1e6;

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

    /// The value as a whole number from 1.
    pub fn count(&self) -> Result<usize, KernelExpressionError> {
        let whole = self.value.fract() == 0.0 && (1.0..=LARGEST_COUNT).contains(&self.value);
        self.require(whole, "a whole number from 1")?;
        Ok(self.value as usize)
    }
}

/// The kernels and options of one kernel.
pub struct Arguments {
    pub kernel: KernelName,
    pub place: usize,
    pub operands: Vec<KernelConfig>,
    options: Vec<NumberOption>,
}

impl Arguments {
    /// No arguments of a kernel at a place.
    pub fn new(kernel: KernelName, place: usize) -> Self {
        Self {
            kernel,
            place,
            operands: Vec::new(),
            options: Vec::new(),
        }
    }

    /// One more option.
    ///
    /// # Errors
    ///
    /// When the kernel has no such option.
    pub fn add_option(&mut self, option: NumberOption) -> Result<(), KernelExpressionError> {
        let known = self.kernel.options();
        if !known.contains(&option.name.as_str()) {
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

    /// The kernels, of which there must be exactly these many.
    ///
    /// # Errors
    ///
    /// When there are more or fewer.
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

    /// The last option of that name.
    fn option(&self, name: &str) -> Option<&NumberOption> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// The value of an option, or its default.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        self.option(name).map_or(default, |option| option.value)
    }

    /// The value of an option that is the first value of a positive parameter.
    ///
    /// # Errors
    ///
    /// When it is not positive.
    pub fn positive(&self, name: &str, default: f64) -> Result<f64, KernelExpressionError> {
        Ok(self.positive_if_given(name)?.unwrap_or(default))
    }

    /// The same, if the option is given.
    ///
    /// # Errors
    ///
    /// When it is not positive.
    pub fn positive_if_given(&self, name: &str) -> Result<Option<f64>, KernelExpressionError> {
        let Some(option) = self.option(name) else {
            return Ok(None);
        };
        option.require(option.value > LOWER_BOUND, "a number above 1e-6")?;
        Ok(Some(option.value))
    }

    /// The value of an option that counts something.
    ///
    /// # Errors
    ///
    /// When it is not a whole number from 1.
    pub fn count(&self, name: &str, default: usize) -> Result<usize, KernelExpressionError> {
        self.option(name).map_or(Ok(default), NumberOption::count)
    }

    /// The value of an option that is one of a few.
    ///
    /// # Errors
    ///
    /// When it is none of them.
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
