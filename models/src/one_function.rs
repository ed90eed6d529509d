//! What configurations have in common whose likelihood, of any kind, has one latent function.

use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp_core::{
    kernels::{AnyKernel, KernelConfig},
    likelihoods::{AnyLikelihood, LikelihoodConfig},
    parameter::ParameterConfig,
};

use crate::{
    InitError, config::options_of, initial_scale::scaled_to_targets, training::TrainingData,
};

/// The parts of such a configuration.
pub(crate) struct OneFunction<'a> {
    pub(crate) kernel: &'a KernelConfig,
    pub(crate) likelihood: &'a LikelihoodConfig,
    pub(crate) parameters: &'a ParameterConfig,
}

impl OneFunction<'_> {
    /// The model for `data` with the parameter settings, scaled to the targets. `assemble` makes a model of inputs of
    /// this many dimensions.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, `assemble` fails, or a parameter setting is invalid.
    #[track_caller]
    pub(crate) fn init<M: Module>(
        &self,
        data: &TrainingData,
        kernel: fn(&M) -> &AnyKernel,
        assemble: impl FnOnce(usize, TensorCreationOptions) -> Result<M, InitError>,
    ) -> Result<M, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        let model = assemble(dimensions, options_of(&data.inputs))?;
        let model = self.parameters.apply(model)?;
        let parts = (Some(self.kernel), &**self.likelihood);
        Ok(scaled_to_targets(
            model,
            kernel,
            parts,
            &self.parameters.priors,
            data,
        ))
    }

    /// The likelihood.
    ///
    /// # Errors
    ///
    /// When it has several latent functions.
    pub(crate) fn likelihood(
        &self,
        options: &TensorCreationOptions,
    ) -> Result<AnyLikelihood, InitError> {
        let likelihood = self.likelihood.init(options.clone());
        let description = likelihood.description();
        match description.latents {
            1 => Ok(likelihood),
            functions => Err(InitError::SeveralFunctions {
                likelihood: description.name,
                functions,
            }),
        }
    }
}
