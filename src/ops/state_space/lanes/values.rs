//! Small vectors and matrices of values, each of one series or of a series in every lane.

use std::borrow::Cow;

use crate::ops::cpu::{Lanes, Scalar, WIDTH};

/// A value of one series, or of a series in every lane.
pub trait Value: Copy + 'static {
    /// The number of series.
    const SERIES: usize;

    /// The values of members next to each other. If there are fewer than lanes, the others repeat the last one.
    fn interleaved<'a>(members: &[&'a [f64]]) -> Cow<'a, [Self]>;

    /// The values of each series.
    fn separated(values: Vec<Self>) -> Vec<Vec<f64>>;

    /// The values of all series.
    fn of(value: impl Fn(usize) -> f64) -> Self;

    /// The value of one series.
    fn lane(self, series: usize) -> f64;

    /// `self · other`
    fn times(self, other: Self) -> Self;

    /// `self · factor + addend`
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;

    /// Each value by a function.
    fn map(self, function: impl Fn(f64) -> f64) -> Self;

    /// The same value for every series.
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self::of(|_| value)
    }

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    #[inline(always)]
    fn negative(self) -> Self {
        self.map(|value| -value)
    }

    #[inline(always)]
    fn reciprocal(self) -> Self {
        self.map(f64::recip)
    }

    /// Whether something holds for every series.
    #[inline(always)]
    fn all(self, holds: impl Fn(f64) -> bool) -> bool {
        (0..Self::SERIES).all(|series| holds(self.lane(series)))
    }
}

impl Value for f64 {
    const SERIES: usize = 1;

    #[inline(always)]
    fn interleaved<'a>(members: &[&'a [f64]]) -> Cow<'a, [Self]> {
        Cow::Borrowed(members[0])
    }

    #[inline(always)]
    fn separated(values: Vec<Self>) -> Vec<Vec<f64>> {
        vec![values]
    }

    #[inline(always)]
    fn of(value: impl Fn(usize) -> f64) -> Self {
        value(0)
    }

    #[inline(always)]
    fn lane(self, _series: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self {
        Scalar::multiply_add::<FUSED>(self, factor, addend)
    }

    #[inline(always)]
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        function(self)
    }
}

impl Value for Lanes<f64> {
    const SERIES: usize = WIDTH;

    #[inline(always)]
    fn interleaved<'a>(members: &[&'a [f64]]) -> Cow<'a, [Self]> {
        let last = members.len() - 1;
        let of_all = |index: usize| Self::of(|lane| members[lane.min(last)][index]);
        (0..members[0].len()).map(of_all).collect()
    }

    #[inline(always)]
    fn separated(values: Vec<Self>) -> Vec<Vec<f64>> {
        let of_lane = |lane: usize| values.iter().map(|value| value.0[lane]).collect();
        (0..WIDTH).map(of_lane).collect()
    }

    #[inline(always)]
    fn of(value: impl Fn(usize) -> f64) -> Self {
        let mut lanes = [0.0; WIDTH];
        for (series, lane) in lanes.iter_mut().enumerate() {
            *lane = value(series);
        }
        Self(lanes)
    }

    #[inline(always)]
    fn lane(self, series: usize) -> f64 {
        self.0[series]
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self::times(self, other)
    }

    #[inline(always)]
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self {
        Self::multiply_add::<FUSED>(self, factor, addend)
    }

    #[inline(always)]
    fn map(mut self, function: impl Fn(f64) -> f64) -> Self {
        for lane in &mut self.0 {
            *lane = function(*lane);
        }
        self
    }
}

/// Of the states.
pub type Vector<V, const S: usize> = [V; S];
pub type Matrix<V, const S: usize> = [[V; S]; S];

/// `Ax`, or `Aᵀx`
#[inline(always)]
pub fn product<V: Value, const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &Matrix<V, S>,
    x: &Vector<V, S>,
) -> Vector<V, S> {
    let mut result = [V::zero(); S];
    for row in 0..S {
        for column in 0..S {
            let factor = if TRANSPOSED {
                a[column][row]
            } else {
                a[row][column]
            };
            result[row] = factor.multiply_add::<FUSED>(x[column], result[row]);
        }
    }
    result
}

/// `Y ← Y + AXAᵀ`, or `Y + AᵀXA`, for symmetric X and Y. The result is exactly symmetric.
#[inline(always)]
pub fn congruence<V: Value, const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &Matrix<V, S>,
    x: &Matrix<V, S>,
    y: &mut Matrix<V, S>,
) {
    let mut half = [[V::zero(); S]; S]; // X times the columns of A, or of Aᵀ
    for (row, half) in half.iter_mut().enumerate() {
        for column in 0..S {
            for k in 0..S {
                let factor = if TRANSPOSED {
                    a[k][column]
                } else {
                    a[column][k]
                };
                half[column] = x[row][k].multiply_add::<FUSED>(factor, half[column]);
            }
        }
    }
    for row in 0..S {
        for column in row..S {
            let mut value = y[row][column];
            for k in 0..S {
                let factor = if TRANSPOSED { a[k][row] } else { a[row][k] };
                value = factor.multiply_add::<FUSED>(half[k][column], value);
            }
            y[row][column] = value;
            y[column][row] = value;
        }
    }
}
