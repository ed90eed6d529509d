//! Conversion of arguments and results between the fusing backend and its inner backend.

use burn::backend::{
    TensorMetadata,
    fusion::{
        FusionBackend, FusionTensor, NoOp,
        custom::{OperationIr, OperationOutput, StreamId},
        get_client,
    },
    ir::InitOperationIr,
    tensor::FloatTensor,
};

use crate::ops::{
    adam::AdamStep, cholesky::Jitter, covariance_product::BlockPairs, cpu::Side, moments::Baseline,
    patches::PatchGrid, special::SpecialFunction, stationary::Stationary,
};

/// An argument or a result of an operation.
pub trait Value<B: FusionBackend> {
    /// The same value on the inner backend.
    type Inner;

    /// Converts to the inner backend; launches the operations that the value depends on.
    fn inner(self) -> Self::Inner;

    fn outer(inner: Self::Inner) -> Self;
}

impl<B: FusionBackend> Value<B> for FusionTensor<B::FusionRuntime> {
    type Inner = FloatTensor<B>;

    fn inner(self) -> FloatTensor<B> {
        self.client.clone().resolve_tensor_float::<B>(self)
    }

    fn outer(tensor: FloatTensor<B>) -> Self {
        let (shape, dtype) = (tensor.shape(), tensor.dtype());
        let client = get_client::<B>(&tensor.device());
        let handle = B::float_tensor_handle(tensor);
        let created =
            InitOperationIr::create(shape, dtype, || client.register_tensor_handle(handle));
        let operation = OperationIr::Init(created);
        let registered = client.register(StreamId::current(), operation, NoOp::<B>::new());
        registered.output()
    }
}

impl<B: FusionBackend, T: Value<B>, const N: usize> Value<B> for [T; N] {
    type Inner = [T::Inner; N];

    fn inner(self) -> Self::Inner {
        self.map(T::inner)
    }

    fn outer(inner: Self::Inner) -> Self {
        inner.map(T::outer)
    }
}

impl<B: FusionBackend, T: Value<B>> Value<B> for Option<T> {
    type Inner = Option<T::Inner>;

    fn inner(self) -> Self::Inner {
        self.map(T::inner)
    }

    fn outer(inner: Self::Inner) -> Self {
        inner.map(T::outer)
    }
}

macro_rules! tuples {
    ($(($($name:ident),+))*) => {$(
        #[expect(non_snake_case, reason = "the letters of the types are those of the values")]
        impl<B: FusionBackend, $($name: Value<B>),+> Value<B> for ($($name,)+) {
            type Inner = ($($name::Inner,)+);

            fn inner(self) -> Self::Inner {
                let ($($name,)+) = self;
                ($($name.inner(),)+)
            }

            fn outer(($($name,)+): Self::Inner) -> Self {
                ($($name::outer($name),)+)
            }
        }
    )*};
}
tuples!((T, U)(T, U, V)(T, U, V, W));

/// Arguments that are not tensors.
macro_rules! plain {
    ($($name:ty),* $(,)?) => {$(
        impl<B: FusionBackend> Value<B> for $name {
            type Inner = Self;

            fn inner(self) -> Self {
                self
            }

            fn outer(inner: Self) -> Self {
                inner
            }
        }
    )*};
}
plain!(
    bool,
    f64,
    AdamStep,
    Baseline,
    BlockPairs,
    Jitter,
    PatchGrid,
    Side,
    SpecialFunction,
    Stationary,
);
