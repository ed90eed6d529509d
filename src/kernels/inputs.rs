//! The layout of kernel inputs, used while building kernels.

use crate::parameter::Positive;

/// The given lengthscale, or the default for inputs of `dimensions` dimensions: `√D`. Two
/// standardized inputs are about `√(2D)` apart. With a lengthscale of one they would be almost
/// independent in many dimensions, and the gradient would hardly show which inputs matter.
pub(super) fn first_lengthscale(given: Option<f64>, dimensions: usize) -> f64 {
    given.unwrap_or((dimensions as f64).sqrt())
}

/// The parameters of input dimensions: one for each, one for all, or one for each group.
pub(super) struct Groups<'a> {
    parameters: usize,
    groups: &'a [usize],
}

impl<'a> Groups<'a> {
    /// Panics if there are groups but not one for each dimension.
    #[track_caller]
    pub fn new(ard: bool, groups: &'a [usize], dimensions: usize) -> Self {
        assert!(
            !ard || groups.is_empty() || groups.len() == dimensions,
            "a kernel has groups for {} dimensions, but its inputs have {dimensions}",
            groups.len()
        );
        let (parameters, groups) = match (ard, groups.iter().max()) {
            (false, _) => (1, &groups[..0]),
            (true, None) => (dimensions, groups),
            (true, Some(largest)) => (largest + 1, groups),
        };
        Self { parameters, groups }
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Expands the parameters to one value per dimension.
    #[track_caller]
    pub fn share(&self, parameters: Positive) -> Positive {
        match self.groups.is_empty() {
            true => parameters,
            false => parameters.grouped(self.groups),
        }
    }
}

/// The groups of some dimensions, renumbered from zero.
pub(super) fn groups_of(groups: &[usize], dimensions: &[usize]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let place = |&dimension: &usize| {
        let group = groups[dimension];
        let known = found.iter().position(|&own| own == group);
        known.unwrap_or_else(|| {
            found.push(group);
            found.len() - 1
        })
    };
    dimensions.iter().map(place).collect()
}

/// The inputs of a kernel. Each dimension has `coordinates` columns, arranged as consecutive blocks
/// of one column per dimension.
#[derive(Clone, Copy, Debug)]
pub struct KernelInputs {
    /// The number of dimensions, D.
    pub dimensions: usize,
    /// The number of columns of each dimension: one, or more in kernels on functions of the inputs,
    /// such as the sine and the cosine in periodic kernels.
    pub coordinates: usize,
}

impl KernelInputs {
    /// Inputs with one column per dimension.
    ///
    /// # Panics
    ///
    /// If there are no dimensions.
    #[track_caller]
    pub fn new(dimensions: usize) -> Self {
        assert!(
            dimensions > 0,
            "a kernel needs inputs with at least one dimension"
        );
        Self {
            dimensions,
            coordinates: 1,
        }
    }

    /// The number of columns.
    pub fn columns(self) -> usize {
        self.dimensions * self.coordinates
    }

    /// One value per dimension, or a single value for all.
    pub(super) fn values(self, ard: bool, value: f64) -> Vec<f64> {
        vec![value; if ard { self.dimensions } else { 1 }]
    }

    /// Panics if one of the dimensions does not exist.
    #[track_caller]
    pub(super) fn require(self, dimensions: &[usize]) {
        assert!(
            dimensions
                .iter()
                .all(|&dimension| dimension < self.dimensions),
            "active dimensions {dimensions:?}, counted from zero, exceed the {} dimensions of the inputs",
            self.dimensions
        );
    }

    /// A subset of the dimensions, with the indices of its columns.
    #[track_caller]
    pub(super) fn restricted(self, dimensions: &[usize]) -> (Self, Vec<usize>) {
        self.require(dimensions);
        let active = Self {
            dimensions: dimensions.len(),
            ..self
        };
        let blocks = 0..self.coordinates;
        let columns = blocks.flat_map(|block| {
            (dimensions.iter()).map(move |dimension| block * self.dimensions + dimension)
        });
        (active, columns.collect())
    }

    /// Replaces every coordinate by two, its sine and cosine.
    pub(super) fn on_circles(self) -> Self {
        Self {
            coordinates: 2 * self.coordinates,
            ..self
        }
    }
}
