//! The values of parameters in an expression, and their units.

/// The value of a parameter in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenNumber {
    /// The path of the parameter within the kernel, such as `first.lengthscale`. Options that are not
    /// parameters also have a path.
    pub path: String,
    /// The name of the option.
    pub option: String,
    /// The value.
    pub value: f64,
    /// Whether the value is in standardized units, with the suffix `std`.
    pub is_standardized: bool,
    /// The character at which the option begins.
    pub place: usize,
}

impl GivenNumber {
    /// Adjusts the path after the kernel has become the `field` of another kernel.
    pub(super) fn within(&mut self, field: &str) {
        self.path = format!("{field}.{}", self.path);
    }
}
