//! Moments and their gradients, a few columns at a time.

use std::mem::MaybeUninit;

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{Baseline, kernels::Gaussians};
use crate::ops::cpu::{
    Kernel, Scalar, Side, Triangle, assume_written, column_parts, in_parts, matmul, row, row_mut,
    vectorized,
};

/// Moments that are being computed.
struct Moments<T> {
    /// [2·P, N]
    values: Vec<T>,
    /// V, [P·M, N]
    projected: Box<[MaybeUninit<T>]>,
    size: usize,
    outputs: usize,
    columns: usize,
}

/// Some columns of moments and of V.
struct MomentStrip<'a, T> {
    /// The index of the first column.
    first: usize,
    values: MatMut<'a, T>,
    projected: MatMut<'a, MaybeUninit<T>>,
}

impl<T> MomentStrip<'_, T> {
    /// The number of columns.
    fn width(&self) -> usize {
        self.values.ncols()
    }
}

impl<T: Scalar> Moments<T> {
    fn new(variables: Gaussians<'_, T>, columns: usize) -> Self {
        let Gaussians { size, outputs, .. } = variables;
        Self {
            values: vec![T::default(); 2 * outputs * columns],
            projected: Box::new_uninit_slice(outputs * size * columns),
            size,
            outputs,
            columns,
        }
    }

    /// At most this many strips, which together cover all columns.
    fn strips(&mut self, parts: usize) -> impl Iterator<Item = MomentStrip<'_, T>> {
        let (rows, columns) = (self.outputs * self.size, self.columns);
        let values = MatMut::from_row_major_slice_mut(&mut self.values, 2 * self.outputs, columns);
        let projected = MatMut::from_row_major_slice_mut(&mut self.projected, rows, columns);
        (column_parts(values, parts))
            .zip(column_parts(projected, parts))
            .map(|((values, first), (projected, _))| MomentStrip {
                first,
                values,
                projected,
            })
    }

    /// The moments and V.
    ///
    /// # Safety
    ///
    /// [`GaussiansByStrips::project`] has been called for every strip; it writes all of V.
    unsafe fn into_values(self) -> (Vec<T>, Vec<T>) {
        // SAFETY: see above.
        let projected = unsafe { self.projected.assume_init() };
        (self.values, projected.into_vec())
    }
}

/// Gradients that are being computed.
struct Gradients<'a, T> {
    /// [2·P, N]
    of_moments: MatRef<'a, T>,
    /// V, [P·M, N], which becomes `2·V·diag(ḣ)`
    projected: &'a mut [T],
    /// Ā, [M, N]
    of_basis: Box<[MaybeUninit<T>]>,
    size: usize,
    outputs: usize,
}

/// Some columns of gradients.
struct GradientStrip<'a, T> {
    /// The index of the first column.
    first: usize,
    of_moments: MatRef<'a, T>,
    projected: MatMut<'a, T>,
    of_basis: MatMut<'a, MaybeUninit<T>>,
    /// What these columns contribute to the gradient of m, [P, M].
    mean: Vec<T>,
}

impl<T> GradientStrip<'_, T> {
    /// The number of columns.
    fn width(&self) -> usize {
        self.of_moments.ncols()
    }
}

impl<'a, T: Scalar> Gradients<'a, T> {
    fn new(
        variables: Gaussians<'_, T>,
        projected: &'a mut [T],
        of_moments: &'a [T],
        columns: usize,
    ) -> Self {
        let Gaussians { size, outputs, .. } = variables;
        Self {
            of_moments: MatRef::from_row_major_slice(of_moments, 2 * outputs, columns),
            projected,
            of_basis: Box::new_uninit_slice(size * columns),
            size,
            outputs,
        }
    }

    /// At most this many strips, which together cover all columns.
    fn strips(&mut self, parts: usize) -> impl Iterator<Item = GradientStrip<'_, T>> {
        let (size, outputs, of_moments) = (self.size, self.outputs, self.of_moments);
        let columns = of_moments.ncols();
        let projected = MatMut::from_row_major_slice_mut(self.projected, outputs * size, columns);
        let of_basis = MatMut::from_row_major_slice_mut(&mut self.of_basis, size, columns);
        (column_parts(projected, parts))
            .zip(column_parts(of_basis, parts))
            .map(move |((projected, first), (of_basis, _))| GradientStrip {
                first,
                of_moments: of_moments.subcols(first, projected.ncols()),
                projected,
                of_basis,
                mean: vec![T::default(); outputs * size],
            })
    }

    /// Ā.
    ///
    /// # Safety
    ///
    /// [`GaussiansByStrips::backward`] has been called for every strip; it writes all of Ā.
    unsafe fn into_values(self) -> Vec<T> {
        // SAFETY: see above.
        unsafe { self.of_basis.assume_init() }.into_vec()
    }
}

/// [`Gaussians`] that are projected a few columns at a time.
pub struct GaussiansByStrips<'a, T> {
    given: Gaussians<'a, T>,
    triangles: Vec<Triangle<'a, T>>,
}

impl<'a, T: Scalar> GaussiansByStrips<'a, T> {
    /// Prepares the factors for products with parts of a matrix that has this many columns, on the given
    /// side.
    #[track_caller]
    pub fn new(given: Gaussians<'a, T>, side: Side, columns: usize) -> Self {
        let area = given.size * given.size;
        let triangles = (0..given.outputs).map(|output| {
            let scale = &given.scale[output * area..][..area];
            let scale = MatRef::from_row_major_slice(scale, given.size, given.size);
            Triangle::new(scale, side, columns)
        });
        Self {
            given,
            triangles: triangles.collect(),
        }
    }

    /// The number of parts to split the columns into.
    pub fn parts(&self) -> usize {
        self.triangles.first().map_or(1, Triangle::parts)
    }

    /// `[Aᵀm_p ; colsum(V_p²) − b]`, [2, P, N], and `V_p = W_pᵀA`, [P, M, N]. `basis` returns some columns of
    /// A, given the index of the first, their number and the element of `bases` that belongs to their strip.
    #[track_caller]
    pub fn moments<S: Send>(
        &self,
        columns: usize,
        bases: Vec<S>,
        basis: impl Fn(&mut S, usize, usize) -> MatRef<'_, T> + Sync,
    ) -> (Vec<T>, Vec<T>) {
        let mut moments = Moments::new(self.given, columns);
        let strips: Vec<_> = moments.strips(self.parts()).collect();
        let count = strips.len();
        assert!(bases.len() >= count, "{} of {count} strips", bases.len());
        let mut strips: Vec<_> = strips.into_iter().zip(bases).collect();
        in_parts(&mut strips, 1, count, &|strips, _| {
            for (strip, part) in strips {
                let (first, width) = (strip.first, strip.width());
                self.project(basis(part, first, width), strip);
            }
        });
        drop(strips);
        // SAFETY: every strip has been projected.
        unsafe { moments.into_values() }
    }

    /// Ā and m̄ from A, V and the gradient of the moments; V becomes `2·V·diag(ḣ)`.
    #[track_caller]
    pub fn gradients(
        &self,
        basis: MatRef<'_, T>,
        projected: &mut [T],
        of_moments: &[T],
    ) -> (Vec<T>, Vec<T>) {
        let mut gradients = Gradients::new(self.given, projected, of_moments, basis.ncols());
        let mut strips: Vec<_> = gradients.strips(self.parts()).collect();
        let count = strips.len();
        in_parts(&mut strips, 1, count, &|strips, _| {
            for strip in strips {
                self.backward(basis.subcols(strip.first, strip.width()), strip);
            }
        });
        let mut mean = vec![T::default(); self.given.mean.len()];
        for strip in strips {
            for (sum, value) in mean.iter_mut().zip(strip.mean) {
                *sum += value;
            }
        }
        // SAFETY: the loop has been through every strip.
        (unsafe { gradients.into_values() }, mean)
    }

    /// The moments and V for the columns of A in one strip, on this thread.
    fn project(&self, basis: MatRef<'_, T>, strip: &mut MomentStrip<'_, T>) {
        let (size, outputs, one) = (self.given.size, self.given.outputs, T::from_f64(1.0));
        let (mut means, mut variances) = strip.values.rb_mut().split_at_row_mut(outputs);
        let mean = MatRef::from_row_major_slice(self.given.mean, outputs, size);
        matmul(means.rb_mut(), Accum::Replace, mean, basis, one);
        // SAFETY: each product writes all entries of its part, with `Replace` before it reads them.
        let mut all = unsafe { assume_written(strip.projected.rb_mut()) };
        for (output, triangle) in self.triangles.iter().enumerate() {
            let mut projected = all.rb_mut().subrows_mut(output * size, size);
            triangle.multiply(basis, projected.rb_mut(), Accum::Replace, one);
            vectorized::run(Variances {
                projected: projected.rb(),
                basis: (self.given.baseline == Baseline::StandardNormal).then_some(basis),
                sums: row_mut(variances.rb_mut(), output),
            });
        }
    }

    /// Ā, `2·V·diag(ḣ)` and a part of m̄ for the columns of A in one strip, on this thread.
    fn backward(&self, basis: MatRef<'_, T>, strip: &mut GradientStrip<'_, T>) {
        let (size, outputs, one) = (self.given.size, self.given.outputs, T::from_f64(1.0));
        let (of_means, of_variances) = strip.of_moments.split_at_row(outputs);
        matmul(
            MatMut::from_column_major_slice_mut(&mut strip.mean, size, outputs),
            Accum::Replace,
            basis,
            of_means.transpose(),
            one,
        );
        vectorized::run(FirstTerms {
            basis,
            factors: &self.factors_of_basis(of_variances),
            mean: &self.given.mean[..size],
            of_means: row(of_means, 0),
            out: strip.of_basis.rb_mut(),
        });
        // SAFETY: every entry has been written.
        let mut out = unsafe { assume_written(strip.of_basis.rb_mut()) };
        for (output, triangle) in self.triangles.iter().enumerate() {
            let mut projected = strip.projected.rb_mut().subrows_mut(output * size, size);
            if output > 0 {
                vectorized::run(MeanTerms {
                    mean: &self.given.mean[output * size..][..size],
                    of_means: row(of_means, output),
                    out: out.rb_mut(),
                });
            }
            vectorized::run(ScaleColumns {
                factors: &twice(row(of_variances, output)),
                matrix: projected.rb_mut(),
            });
            triangle.multiply(projected.rb(), out.rb_mut(), Accum::Add, one);
        }
    }

    /// The factors of the columns of A in Ā: `−2·Σ_p ḣ_p` or zero.
    fn factors_of_basis(&self, of_variances: MatRef<'_, T>) -> Vec<T> {
        let mut factors = vec![T::default(); of_variances.ncols()];
        if self.given.baseline == Baseline::StandardNormal {
            for output in 0..self.given.outputs {
                for (factor, value) in factors.iter_mut().zip(twice(row(of_variances, output))) {
                    *factor -= value;
                }
            }
        }
        factors
    }
}

fn twice<T: Scalar>(values: &[T]) -> Vec<T> {
    values.iter().map(|&value| value + value).collect()
}

/// Adds `colsum(V²)` to sums, minus `colsum(A²)` if there is a basis A.
struct Variances<'a, T> {
    projected: MatRef<'a, T>,
    basis: Option<MatRef<'a, T>>,
    sums: &'a mut [T],
}

impl<T: Scalar> Kernel for Variances<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        for i in 0..self.projected.nrows() {
            let terms = self.sums.iter_mut().zip(row(self.projected, i));
            match self.basis {
                None => {
                    for (sum, &value) in terms {
                        *sum = value.multiply_add::<FUSED>(value, *sum);
                    }
                }
                Some(basis) => {
                    for ((sum, &value), &other) in terms.zip(row(basis, i)) {
                        *sum = (value + other).multiply_add::<FUSED>(value - other, *sum);
                    }
                }
            }
        }
    }
}

/// `out ← A·diag(f) + m·ḡᵀ`
struct FirstTerms<'a, T> {
    basis: MatRef<'a, T>,
    factors: &'a [T],
    mean: &'a [T],
    of_means: &'a [T],
    out: MatMut<'a, MaybeUninit<T>>,
}

impl<T: Scalar> Kernel for FirstTerms<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        for (i, &mean) in self.mean.iter().enumerate() {
            let places = row_mut(self.out.rb_mut(), i).iter_mut();
            let terms = row(self.basis, i).iter().zip(self.factors);
            for ((place, (&value, &factor)), &gradient) in places.zip(terms).zip(self.of_means) {
                place.write(value.multiply_add::<FUSED>(factor, mean * gradient));
            }
        }
    }
}

/// `out ← out + m·ḡᵀ`
struct MeanTerms<'a, T> {
    mean: &'a [T],
    of_means: &'a [T],
    out: MatMut<'a, T>,
}

impl<T: Scalar> Kernel for MeanTerms<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        for (i, &mean) in self.mean.iter().enumerate() {
            let sums = row_mut(self.out.rb_mut(), i).iter_mut();
            for (sum, &gradient) in sums.zip(self.of_means) {
                *sum = mean.multiply_add::<FUSED>(gradient, *sum);
            }
        }
    }
}

/// Multiplies the columns of a matrix by factors.
struct ScaleColumns<'a, T> {
    factors: &'a [T],
    matrix: MatMut<'a, T>,
}

impl<T: Scalar> Kernel for ScaleColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        for i in 0..self.matrix.nrows() {
            let values = row_mut(self.matrix.rb_mut(), i).iter_mut();
            for (value, &factor) in values.zip(self.factors) {
                *value *= factor;
            }
        }
    }
}
