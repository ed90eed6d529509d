//! What configurations of models have in common.

/// Makes the configuration of a full-batch regression with a kernel, a mean, the noise, parameter
/// settings, and the given additional fields with their defaults. With `assembled`, it makes `init` from
/// `assemble`; `assembled one_function` does so for any likelihood ([`OneFunction`](crate::one_function::OneFunction)).
///
/// Other arguments make methods of [`ModelDefinition`](crate::ModelDefinition):
///
/// | argument | for |
/// |---|---|
/// | none | the parts of a full-batch regression |
/// | `keeps_data` | also regression that keeps its data ([`Conditioned`](crate::Conditioned)) |
/// | `becomes_variational` | regression whose trained model is that of `variational()` |
/// | `collapsed` | also the parts and inducing points of such a regression |
/// | `variational` | models with any likelihood that predict by themselves |
/// | `boxed`, `likelihood`, `functions`, `inducing` | one or two methods, about these fields |
macro_rules! model_config {
    // `$refused` is the end of the sentence about errors.
    (assembled $model:ident $(, $refused:literal)?) => {
        /// Initializes the model for `data`, in the order that the model expects, in their precision and on their
        /// device with autodiff.
        ///
        /// # Errors
        ///
        #[doc = concat!("When a target is not finite, or a parameter setting is invalid", $(", or ", $refused,)? ".")]
        pub fn init(
            &self,
            data: &$crate::training::TrainingData,
        ) -> Result<$model, $crate::InitError> {
            self.likelihood.check()?;
            burn_gp_core::likelihoods::check_finite(&data.targets)?;
            let [_, dimensions] = data.inputs.dims();
            let model = self.assemble(dimensions, $crate::config::options_of(&data.inputs))?;
            let mut model = self.ready(model, $model::kernel, data)?;
            // The initial variances of a sum are those of the data.
            $crate::training::Model::update_approximation(&mut model);
            Ok(model.with_priors(self.parameters.priors.clone()))
        }
    };
    (assembled one_function $model:ident, $refused:literal) => {
        /// Initializes the model for `data`, in the order that the model expects, in their precision and on their
        /// device with autodiff.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "When the likelihood does not accept a target or has several latent functions, a parameter setting is \
             invalid, or ", $refused, "."
        )]
        ///
        /// # Panics
        ///
        /// If the likelihood needs a different number of target columns.
        #[track_caller]
        pub fn init(
            &self,
            data: &$crate::training::TrainingData,
        ) -> Result<$model, $crate::InitError> {
            let assemble = |dimensions, options| self.assemble(dimensions, options);
            let mut model = (self.one_function()).init(data, $model::kernel, assemble)?;
            // The initial values of the lengthscales may differ from those of the kernel's configuration.
            $crate::training::Model::update_approximation(&mut model);
            Ok(model.with_priors(self.parameters.priors.clone()))
        }

        fn one_function(&self) -> $crate::one_function::OneFunction<'_> {
            $crate::one_function::OneFunction {
                kernel: &self.kernel,
                likelihood: &self.likelihood,
                parameters: &self.parameters,
            }
        }
    };
    (keeps_data) => {
        model_config!();
        model_config!(boxed);

        fn skeleton(
            &self,
            shape: &$crate::DataShape,
        ) -> Result<$crate::AnyTrained, $crate::InitError> {
            let model = self.assemble(shape.dimensions, shape.options.clone())?;
            let model = self.parameters.apply_to_skeleton(model)?;
            Ok($crate::Conditioned::skeleton(&model, shape))
        }
    };
    (becomes_variational) => {
        model_config!(boxed);
        model_config!(noise);

        fn skeleton(
            &self,
            shape: &$crate::DataShape,
        ) -> Result<$crate::AnyTrained, $crate::InitError> {
            self.variational().skeleton(shape)
        }
    };
    (collapsed) => {
        model_config!(becomes_variational);
        model_config!(functions);
        model_config!(inducing);
    };
    (variational) => {
        model_config!(boxed);
        model_config!(likelihood);

        fn likelihood_mut(
            &mut self,
        ) -> Option<&mut burn_gp_core::likelihoods::LikelihoodConfig> {
            Some(&mut self.likelihood)
        }

        fn takes_row_columns(&self) -> burn_gp_core::inference::RowColumns {
            let noise: Option<&burn_gp_core::likelihoods::GaussianConfig> =
                self.likelihood.downcast_ref();
            burn_gp_core::inference::RowColumns {
                weights: true,
                noise: noise.is_some(),
            }
        }
    };
    () => {
        model_config!(noise);
        model_config!(functions);
    };
    (noise) => {
        model_config!(likelihood);

        fn takes_one_output(&self) -> bool {
            true
        }
    };
    (inducing) => {
        fn resolve(&mut self, data: &$crate::training::TrainingData) {
            let places = self.kernel.without_inactive(&data.inputs);
            self.inducing = self.inducing.for_inputs(&places);
        }
    };
    (boxed) => {
        fn init(
            &self,
            data: &$crate::training::TrainingData,
        ) -> Result<$crate::AnyModel, $crate::InitError> {
            Ok($crate::training::Model::boxed(self.init(data)?))
        }
    };
    (likelihood) => {
        fn likelihood(&self) -> burn_gp_core::likelihoods::LikelihoodConfig {
            self.likelihood.clone().into()
        }

        fn parameters(&mut self) -> Option<&mut burn_gp_core::parameter::ParameterConfig> {
            Some(&mut self.parameters)
        }
    };
    (functions) => {
        fn kernel(&self) -> Option<&burn_gp_core::kernels::KernelConfig> {
            Some(&self.kernel)
        }

        fn mean(&self) -> Option<&burn_gp_core::means::MeanConfig> {
            Some(&self.mean)
        }
    };
    (
        $(#[$documentation:meta])*
        $config:ident {
            $($(#[$of_field:meta])* $field:ident: $type:ty = $default:expr),* $(,)?
        }
        $(#[$of_new:meta])*
        new
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, derive_setters::Setters)]
        #[serde(deny_unknown_fields)]
        #[setters(prefix = "with_")]
        pub struct $config {
            /// The kernel.
            #[setters(into)]
            pub kernel: burn_gp_core::kernels::KernelConfig,
            /// The mean function.
            pub mean: burn_gp_core::means::MeanConfig,
            /// The noise.
            pub likelihood: burn_gp_core::likelihoods::GaussianConfig,
            $($(#[$of_field])* pub $field: $type,)*
            /// Initial values, bounds and priors of the parameters, and which of them are not
            /// trained.
            #[serde(default)]
            pub parameters: burn_gp_core::parameter::ParameterConfig,
        }

        impl $config {
            $(#[$of_new])*
            pub fn new(kernel: impl Into<burn_gp_core::kernels::KernelConfig>) -> Self {
                Self {
                    kernel: kernel.into(),
                    mean: burn_gp_core::means::MeanConfig::zero(),
                    likelihood: Default::default(),
                    $($field: $default,)*
                    parameters: Default::default(),
                }
            }

            /// The kernel, the mean and the noise. The kernel has its initial values, because others are derived from
            /// it.
            fn parts(
                &self,
                dimensions: usize,
                options: &burn::tensor::TensorCreationOptions,
            ) -> Result<
                (
                    burn_gp_core::kernels::AnyKernel,
                    burn_gp_core::means::AnyMean,
                    burn_gp_core::likelihoods::Gaussian,
                ),
                burn_gp_core::parameter::ParameterError,
            > {
                self.kernel.check_for("kernel", dimensions)?;
                self.mean.check_for("mean", dimensions)?;
                let kernel = self.kernel.init(dimensions, options.clone());
                let outputs = $crate::config::OUTPUTS;
                Ok((
                    $crate::config::with_first_values(kernel, &self.parameters, "kernel"),
                    self.mean.init(dimensions, outputs, options.clone()),
                    self.likelihood.init(options.clone()),
                ))
            }

            /// The model with the parameter settings, for training.
            fn ready<M: burn::module::Module, K: burn_gp_core::kernels::FunctionPrior>(
                &self,
                model: M,
                kernel: fn(&M) -> &K,
                data: &$crate::training::TrainingData,
            ) -> Result<M, burn_gp_core::parameter::ParameterError> {
                let (model, priors) = (self.parameters.apply(model)?, &self.parameters.priors);
                let parts: (_, &dyn burn_gp_core::likelihoods::LikelihoodDefinition) =
                    (Some(&self.kernel), &self.likelihood);
                Ok($crate::initial_scale::scaled_to_targets(model, kernel, parts, priors, data))
            }
        }

        impl Default for $config {
            /// The kernel Matérn-5/2.
            fn default() -> Self {
                Self::new(burn_gp_core::kernels::StationaryConfig::matern52())
            }
        }
    };
}

/// The methods of [`Model`](crate::training::Model) that full-batch regression has in common. The objective
/// is that of the batch as the whole data set, scaled up to all data.
macro_rules! full_batch {
    (rows) => {
        full_batch!();

        fn use_row_columns(&mut self, columns: burn_gp_core::inference::RowColumns) -> bool {
            *self = self.clone().with_row_columns(columns);
            true
        }
    };
    () => {
        fn objective(
            &self,
            inputs: burn::tensor::Tensor<2>,
            targets: burn::tensor::Tensor<2>,
            data_count: usize,
        ) -> Result<crate::training::Objective, burn_gp_core::ops::NotPositiveDefinite> {
            let [batch, _] = inputs.dims();
            let objective = self.full_objective(inputs, targets)?;
            Ok(crate::training::Objective {
                fit: objective * (data_count as f64 / batch as f64),
                kl: None,
            })
        }

        fn needs_all_data(&self) -> bool {
            true
        }

        fn priors(&self) -> burn_gp_core::parameter::Priors {
            self.priors().clone()
        }
    };
}

pub(crate) use {full_batch, model_config};
