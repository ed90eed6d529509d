//! Means that pass inputs through.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions, TensorData},
};
use faer::{Mat, Side};

use serde::{Deserialize, Serialize};

use super::{AnyMean, Mean, MeanConfig, MeanDefinition, projected};
use crate::{parameter::numbers, register};

/// Configuration of the inputs themselves, see [`IdentityMean`]; or of a [`ProjectionMean`] if the numbers of
/// functions and inputs differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityMeanConfig {}

register!(
    Mean,
    "identity",
    IdentityMeanConfig,
    "The inputs, or their principal components if there are fewer functions than inputs"
);

impl MeanDefinition for IdentityMeanConfig {
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
        match inputs == outputs {
            true => IdentityMean::new().into(),
            false => ProjectionMean::truncation(inputs, outputs, options).into(),
        }
    }

    /// A projection uses the principal directions of the inputs.
    fn init_for(&self, inputs: &Tensor<2>, outputs: usize) -> AnyMean {
        match inputs.dims()[1] == outputs {
            true => IdentityMean::new().into(),
            false => ProjectionMean::principal(inputs.clone(), outputs).into(),
        }
    }
}

impl MeanConfig {
    /// The inputs themselves, or a projection of them.
    pub fn identity() -> Self {
        IdentityMeanConfig {}.into()
    }
}

/// `m(x) = x`: the mean of a hidden layer that makes small changes to its inputs.
#[derive(Module, Debug)]
pub struct IdentityMean {}

impl IdentityMean {
    /// Creates the identity mean.
    pub fn new() -> Self {
        Self {}
    }
}

impl Default for IdentityMean {
    fn default() -> Self {
        Self::new()
    }
}

impl Mean for IdentityMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        x
    }
}

/// `m(x) = Wᵀx` with weights that are not trained: the mean of a hidden layer whose numbers of
/// functions and inputs differ (H. Salimbeni and M. Deisenroth, *Doubly Stochastic Variational
/// Inference for Deep Gaussian Processes*, arXiv:1705.08933, section 2).
#[derive(Module, Debug)]
pub struct ProjectionMean {
    /// W, [D, P]
    weights: Param<Tensor<2>>,
}

impl ProjectionMean {
    /// Creates the projection with `weights`, `[D, P]`.
    pub fn new(weights: Tensor<2>) -> Self {
        Self {
            weights: Param::from_tensor(weights).set_require_grad(false),
        }
    }

    /// Multiplies the projection by `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        Self::new(self.weights() * factor)
    }

    /// Keeps the first `outputs` of `dimensions` inputs. Additional outputs are zero.
    pub fn truncation(
        dimensions: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let ones = (0..dimensions * outputs).map(|index| {
            let (row, column) = (index / outputs, index % outputs);
            if row == column { 1.0 } else { 0.0 }
        });
        let data = TensorData::new(ones.collect::<Vec<f64>>(), [dimensions, outputs]);
        Self::new(Tensor::from_data(data, options))
    }

    /// Projects onto the `outputs` principal directions of `inputs`, `[N, D]`, in order of
    /// decreasing variance. If there are more outputs than dimensions, it keeps the inputs and
    /// appends zeros.
    pub fn principal(inputs: Tensor<2>, outputs: usize) -> Self {
        let [count, dimensions] = inputs.dims();
        let options = (&inputs.device().inner(), inputs.dtype());
        if outputs >= dimensions {
            return Self::truncation(dimensions, outputs, options);
        }
        let values = numbers(inputs);
        let mean = |column: usize| {
            let entries = values.iter().skip(column).step_by(dimensions);
            entries.sum::<f64>() / count as f64
        };
        let means: Vec<f64> = (0..dimensions).map(mean).collect();
        let centered = Mat::from_fn(count, dimensions, |row, column| {
            values[row * dimensions + column] - means[column]
        });
        let scatter = centered.transpose() * &centered;
        let Ok(decomposition) = scatter.self_adjoint_eigen(Side::Lower) else {
            // Inputs that are not finite have no principal directions.
            return Self::truncation(dimensions, outputs, options);
        };
        // Eigenvalues are ascending. The sign of an eigenvector makes its largest entry positive.
        let vectors = decomposition.U();
        let signed = |output: usize| {
            let vector = vectors.col(dimensions - 1 - output);
            let largest =
                (0..dimensions).max_by(|&a, &b| vector[a].abs().total_cmp(&vector[b].abs()));
            let sign = largest.map_or(1.0, |index| vector[index].signum());
            (0..dimensions).map(move |row| sign * vector[row])
        };
        let columns: Vec<Vec<f64>> = (0..outputs)
            .map(|output| signed(output).collect())
            .collect();
        let rows = (0..dimensions).flat_map(|row| columns.iter().map(move |column| column[row]));
        let data = TensorData::new(rows.collect::<Vec<f64>>(), [dimensions, outputs]);
        Self::new(Tensor::from_data(data, options))
    }

    /// The weights, `[D, P]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }
}

impl Mean for ProjectionMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        projected(x, self.weights())
    }
}
