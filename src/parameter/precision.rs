//! Checks that tensors have the same precision.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Tensor},
};

/// Panics unless two tensors, each given with its name, have the same type.
#[track_caller]
pub(crate) fn require_same_dtype(
    owner: impl FnOnce() -> String,
    (name, dtype): (&str, DType),
    (other, expected): (&str, DType),
) {
    assert!(
        dtype == expected,
        "{}: {name} in {}, {other} in {}; cast one of them",
        owner(),
        dtype.name(),
        expected.name()
    );
}

/// Panics unless inputs have the type of the parameters of `module`.
#[track_caller]
pub(crate) fn require_precision(owner: &str, inputs: &Tensor<2>, module: &impl Module) {
    let mut found = First(None);
    module.visit(&mut found);
    if let First(Some(dtype)) = found {
        let name = || owner.to_owned();
        require_same_dtype(name, ("inputs", inputs.dtype()), ("parameters", dtype));
    }
}

/// The type of the first parameter.
struct First(Option<DType>);

impl ModuleVisitor for First {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.get_or_insert_with(|| param.val().dtype());
    }
}
