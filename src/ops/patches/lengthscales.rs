//! The lengthscales of patches, one per dimension or one for all, and their gradients.

use crate::ops::cpu::Scalar;

/// The reciprocal of the lengthscale of each dimension.
pub fn inverse<T: Scalar>(lengthscales: &[T], dimensions: usize) -> Vec<T> {
    let inverse = |d: usize| T::from_f64(1.0) / lengthscales[d.min(lengthscales.len() - 1)];
    (0..dimensions).map(inverse).collect()
}

/// `Σ w·(a_d − b_d)²` over all pairs, per dimension or for all dimensions together.
pub enum Squares {
    /// One per dimension.
    Separate(Vec<f64>),
    /// `Σ w·r²`
    Shared(f64),
}

impl Squares {
    /// Zeros, one per lengthscale.
    pub fn new(lengthscales: usize) -> Self {
        if lengthscales > 1 {
            Self::Separate(vec![0.0; lengthscales])
        } else {
            Self::Shared(0.0)
        }
    }

    /// Whether there is one sum per dimension.
    pub fn are_separate(&self) -> bool {
        matches!(self, Self::Separate(_))
    }

    /// Adds `Σ w·r²` of some pairs to a shared sum. The sums of separate dimensions come from
    /// products instead.
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

    /// Adds the sums of another part.
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
