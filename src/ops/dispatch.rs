//! Calls of operations on tensors.

/// The tensor that an operation of a backend makes of tensors and of what follows a semicolon. burn
/// finds the backend at run time.
macro_rules! dispatch {
    ($ops:ident::$operation:ident($($tensor:expr),+ $(; $($other:expr),+)?)) => {
        burn::tensor::Tensor::from_dispatch(
            <burn::backend::Dispatch as $ops>::$operation(
                $($tensor.into_dispatch(),)+ $($($other),+)?
            )
        )
    };
}
pub(super) use dispatch;
