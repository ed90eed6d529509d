//! Cached evaluations of an objective.

use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};
use burn_gp_core::ops::numbers;

/// The evaluations of one line search. A call of burn's L-BFGS starts with an evaluation at the end
/// point of the previous call, which that call's last search has already evaluated.
#[derive(Default)]
pub(super) struct Evaluations(Vec<Evaluation>);

struct Evaluation {
    /// The point: the stored values of all parameters.
    parameters: Vec<f64>,
    loss: f64,
    gradients: GradientsParams,
}

impl Evaluations {
    /// The loss at `model` and its gradients, cached or computed by `evaluate`. Every parameter has
    /// a gradient, zero if necessary, because burn's L-BFGS expects one.
    pub(super) fn at<M: Module, E>(
        &mut self,
        model: &M,
        evaluate: impl FnOnce() -> Result<(f64, GradientsParams), E>,
    ) -> Result<(f64, GradientsParams), E> {
        let parameters = parameters_of(model);
        let known = self
            .0
            .iter()
            .position(|known| known.parameters == parameters);
        let evaluation = match known {
            Some(index) => &self.0[index],
            None => {
                let (loss, gradients) = evaluate()?;
                self.0.push(Evaluation {
                    parameters,
                    loss,
                    gradients,
                });
                &self.0[self.0.len() - 1]
            }
        };
        Ok((evaluation.loss, for_all(model, &evaluation.gradients)))
    }

    /// Drops all evaluations except the one at `model`.
    pub(super) fn keep_only_at<M: Module>(&mut self, model: &M) {
        let parameters = parameters_of(model);
        self.0.retain(|known| known.parameters == parameters);
    }
}

fn parameters_of<M: Module>(model: &M) -> Vec<f64> {
    struct Values(Vec<f64>);
    impl ModuleVisitor for Values {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.extend(numbers(param.val()));
        }
    }
    let mut values = Values(Vec::new());
    model.visit(&mut values);
    values.0
}

/// The gradients of all parameters of `model`, with zeros for parameters without a gradient.
pub(super) fn for_all<M: Module>(model: &M, gradients: &GradientsParams) -> GradientsParams {
    struct All<'a>(&'a GradientsParams, GradientsParams);
    impl ModuleVisitor for All<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = self.0.get::<D>(param.id);
            let gradient = gradient.unwrap_or_else(|| param.val().inner().zeros_like());
            self.1.register::<D>(param.id, gradient);
        }
    }
    let mut all = All(gradients, GradientsParams::new());
    model.visit(&mut all);
    all.1
}
