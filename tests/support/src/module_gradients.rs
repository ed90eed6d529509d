//! Gradients with respect to all parameters of a module, compared with central differences.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Gradients, Tensor, TensorData},
};

use super::{
    Platform,
    comparison::assert_within,
    gradients::{BETWEEN_PLATFORMS, DIRECTIONS, assert_slopes, slopes_of},
    largest, numbers, platforms, reference_platform,
};

/// The values of all parameters, in visiting order.
#[derive(Default)]
struct Values(Vec<Vec<f64>>);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(numbers(param.val()));
    }
}

/// The gradients of all parameters.
struct Slopes<'a> {
    gradients: &'a Gradients,
    values: Vec<Vec<f64>>,
}

impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        match param.val().grad(self.gradients) {
            Some(gradient) => self.values.push(numbers(gradient)),
            None => panic!("parameter {} has no gradient", self.values.len()),
        }
    }
}

/// Replaces the values of all parameters.
struct Replacement<'a>(std::slice::Iter<'a, Vec<f64>>);

impl ModuleMapper for Replacement<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(values) = self.0.next() else {
            panic!("more parameters than values");
        };
        param.map(|tensor| {
            let data = TensorData::new(values.clone(), tensor.shape());
            Tensor::from_data(data, (&tensor.device(), tensor.dtype()))
        })
    }
}

/// The values of a module's parameters.
pub fn parameter_values<M: Module>(module: &M) -> Vec<Vec<f64>> {
    let mut values = Values::default();
    module.visit(&mut values);
    values.0
}

/// The gradients of all parameters of a module.
pub fn parameter_gradients<M: Module>(module: &M, gradients: &Gradients) -> Vec<Vec<f64>> {
    let mut slopes = Slopes {
        gradients,
        values: Vec::new(),
    };
    module.visit(&mut slopes);
    slopes.values
}

/// The module with new parameter values.
pub fn with_parameter_values<M: Module>(module: M, values: &[Vec<f64>]) -> M {
    module.map(&mut Replacement(values.iter()))
}

/// Checks the gradient of `loss` with respect to all parameters of the module from `build`. On the reference
/// platform it is compared with central differences, to `double`. On other platforms it is compared with the
/// reference platform's gradient: to a thousandth of `double` in double precision, to `single` in single
/// precision. Errors are relative to the parameter's largest gradient entry or a thousandth of the largest of
/// all parameters, whichever is larger.
#[track_caller]
pub fn check_module_gradients<M: Module>(
    what: &str,
    (double, single): (f64, f64),
    build: impl Fn(&Platform) -> M,
    loss: impl Fn(&Platform, &M) -> Tensor<1>,
) {
    let gradients = |platform: &Platform| {
        let tracked = platform.autodiff();
        let module = build(&tracked);
        let gradients = loss(&tracked, &module).backward();
        let gradients = parameter_gradients(&module, &gradients);
        assert!(
            !gradients.is_empty(),
            "{what}: the module has no parameters"
        );
        gradients
    };
    let reference = reference_platform().map(|platform| (gradients(&platform), platform));
    for platform in platforms() {
        match &reference {
            Some((expected, reference)) if platform == *reference => {
                let plain = build(&platform);
                let what = format!("{what} on {platform}");
                let base = parameter_values(&plain);
                let slopes = slopes_of(&what, &base, expected, DIRECTIONS, |values| {
                    let module = with_parameter_values(plain.clone(), values);
                    numbers(loss(&platform, &module))[0]
                });
                assert_slopes(&slopes, double);
            }
            Some((expected, _)) => {
                let ours = gradients(&platform);
                let largest_of_all = largest(&expected.concat());
                for (index, (gradient, expected)) in ours.iter().zip(expected).enumerate() {
                    let what = format!("{what} on {platform}, gradient of parameter {index}");
                    let scale = largest(expected).max(1e-3 * largest_of_all);
                    let tolerance = platform.tolerance(BETWEEN_PLATFORMS * double, single);
                    assert_within(&what, gradient, expected, tolerance * scale);
                }
            }
            None => drop(gradients(&platform)),
        }
    }
}
