//! Building blocks that operations share on the CPU: access to the values of tensors, vector
//! registers, threads, and matrix products and solves. They do not depend on any operation.

mod access;
mod division;
mod faer_calls;
mod lanes;
#[cfg(any(test, feature = "section-times"))]
mod measured;
mod members;
mod passes;
mod scalar;
#[cfg(any(test, feature = "section-times"))]
mod simulated;
mod substitution;
pub(crate) mod threads;
mod triangles;
pub(super) mod triangular;
pub(super) mod vectorized;

pub use access::is_on_cpu;
pub(super) use access::{
    CpuMemory, Element, matrix_dims, with_element, with_matrix_dims, write, write_like,
};
pub(crate) use access::{has_cheap_doubles, is_cpu};
pub(super) use division::column_parts;
pub(super) use faer_calls::matmul;
pub(super) use lanes::{Lanes, WIDTH, dot, sum};
#[cfg(any(test, feature = "section-times"))]
pub use measured::{MeasuredSection, on_measured_threads};
pub(super) use members::{
    batch_parts, join_members, map_members, member, member_mut, part, update_members,
};
pub(super) use passes::{
    add_transpose, assume_written, clear_above_diagonal, copy_lower, in_row_parts, mirror_lower,
    row, row_mut, transpose_into,
};
pub(crate) use scalar::Scalar;
#[cfg(any(test, feature = "section-times"))]
pub use simulated::{Interval, Section, Timeline, on_simulated_threads};
pub(super) use substitution::BLOCK;
pub(crate) use threads::in_parts;
pub use threads::with_threads_awake;
pub(super) use threads::{CHUNK, add_up, share_out};
pub(super) use triangles::{
    add_lower_product_of_triangles, gram_of_lower, lower_of_transposed_product,
    product_of_triangles, solve_for_lower, solve_for_upper, solve_transposed_for_lower,
};
pub(crate) use triangular::product_on;
pub(super) use triangular::{
    LowerProduct, Side, Triangle, halfway, lower_product, lower_products, on_threads, product,
    solve_in_place, triangular_product,
};
pub(super) use vectorized::Kernel;
