//! Positive parameters in another unit.

use std::collections::BTreeMap;

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::{Int, Tensor},
};

use super::tree;

/// The module with positive parameters and their units multiplied by `10ᵏ`, where `exponent` gives k
/// for a [path](super::Parameters). The stored numbers stay, so that an optimizer step makes the same
/// relative change as before. Frozen and bounded parameters, and those that are not positive, do not
/// change.
///
/// ```
/// use burn::{module::Module, tensor::Device};
/// use burn_gp_core::{kernels::StationaryConfig, parameter::{Parameters, rescaled}};
///
/// let kernel = StationaryConfig::rbf().init(1, &Device::default().autodiff()).train();
/// let kernel = rescaled(kernel, &|path| if path == "variance" { -8 } else { 0 });
/// assert!((kernel.parameter("variance")?[0] * 1e8 - 1.0).abs() < 1e-6);
/// # Ok::<(), burn_gp_core::parameter::ParameterError>(())
/// ```
pub fn rescaled<M: Module>(module: M, exponent: &dyn Fn(&str) -> i64) -> M {
    let found = tree::parameters(|listing| module.visit(listing), &mut |place| {
        exponent(&place.path) != 0
    });
    let free = found
        .into_iter()
        .filter(|found| found.is_trained && !found.has_limits());
    let changes = free.filter_map(|found| Some((found.exponent?.0, exponent(&found.path))));
    module.map(&mut Rescaling(changes.collect()))
}

/// What to add to the exponents of units.
struct Rescaling(BTreeMap<ParamId, i64>);

impl ModuleMapper for Rescaling {
    fn map_int<const D: usize>(&mut self, unit: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        match self.0.get(&unit.id) {
            Some(&change) => unit.map(|exponent| exponent + change),
            None => unit,
        }
    }
}
