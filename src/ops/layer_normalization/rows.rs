//! Layer normalization on slices: one pass over memory in each direction, where burn's own takes a dozen
//! passes.

use crate::ops::cpu::{Kernel, Scalar, dot, in_parts, sum, threads, vectorized};

/// Array length from which two threads are faster than one.
const PARALLEL_FROM: usize = 1 << 16;

/// Rows whose gradients are summed before they are added to a sum in double precision.
const ROWS: usize = 64;

/// `γ_d·n_d + β_d` with `n_d = (x_d − μ)/√(v + ε)`, row by row.
#[derive(Clone, Copy)]
pub struct LayerNormalization<'a, T> {
    /// x, [N, D]
    pub x: &'a [T],
    /// γ, `[D]`
    pub scale: &'a [T],
    /// ε
    pub epsilon: T,
}

/// The gradients of `Σ_nd G_nd·out_nd`.
pub struct LayerNormalizationGradients<T> {
    /// [N, D]
    pub x: Vec<T>,
    /// `[D]`
    pub scale: Vec<T>,
    /// `[D]`
    pub shift: Vec<T>,
}

/// The rows of one thread.
struct Forward<'a, T> {
    given: LayerNormalization<'a, T>,
    shift: &'a [T],
    out: &'a mut [T],
}

/// The rows of one thread and its sums.
struct Backward<'a, T> {
    given: LayerNormalization<'a, T>,
    /// G
    gradient: &'a [T],
    out: &'a mut [T],
    scale: Vec<f64>,
    shift: Vec<f64>,
}

/// Fills `normal` with n and returns `1/√(v + ε)`.
#[inline(always)]
fn normalize<T: Scalar, const FUSED: bool>(x: &[T], epsilon: T, normal: &mut [T]) -> T {
    let count = T::from_f64(x.len() as f64);
    let mean = sum(x) / count;
    for (out, &x) in normal.iter_mut().zip(x) {
        *out = x - mean;
    }
    let variance = dot::<T, FUSED>(normal, normal) / count;
    let reciprocal = T::from_f64(1.0) / (variance + epsilon).square_root();
    for out in normal.iter_mut() {
        *out *= reciprocal;
    }
    reciprocal
}

impl<T: Scalar> Kernel for &mut Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let LayerNormalization { x, scale, epsilon } = self.given;
        let width = scale.len();
        for (row, out) in x.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            normalize::<T, FUSED>(row, epsilon, out);
            for (out, (&scale, &shift)) in out.iter_mut().zip(scale.iter().zip(self.shift)) {
                *out = out.multiply_add::<FUSED>(scale, shift);
            }
        }
    }
}

impl<T: Scalar> Kernel for &mut Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let LayerNormalization { x, scale, epsilon } = self.given;
        let width = scale.len();
        let count = T::from_f64(width as f64);
        let mut normal = vec![T::default(); width];
        let [mut scales, mut shifts] = [normal.clone(), normal.clone()];
        let block = ROWS * width;
        let given = x.chunks(block).zip(self.gradient.chunks(block));
        for ((x, gradient), out) in given.zip(self.out.chunks_mut(block)) {
            let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width));
            for ((x, gradient), out) in rows.zip(out.chunks_exact_mut(width)) {
                let reciprocal = normalize::<T, FUSED>(x, epsilon, &mut normal);
                let sums = scales.iter_mut().zip(shifts.iter_mut());
                for ((&g, &n), (scale, shift)) in gradient.iter().zip(&normal).zip(sums) {
                    *scale = g.multiply_add::<FUSED>(n, *scale);
                    *shift += g;
                }
                for (out, (&g, &scale)) in out.iter_mut().zip(gradient.iter().zip(scale)) {
                    *out = g * scale;
                }
                let mean = sum(out) / count;
                let along = dot::<T, FUSED>(out, &normal) / count;
                for (out, &n) in out.iter_mut().zip(&normal) {
                    *out = reciprocal * (*out - mean - n * along);
                }
            }
            for (sums, part) in [
                (&mut self.scale, &mut scales),
                (&mut self.shift, &mut shifts),
            ] {
                for (sum, part) in sums.iter_mut().zip(part.iter_mut()) {
                    *sum += part.to_f64();
                    *part = T::default();
                }
            }
        }
    }
}

impl<'a, T: Scalar> LayerNormalization<'a, T> {
    /// The number of entries per thread, in whole rows.
    fn share(&self) -> usize {
        let (width, parts) = (
            self.scale.len(),
            threads::count_for(self.x.len(), PARALLEL_FROM),
        );
        (self.x.len() / width).div_ceil(parts).max(1) * width
    }

    /// The same for some of the rows.
    fn rows(&self, x: &'a [T]) -> Self {
        Self { x, ..*self }
    }

    /// The result with the shift β, [N, D].
    pub fn values(&self, shift: &[T]) -> Vec<T> {
        let mut values = vec![T::default(); self.x.len()];
        if values.is_empty() {
            return values;
        }
        let share = self.share();
        let mut work: Vec<Forward<'_, T>> = (self.x.chunks(share).zip(values.chunks_mut(share)))
            .map(|(x, out)| Forward {
                given: self.rows(x),
                shift,
                out,
            })
            .collect();
        let parts = work.len();
        in_parts(&mut work, 1, parts, &|work, _| {
            work.iter_mut().for_each(vectorized::run);
        });
        values
    }

    /// The gradients, from the gradient of the result, [N, D].
    pub fn backward(&self, gradient: &[T]) -> LayerNormalizationGradients<T> {
        let width = self.scale.len();
        let mut x = vec![T::default(); self.x.len()];
        let sums = || vec![0.0; width];
        let (mut scale, mut shift) = (sums(), sums());
        if !x.is_empty() {
            let share = self.share();
            let given = self.x.chunks(share).zip(gradient.chunks(share));
            let mut work: Vec<Backward<'_, T>> = (given.zip(x.chunks_mut(share)))
                .map(|((x, gradient), out)| Backward {
                    given: self.rows(x),
                    gradient,
                    out,
                    scale: sums(),
                    shift: sums(),
                })
                .collect();
            let parts = work.len();
            in_parts(&mut work, 1, parts, &|work, _| {
                work.iter_mut().for_each(vectorized::run);
            });
            for part in &work {
                for (sums, part) in [(&mut scale, &part.scale), (&mut shift, &part.shift)] {
                    sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        let numbers = |sums: Vec<f64>| sums.into_iter().map(T::from_f64).collect();
        LayerNormalizationGradients {
            x,
            scale: numbers(scale),
            shift: numbers(shift),
        }
    }
}
