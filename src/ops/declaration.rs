//! The declaration of operations, from which everything follows that is the same for all of them.

/// Declares operations with their kernels: what a device computes.
///
/// ```text
/// operations! {
///     /// What the operations are.
///     trait GramOps on devices {
///         /// The result.
///         fn gram(basis; side: Side) -> FloatTensor<Self> = matrices(basis, …),
///             |gradient, wanted| [Some(B::gram_backward(basis, gradient, side))];
///     } backward {
///         /// The gradient.
///         fn gram_backward(basis, gradient; side: Side) -> FloatTensor<Self> = like(basis);
///     }
/// }
/// ```
///
/// A signature has tensors, then other arguments after a semicolon. `=` begins the shapes of the results, from
/// references to the tensors (`remote/shapes.rs` has the functions). The gradients of the tensors follow:
///
/// - `|gradient, wanted| [...]` computes them from the tensors, the other arguments, the gradient of the result
///   and flags that say which are needed;
/// - a block is the whole operation under autodiff, for operations that keep other values
///   ([`record`](crate::ops::backward::record)).
///
/// Both call kernels of the inner backend `B`. A kernel may take an array of tensors first, `[x1, x2], gradient`.
///
/// A device implements the declared trait, with the operations and the kernels of the backward pass. From the
/// declaration follow the trait `Dispatched` of the operations that burn dispatches at run time (one for each file),
/// its implementation for autodiff, the operations on devices that fuse, and both sides of those on remote devices.
///
/// `on cpu` is for operations that GPUs compose of others; they need no shapes. `without autodiff` is for
/// operations that are never called with autodiff.
macro_rules! operations {
    (
        $(#[$doc:meta])*
        trait $ops:ident $(: $bound:ident)? on devices $operations:tt $(backward $kernels:tt)?
    ) => {
        crate::ops::declaration::operations!(
            @traits [Autodiff,] [Cube: cfg(feature = "cube"), Remote: cfg(feature = "remote")]
            [$(#[$doc])*] $ops [$($bound)?] $operations $($kernels)?
        );
        crate::ops::declaration::operations!(@autodiff $ops $operations);
        crate::ops::declaration::operations!(@devices $ops $operations $($kernels)?);
    };
    ($(#[$doc:meta])* trait $ops:ident on devices without autodiff $operations:tt) => {
        crate::ops::declaration::operations!(
            @traits [] [Cube: cfg(feature = "cube"), Remote: cfg(feature = "remote")]
            [$(#[$doc])*] $ops [] $operations
        );
        crate::ops::declaration::operations!(@devices $ops $operations);
    };
    (
        $(#[$doc:meta])*
        trait $ops:ident $(: $bound:ident)? on cpu $operations:tt backward $kernels:tt
    ) => {
        crate::ops::declaration::operations!(
            @traits [Autodiff,] [] [$(#[$doc])*] $ops [$($bound)?] $operations $kernels
        );
        crate::ops::declaration::operations!(@autodiff $ops $operations);
    };
    ($(#[$doc:meta])* trait $ops:ident on cpu without autodiff $operations:tt) => {
        crate::ops::declaration::operations!(@traits [] [] [$(#[$doc])*] $ops [] $operations);
    };

    // The trait that a device implements, and the one that burn dispatches.
    (
        @traits [$($autodiff:tt)*] [$($device:tt)*] [$($doc:tt)*] $ops:ident [$($bound:ident)?]
        {$(
            $(#[$of:meta])*
            fn $name:ident($($tensor:ident),+ $(; $($other:ident: $type:ty),+)?)
                -> $output:tt $(<$this:tt>)? $(= $shapes:expr)?
                $(, |$gradient:ident, $wanted:pat_param| $gradients:expr)? $(, $body:block)?;
        )+}
        $({$(
            $(#[$of_kernel:meta])*
            fn $kernel:ident(
                $([$($saved:ident),+],)? $($given:ident),+ $(; $($extra:ident: $extra_type:ty),+)?
            ) -> $result:tt $(<$that:tt>)? $(= $result_shapes:expr)?;
        )+})?
    ) => {
        $($doc)*
        pub trait $ops: burn::backend::Backend $(+ $bound)? {
            $(
                $(#[$of])*
                fn $name(
                    $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
                    $($($other: $type),+)?
                ) -> $output $(<$this>)?;
            )+
            $($(
                $(#[$of_kernel])*
                fn $kernel(
                    $(
                        saved: [
                            burn::backend::tensor::FloatTensor<Self>; [$(stringify!($saved)),+].len()
                        ],
                    )?
                    $($given: burn::backend::tensor::FloatTensor<Self>,)+
                    $($($extra: $extra_type),+)?
                ) -> $result $(<$that>)?;
            )+)?
        }

        /// The operations that burn dispatches at run time.
        #[burn::backend::backend_extension(
            $($autodiff)*
            Flex: cfg(feature = "flex"),
            NdArray: cfg(feature = "ndarray"),
            $($device)*
        )]
        trait Dispatched: burn::backend::Backend {
            $(fn $name(
                $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
                $($($other: $type),+)?
            ) -> $output $(<$this>)?;)+
        }

        impl<B: $ops> Dispatched for B {
            $(fn $name(
                $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
                $($($other: $type),+)?
            ) -> $output $(<$this>)? {
                <B as $ops>::$name($($tensor,)+ $($($other),+)?)
            })+
        }
    };

    (
        @autodiff $ops:ident
        {$(
            $(#[$of:meta])*
            fn $name:ident $arguments:tt -> $output:tt $(<$this:tt>)? $(= $shapes:expr)?
                $(, |$gradient:ident, $wanted:pat_param| $gradients:expr)? $(, $body:block)?;
        )+}
    ) => {
        impl<B: $ops, C: crate::ops::backward::CheckpointStrategy> Dispatched
            for burn::backend::Autodiff<B, C>
        {
            $(crate::ops::declaration::operations!(
                @differentiable $ops $name $arguments [$output $(<$this>)?]
                $(|$gradient, $wanted| $gradients)? $($body)?
            );)+
        }
    };
    (
        @differentiable $ops:ident $name:ident
        ($($tensor:ident),+ $(; $($other:ident: $type:ty),+)?)
        [$($output:tt)+] |$gradient:ident, $wanted:pat_param| $gradients:expr
    ) => {
        #[allow(unused_variables, reason = "not every gradient needs all arguments")]
        fn $name(
            $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
            $($($other: $type),+)?
        ) -> $($output)+ {
            crate::ops::backward::record_inputs::<B, C, _, _>(
                [$($tensor),+],
                ($($($other,)+)?),
                |[$($tensor),+], ($($($other,)+)?)| {
                    <B as $ops>::$name($($tensor,)+ $($($other),+)?)
                },
                |([$($tensor),+], ($($($other,)+)?)), $gradient, $wanted| $gradients,
            )
        }
    };
    (
        @differentiable $ops:ident $name:ident
        ($($tensor:ident),+ $(; $($other:ident: $type:ty),+)?)
        [$($output:tt)+] $body:block
    ) => {
        fn $name(
            $($tensor: burn::backend::tensor::FloatTensor<Self>,)+
            $($($other: $type),+)?
        ) -> $($output)+ $body
    };

    // The operations and the kernels on devices that fuse operations, and on those of other machines.
    (
        @devices $ops:ident
        {$(
            $(#[$of:meta])*
            fn $name:ident $arguments:tt -> $output:tt $(<$this:tt>)? = $shapes:expr
                $(, |$gradient:ident, $wanted:pat_param| $gradients:expr)? $(, $body:block)?;
        )+}
        $({$(
            $(#[$of_kernel:meta])*
            fn $kernel:ident $given:tt -> $result:tt $(<$that:tt>)? = $result_shapes:expr;
        )+})?
    ) => {
        #[cfg(all(feature = "cube", feature = "fusion"))]
        crate::ops::fusion::fused_operations!($ops {
            $($name $arguments -> [$output $(<$this>)?];)+
            $($($kernel $given -> [$result $(<$that>)?];)+)?
        });
        #[cfg(feature = "remote")]
        crate::ops::remote::remote_operations!($ops {
            $($name $arguments -> [$output $(<$this>)?] = $shapes;)+
            $($($kernel $given -> [$result $(<$that>)?] = $result_shapes;)+)?
        });
    };
}
pub(super) use operations;

/// Applies an operation of the file to tensors and to any arguments after a semicolon. burn chooses the backend
/// at run time.
macro_rules! dispatch {
    ($operation:ident($($tensor:expr),+ $(; $($other:expr),+)?)) => {
        burn::tensor::Tensor::from_dispatch(
            <burn::backend::Dispatch as Dispatched>::$operation(
                $($tensor.into_dispatch(),)+ $($($other),+)?
            )
        )
    };
}
pub(super) use dispatch;
