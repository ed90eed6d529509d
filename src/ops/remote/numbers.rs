//! Arguments that are not tensors, as numbers in a message.

use core::slice::Iter;

use burn::backend::ir::ScalarIr;

use crate::ops::{
    adam::AdamStep,
    cholesky::Jitter,
    covariance_product::{BlockPairs, Blocks},
    cpu::Side,
    moments::Baseline,
    patches::{ImageShape, PatchGrid},
    special::SpecialFunction,
    stationary::Stationary,
};

/// An argument that is sent as numbers.
pub trait Numbers: Sized {
    /// Appends the numbers.
    fn append(&self, numbers: &mut Vec<ScalarIr>);

    /// Reads the argument from the next numbers.
    ///
    /// # Panics
    ///
    /// If they are not an argument of this type.
    fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self;
}

macro_rules! primitives {
    ($($type:ty, $variant:ident, $carrier:ty;)*) => {$(
        impl Numbers for $type {
            fn append(&self, numbers: &mut Vec<ScalarIr>) {
                numbers.push(ScalarIr::$variant(*self as $carrier));
            }

            fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
                match numbers.next() {
                    Some(ScalarIr::$variant(number)) => *number as $type,
                    other => panic!(
                        "expected a number of type {}, received {other:?}",
                        stringify!($type)
                    ),
                }
            }
        }
    )*};
}
primitives!(
    bool, Bool, bool;
    f64, Float, f64;
    usize, UInt, u64;
);

/// Structures, field by field.
macro_rules! structures {
    ($($type:ident { $($field:ident),* })*) => {$(
        impl Numbers for $type {
            fn append(&self, numbers: &mut Vec<ScalarIr>) {
                let Self { $($field),* } = self;
                $($field.append(numbers);)*
            }

            fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
                // Fields are evaluated in the order in which they are written.
                Self { $($field: Numbers::next(numbers)),* }
            }
        }
    )*};
}
structures!(
    AdamStep { beta_1, beta_2, rate, epsilon }
    BlockPairs { blocks, same }
    ImageShape { height, width, channels }
    Jitter { initial, escalations }
);

/// Enumerations, as the position in the list of all values, which has the order of the declaration.
macro_rules! enumerations {
    ($($type:ty),*) => {$(
        impl Numbers for $type {
            fn append(&self, numbers: &mut Vec<ScalarIr>) {
                (*self as usize).append(numbers);
            }

            fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
                let position = usize::next(numbers);
                match Self::ALL.get(position) {
                    Some(value) => *value,
                    None => panic!("{} has no value with index {position}", stringify!($type)),
                }
            }
        }
    )*};
}
enumerations!(Baseline, Side, SpecialFunction, Stationary);

impl Numbers for Blocks {
    fn append(&self, numbers: &mut Vec<ScalarIr>) {
        self.points().append(numbers);
        self.count().append(numbers);
    }

    fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
        let [points, count] = [(); 2].map(|()| usize::next(numbers));
        Self::new(points, count)
    }
}

impl Numbers for PatchGrid {
    fn append(&self, numbers: &mut Vec<ScalarIr>) {
        self.image().append(numbers);
        self.size().append(numbers);
        self.stride().append(numbers);
    }

    fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
        let image = ImageShape::next(numbers);
        let [size, stride] = [(); 2].map(|()| usize::next(numbers));
        match Self::new(image, size, stride) {
            Ok(grid) => grid,
            Err(error) => panic!("a client sent an invalid patch grid: {error}"),
        }
    }
}
