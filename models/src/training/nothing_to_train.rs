//! Models that no training step would change.

use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// The reason why no step would change a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingToTrain {
    /// The model is on a device without autodiff.
    #[error(
        "autodiff does not track the model, so no step would change it; \
         train `model.train()` (`burn::module::Module::train`) instead"
    )]
    Untracked,
    /// Every parameter is frozen.
    #[error(
        "every parameter of the model is frozen; unfreeze one, or use the model without training"
    )]
    Frozen,
    /// The objective does not depend on any trained parameter.
    #[error("the objective does not depend on any parameter that is not frozen")]
    Constant,
}

impl NothingToTrain {
    /// The reason why no step would change `model`, independent of the objective, if there is one.
    pub fn of(model: &impl Module) -> Option<Self> {
        let mut parameters = Tracked::default();
        model.visit(&mut parameters);
        match parameters {
            Tracked { trained: 1.., .. } => None,
            Tracked { autodiff: 1.., .. } => Some(Self::Frozen),
            _ => Some(Self::Untracked),
        }
    }

    /// The reason why the objective of `model` has no gradient.
    fn in_model(model: &impl Module) -> Self {
        Self::of(model).unwrap_or(Self::Constant)
    }
}

/// The gradients of a loss with respect to the parameters of `model`.
///
/// # Errors
///
/// When there are no gradients.
pub(super) fn gradients<M: Module>(
    loss: &Tensor<1>,
    model: &M,
) -> Result<GradientsParams, NothingToTrain> {
    if !loss.is_tracked() {
        return Err(NothingToTrain::in_model(model));
    }
    let gradients = GradientsParams::from_grads(loss.backward(), model);
    if gradients.is_empty() {
        return Err(NothingToTrain::in_model(model));
    }
    Ok(gradients)
}

/// The number of parameters that a model has on a device with autodiff, and how many of them are
/// trained.
#[derive(Default)]
struct Tracked {
    autodiff: usize,
    trained: usize,
}

impl ModuleVisitor for Tracked {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = parameter.val();
        self.autodiff += usize::from(value.is_autodiff());
        self.trained += usize::from(value.is_require_grad());
    }
}
