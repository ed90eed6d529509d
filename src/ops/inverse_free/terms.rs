//! The terms of an inverse-free bound and their gradients, on slices.
//!
//! Columns that are multiplied by the same matrix lie side by side in one buffer, so one product is enough
//! for all of them. All elementwise work is on columns, never on a square matrix.

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use crate::ops::cpu::{Scalar, Side, product, triangular_product};

/// The number of columns of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// N, of K_uf
    pub data: usize,
    /// R, of m̃
    pub means: usize,
    /// K; without probes the terms have no traces
    pub probes: usize,
    /// Whether `v = P_R·m̃` instead of `m̃`
    pub preconditioned: bool,
}

impl Widths {
    /// The number of columns of m̃ that are multiplied by T.
    fn moved(self) -> usize {
        if self.preconditioned { self.means } else { 0 }
    }

    /// The number of columns of `T·[K_uf, m̃, z]`.
    fn inverted(self) -> usize {
        self.data + self.moved() + self.probes
    }

    /// The numbers of columns that the forward pass saves: A and its products, D, v and `K_uu·v`.
    pub fn saved(self) -> [usize; 5] {
        let all = self.inverted() + self.probes;
        let twice = self.moved() + self.probes;
        [all, all, twice, self.means, self.means]
    }

    /// The number of outputs per matrix: `k_nᵀP_R·k_n`, v, `Σ vᵀK_uu·v` and `tr(K̃T − P_R·K_uu)`.
    pub fn outputs(self, size: usize) -> usize {
        self.data + size * self.means + 2
    }
}

/// `K_uu`, s̃ and L with `T = LLᵀ`.
#[derive(Clone, Copy)]
pub struct Relaxation<'a, T> {
    pub kuu: MatRef<'a, T>,
    pub variances: &'a [T],
    pub lower: MatRef<'a, T>,
    pub widths: Widths,
}

/// The values saved by the forward pass, row-major, in the order of [`Widths::saved`]:
/// `A = [T·K_uf, T·m̃, T·z, z]`, `[K̃T·K_uf, ·, ·, K_uu·z]`, `D = [·, TK̃T·z]`, v, `K_uu·v`.
pub type Saved<T> = [Vec<T>; 5];

/// The gradients of K_uu, s̃, K_uf and m̃.
pub type Gradients<T> = [Vec<T>; 4];

fn view<T: Scalar>(values: &[T], rows: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, rows, values.len() / rows.max(1))
}

fn view_mut<T: Scalar>(values: &mut [T], rows: usize) -> MatMut<'_, T> {
    let columns = values.len() / rows.max(1);
    MatMut::from_row_major_slice_mut(values, rows, columns)
}

/// Copies a matrix with contiguous rows into columns of another, row by row.
fn place<T: Scalar>(target: &mut [T], width: usize, first: usize, source: &[T], columns: usize) {
    if columns == 0 {
        return;
    }
    let rows = target
        .chunks_exact_mut(width)
        .zip(source.chunks_exact(columns));
    for (target, source) in rows {
        target[first..][..columns].copy_from_slice(source);
    }
}

impl<T: Scalar> Relaxation<'_, T> {
    fn size(&self) -> usize {
        self.variances.len()
    }

    /// Writes `T·X` to the first columns of `out`.
    fn invert(&self, columns: MatRef<'_, T>, out: MatMut<'_, T>) {
        let mut half = vec![T::default(); self.size() * columns.ncols()];
        let mut half = view_mut(&mut half, self.size());
        let replace = Accum::Replace;
        triangular_product(
            self.lower,
            Side::Transposed,
            columns,
            half.rb_mut(),
            replace,
        );
        triangular_product(self.lower, Side::Lower, half.rb(), out, replace);
    }

    /// `K_uu·X`.
    fn covary(&self, columns: MatRef<'_, T>) -> Vec<T> {
        let mut out = vec![T::default(); self.size() * columns.ncols()];
        let one = T::from_f64(1.0);
        let target = view_mut(&mut out, self.size());
        product(target, Accum::Replace, self.kuu, columns, one);
        out
    }

    /// The outputs, in the order of [`Widths::outputs`], and the values that the backward pass
    /// needs.
    pub fn forward(&self, kuf: &[T], mean: &[T], probes: &[T]) -> (Vec<T>, Saved<T>) {
        let (size, widths) = (self.size(), self.widths);
        let (data, moved, count) = (widths.data, widths.moved(), widths.probes);
        let (inverted, [all, _, twice, means, _]) = (widths.inverted(), widths.saved());

        let mut given = vec![T::default(); size * inverted]; // [K_uf, m̃, z]
        place(&mut given, inverted, 0, kuf, data);
        place(&mut given, inverted, data, mean, moved);
        place(&mut given, inverted, data + moved, probes, count);
        let mut weights = vec![T::default(); size * all]; // A
        place(&mut weights, all, inverted, probes, count);
        let target = view_mut(&mut weights, size).subcols_mut(0, inverted);
        self.invert(view(&given, size), target);
        let mut products = self.covary(view(&weights, size));
        let rows = products
            .chunks_exact_mut(all)
            .zip(weights.chunks_exact(all));
        for ((products, weights), &variance) in rows.zip(self.variances) {
            for (product, &weight) in products[..inverted].iter_mut().zip(weights) {
                *product += variance * weight;
            }
        }

        let mut rest = vec![T::default(); size * twice]; // [m̃ − K̃T·m̃, K̃T·z]
        for (i, rest) in rest.chunks_exact_mut(twice.max(1)).enumerate() {
            rest.copy_from_slice(&products[i * all + data..][..twice]);
            for (rest, &mean) in rest[..moved].iter_mut().zip(&mean[i * means..]) {
                *rest = mean - *rest;
            }
        }
        let mut corrections = vec![T::default(); size * twice]; // D
        self.invert(view(&rest, size), view_mut(&mut corrections, size));
        let mut v = mean.to_vec();
        for (i, v) in v.chunks_exact_mut(means).enumerate() {
            for (j, v) in v[..moved].iter_mut().enumerate() {
                *v = weights[i * all + data + j] + corrections[i * twice + j];
            }
        }
        let last = self.covary(view(&v, size)); // K_uu·v

        let saved = [weights, products, corrections, v, last];
        (self.outputs(kuf, &saved), saved)
    }

    fn outputs(&self, kuf: &[T], saved: &Saved<T>) -> Vec<T> {
        let (size, widths) = (self.size(), self.widths);
        let (data, count, inverted) = (widths.data, widths.probes, widths.inverted());
        let [all, _, twice, means, _] = widths.saved();
        let [weights, products, corrections, v, last] = saved;
        let traced = inverted - count;
        let mut out = vec![T::default(); widths.outputs(size)];
        let (explained, others) = out.split_at_mut(data);
        let two = T::from_f64(2.0);
        let mut traces = 0.0;
        for i in 0..size {
            let (weights, products) = (&weights[i * all..][..all], &products[i * all..][..all]);
            let kuf = &kuf[i * data..][..data];
            for (n, sum) in explained.iter_mut().enumerate() {
                *sum += weights[n] * (two * kuf[n] - products[n]);
            }
            let corrections = &corrections[i * twice..][..twice];
            let mut sum = T::default();
            for k in 0..count {
                // z∘K̃Tz + K_uu·z∘(TK̃Tz − 2Tz)
                let twice = corrections[twice - count + k] - two * weights[traced + k];
                sum +=
                    weights[inverted + k] * products[traced + k] + products[inverted + k] * twice;
            }
            traces += sum.to_f64();
        }
        let (weights_out, sums) = others.split_at_mut(size * means);
        weights_out.copy_from_slice(v);
        let squares = v
            .iter()
            .zip(last)
            .map(|(v, last)| v.to_f64() * last.to_f64());
        sums[0] = T::from_f64(squares.sum());
        sums[1] = T::from_f64(traces / count.max(1) as f64);
        out
    }

    /// The gradients, from the gradient of the outputs.
    pub fn backward(&self, saved: [&[T]; 5], gradient: &[T]) -> Gradients<T> {
        let (size, widths) = (self.size(), self.widths);
        let (data, moved, count) = (widths.data, widths.moved(), widths.probes);
        let (inverted, [all, _, _, means, _]) = (widths.inverted(), widths.saved());
        let [_, products, _, _, last] = saved;
        let (explained, others) = gradient.split_at(data);
        let (weights_gradient, sums) = others.split_at(size * means);
        let twice_squares = sums[0] + sums[0];

        // v̄: its own gradient plus that of vᵀK_uu·v
        let mut v_gradient = weights_gradient.to_vec();
        for (v, &last) in v_gradient.iter_mut().zip(last) {
            *v += twice_squares * last;
        }
        let mut given = vec![T::default(); size * inverted]; // [K̃T·K_uf, v̄, K_uu·z]
        for (i, given) in given.chunks_exact_mut(inverted.max(1)).enumerate() {
            let products = &products[i * all..][..all];
            given[..data].copy_from_slice(&products[..data]);
            given[data..][..moved].copy_from_slice(&v_gradient[i * means..][..moved]);
            given[data + moved..].copy_from_slice(&products[inverted..][..count]);
        }
        let mut back = vec![T::default(); size * inverted]; // [TK̃T·K_uf, T·v̄, TK_uu·z]
        self.invert(view(&given, size), view_mut(&mut back, size));

        let mean_gradient = self.mean_gradient(v_gradient, &back);
        let (four, two) = (T::from_f64(4.0), T::from_f64(2.0));
        let mut kuf_gradient = vec![T::default(); size * data];
        for (i, out) in kuf_gradient.chunks_exact_mut(data.max(1)).enumerate() {
            let weights = &saved[0][i * all..][..data];
            let back = &back[i * inverted..][..data];
            for (n, out) in out.iter_mut().enumerate() {
                *out = explained[n] * (four * weights[n] - two * back[n]);
            }
        }
        let (kuu_gradient, variances_gradient) =
            self.covariance_gradients(saved, &back, explained, [sums[0], sums[1]]);
        [
            kuu_gradient,
            variances_gradient,
            kuf_gradient,
            mean_gradient,
        ]
    }

    /// `P_R·v̄ = w + T(v̄ − K̃w)`, `w = T·v̄`; or `v̄`.
    fn mean_gradient(&self, v_gradient: Vec<T>, back: &[T]) -> Vec<T> {
        let (size, widths) = (self.size(), self.widths);
        let (inverted, means) = (widths.inverted(), widths.means);
        if !widths.preconditioned {
            return v_gradient;
        }
        let first = view(back, size).subcols(widths.data, means);
        let mut rest = self.covary(first);
        for (i, rest) in rest.chunks_exact_mut(means).enumerate() {
            let first = &back[i * inverted + widths.data..][..means];
            for (j, rest) in rest.iter_mut().enumerate() {
                *rest = v_gradient[i * means + j] - *rest - self.variances[i] * first[j];
            }
        }
        let mut out = vec![T::default(); size * means];
        self.invert(view(&rest, size), view_mut(&mut out, size));
        for (i, out) in out.chunks_exact_mut(means).enumerate() {
            let first = &back[i * inverted + widths.data..][..means];
            for (out, &first) in out.iter_mut().zip(first) {
                *out += first;
            }
        }
        out
    }

    /// The gradients of K_uu and s̃. The gradient of `K̃` is
    /// `−Σ_n ḡ_n·a_na_nᵀ − w·(Tm̃)ᵀ + τ(z + TK_uu·z)(Tz)ᵀ`; K_uu has the additional term
    /// `τz(TK̃Tz − 2Tz)ᵀ + q̄·vvᵀ`. One product of adjacent columns computes all of it.
    fn covariance_gradients(
        &self,
        saved: [&[T]; 5],
        back: &[T],
        explained: &[T],
        [squares, traces]: [T; 2],
    ) -> (Vec<T>, Vec<T>) {
        let (size, widths) = (self.size(), self.widths);
        let (data, moved, count) = (widths.data, widths.moved(), widths.probes);
        let (inverted, [all, _, twice, means, _]) = (widths.inverted(), widths.saved());
        let [weights, _, corrections, v, _] = saved;
        let width = all + means;
        let mut left = vec![T::default(); size * width];
        let mut right = vec![T::default(); size * width];
        let mut variances = vec![T::default(); size];
        let share = traces * T::from_f64(1.0 / count.max(1) as f64); // τ
        for i in 0..size {
            let (left, right) = (
                &mut left[i * width..][..width],
                &mut right[i * width..][..width],
            );
            let (weights, back) = (
                &weights[i * all..][..all],
                &back[i * inverted..][..inverted],
            );
            let probes = &weights[inverted..];
            right[..inverted].copy_from_slice(&weights[..inverted]);
            right[inverted..all].copy_from_slice(&corrections[i * twice + moved..][..count]);
            right[all..].copy_from_slice(&v[i * means..][..means]);
            for n in 0..data {
                left[n] = -explained[n] * weights[n];
            }
            for j in data..data + moved {
                left[j] = -back[j];
            }
            let traced = data + moved;
            let mut sum = T::default();
            for k in 0..count {
                left[traced + k] = share * (back[traced + k] - probes[k]);
                left[inverted + k] = share * probes[k];
                // Only K_uu has the −2z term, S̃ does not.
                sum += (left[inverted + k] + left[inverted + k]) * weights[traced + k];
            }
            for (left, &v) in left[all..].iter_mut().zip(&right[all..]) {
                *left = squares * v;
            }
            for (&left, &right) in left[..inverted].iter().zip(&right[..inverted]) {
                sum += left * right;
            }
            variances[i] = sum;
        }
        let mut out = vec![T::default(); size * size];
        let (left, right) = (view(&left, size), view(&right, size).transpose());
        let one = T::from_f64(1.0);
        product(view_mut(&mut out, size), Accum::Replace, left, right, one);
        (out, variances)
    }
}
