//! Mean functions of Gaussian processes.
//!
//! A process with mean `m` is the sum of `m(x)` and a zero-mean process. Inference therefore works
//! on the residuals `y − m(x)`, and prediction adds `m(x)` back. [`AnyMean`] is a mean chosen at
//! run time from a [`MeanConfig`].

use burn::{
    module::{Module, ModuleDisplay, Param},
    tensor::{Tensor, TensorCreationOptions},
};

mod any;
mod custom;
mod projection;

pub use any::{AnyMean, MeanConfig, MeanName};
pub use custom::{CustomMean, CustomMeanConfig, MeanDefinition, MeanFunctions, MeanRegistration};
pub use projection::{IdentityMean, ProjectionMean};

use crate::{
    ops::ExactMatmul,
    parameter::{Hyperparameter, hyperparameters},
};

/// A mean function `m(x)` of P functions.
pub trait Mean: Module + ModuleDisplay + Sync + 'static {
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

    /// The hyperparameters with their constrained values.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
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

/// `m(x) = 0`. It costs nothing, since residuals are the targets themselves. With one output it
/// fits any number of functions.
#[derive(Module, Debug)]
pub struct ZeroMean {
    #[module(skip)]
    outputs: usize,
}

impl ZeroMean {
    /// Creates the zero mean of `outputs` functions.
    pub fn new(outputs: usize) -> Self {
        Self { outputs }
    }

    #[track_caller]
    fn require(&self, values: &Tensor<2>) {
        let [rows, functions] = values.dims();
        if self.outputs > 1 {
            require_functions([rows, functions], [rows, self.outputs]);
        }
    }
}

impl Mean for ZeroMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, _] = x.dims();
        Tensor::zeros([rows, self.outputs], (&x.device(), x.dtype()))
    }

    fn residual(&self, targets: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        self.require(&targets);
        targets
    }

    fn add_to(&self, values: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        self.require(&values);
        values
    }

    fn add_to_draws(&self, draws: Tensor<3>, _x: Tensor<2>) -> Tensor<3> {
        draws
    }
}

/// `m(x) = c`, with a trained constant for each function.
#[derive(Module, Debug)]
pub struct ConstantMean {
    /// c, `[P]`
    constant: Param<Tensor<1>>,
}

impl ConstantMean {
    /// Creates a constant mean that starts at `constant`, `[P]`.
    pub fn new(constant: Tensor<1>) -> Self {
        Self {
            constant: Param::from_tensor(constant),
        }
    }

    /// The constants, `[P]`.
    pub fn constant(&self) -> Tensor<1> {
        self.constant.val()
    }

    /// The constants as one row, `[1, P]`.
    fn row(&self) -> Tensor<2> {
        self.constant().unsqueeze()
    }

    /// The row of constants for values of the functions, `[N, P]`.
    #[track_caller]
    fn row_for(&self, values: &Tensor<2>) -> Tensor<2> {
        let (row, [rows, functions]) = (self.row(), values.dims());
        let [_, own] = row.dims();
        require_functions([rows, functions], [rows, own]);
        row
    }
}

impl Mean for ConstantMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let row = self.row(); // [1, P]
        let ([rows, _], [_, outputs]) = (x.dims(), row.dims());
        match rows {
            0 => Tensor::zeros([0, outputs], (&row.device(), row.dtype())),
            rows => row.expand([rows, outputs]),
        }
    }

    fn residual(&self, targets: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        targets.clone() - self.row_for(&targets)
    }

    fn add_to(&self, values: Tensor<2>, _x: Tensor<2>) -> Tensor<2> {
        values.clone() + self.row_for(&values)
    }
}

/// `m(x) = Wᵀx + c`, with trained weights and offsets.
///
/// Training picks a single slope, so predictions do not include its uncertainty: with few data,
/// intervals far from them are too narrow. Adding a [`Linear`](crate::kernels::Linear) kernel instead
/// gives the slope a Gaussian prior and integrates it out, and a
/// [`Constant`](crate::kernels::Constant) kernel does the same for the offset (C. Rasmussen and C.
/// Williams, *Gaussian Processes for Machine Learning*, §2.7).
#[derive(Module, Debug)]
pub struct LinearMean {
    /// W, [D, P]
    weights: Param<Tensor<2>>,
    /// c, `[P]`
    offset: Param<Tensor<1>>,
}

impl LinearMean {
    /// Creates a linear mean that starts at `weights`, `[D, P]`, and `offset`, `[P]`.
    ///
    /// # Panics
    ///
    /// If they have different numbers of functions P.
    #[track_caller]
    pub fn new(weights: Tensor<2>, offset: Tensor<1>) -> Self {
        assert!(
            weights.dims()[1] == offset.dims()[0],
            "LinearMean: weights {:?}, offset {:?}; expected [D, P], [P]",
            weights.dims(),
            offset.dims()
        );
        Self {
            weights: Param::from_tensor(weights),
            offset: Param::from_tensor(offset),
        }
    }

    /// Creates a linear mean that starts at zero, for `outputs` functions of inputs with
    /// `dimensions` dimensions.
    pub fn zeros(
        dimensions: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self::new(
            Tensor::zeros([dimensions, outputs], options.clone()),
            Tensor::zeros([outputs], options),
        )
    }

    /// The weights, `[D, P]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }

    /// The offsets, `[P]`.
    pub fn offset(&self) -> Tensor<1> {
        self.offset.val()
    }
}

impl Mean for LinearMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        projected(x, self.weights()) + self.offset().unsqueeze()
    }
}

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
