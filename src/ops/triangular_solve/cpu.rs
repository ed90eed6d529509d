//! Triangular solves on the CPU.

use burn::backend::tensor::FloatTensor;

use super::TriangularSolveOps;
use crate::ops::{
    cpu::{CpuMemory, Side, member, solve_in_place, update_members, with_element},
    decompositions::count_decomposition,
};

impl<B: CpuMemory> TriangularSolveOps for B {
    fn factor_solve(factor: FloatTensor<B>, rhs: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        count_decomposition();
        with_element!(factor, T => {
            let factors = B::read::<T>(&factor);
            update_members::<B, T>(rhs, |index, out| {
                let size = out.nrows();
                solve_in_place(member(&factors, index, size, size), side, out);
            })
        })
    }
}
