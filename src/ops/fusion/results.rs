//! Results of the inner backend as results of the fusing backend.

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

/// The results of an operation.
pub trait Results<B: FusionBackend> {
    /// The same results on the inner backend.
    type Inner;

    fn outer(inner: Self::Inner) -> Self;
}

impl<B: FusionBackend> Results<B> for FusionTensor<B::FusionRuntime> {
    type Inner = FloatTensor<B>;

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

impl<B: FusionBackend, T: Results<B>, const N: usize> Results<B> for [T; N] {
    type Inner = [T::Inner; N];

    fn outer(inner: Self::Inner) -> Self {
        inner.map(T::outer)
    }
}

impl<B: FusionBackend, T: Results<B>> Results<B> for Option<T> {
    type Inner = Option<T::Inner>;

    fn outer(inner: Self::Inner) -> Self {
        inner.map(T::outer)
    }
}

macro_rules! tuples {
    ($(($($name:ident),+))*) => {$(
        #[expect(non_snake_case, reason = "the letters of the types are those of the values")]
        impl<B: FusionBackend, $($name: Results<B>),+> Results<B> for ($($name,)+) {
            type Inner = ($($name::Inner,)+);

            fn outer(($($name,)+): Self::Inner) -> Self {
                ($($name::outer($name),)+)
            }
        }
    )*};
}
tuples!((T, U)(T, U, V)(T, U, V, W));
