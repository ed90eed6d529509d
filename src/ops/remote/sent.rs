//! The client's side of a call.

use core::marker::PhantomData;
use std::vec::IntoIter;

use burn::{
    backend::{
        Remote, RemoteDevice, TensorMetadata,
        ir::{CustomOpIr, ScalarIr, TensorIr},
        tensor::FloatTensor,
    },
    remote::CustomOpClient,
};

use super::{numbers::Numbers, shapes::Output};

/// The arguments of an operation.
#[derive(Default)]
pub struct Call {
    tensors: Vec<TensorIr>,
    numbers: Vec<ScalarIr>,
    device: Option<RemoteDevice>,
}

impl Call {
    /// Adds a tensor to the arguments.
    pub fn tensor(&mut self, tensor: FloatTensor<Remote>) {
        self.device.get_or_insert_with(|| tensor.device());
        self.tensors.push(tensor.into_ir());
    }

    /// Adds another argument.
    pub fn numbers(&mut self, argument: impl Numbers) {
        argument.append(&mut self.numbers);
    }

    /// Sends the operation and returns its results, whose values the client does not have.
    ///
    /// After its other arguments, an operation has one flag per result that says whether the client wants it.
    ///
    /// # Panics
    ///
    /// If there is no tensor among the arguments.
    pub fn send<K, R: Returned<K>>(mut self, name: &'static str, outputs: &R::Outputs) -> R {
        let Some(device) = &self.device else {
            panic!("{name} has no tensor among its arguments");
        };
        let client = CustomOpClient::new(device);
        let listed = R::list(outputs);
        let wanted = listed.iter().map(Option::is_some).map(ScalarIr::Bool);
        self.numbers.extend(wanted);
        let results: Vec<TensorIr> = (listed.into_iter().flatten())
            .map(|output| {
                let Output { shape, dtype } = output.clone();
                TensorIr::uninit(client.create_empty_handle(), shape, dtype)
            })
            .collect();
        let call = CustomOpIr::with_scalars(name, &self.tensors, &results, self.numbers);
        R::take(outputs, &mut client.register(call).into_iter())
    }
}

/// The form of a result that is a tensor. Without these types, the compiler could not tell the implementations
/// below apart.
pub struct AsTensor;

/// The form of an array of results with the form `K`.
pub struct ArrayOf<K>(PhantomData<K>);

/// The form of a result that may be absent.
pub struct OptionOf<K>(PhantomData<K>);

/// The results of an operation, in the form `K`: tensors, in the same structure as the outputs.
pub trait Returned<K>: Sized {
    type Outputs;

    /// The outputs in order; `None` for those that are not computed.
    fn list(outputs: &Self::Outputs) -> Vec<Option<&Output>>;

    /// Takes the tensors of the outputs that are computed.
    fn take(outputs: &Self::Outputs, tensors: &mut IntoIter<FloatTensor<Remote>>) -> Self;
}

impl Returned<AsTensor> for FloatTensor<Remote> {
    type Outputs = Output;

    fn list(outputs: &Output) -> Vec<Option<&Output>> {
        vec![Some(outputs)]
    }

    fn take(_: &Output, tensors: &mut IntoIter<FloatTensor<Remote>>) -> Self {
        match tensors.next() {
            Some(tensor) => tensor,
            None => unreachable!("there is a tensor for every output"),
        }
    }
}

impl<K, T: Returned<K>> Returned<OptionOf<K>> for Option<T> {
    type Outputs = Option<T::Outputs>;

    fn list(outputs: &Self::Outputs) -> Vec<Option<&Output>> {
        match outputs {
            Some(outputs) => T::list(outputs),
            None => vec![None],
        }
    }

    fn take(outputs: &Self::Outputs, tensors: &mut IntoIter<FloatTensor<Remote>>) -> Self {
        outputs.as_ref().map(|outputs| T::take(outputs, tensors))
    }
}

impl<K, T: Returned<K>, const N: usize> Returned<ArrayOf<K>> for [T; N] {
    type Outputs = [T::Outputs; N];

    fn list(outputs: &Self::Outputs) -> Vec<Option<&Output>> {
        outputs.iter().flat_map(T::list).collect()
    }

    fn take(outputs: &Self::Outputs, tensors: &mut IntoIter<FloatTensor<Remote>>) -> Self {
        (outputs.each_ref()).map(|outputs| T::take(outputs, tensors))
    }
}

macro_rules! tuples {
    ($(($($name:ident $outputs:ident),+))*) => {$(
        impl<$($name: Returned<AsTensor>),+> Returned<($($name,)+)> for ($($name,)+) {
            type Outputs = ($($name::Outputs,)+);

            fn list(($($outputs,)+): &Self::Outputs) -> Vec<Option<&Output>> {
                [$($name::list($outputs)),+].concat()
            }

            fn take(
                ($($outputs,)+): &Self::Outputs,
                tensors: &mut IntoIter<FloatTensor<Remote>>,
            ) -> Self {
                ($($name::take($outputs, tensors),)+)
            }
        }
    )*};
}
tuples!((A a, B b)(A a, B b, C c)(A a, B b, C c, D d));
