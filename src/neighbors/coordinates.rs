//! Tables of coordinates.

/// The largest magnitude of a coordinate. Squared distances between such points, sums of them and centroids are
/// finite.
const LARGEST: f64 = 1e150;

/// The coordinates of points, `[N, D]`: finite numbers of any unit.
///
/// Distances are Euclidean. To search in the metric of a kernel, divide the inputs by its lengthscales.
///
/// ```
/// use burn_gp_core::neighbors::Coordinates;
///
/// let places = Coordinates::new(vec![0.0, 0.5, 2.0, 1.5, 4.0, 2.5], 2)?;
/// assert_eq!(places.rows(), 3);
/// assert_eq!(places.row(1), [2.0, 1.5]);
/// assert!(Coordinates::new(vec![0.0, f64::NAN], 2).is_err());
/// # Ok::<(), burn_gp_core::neighbors::CoordinateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// Row-major.
    values: Vec<f64>,
    dimensions: usize,
}

/// A coordinate that has no place: NaN, infinite, or beyond ±10¹⁵⁰, where squared distances overflow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("coordinate {value} in row {row}, column {column} is not a finite number of at most 1e150")]
pub struct CoordinateError {
    /// The zero-based row.
    pub row: usize,
    /// The zero-based column.
    pub column: usize,
    /// The value found.
    pub value: f64,
}

impl Coordinates {
    /// Checks coordinates.
    ///
    /// # Shapes
    ///
    /// - `values`: `[N, D]`, row-major; `dimensions`: D
    ///
    /// # Errors
    ///
    /// [`CoordinateError`] for the first coordinate that is not finite, or beyond ±10¹⁵⁰.
    ///
    /// # Panics
    ///
    /// If there are no dimensions, the values do not fill rows of D numbers, or there are 2³² − 1 rows or more.
    pub fn new(values: Vec<f64>, dimensions: usize) -> Result<Self, CoordinateError> {
        assert!(
            dimensions > 0 && values.len().is_multiple_of(dimensions),
            "coordinates of {dimensions} dimensions cannot be made of {} numbers",
            values.len()
        );
        assert_rows(values.len() / dimensions);
        let is_valid = |value: &f64| value.abs() <= LARGEST;
        if let Some(index) = values.iter().position(|value| !is_valid(value)) {
            return Err(CoordinateError {
                row: index / dimensions,
                column: index % dimensions,
                value: values[index],
            });
        }
        Ok(Self::of_finite(values, dimensions))
    }

    /// Coordinates that need no check.
    pub(super) fn of_finite(mut values: Vec<f64>, dimensions: usize) -> Self {
        // Adding zero turns −0 into +0, so that equal points have equal bits.
        values.iter_mut().for_each(|value| *value += 0.0);
        Self { values, dimensions }
    }

    /// The number of points, N.
    pub fn rows(&self) -> usize {
        self.values.len() / self.dimensions
    }

    /// The number of dimensions, D.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// All coordinates, row-major: `[N, D]`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The coordinates of one point: D.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimensions..][..self.dimensions]
    }

    /// The points in the order of a list of rows, for example the result of [`Ordering::rows`](super::Ordering::rows).
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn select(&self, rows: &[usize]) -> Self {
        assert_rows(rows.len());
        let mut values = Vec::with_capacity(rows.len() * self.dimensions);
        for &row in rows {
            values.extend_from_slice(self.row(row));
        }
        Self {
            values,
            dimensions: self.dimensions,
        }
    }

    /// These points, then others: observed rows, then targets, for joint predictions.
    ///
    /// # Panics
    ///
    /// If the others have another number of dimensions, or there are 2³² − 1 rows or more.
    pub fn followed_by(&self, others: &Self) -> Self {
        assert_eq!(
            self.dimensions,
            others.dimensions,
            "[{}, {}] coordinates cannot be followed by [{}, {}]",
            self.rows(),
            self.dimensions,
            others.rows(),
            others.dimensions
        );
        assert_rows(self.rows() + others.rows());
        Self {
            values: [self.values.as_slice(), &others.values].concat(),
            dimensions: self.dimensions,
        }
    }
}

/// Tables of neighbors store rows in 32 bits, and the largest number stands for none.
fn assert_rows(rows: usize) {
    assert!(
        rows < u32::MAX as usize,
        "{rows} rows of coordinates are more than can be numbered in 32 bits"
    );
}
