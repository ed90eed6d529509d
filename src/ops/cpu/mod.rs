//! The building blocks that operations share on the CPU: the way from a tensor to its values, numbers
//! in vector registers, threads, and products and solves with matrices. They know no operation.

mod access;
pub(crate) mod lanes;
mod members;
pub(crate) mod scalar;
pub(super) mod substitution;
pub(crate) mod threads;
pub(crate) mod triangular;
pub(crate) mod vectorized;

pub(crate) use access::is_on_cpu;
pub(super) use access::{
    CpuAccess, CpuMemory, Element, matrix_dims, with_element, write, write_like,
};
pub(super) use members::{
    batch_parts, join_members, map_members, member, member_mut, part, update_members,
};
