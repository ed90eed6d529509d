//! A register's worth of numbers, by value, so that the compiler keeps them in registers.
//!
//! Plain loops instead of closures: a closure is compiled without the vector instructions of the
//! function it ends up in.

use super::scalar::Scalar;

/// Numbers in one [`Lanes`]: one AVX-512 register of `f32`, two of `f64`.
pub const WIDTH: usize = 16;

/// [`WIDTH`] numbers treated alike.
#[derive(Clone, Copy)]
pub struct Lanes<T>(pub [T; WIDTH]);

impl<T: Scalar> Lanes<T> {
    /// The same number in every lane.
    #[inline(always)]
    pub fn splat(value: T) -> Self {
        Self([value; WIDTH])
    }

    /// The first numbers of a slice.
    #[inline(always)]
    pub fn load(values: &[T]) -> Self {
        let mut lanes = [T::default(); WIDTH];
        lanes.copy_from_slice(&values[..WIDTH]);
        Self(lanes)
    }

    /// The numbers of a slice that ends before the register does; zeros beyond.
    #[inline(always)]
    pub fn load_partial(values: &[T]) -> Self {
        if values.len() >= WIDTH {
            return Self::load(values);
        }
        let mut lanes = [T::default(); WIDTH];
        lanes[..values.len()].copy_from_slice(values);
        Self(lanes)
    }

    /// Writes to the first numbers of a slice.
    #[inline(always)]
    pub fn store(self, values: &mut [T]) {
        values[..WIDTH].copy_from_slice(&self.0);
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
}
