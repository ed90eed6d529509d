//! A process of one of two types.

use super::Process;

/// A process that has one of two types, chosen at run time.
#[derive(Clone, Debug)]
pub enum EitherProcess<A, B> {
    /// A process of the first type.
    First(A),
    /// A process of the second type.
    Second(B),
}

impl<A: Process, B: Process> EitherProcess<A, B> {
    /// The process.
    pub fn process(&self) -> &dyn Process {
        match self {
            Self::First(process) => process,
            Self::Second(process) => process,
        }
    }
}
