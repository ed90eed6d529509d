//! Small vectors and matrices with a value of each series in every lane.

use crate::ops::cpu::{Lanes, WIDTH};

/// A value of each series.
pub type Value = Lanes<f64>;
/// Of the states.
pub type Vector<const S: usize> = [Value; S];
pub type Matrix<const S: usize> = [[Value; S]; S];

pub const ZERO: Value = Lanes([0.0; WIDTH]);

/// `Ax`, or `Aᵀx`
#[inline(always)]
pub fn product<const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &Matrix<S>,
    x: &Vector<S>,
) -> Vector<S> {
    let mut result = [ZERO; S];
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
pub fn congruence<const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &Matrix<S>,
    x: &Matrix<S>,
    y: &mut Matrix<S>,
) {
    let mut half = [[ZERO; S]; S]; // X times the columns of A, or of Aᵀ
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

#[inline(always)]
pub fn negative(mut value: Value) -> Value {
    for lane in &mut value.0 {
        *lane = -*lane;
    }
    value
}

#[inline(always)]
pub fn reciprocal(mut value: Value) -> Value {
    for lane in &mut value.0 {
        *lane = lane.recip();
    }
    value
}
