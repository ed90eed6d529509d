//! Solves and moments on the CPU, a few columns at a time.

use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use crate::ops::{
    cpu::{
        LowerProduct, Scalar, Side, Triangle, column_parts, lower_products, solve_in_place, threads,
    },
    moments::{Gaussians, GaussiansByStrips},
};

/// Replaces B by `A = L⁻¹B`. Returns `[Aᵀm_p ; colsum(V_p²) − b]`, [2, P, N], and `V_p = W_pᵀA`, [P, M, N].
pub fn moments<T: Scalar>(
    factor: MatRef<'_, T>,
    rhs: MatMut<'_, T>,
    variables: Gaussians<'_, T>,
) -> (Vec<T>, Vec<T>) {
    let columns = rhs.ncols();
    let factor = Triangle::new(factor, Side::Lower, columns);
    let variables = GaussiansByStrips::new(variables, Side::Transposed, columns);
    let strips = column_parts(rhs, variables.parts()).collect();
    variables.moments(columns, strips, |(strip, _), _, _| {
        factor.solve(strip.rb_mut());
        strip.as_ref()
    })
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

/// The gradients, computed from A and V; V is overwritten. The gradients of L and B are computed only if
/// wanted.
pub fn backward<T: Scalar>(
    factor: MatRef<'_, T>,
    solution: MatRef<'_, T>,
    projected: &mut [T],
    variables: Gaussians<'_, T>,
    gradient: &[T],
    wanted: [bool; 2],
) -> SolvedGradients<T> {
    let (size, columns) = (solution.nrows(), solution.ncols());
    let by_strips = GaussiansByStrips::new(variables, Side::Lower, columns);
    let (mut of_solution, mean) = by_strips.gradients(solution, projected, gradient);
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
