//! Images as rows of numbers, and their patches.

pub use crate::ops::patches::{ImageShape, PatchError, PatchGrid};
