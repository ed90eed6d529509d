//! Operations on devices whose backend fuses operations (burn's feature `fusion`).
//!
//! That backend queues operations, so that neighboring ones become one kernel. An operation of ours
//! launches what is queued before it, without waiting for the device, and then runs on the backend
//! below. Its results are again tensors of the fusing backend.

mod value;

use burn::backend::{
    fusion::{Fusion, FusionBackend},
    tensor::FloatTensor as Tensor,
};

use super::signatures::{names::*, signatures};
use value::Value;

/// Implements the traits of operations: each runs on the backend below.
macro_rules! operations {
    ($($ops:ident {
        $($name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty => $shapes:expr;)*
    })*) => {$(
        impl<B: FusionBackend + $ops> $ops for Fusion<B> {
            $(fn $name($($argument: $type),*) -> $output {
                Value::<B>::outer(B::$name($(Value::<B>::inner($argument)),*))
            })*
        }
    )*};
}
signatures!(operations);
