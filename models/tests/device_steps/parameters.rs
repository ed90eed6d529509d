//! The numbers of the parameters of a model.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Tensor},
};
use burn_gp_core::ops::numbers;

struct Numbers(Vec<f64>);

impl ModuleVisitor for Numbers {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.extend(numbers(parameter.val()));
    }
}

/// The numbers of all parameters.
pub fn parameters(model: &impl Module) -> Vec<f64> {
    let mut found = Numbers(Vec::new());
    model.visit(&mut found);
    found.0
}

struct Cast(DType);

impl ModuleMapper for Cast {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        parameter.map(|old| {
            let new = Tensor::from_inner(old.clone().without_autodiff().cast(self.0));
            new.set_require_grad(old.is_require_grad())
        })
    }
}

/// The model with the parameters of another, in a given type.
pub fn with_parameters<M: Module>(model: M, of: &M, dtype: DType) -> M {
    (model.load_record(of.clone().into_record())).map(&mut Cast(dtype))
}
