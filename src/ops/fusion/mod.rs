//! Operations on devices whose backend fuses operations (burn's feature `fusion`).
//!
//! That backend queues operations, so that neighboring ones become one kernel. Our operations first launch
//! what is queued before them, without waiting for the device, and then run on the inner backend. Their
//! results are again tensors of the fusing backend.

mod value;

use burn::backend::{
    fusion::{Fusion, FusionBackend},
    tensor::FloatTensor as Tensor,
};

use super::signatures::{names::*, signatures};
use value::Value;

/// Implements the operations' traits: each operation runs on the inner backend.
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
