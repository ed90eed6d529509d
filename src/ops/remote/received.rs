//! The server's side of a call.

use burn::{
    backend::{
        TensorMetadata,
        ir::{BackendIr, CustomOpIr, HandleContainer, ScalarIr, TensorIr},
        tensor::FloatTensor,
    },
    tensor::Shape,
};

use super::{
    numbers::Numbers,
    sent::{ArrayOf, AsTensor, OptionOf},
};

/// An operation requested by a client, while its arguments are read and its results are stored.
pub struct ReceivedCall<'a, B: BackendIr> {
    name: &'a str,
    handles: &'a mut HandleContainer<B::Handle>,
    tensors: core::slice::Iter<'a, TensorIr>,
    numbers: core::slice::Iter<'a, ScalarIr>,
    results: core::slice::Iter<'a, TensorIr>,
}

impl<'a, B: BackendIr> ReceivedCall<'a, B> {
    pub fn new(handles: &'a mut HandleContainer<B::Handle>, call: &'a CustomOpIr) -> Self {
        Self {
            name: &call.id,
            handles,
            tensors: call.inputs.iter(),
            numbers: call.scalars.iter(),
            results: call.outputs.iter(),
        }
    }

    /// The next tensor among the arguments.
    ///
    /// # Panics
    ///
    /// If the client sent fewer tensors.
    pub fn tensor(&mut self) -> FloatTensor<B> {
        match self.tensors.next() {
            Some(tensor) => self.handles.get_float_tensor::<B>(tensor),
            None => self.malformed("an operation with fewer tensors"),
        }
    }

    /// The next argument that is not a tensor.
    ///
    /// # Panics
    ///
    /// If the client sent another type.
    pub fn numbers<T: Numbers>(&mut self) -> T {
        T::next(&mut self.numbers)
    }

    /// The next result, stored if the client wants it. An operation may compute results that are not wanted.
    ///
    /// # Panics
    ///
    /// If the client expects a different shape, or a result that does not exist.
    pub fn give(&mut self, result: Option<FloatTensor<B>>) {
        if !bool::next(&mut self.numbers) {
            return;
        }
        let (Some(wanted), Some(result)) = (self.results.next(), result) else {
            self.malformed("a different number of results");
        };
        let shape: Shape = result.shape();
        if shape != wanted.shape {
            let expected = &wanted.shape;
            self.malformed(&format!(
                "a result of shape {expected:?} instead of {shape:?}"
            ));
        }
        let result = match wanted.dtype == result.dtype() {
            true => result,
            false => B::float_cast(result, wanted.dtype.into()),
        };
        self.handles.register_float_tensor::<B>(&wanted.id, result);
    }

    fn malformed(&self, reason: &str) -> ! {
        panic!(
            "{}: the client expects {reason}; use the same version of burn-gp on both sides",
            self.name
        )
    }
}

/// The results of a call, in the form `K`.
pub trait Results<B: BackendIr, K> {
    fn give_to(self, call: &mut ReceivedCall<'_, B>);
}

impl<B: BackendIr> Results<B, AsTensor> for FloatTensor<B> {
    fn give_to(self, call: &mut ReceivedCall<'_, B>) {
        call.give(Some(self));
    }
}

impl<B: BackendIr> Results<B, OptionOf<AsTensor>> for Option<FloatTensor<B>> {
    fn give_to(self, call: &mut ReceivedCall<'_, B>) {
        call.give(self);
    }
}

impl<B: BackendIr, K, T: Results<B, K>, const N: usize> Results<B, ArrayOf<K>> for [T; N] {
    fn give_to(self, call: &mut ReceivedCall<'_, B>) {
        for result in self {
            result.give_to(call);
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $result:ident),+))*) => {$(
        impl<B: BackendIr, $($name: Results<B, AsTensor>),+> Results<B, ($($name,)+)>
            for ($($name,)+)
        {
            fn give_to(self, call: &mut ReceivedCall<'_, B>) {
                let ($($result,)+) = self;
                $($result.give_to(call);)+
            }
        }
    )*};
}
tuples!((T a, U b)(T a, U b, V c)(T a, U b, V c, W d));

/// Stores all results of a call.
pub fn give<B: BackendIr, K, R: Results<B, K>>(results: R, call: &mut ReceivedCall<'_, B>) {
    results.give_to(call);
}
