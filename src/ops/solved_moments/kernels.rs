//! Solves and moments on the CPU, a few columns at a time.

use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use crate::ops::{
    cpu::{
        LowerProduct, Scalar, Side, Triangle, column_parts, in_parts, lower_products,
        solve_in_place, threads,
    },
    moments::{Gaussians, Gradients, Moments},
};

/// `[Aᵀm_p ; colsum(V_p²) − b]`, [2, P, N], and `V_p = W_pᵀA`, [P, M, N], for `A = L⁻¹B`, which
/// replaces B.
pub fn moments<T: Scalar>(
    factor: MatRef<'_, T>,
    mut rhs: MatMut<'_, T>,
    variables: Gaussians<'_, T>,
) -> (Vec<T>, Vec<T>) {
    let columns = rhs.ncols();
    let factor = Triangle::new(factor, Side::Lower, columns);
    let mut moments = Moments::new(variables, columns);
    let variables = variables.with_triangles(Side::Transposed, columns);
    let parts = factor.parts();
    let solutions = column_parts(rhs.rb_mut(), parts);
    let mut strips: Vec<_> = solutions.zip(moments.strips(parts)).collect();
    let count = strips.len();
    in_parts(&mut strips, 1, count, &|strips, _| {
        for ((solution, _), strip) in strips {
            factor.solve(solution.rb_mut());
            variables.project(solution.as_ref(), strip);
        }
    });
    drop(strips);
    moments.into_values()
}

/// Gradients of the moments.
pub struct SolvedGradients<T> {
    /// The lower triangle of `LᵀL̄ = −ĀAᵀ`.
    pub cotangent: Option<Vec<T>>,
    /// `B̄ = L⁻ᵀĀ`
    pub rhs: Option<Vec<T>>,
    pub mean: Vec<T>,
    pub scale: Vec<T>,
}

/// The gradients from A and V; V is overwritten. Those of L and B only if they are wanted.
pub fn backward<T: Scalar>(
    factor: MatRef<'_, T>,
    solution: MatRef<'_, T>,
    projected: &mut [T],
    variables: Gaussians<'_, T>,
    gradient: &[T],
    wanted: [bool; 2],
) -> SolvedGradients<T> {
    let (size, columns) = (solution.nrows(), solution.ncols());
    let mut gradients = Gradients::new(variables, projected, gradient, columns);
    let by_strips = variables.with_triangles(Side::Lower, columns);
    let mut strips: Vec<_> = gradients.strips(by_strips.parts()).collect();
    let count = strips.len();
    in_parts(&mut strips, 1, count, &|strips, _| {
        for strip in strips {
            by_strips.backward(solution.subcols(strip.first, strip.width()), strip);
        }
    });
    let mean = variables.sum_of_strips(strips);
    let (mut of_solution, projected) = gradients.into_values();
    let mut scale = threads::zeros(variables.scale.len());
    let mut cotangent = wanted[0].then(|| threads::zeros(size * size));
    let mut products = variables.scale_gradients(solution, projected, &mut scale);
    products.extend(cotangent.as_mut().map(|cotangent| LowerProduct {
        out: MatMut::from_row_major_slice_mut(cotangent, size, size),
        left: MatRef::from_row_major_slice(&of_solution, size, columns),
        right: solution.transpose(),
        alpha: T::from_f64(-1.0),
    }));
    lower_products(Accum::Replace, products);
    let rhs = wanted[1].then(|| {
        let rhs = MatMut::from_row_major_slice_mut(&mut of_solution, size, columns);
        solve_in_place(factor, Side::Transposed, rhs);
        of_solution
    });
    SolvedGradients {
        cotangent,
        rhs,
        mean,
        scale,
    }
}
