//! Arguments that are not tensors, as numbers in a message.

use core::slice::Iter;

use burn::backend::ir::ScalarIr;

/// An argument that is sent as numbers. [`sent_as_numbers`] implements it in the file of the type.
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

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn append(&self, numbers: &mut Vec<ScalarIr>) {
        self.iter().for_each(|number| number.append(numbers));
    }

    fn next(numbers: &mut Iter<'_, ScalarIr>) -> Self {
        core::array::from_fn(|_| T::next(numbers))
    }
}

/// Makes a type an argument: a structure field by field, an enumeration as the position in the list of all its
/// values, which has the order of the declaration.
macro_rules! sent_as_numbers {
    ($type:ident { $($field:ident),* }) => {
        impl crate::ops::remote::Numbers for $type {
            fn append(&self, numbers: &mut Vec<burn::backend::ir::ScalarIr>) {
                let Self { $($field),* } = self;
                $(crate::ops::remote::Numbers::append($field, numbers);)*
            }

            fn next(numbers: &mut core::slice::Iter<'_, burn::backend::ir::ScalarIr>) -> Self {
                // Fields are evaluated in the order in which they are written.
                Self { $($field: crate::ops::remote::Numbers::next(numbers)),* }
            }
        }
    };
    ($type:ident in $all:expr) => {
        impl crate::ops::remote::Numbers for $type {
            fn append(&self, numbers: &mut Vec<burn::backend::ir::ScalarIr>) {
                crate::ops::remote::Numbers::append(&(*self as usize), numbers);
            }

            fn next(numbers: &mut core::slice::Iter<'_, burn::backend::ir::ScalarIr>) -> Self {
                let position: usize = crate::ops::remote::Numbers::next(numbers);
                match $all.get(position) {
                    Some(value) => *value,
                    None => panic!("{} has no value with index {position}", stringify!($type)),
                }
            }
        }
    };
}
pub(in crate::ops) use sent_as_numbers;
