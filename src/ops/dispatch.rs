//! Dispatch of operations from tensors to backends.

/// Applies a backend's operation to tensors and to any arguments after a semicolon. burn chooses
/// the backend at run time.
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
