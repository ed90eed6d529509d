//! Trained models chosen at run time.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{inference::ConditionError, parameter::Hyperparameter};

use crate::*;

fn predictor(model: &impl Trained) -> Result<Predictor, ConditionError> {
    let (device, dtype) = model.options();
    let process = model.process()?;
    Ok(Predictor::new(process, &model.likelihood(), &device, dtype))
}

/// Makes [`TrainedModel`] from one line per form of a trained model.
macro_rules! trained {
    ($($(#[$doc:meta])* $name:ident($model:ty),)*) => {
        /// A trained model.
        #[allow(
            clippy::large_enum_variant,
            reason = "a program holds one or two, and burn's modules cannot hold boxes"
        )]
        #[derive(Module, Debug)]
        pub enum TrainedModel {
            $($(#[$doc])* $name($model),)*
        }

        $(
            impl From<$model> for TrainedModel {
                fn from(model: $model) -> Self {
                    Self::$name(model)
                }
            }
        )*

        impl TrainedModel {
            /// Prepares the model for prediction.
            ///
            /// # Errors
            ///
            /// When a value in the data that the model keeps is not finite, or a covariance matrix
            /// cannot be factored.
            pub fn predictor(&self) -> Result<Predictor, ConditionError> {
                match self {
                    $(Self::$name(model) => predictor(model),)*
                }
            }

            /// The hyperparameters in human-readable units.
            pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
                match self {
                    $(Self::$name(model) => model.hyperparameters(),)*
                }
            }

            /// The prior covariances `k(x1, x2)` of the function. `None` for deep models and for
            /// several functions with separate kernels.
            ///
            /// # Shapes
            ///
            /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
            /// - result: `[N1, N2]`
            pub fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
                match self {
                    $(Self::$name(model) => model.covariance(x1, x2),)*
                }
            }

            /// The inducing points of all sets, row-major, `[M, D]`, from the first layer if there
            /// are several. Empty for regression that keeps its data and for models with networks.
            pub fn inducing_points(&self) -> Vec<f64> {
                match self {
                    $(Self::$name(model) => model.inducing_points(),)*
                }
            }
        }
    };
}

trained! {
    /// Exact regression, stored with its data.
    Exact(Conditioned<AnyExact>),
    /// Computation-aware regression, stored with its data.
    ComputationAware(Conditioned<AnyComputationAware>),
    /// Regression with conjugate gradients, stored with its data.
    ConjugateGradients(Conditioned<AnyConjugateGradients>),
    /// A sparse model, which does not need its data.
    Sparse(AnySvgp),
    /// A deep model or an image model.
    Deep(DeepGp),
    /// A deep basis kernel.
    Basis(AnySvdbk),
    /// Exact deep kernel learning, stored with the network outputs for its data.
    DeepKernel(DeepKernelModel<Conditioned<AnyExact>>),
    /// Deep kernel learning with inducing points.
    SparseDeepKernel(AnySvdkl),
}
