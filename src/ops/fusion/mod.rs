//! Operations on devices whose backend fuses operations (burn's feature `fusion`).
//!
//! That backend queues operations, so that neighboring ones become one kernel. Our operations first launch
//! what is queued before them, without waiting for the device, and then run on the inner backend. Their
//! results are again tensors of the fusing backend.

mod results;

use burn::backend::{
    fusion::{FusionBackend, FusionTensor},
    tensor::FloatTensor,
};

pub use results::Results;

/// A tensor on the inner backend; launches the operations that it depends on.
pub fn inner<B: FusionBackend>(tensor: FusionTensor<B::FusionRuntime>) -> FloatTensor<B> {
    tensor.client.clone().resolve_tensor_float::<B>(tensor)
}

/// Implements the trait of [operations](super::declaration): each runs on the inner backend.
macro_rules! fused_operations {
    ($ops:ident {$(
        $name:ident($([$($saved:ident),+],)? $($tensor:ident),+ $(; $($other:ident: $type:ty),+)?)
            -> [$($output:tt)+];
    )+}) => {
        impl<B: burn::backend::fusion::FusionBackend + $ops> $ops for burn::backend::fusion::Fusion<B> {
            $(fn $name(
                $(
                    saved: [
                        burn::backend::tensor::FloatTensor<Self>; [$(stringify!($saved)),+].len()
                    ],
                )?
                $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
                $($($other: $type),+)?
            ) -> $($output)+ {
                $(let [$($saved),+] = saved;)?
                crate::ops::fusion::Results::<B>::outer(<B as $ops>::$name(
                    $([$(crate::ops::fusion::inner::<B>($saved)),+],)?
                    $(crate::ops::fusion::inner::<B>($tensor),)+
                    $($($other),+)?
                ))
            })+
        }
    };
}
pub(super) use fused_operations;
