//! The lengthscales of patches, one a dimension or one for all, and their gradients.

use crate::ops::cpu::Scalar;

/// One over the lengthscale of each dimension.
pub fn inverse<T: Scalar>(lengthscales: &[T], dimensions: usize) -> Vec<T> {
    let inverse = |d: usize| T::from_f64(1.0) / lengthscales[d.min(lengthscales.len() - 1)];
    (0..dimensions).map(inverse).collect()
}

/// `Σ w·(a_d − b_d)²` over all pairs, for each dimension or for all together.
pub enum Squares {
    /// One a dimension.
    Separate(Vec<f64>),
    /// `Σ w·r²`
    Shared(f64),
}

impl Squares {
    /// Zeros, as many as there are lengthscales.
    pub fn new(lengthscales: usize) -> Self {
        if lengthscales > 1 {
            Self::Separate(vec![0.0; lengthscales])
        } else {
            Self::Shared(0.0)
        }
    }

    /// Whether each dimension has its own.
    pub fn are_separate(&self) -> bool {
        matches!(self, Self::Separate(_))
    }

    /// Adds `Σ w·r²` of some pairs, whose share in each dimension comes from products.
    pub fn add_shared(&mut self, square: f64) {
        if let Self::Shared(sum) = self {
            *sum += square;
        }
    }

    /// Adds to the sum of one dimension.
    pub fn add_separate(&mut self, dimension: usize, square: f64) {
        if let Self::Separate(sums) = self {
            sums[dimension] += square;
        }
    }

    /// Adds another part's sums.
    pub fn add(&mut self, other: &Self) {
        match other {
            Self::Separate(squares) => {
                let squares = squares.iter().enumerate();
                squares.for_each(|(d, &square)| self.add_separate(d, square));
            }
            Self::Shared(square) => self.add_shared(*square),
        }
    }

    /// The gradients of the lengthscales.
    pub fn gradients<T: Scalar>(&self, lengthscales: &[T]) -> Vec<T> {
        let squares = match self {
            Self::Separate(squares) => squares,
            Self::Shared(square) => core::slice::from_ref(square),
        };
        let pairs = squares.iter().zip(lengthscales);
        let gradient = |(&square, &l): (&f64, &T)| T::from_f64(-square / l.to_f64());
        pairs.map(gradient).collect()
    }
}
