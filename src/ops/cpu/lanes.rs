//! A register of values. It is passed by value, which lets the compiler keep it in registers.
//!
//! The functions use plain loops instead of closures: a closure is compiled without the vector
//! instructions of the function that it is inlined into.

use super::scalar::Scalar;

/// Values in one [`Lanes`]: one AVX-512 register of `f32`, two of `f64`.
pub const WIDTH: usize = 16;

/// [`WIDTH`] values processed together, aligned like registers.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Lanes<T>(pub [T; WIDTH]);

impl<T: Scalar> Lanes<T> {
    /// The same value in every lane.
    #[inline(always)]
    pub fn splat(value: T) -> Self {
        Self([value; WIDTH])
    }

    /// Loads the first values of a slice.
    #[inline(always)]
    pub fn load(values: &[T]) -> Self {
        let mut lanes = [T::default(); WIDTH];
        lanes.copy_from_slice(&values[..WIDTH]);
        Self(lanes)
    }

    /// Loads a slice that may be shorter than a register, padded with zeros.
    #[inline(always)]
    pub fn load_partial(values: &[T]) -> Self {
        if values.len() >= WIDTH {
            return Self::load(values);
        }
        let mut lanes = [T::default(); WIDTH];
        lanes[..values.len()].copy_from_slice(values);
        Self(lanes)
    }

    /// Writes to the first values of a slice.
    #[inline(always)]
    pub fn store(self, values: &mut [T]) {
        values[..WIDTH].copy_from_slice(&self.0);
    }

    /// Writes to a slice that may be shorter than a register.
    #[inline(always)]
    pub fn store_partial(self, values: &mut [T]) {
        match values.first_chunk_mut() {
            Some(whole) => *whole = self.0,
            None => values.copy_from_slice(&self.0[..values.len()]),
        }
    }

    /// `self + other`
    #[inline(always)]
    pub fn plus(mut self, other: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] += other.0[lane];
        }
        self
    }

    /// `self − other`
    #[inline(always)]
    pub fn minus(mut self, other: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] -= other.0[lane];
        }
        self
    }

    /// `self · other`
    #[inline(always)]
    pub fn times(mut self, other: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] *= other.0[lane];
        }
        self
    }

    /// `self · factor + addend`
    #[inline(always)]
    pub fn multiply_add<const FUSED: bool>(mut self, factor: Self, addend: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] = self.0[lane].multiply_add::<FUSED>(factor.0[lane], addend.0[lane]);
        }
        self
    }

    /// The sum of the lanes, in double precision.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        self.0.iter().map(|value| value.to_f64()).sum()
    }

    /// The sum of the lanes by pairwise halving.
    #[inline(always)]
    pub fn total(mut self) -> T {
        let mut half = WIDTH / 2;
        while half > 0 {
            for lane in 0..half {
                let other = self.0[lane + half];
                self.0[lane] += other;
            }
            half /= 2;
        }
        self.0[0]
    }
}

/// `Σ a_i·b_i`
#[inline(always)]
pub fn dot<T: Scalar, const FUSED: bool>(left: &[T], right: &[T]) -> T {
    let mut sum = Lanes::splat(T::default());
    let (left, right) = (left.chunks(WIDTH), right.chunks(WIDTH));
    for (a, b) in left.zip(right) {
        sum = Lanes::load_partial(a).multiply_add::<FUSED>(Lanes::load_partial(b), sum);
    }
    sum.total()
}

/// `Σ a_i`
#[inline(always)]
pub fn sum<T: Scalar>(values: &[T]) -> T {
    let mut sum = Lanes::splat(T::default());
    for part in values.chunks(WIDTH) {
        sum = sum.plus(Lanes::load_partial(part));
    }
    sum.total()
}
