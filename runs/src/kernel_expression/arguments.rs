//! The arguments in the parentheses after the name of a kernel.

use burn_gp_core::{kernels::KernelConfig, parameter::LOWER_BOUND};

use super::{KernelExpressionError, kernels::KernelName, options::KernelOption};

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
    ///
    /// # Errors
    ///
    /// If it is not one, or too large.
    pub fn count(&self) -> Result<usize, KernelExpressionError> {
        let whole = self.value.fract() == 0.0 && (1.0..=LARGEST_COUNT).contains(&self.value);
        self.require(whole, "a positive whole number")?;
        Ok(self.value as usize)
    }

    /// The value as a size.
    ///
    /// # Errors
    ///
    /// If it is not a positive integer, or too large.
    pub fn size(&self) -> Result<usize, KernelExpressionError> {
        let is_small = self.value <= LARGEST_SIZE;
        self.require(is_small, "a whole number from 1 to 500")?;
        self.count()
    }

    /// The value as an integer.
    ///
    /// # Errors
    ///
    /// If it is not one, or too large.
    pub fn whole(&self) -> Result<i64, KernelExpressionError> {
        let whole = self.value.fract() == 0.0 && self.value.abs() <= LARGEST_COUNT;
        self.require(whole, "a whole number")?;
        Ok(self.value as i64)
    }

    /// The value as the initial value of a positive parameter.
    ///
    /// # Errors
    ///
    /// If it is not positive.
    pub fn positive(&self) -> Result<f64, KernelExpressionError> {
        match self.is_standardized {
            true => self.require(
                self.value > LOWER_BOUND,
                "a number above 1e-6 in standardized units",
            )?,
            false => self.require(self.value > 0.0, "a positive number")?,
        }
        Ok(self.value)
    }

    /// The value as one of `count` choices, counted from zero.
    ///
    /// # Errors
    ///
    /// If there is no such choice.
    pub fn choice(
        &self,
        count: usize,
        expected: &'static str,
    ) -> Result<usize, KernelExpressionError> {
        let found = (0..count).find(|&choice| choice as f64 == self.value);
        self.require(found.is_some(), expected)?;
        Ok(found.unwrap_or(0))
    }
}

/// The kernels and options in the parentheses of a kernel.
pub struct Arguments {
    /// The kernel.
    pub kernel: KernelName,
    /// The character at which the kernel begins.
    pub place: usize,
    /// The kernels.
    pub operands: Vec<KernelConfig>,
    /// The options as typed, and what they stand for.
    pub options: Vec<(NumberOption, KernelOption)>,
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
        let known = self.kernel.options();
        let Some((_, kind)) = known.iter().find(|(name, _)| *name == option.name) else {
            let known: Vec<_> = known.into_iter().map(|(name, _)| name).collect();
            return Err(KernelExpressionError::UnknownOption {
                place: option.place,
                kernel: self.kernel.name,
                option: option.name,
                known: known.join(", "),
            });
        };
        self.options.push((option, *kind));
        Ok(())
    }

    /// The kernels, of which there must be `count`.
    ///
    /// # Errors
    ///
    /// If there are more or fewer.
    pub fn operands(&self, count: usize) -> Result<&[KernelConfig], KernelExpressionError> {
        if self.operands.len() == count {
            return Ok(&self.operands);
        }
        Err(KernelExpressionError::Operands {
            place: self.place,
            kernel: self.kernel.name,
            expected: match count {
                0 => "no kernels".to_owned(),
                1 => "one kernel".to_owned(),
                2 => "two kernels".to_owned(),
                more => format!("{more} kernels"),
            },
            found: self.operands.len(),
        })
    }
}
