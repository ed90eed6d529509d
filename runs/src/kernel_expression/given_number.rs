//! The numbers that an expression gives to parameters, and their units.

/// A number that an expression gives to a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenNumber {
    /// The path of the parameter within the kernel, such as `first.lengthscale`. Options that are no
    /// parameters have one, too.
    pub path: String,
    /// The name of the option.
    pub option: String,
    /// The number.
    pub value: f64,
    /// Whether the number is in standardized units: it ends with `std`.
    pub is_standardized: bool,
    /// The character at which the option begins.
    pub place: usize,
}

impl GivenNumber {
    /// Puts the kernel of the number into a field of another.
    pub(super) fn within(&mut self, field: &str) {
        self.path = format!("{field}.{}", self.path);
    }
}
