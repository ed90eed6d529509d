//! Posteriors with scaled initial standard deviations.

use crate::process::VariationalGaussian;
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};

/// Multiplies the standard deviations of every [`VariationalGaussian`] in the module by `factor`. A
/// hidden layer with little variance starts close to its mean function.
pub fn with_scaled_deviations<M: Module>(module: M, factor: f64) -> M {
    if factor == 1.0 {
        return module;
    }
    module.map(&mut Scaling {
        factor,
        within: Vec::new(),
    })
}

struct Scaling {
    factor: f64,
    /// The path to the current parameter: field names and the types that contain them.
    within: Vec<(String, String)>,
}

impl Scaling {
    /// Whether the current parameter is the factor of a covariance.
    fn meets_scale(&self) -> bool {
        let mut fields = self.within.iter();
        fields.any(|(name, container)| {
            container == VariationalGaussian::CONTAINER && name != VariationalGaussian::MEAN
        })
    }
}

impl ModuleMapper for Scaling {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.within.push((name.to_owned(), container.to_owned()));
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.within.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !self.meets_scale() {
            return param;
        }
        let factor = self.factor;
        param.map(|scale| {
            let tracked = scale.is_require_grad();
            (scale.detach() * factor).set_require_grad(tracked)
        })
    }
}
