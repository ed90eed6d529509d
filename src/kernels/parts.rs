//! The parts of a kernel, and the units of its parameters.

use super::KernelConfig;

/// A kernel that another one is built from.
#[derive(Clone, Copy, Debug)]
pub struct KernelPart<'a> {
    /// The name of the field.
    pub name: &'static str,
    /// The kernel.
    pub kernel: &'a KernelConfig,
    /// Its inputs.
    pub inputs: PartInputs<'a>,
    /// Whether its values are multiplied by those of another part or by a scale, so that its variance
    /// has no units.
    pub is_factor: bool,
}

impl<'a> KernelPart<'a> {
    /// A part on all inputs of the whole kernel.
    pub fn new(name: &'static str, kernel: &'a KernelConfig) -> Self {
        Self {
            name,
            kernel,
            inputs: PartInputs::All,
            is_factor: false,
        }
    }

    /// The part on other inputs.
    pub fn on(self, inputs: PartInputs<'a>) -> Self {
        Self { inputs, ..self }
    }

    /// The part as a factor.
    pub fn factor(self) -> Self {
        Self {
            is_factor: true,
            ..self
        }
    }

    /// The largest dimension that is missing if the inputs of the whole kernel have `dimensions`
    /// dimensions.
    pub(super) fn missing_dimension(self, dimensions: usize) -> Option<usize> {
        let is_missing = |&named: &usize| named >= dimensions;
        let own = match self.inputs {
            PartInputs::Only(named) => named.iter().copied().filter(is_missing).max(),
            PartInputs::One(named) | PartInputs::Except(named) => named.filter(is_missing),
            PartInputs::All | PartInputs::Halves | PartInputs::Mapped => None,
        };
        own.or_else(|| {
            self.kernel
                .missing_dimension(self.inputs.count(dimensions)?)
        })
    }

    /// Whether the kernel takes its number of inputs, if the whole kernel has `dimensions`.
    pub(super) fn check_inputs(self, dimensions: usize) -> Result<(), String> {
        let count = self.inputs.count(dimensions);
        count.map_or(Ok(()), |count| self.kernel.check_inputs(count))
    }
}

/// The inputs of a part of a kernel, or of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartInputs<'a> {
    /// All inputs of the whole kernel.
    All,
    /// Some of them, by their zero-based dimensions.
    Only(&'a [usize]),
    /// One of them, by its zero-based dimension; the last if absent.
    One(Option<usize>),
    /// All but [that one](Self::One).
    Except(Option<usize>),
    /// The first half of them, and the second half in the same way.
    Halves,
    /// Functions of the inputs, such as the outputs of a network.
    Mapped,
}

impl PartInputs<'_> {
    /// The number of these inputs, if the whole kernel has `dimensions`. `None` for functions of the inputs.
    fn count(self, dimensions: usize) -> Option<usize> {
        match self {
            Self::All => Some(dimensions),
            Self::Only(named) => Some(named.len()),
            Self::One(_) => Some(1),
            Self::Except(_) => Some(dimensions.saturating_sub(1)),
            Self::Halves => Some(dimensions / 2),
            Self::Mapped => None,
        }
    }

    /// The columns of a table that these inputs are, as [`columns`](Self::columns), and those that they also are.
    pub(super) fn all_columns(self, all: &[usize]) -> Vec<Vec<usize>> {
        let second = match self {
            Self::Halves => Some(all[all.len() / 2..].to_vec()),
            _ => None,
        };
        self.columns(all).into_iter().chain(second).collect()
    }

    /// The columns of a table that these inputs are, if the inputs of the whole kernel are its columns
    /// `all`; those of the first half for both halves. `None` if they are not columns of the table.
    pub fn columns(self, all: &[usize]) -> Option<Vec<usize>> {
        match self {
            Self::All => Some(all.to_vec()),
            Self::Only(dimensions) => {
                let dimensions = dimensions.iter();
                dimensions
                    .map(|&dimension| all.get(dimension).copied())
                    .collect()
            }
            Self::One(named) => {
                let named = named.unwrap_or(all.len().saturating_sub(1));
                Some(vec![*all.get(named)?])
            }
            Self::Except(named) => {
                let named = named.unwrap_or(all.len().saturating_sub(1));
                let others = all.iter().enumerate().filter(|(place, _)| *place != named);
                Some(others.map(|(_, &column)| column).collect())
            }
            Self::Halves => Some(all[..all.len() / 2].to_vec()),
            Self::Mapped => None,
        }
    }
}

/// A parameter of a kernel, with its units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter<'a> {
    /// The path in the kernel.
    pub path: String,
    /// The field of the configuration that holds the initial value.
    pub field: &'static str,
    /// The units.
    pub units: KernelUnits,
    /// The inputs of the values, if values belong to inputs.
    pub inputs: PartInputs<'a>,
    /// The group of each input, counted from zero, if inputs share values.
    pub groups: &'a [usize],
}

impl<'a> KernelParameter<'a> {
    /// A parameter of all inputs. It has the name of the field with its initial value.
    pub fn new(field: &'static str, units: KernelUnits) -> Self {
        Self {
            path: field.to_owned(),
            field,
            units,
            inputs: PartInputs::All,
            groups: &[],
        }
    }

    /// The parameter in the module at the path `module` within the kernel.
    pub fn of(self, module: impl core::fmt::Display) -> Self {
        Self {
            path: format!("{module}.{}", self.path),
            ..self
        }
    }

    /// The parameter with its initial value in another field.
    pub fn set_by(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    /// The parameter of some inputs.
    pub fn on(self, inputs: PartInputs<'a>) -> Self {
        Self { inputs, ..self }
    }

    /// The parameter with one value for each group of inputs.
    pub fn sharing(self, groups: &'a [usize]) -> Self {
        Self { groups, ..self }
    }
}

/// The units of a parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelUnits {
    /// Those of each input, for distances.
    Distance,
    /// Those of each input, for places: they move with the origin of the input.
    Place,
    /// The inverse units of each input.
    PerInput,
    /// The squared units of the function.
    Variance,
    /// The squared units of the function over the squared units of each input.
    SquaredSlope,
    /// No units.
    None,
}
