//! Mean functions of Gaussian processes.
//!
//! A process with mean `m` is the sum of `m(x)` and a zero-mean process. Inference therefore works
//! on the residuals `y − m(x)`, and prediction adds `m(x)` back. [`AnyMean`] is a mean chosen at
//! run time from a [`MeanConfig`].

use burn::tensor::{Tensor, TensorCreationOptions};

mod constant;
mod linear;
mod offset;
mod projection;
mod zero;

pub use constant::{ConstantMean, ConstantMeanConfig};
pub use linear::{LinearMean, LinearMeanConfig};
pub use offset::{OffsetMean, OffsetMeanConfig};
pub use projection::{IdentityMean, IdentityMeanConfig, ProjectionMean};
pub use zero::{ZeroMean, ZeroMeanConfig};

use crate::{
    custom::{
        AnyDefinition, AnyModule, BoxedModule, ComponentConfig, ComponentName, component_kind,
    },
    ops::ExactMatmul,
    parameter::ParameterError,
};

/// A mean function `m(x)` of P functions.
pub trait Mean: AnyModule {
    /// The means at `x`.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, P]`
    fn forward(&self, x: Tensor<2>) -> Tensor<2>;

    /// `y − m(x)`.
    ///
    /// # Shapes
    ///
    /// - `targets` (y): `[N, P]`, `x`: `[N, D]`
    /// - result: `[N, P]`
    #[track_caller]
    fn residual(&self, targets: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        let mean = self.forward(x);
        require_functions(targets.dims(), mean.dims());
        targets - mean
    }

    /// `f + m(x)`.
    ///
    /// # Shapes
    ///
    /// - `values` (f): `[N, P]`, `x`: `[N, D]`
    /// - result: `[N, P]`
    #[track_caller]
    fn add_to(&self, values: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        let mean = self.forward(x);
        require_functions(values.dims(), mean.dims());
        values + mean
    }

    /// `draws + m(x)` for draws of the functions.
    ///
    /// # Shapes
    ///
    /// - `draws`: `[S, P, N]`, `x`: `[N, D]`
    #[track_caller]
    fn add_to_draws(&self, draws: Tensor<3>, x: Tensor<2>) -> Tensor<3> {
        let (mean, [samples, functions, rows]) = (self.forward(x), draws.dims());
        require_functions([rows, functions], mean.dims());
        if rows == 0 || samples == 0 {
            return draws;
        }
        draws + mean.transpose().unsqueeze()
    }
}

/// Panics unless the rows and functions of values match those of a mean.
#[track_caller]
fn require_functions(values: [usize; 2], mean: [usize; 2]) {
    assert!(
        values == mean,
        "values {values:?} of functions with a mean {mean:?}; expected [N, P] both"
    );
}

/// A mean of any type.
pub type AnyMean = BoxedModule<dyn Mean>;

/// The configuration of any mean, as stored in a model file.
pub type MeanConfig = ComponentConfig<dyn Mean>;

impl MeanConfig {
    /// Creates the mean of `outputs` functions of inputs with `inputs` dimensions.
    ///
    /// # Panics
    ///
    /// If the inputs are not as [`check_for`](Self::check_for) requires.
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> AnyMean {
        MeanDefinition::init(&**self, inputs, outputs, options.into())
    }

    /// Checks that inputs of `dimensions` dimensions have those that are added, and others. `path` is the path of the
    /// mean in its model, for error messages.
    ///
    /// # Errors
    ///
    /// When an input dimension does not exist, or all are added.
    pub fn check_for(&self, path: &str, dimensions: usize) -> Result<(), ParameterError> {
        let added = self.offset_dimensions();
        let missing = added.iter().copied().find(|&added| added >= dimensions);
        match missing {
            Some(input) => Err(ParameterError::MissingInput {
                path: path.to_owned(),
                input,
                inputs: dimensions,
            }),
            None if dimensions > 0 && (0..dimensions).all(|input| added.contains(&input)) => {
                Err(ParameterError::Refused {
                    path: path.to_owned(),
                    reason: "all inputs are added to the function; expected another one".to_owned(),
                })
            }
            None => Ok(()),
        }
    }
}

/// A mean chosen by name.
pub type MeanName = ComponentName<dyn Mean>;

/// The configuration of a mean. [`register!`](crate::register) it to use the mean in models.
pub trait MeanDefinition: AnyDefinition {
    /// Creates the mean of `outputs` functions of inputs with `inputs` dimensions.
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean;

    /// Creates the mean of `outputs` functions of inputs like `inputs`, `[N, D]`.
    fn init_for(&self, inputs: &Tensor<2>, outputs: usize) -> AnyMean {
        let [_, dimensions] = inputs.dims();
        let options = (&inputs.device().inner(), inputs.dtype());
        self.init(dimensions, outputs, options.into())
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// The reason, if one is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The zero-based input dimensions that are added to every function as they are, in the units of the function. By
    /// default there are none.
    fn offset_dimensions(&self) -> Vec<usize> {
        Vec::new()
    }
}

component_kind!(Mean, MeanDefinition, "mean", AnyMean);

/// `Wᵀx` for every row of `x`, `[N, P]`. N may be 0, for which burn's matrix product on ndarray
/// divides by zero.
#[track_caller]
fn projected(x: Tensor<2>, weights: Tensor<2>) -> Tensor<2> {
    let ([rows, dimensions], [inputs, outputs]) = (x.dims(), weights.dims());
    assert!(
        dimensions == inputs,
        "a mean with weights {:?} at inputs {:?}; expected [D, P] and [N, D]",
        weights.dims(),
        x.dims()
    );
    match rows {
        0 => Tensor::zeros([0, outputs], (&weights.device(), weights.dtype())),
        _ => x.exact_matmul(weights),
    }
}
