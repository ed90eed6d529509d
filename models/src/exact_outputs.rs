//! Exact regression of several outputs.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    inference::{ConditionError, ExactOutputs, check_observed},
    kernels::{AnyKernel, Index, IndexConfig, KernelConfig, KernelModule},
    likelihoods::{Gaussian, ImpossibleTarget, LikelihoodDefinition},
    ops::numbers,
    parameter::ParameterConfig,
};

use crate::{
    AnyTrained, Conditioned, DataShape, ExactConfig, InitError, Trained,
    config::{options_of, with_first_values},
    data::matrix,
    first_coregionalization::first_coregionalization,
    initial_scale::scaled_to_targets,
    model_config::full_batch,
    training::{Model, TrainingData},
};

/// An exact model of several outputs whose components are chosen at run time.
pub type AnyExactOutputs = ExactOutputs<AnyKernel>;

/// The path of the covariance of outputs.
const COREGIONALIZATION: &str = "coregionalization";

impl ExactConfig {
    /// Initializes the model of several outputs for `data`, in their precision and on their device with autodiff.
    /// Targets that are NaN are missing.
    ///
    /// The covariance of outputs starts at the correlations of their targets. The variance of the kernel is not
    /// trained, since only its product with the covariance of outputs is determined.
    ///
    /// # Errors
    ///
    /// When a target is infinite, or a parameter setting is invalid.
    pub fn init_outputs(&self, data: &TrainingData) -> Result<AnyExactOutputs, InitError> {
        self.likelihood.check()?;
        check_observed(&data.targets)?;
        let ([_, dimensions], [_, outputs]) = (data.inputs.dims(), data.targets.dims());
        let options = options_of(&data.inputs);
        let index = self.has_coregionalization(dimensions).then(|| {
            let rank = self.rank_for(outputs);
            let targets = numbers(data.targets.clone().inner());
            let (weights, own) = first_coregionalization(&targets, outputs, rank);
            let weights = match rank {
                0 => Tensor::zeros([outputs, 0], options.clone()),
                _ => matrix(&weights, rank, &options.device, data.inputs.dtype()),
            };
            Index::new(weights, &own, 0, options.clone())
        });
        let is_coregionalized = index.is_some();
        let model = self.assemble_outputs(index, &data.targets, dimensions, options)?;
        let settings = self.settings_of_outputs(is_coregionalized);
        let model = settings.apply(model)?;
        let model = match is_coregionalized {
            true => {
                let parts: (_, &dyn LikelihoodDefinition) = (Some(&self.kernel), &self.likelihood);
                scaled_to_targets(
                    model,
                    AnyExactOutputs::kernel,
                    parts,
                    &settings.priors,
                    data,
                )
            }
            false => model.train(),
        };
        Ok(model.with_priors(settings.priors))
    }

    /// A trained model of several outputs with the right shapes, whose values are then read from a record.
    pub(crate) fn skeleton_of_outputs(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        let (outputs, options) = (shape.columns, shape.options.clone());
        let index = self.has_coregionalization(shape.dimensions).then(|| {
            let weights = Tensor::ones([outputs, self.rank_for(outputs)], options.clone());
            Index::new(weights, &vec![1.0; outputs], 0, options.clone())
        });
        let is_coregionalized = index.is_some();
        let targets = shape.zeros().targets;
        let model = self.assemble_outputs(index, &targets, shape.dimensions, options)?;
        let model = self
            .settings_of_outputs(is_coregionalized)
            .apply_to_skeleton(model)?;
        Ok(Conditioned::skeleton(&model, shape))
    }

    /// Whether the kernel is one of the inputs only, so that the outputs need a covariance of their own.
    fn has_coregionalization(&self, dimensions: usize) -> bool {
        self.kernel.missing_dimension(dimensions).is_none()
    }

    fn rank_for(&self, outputs: usize) -> usize {
        self.rank
            .unwrap_or_else(|| outputs.saturating_sub(1).min(2))
    }

    fn assemble_outputs(
        &self,
        index: Option<Index>,
        targets: &Tensor<2>,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyExactOutputs, InitError> {
        let [_, outputs] = targets.dims();
        let of_kernel = dimensions + usize::from(index.is_none());
        self.kernel.check_for("kernel", of_kernel)?;
        self.mean.check_for("mean", dimensions)?;
        if index.is_some() {
            let rank = IndexConfig::new(outputs).with_rank(self.rank_for(outputs));
            KernelConfig::from(rank).check_for(COREGIONALIZATION, 1)?;
        }
        let kernel = self.kernel.init(of_kernel, options.clone());
        let noise = vec![self.likelihood.noise; outputs];
        Ok(ExactOutputs::new(
            with_first_values(kernel, &self.parameters, "kernel"),
            index,
            self.mean.init(dimensions, outputs, options.clone()),
            Gaussian::of_outputs(&noise, options),
            targets,
        ))
    }

    /// The parameter settings, with the only variance of the kernel fixed unless something is said about it.
    fn settings_of_outputs(&self, is_coregionalized: bool) -> ParameterConfig {
        let mut settings = self.parameters.clone();
        if let ([variance], true) = (&*self.kernel.variances(), is_coregionalized) {
            let path = format!("kernel.{variance}");
            if !settings.values.contains_key(&path) && !settings.bounds.contains_key(&path) {
                settings.priors.0.remove(&path);
                settings.frozen.push(path);
            }
        }
        settings
    }
}

impl<K: KernelModule> Model for ExactOutputs<K> {
    full_batch!();

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        check_observed(targets)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check_inputs(&data.inputs)?;
        check_observed(&data.targets)?;
        Ok(Conditioned::new(self, data).into_trained())
    }
}
