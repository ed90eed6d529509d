//! Products with block-diagonal matrices.

use super::series::{add_blocks, states};

/// `a·b + c`
#[inline(always)]
pub fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    match FUSED {
        true => a.mul_add(b, c),
        false => a * b + c,
    }
}

/// `y ← y + a·x`
#[inline(always)]
pub fn add_scaled<const FUSED: bool>(y: &mut [f64], a: f64, x: &[f64]) {
    let ((groups, rest), (others, others_rest)) = (y.as_chunks_mut::<4>(), x.as_chunks::<4>());
    for (y, x) in groups.iter_mut().zip(others) {
        for lane in 0..4 {
            y[lane] = multiply_add::<FUSED>(a, x[lane], y[lane]);
        }
    }
    for (y, &x) in rest.iter_mut().zip(others_rest) {
        *y = multiply_add::<FUSED>(a, x, *y);
    }
}

/// `xᵀy`
#[inline(always)]
pub fn dot<const FUSED: bool>(x: &[f64], y: &[f64]) -> f64 {
    let ((groups, rest), (others, others_rest)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    let mut lanes = [0.0; 4];
    for (x, y) in groups.iter().zip(others) {
        for lane in 0..4 {
            lanes[lane] = multiply_add::<FUSED>(x[lane], y[lane], lanes[lane]);
        }
    }
    let mut sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (&x, &y) in rest.iter().zip(others_rest) {
        sum = multiply_add::<FUSED>(x, y, sum);
    }
    sum
}

/// `X ← AX`, or `X ← AᵀX`, for packed blocks of A, `[Σb²]`, and X, `[s, width]`.
#[inline(always)]
pub fn multiply<const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    blocks: &[usize],
    packed: &[f64],
    x: &mut [f64],
    width: usize,
) {
    match S {
        1 => return block::<1, FUSED, TRANSPOSED>(packed, x, width),
        2 => return block::<2, FUSED, TRANSPOSED>(packed, x, width),
        3 => return block::<3, FUSED, TRANSPOSED>(packed, x, width),
        4 => return block::<4, FUSED, TRANSPOSED>(packed, x, width),
        _ => (),
    }
    let (mut packed, mut x) = (packed, x);
    for &size in blocks {
        let (own, others) = packed.split_at(size * size);
        let (rows, below) = x.split_at_mut(size * width);
        match size {
            1 => block::<1, FUSED, TRANSPOSED>(own, rows, width),
            2 => block::<2, FUSED, TRANSPOSED>(own, rows, width),
            3 => block::<3, FUSED, TRANSPOSED>(own, rows, width),
            4 => block::<4, FUSED, TRANSPOSED>(own, rows, width),
            _ => any_block::<FUSED, TRANSPOSED>(size, own, rows, width),
        }
        (packed, x) = (others, below);
    }
}

/// The product with one block of B rows.
#[inline(always)]
fn block<const B: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &[f64],
    x: &mut [f64],
    width: usize,
) {
    let (a, x) = (&a[..B * B], &mut x[..B * width]);
    let mut column = 0;
    while column + 4 <= width {
        tile::<B, 4, FUSED, TRANSPOSED>(a, x, width, column);
        column += 4;
    }
    while column < width {
        tile::<B, 1, FUSED, TRANSPOSED>(a, x, width, column);
        column += 1;
    }
}

/// W columns of the product with one block of B rows.
#[inline(always)]
fn tile<const B: usize, const W: usize, const FUSED: bool, const TRANSPOSED: bool>(
    a: &[f64],
    x: &mut [f64],
    width: usize,
    column: usize,
) {
    let mut old = [[0.0; W]; B];
    for (row, old) in old.iter_mut().enumerate() {
        old.copy_from_slice(&x[row * width + column..][..W]);
    }
    for row in 0..B {
        let mut new = [0.0; W];
        for (other, old) in old.iter().enumerate() {
            let factor = match TRANSPOSED {
                true => a[other * B + row],
                false => a[row * B + other],
            };
            for lane in 0..W {
                new[lane] = multiply_add::<FUSED>(factor, old[lane], new[lane]);
            }
        }
        x[row * width + column..][..W].copy_from_slice(&new);
    }
}

/// The product with one block of any size.
#[inline(always)]
fn any_block<const FUSED: bool, const TRANSPOSED: bool>(
    size: usize,
    a: &[f64],
    x: &mut [f64],
    width: usize,
) {
    let old = x.to_vec();
    for row in 0..size {
        let new = &mut x[row * width..][..width];
        new.fill(0.0);
        for other in 0..size {
            let factor = match TRANSPOSED {
                true => a[other * size + row],
                false => a[row * size + other],
            };
            add_scaled::<FUSED>(new, factor, &old[other * width..][..width]);
        }
    }
}

/// `X ← AXAᵀ`, or `X ← AᵀXA`, for a symmetric X, `[s, s]`. The result is exactly symmetric. `space` has as many
/// values as X.
#[inline(always)]
pub fn congruence<const S: usize, const FUSED: bool, const TRANSPOSED: bool>(
    blocks: &[usize],
    packed: &[f64],
    x: &mut [f64],
    space: &mut [f64],
) {
    let size = states::<S>(blocks);
    let (x, space) = (&mut x[..size * size], &mut space[..size * size]);
    // AXAᵀ = A(AX)ᵀ
    multiply::<S, FUSED, TRANSPOSED>(blocks, packed, x, size);
    for row in 0..size {
        for column in 0..size {
            space[column * size + row] = x[row * size + column];
        }
    }
    multiply::<S, FUSED, TRANSPOSED>(blocks, packed, space, size);
    for row in 0..size {
        for column in row..size {
            let value = space[row * size + column];
            x[row * size + column] = value;
            x[column * size + row] = value;
        }
    }
}

/// `m ← Am`, `P ← APAᵀ + Q`
#[inline(always)]
pub fn predict<const S: usize, const FUSED: bool>(
    blocks: &[usize],
    [transition, process_noise]: [&[f64]; 2],
    [mean, covariance]: [&mut [f64]; 2],
    columns: usize,
    space: &mut [f64],
) {
    multiply::<S, FUSED, false>(blocks, transition, mean, columns);
    congruence::<S, FUSED, false>(blocks, transition, covariance, space);
    match S {
        1..=4 => {
            let places = covariance[..S * S].iter_mut();
            for (place, value) in places.zip(&process_noise[..S * S]) {
                *place += value;
            }
        }
        _ => add_blocks(blocks, process_noise, covariance),
    }
}
