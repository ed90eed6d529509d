//! What a kernel's inputs look like while it is made.

/// The lengthscale given, or the first one of a kernel on inputs of `dimensions` dimensions: `√D`.
/// Two standardized inputs are about `√(2D)` apart. From a lengthscale of one they would be all but
/// independent in many dimensions, where the gradient hardly says which inputs matter.
pub(super) fn first_lengthscale(given: Option<f64>, dimensions: usize) -> f64 {
    given.unwrap_or((dimensions as f64).sqrt())
}

/// The inputs of a kernel: each dimension has `coordinates` columns, one block of columns after
/// the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub dimensions: usize,
    pub coordinates: usize,
}

impl Inputs {
    /// Inputs with a column for each dimension.
    #[track_caller]
    pub fn new(dimensions: usize) -> Self {
        assert!(dimensions > 0, "a kernel on inputs of no dimensions");
        Self {
            dimensions,
            coordinates: 1,
        }
    }

    /// Their columns.
    pub fn columns(self) -> usize {
        self.dimensions * self.coordinates
    }

    /// A value for each dimension, or one for all.
    pub fn values(self, ard: bool, value: f64) -> Vec<f64> {
        vec![value; if ard { self.dimensions } else { 1 }]
    }

    /// Fails if one of the dimensions does not exist.
    #[track_caller]
    pub fn require(self, dimensions: &[usize]) {
        assert!(
            dimensions
                .iter()
                .all(|&dimension| dimension < self.dimensions),
            "active dimensions {dimensions:?} of inputs with {} dimensions",
            self.dimensions
        );
    }

    /// Some of the dimensions, and all their columns.
    #[track_caller]
    pub fn restricted(self, dimensions: &[usize]) -> (Self, Vec<usize>) {
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

    /// Two coordinates, sine and cosine, for each one.
    pub fn on_circles(self) -> Self {
        Self {
            coordinates: 2 * self.coordinates,
            ..self
        }
    }
}
