//! Natural-gradient descent for every Gaussian `q(u)` in a module.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    optim::GradientsParams,
    tensor::{Bool, Tensor, container::TensorContainer},
};
use serde::{Deserialize, Serialize};

use super::{
    covariance_step::{DiagonalStep, FullStep},
    on_device::choose,
};
use crate::process::VariationalGaussian;

/// The maximum number of times a step size is halved.
const HALVINGS: i32 = 12;

/// The numbers of halvings that a device tries at once. These are only a few, because all are
/// computed in every step.
const HALVINGS_AT_ONCE: [i32; 5] = [0, 1, 3, 6, HALVINGS];

/// Natural-gradient descent for the Gaussians `q(u)`, combined with any optimizer for the other
/// parameters. In every step, call [`step`](Self::step) first, then the optimizer with the
/// remaining gradients.
///
/// A natural gradient does not depend on the parameterization of `q(u)` (whitened or not, and by
/// which factor). For a Gaussian likelihood and full-batch training, one step of size one reaches
/// the optimum. Mini-batches and other likelihoods need smaller steps, especially at the start (H.
/// Salimbeni, S. Eleftheriadis and J. Hensman, *Natural Gradients in Practice*, arXiv:1803.09151).
///
/// ```
/// use burn::{module::Module, optim::GradientsParams, tensor::{Device, DType}};
/// use burn_gp_core::{optim::NaturalGradient, process::{CovarianceShape, VariationalGaussian}};
///
/// # fn main() -> Result<(), burn_gp_core::optim::NaturalStepError> {
/// let device = Device::default();
/// let model = VariationalGaussian::standard(3, 1, CovarianceShape::Full, (&device, DType::F64));
/// let model = model.train();
/// let loss = (model.mean() - 1.0).square().sum() * 0.5;
/// let mut gradients = GradientsParams::from_grads(loss.backward(), &model);
/// let step = NaturalGradient::new(0.5).step(0, model, &mut gradients, 1.0)?;
/// let mean = step.module.mean().into_data();
/// mean.assert_approx_eq::<f64>(&[[0.5, 0.5, 0.5]].into(), burn::tensor::Tolerance::absolute(1e-12));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NaturalGradient {
    /// The step size γ.
    pub step_size: f64,
    /// Smaller steps at the start.
    #[serde(default)]
    pub warm_up: Option<WarmUp>,
}

/// Step sizes that grow geometrically.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmUp {
    /// The size of the first step.
    pub first: f64,
    /// The number of steps before the final size is reached.
    pub steps: usize,
}

/// The result of a step.
#[derive(Clone, Debug)]
pub struct NaturalStep<M> {
    /// The module after the step.
    pub module: M,
    /// The number of Gaussians that were updated.
    pub distributions: usize,
    /// The smallest step size used. It is smaller than requested if a covariance would have become
    /// indefinite.
    pub step_size: f64,
}

/// A step that the device makes or skips, without the CPU knowing which.
#[derive(Clone, Debug)]
pub struct UnreadNaturalStep<M> {
    /// The module after the step.
    pub module: M,
    /// The number of Gaussians that were updated.
    pub distributions: usize,
    /// Whether the step was made, `[1]`.
    pub made: Tensor<1, Bool>,
}

/// The step leads to an indefinite covariance for every step size tried.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "a natural-gradient step of size {step_size:.1e} leads to a covariance that is not positive \
     definite, and so does one of size {smallest:.1e}; take smaller steps, with a longer warm-up, \
     or use f64"
)]
pub struct NaturalStepError {
    /// The requested step size.
    pub step_size: f64,
    /// The smallest step size tried.
    pub smallest: f64,
}

impl NaturalGradient {
    /// The default number of steps in which step sizes grow.
    pub const WARM_UP: usize = 10;

    /// The size of the first step, as a fraction of the final one.
    const FIRST: f64 = 1e-3;

    /// Creates steps of constant size.
    pub fn new(step_size: f64) -> Self {
        Self {
            step_size,
            warm_up: None,
        }
    }

    /// Sets step sizes that grow geometrically from `first` to the final size in `steps` steps.
    pub fn with_warm_up(mut self, first: f64, steps: usize) -> Self {
        self.warm_up = Some(WarmUp { first, steps });
        self
    }

    /// Steps whose size grows from a thousandth in `steps` steps, by default [`WARM_UP`](Self::WARM_UP); of constant
    /// size if there are none.
    pub fn warming_up(step_size: f64, steps: usize) -> Self {
        match steps {
            0 => Self::new(step_size),
            _ => Self::new(step_size).with_warm_up(Self::FIRST * step_size, steps),
        }
    }

    /// The size of step `step`, counted from zero.
    pub fn step_size(&self, step: usize) -> f64 {
        match self.warm_up {
            Some(WarmUp { first, steps }) if step < steps => {
                first * (self.step_size / first).powf(step as f64 / steps as f64)
            }
            _ => self.step_size,
        }
    }

    /// Makes step `step`, counted from zero, for every Gaussian `q(u)` in `module`, and removes
    /// their gradients from `gradients`. These must be the gradients of the negative evidence lower
    /// bound divided by `divisor`, for example the number of data points if the loss is a mean over
    /// them.
    ///
    /// If a step would make a covariance indefinite, the step size is halved, for that distribution
    /// only. Parameters without gradients (frozen ones) do not change.
    ///
    /// # Errors
    ///
    /// When no step size leads to a positive-definite covariance, which includes NaN.
    pub fn step<M: Module>(
        &self,
        step: usize,
        module: M,
        gradients: &mut GradientsParams,
        divisor: f64,
    ) -> Result<NaturalStep<M>, NaturalStepError> {
        let mut updates = Updates::new(gradients, self.step_size(step), divisor);
        module.visit(&mut updates);
        let Updates {
            values,
            distributions,
            smallest,
            failure,
            ..
        } = updates;
        match failure {
            Some(failure) => Err(failure),
            None => Ok(NaturalStep {
                module: module.map(&mut Replacement { values, made: None }),
                distributions,
                step_size: smallest,
            }),
        }
    }

    /// Like [`step`](Self::step), without waiting for the device. It makes the step if the flag
    /// `ok`, `[1]`, is set and a step size leads to positive-definite covariances; otherwise no
    /// Gaussian changes. The step sizes are tried at once, and they differ by larger factors.
    pub fn step_if<M: Module>(
        &self,
        step: usize,
        module: M,
        gradients: &mut GradientsParams,
        divisor: f64,
        ok: Tensor<1, Bool>,
    ) -> UnreadNaturalStep<M> {
        let mut updates = Updates::new(gradients, self.step_size(step), divisor);
        updates.made = Some(ok.clone());
        module.visit(&mut updates);
        let Updates {
            values,
            distributions,
            made,
            ..
        } = updates;
        let mut replacement = Replacement { values, made };
        UnreadNaturalStep {
            module: module.map(&mut replacement),
            distributions,
            made: replacement.made.unwrap_or(ok),
        }
    }
}

/// Visits a module and computes the new values of its distributions.
struct Updates<'a> {
    gradients: &'a mut GradientsParams,
    step_size: f64,
    divisor: f64,
    smallest: f64,
    /// The enclosing fields of distributions: none or one.
    fields: Vec<Field>,
    /// The mean of the current distribution.
    mean: Option<Mean>,
    /// New values, by parameter.
    values: TensorContainer<ParamId>,
    distributions: usize,
    failure: Option<NaturalStepError>,
    /// Whether all steps so far can be made, `[1]`, if the device decides that.
    made: Option<Tensor<1, Bool>>,
}

#[derive(Clone, Copy)]
enum Field {
    Mean,
    Scale,
}

struct Mean {
    id: ParamId,
    value: Tensor<2>,
    gradient: Option<Tensor<2>>,
}

impl<'a> Updates<'a> {
    fn new(gradients: &'a mut GradientsParams, step_size: f64, divisor: f64) -> Self {
        Self {
            gradients,
            step_size,
            divisor,
            smallest: step_size,
            fields: Vec::new(),
            mean: None,
            values: TensorContainer::new(),
            distributions: 0,
            failure: None,
            made: None,
        }
    }

    /// The step size after some halvings.
    fn halved(&self, halvings: i32) -> f64 {
        self.step_size * 0.5f64.powi(halvings)
    }

    /// Takes a parameter's gradient and rescales it.
    fn take<const D: usize>(&mut self, id: ParamId) -> Option<Tensor<D>> {
        let gradient = self.gradients.remove::<D>(id)?;
        Some(gradient * self.divisor)
    }

    /// Halves the step size until `attempt` succeeds, or lets the device choose from the results of
    /// `at_once`.
    fn guarded<T>(
        &mut self,
        attempt: impl Fn(f64) -> Option<T>,
        at_once: impl Fn(&[f64]) -> (T, Tensor<1, Bool>),
    ) -> Option<T> {
        if let Some(made) = self.made.take() {
            let (values, fits) = at_once(&HALVINGS_AT_ONCE.map(|halvings| self.halved(halvings)));
            self.made = Some(made.bool_and(fits));
            return Some(values);
        }
        let mut last = self.step_size;
        for size in (0..=HALVINGS).map(|halvings| self.halved(halvings)) {
            last = size;
            if let Some(values) = attempt(size) {
                self.smallest = self.smallest.min(size);
                return Some(values);
            }
        }
        self.failure.get_or_insert(NaturalStepError {
            step_size: self.step_size,
            smallest: last,
        });
        None
    }

    /// Stores the new values of a distribution's parameters that have gradients.
    fn keep<const D: usize>(
        &mut self,
        mean: (Mean, Tensor<2>),
        scale: Option<(ParamId, Tensor<D>)>,
    ) {
        let (mean, value) = mean;
        self.distributions += 1;
        if mean.gradient.is_some() {
            self.values.register(mean.id, value);
        }
        if let Some((id, value)) = scale {
            self.values.register(id, value);
        }
    }

    fn update<const D: usize>(&mut self, mean: Mean, scale: &Param<Tensor<D>>) {
        let gradient = self.take::<D>(scale.id);
        if mean.gradient.is_none() && gradient.is_none() {
            return;
        }
        let trained = gradient.is_some();
        let value = scale.val().without_autodiff();
        let gradient = gradient.unwrap_or_else(|| value.zeros_like());
        let mean_gradient = (mean.gradient.clone()).unwrap_or_else(|| mean.value.zeros_like());
        let dims = value.dims();
        let [outputs, size] = mean.value.dims();
        let new = if D == 3 {
            let shape = [outputs, size, size];
            let step = FullStep::new(
                (mean.value.clone(), value.reshape(shape)),
                (mean_gradient, gradient.reshape(shape)),
            );
            (self.guarded(|size| step.at(size), |sizes| step.at_first(sizes)))
                .map(|(mean, scale)| (mean, scale.reshape(dims)))
        } else {
            let shape = [outputs, size];
            let step = DiagonalStep::new(
                (mean.value.clone(), value.reshape(shape)),
                (mean_gradient, gradient.reshape(shape)),
            );
            (self.guarded(|size| step.at(size), |sizes| step.at_first(sizes)))
                .map(|(mean, scale)| (mean, scale.reshape(dims)))
        };
        if let Some((new_mean, new_scale)) = new {
            self.keep((mean, new_mean), trained.then_some((scale.id, new_scale)));
        }
    }
}

impl ModuleVisitor for Updates<'_> {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        if container_type == VariationalGaussian::CONTAINER {
            self.fields.push(if name == VariationalGaussian::MEAN {
                Field::Mean
            } else {
                Field::Scale
            });
        }
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        if container_type == VariationalGaussian::CONTAINER {
            self.fields.pop();
        }
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        match (self.fields.last(), self.mean.take()) {
            (Some(Field::Mean), _) => {
                let gradient = self.take::<D>(param.id);
                let value = param.val().without_autodiff();
                let [outputs, size] = [value.dims()[0], value.dims()[1]];
                self.mean = Some(Mean {
                    id: param.id,
                    value: value.reshape([outputs, size]),
                    gradient: gradient.map(|gradient| gradient.reshape([outputs, size])),
                });
            }
            (Some(Field::Scale), Some(mean)) => self.update(mean, param),
            _ => {}
        }
    }
}

/// Replaces values in a module.
struct Replacement {
    values: TensorContainer<ParamId>,
    /// Whether to replace them, `[1]`, if the device decides that.
    made: Option<Tensor<1, Bool>>,
}

impl ModuleMapper for Replacement {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(value) = self.values.remove::<Tensor<D>>(&param.id) else {
            return param;
        };
        param.map(|old| {
            let value = match self.made.clone() {
                Some(made) => choose(made, value, old.clone().without_autodiff()),
                None => value,
            };
            let value = Tensor::from_inner(value);
            let value = match old.gradient_checkpointing_strategy() {
                Some(strategy) => value.with_gradient_checkpointing_strategy(strategy),
                None => value,
            };
            value.set_require_grad(old.is_require_grad())
        })
    }
}
