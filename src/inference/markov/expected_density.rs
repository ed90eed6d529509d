//! The expected log density of the targets under Gaussian latent values, with its derivatives.

use burn::{
    module::Module,
    tensor::{DType, Tensor, TensorData},
};

use crate::{
    likelihoods::AnyLikelihood, ops::numbers, parameter::tracked_like, process::Marginals,
};

/// `E[log p(y_i | f_i)]` of all rows, with f_i ~ N(m_i, V_i).
pub struct ExpectedDensity {
    /// Without autodiff.
    likelihood: AnyLikelihood,
    /// In the order of time, [N, T].
    targets: Tensor<2>,
}

/// The expectation and its derivatives.
pub struct Expectation {
    /// `Σ E[log p(y_i | f_i)]`
    pub value: f64,
    /// G = ∂E/∂m, `[N]`
    pub slopes: Vec<f64>,
    /// W = −2∂E/∂V, `[N]`
    pub curvatures: Vec<f64>,
}

impl ExpectedDensity {
    /// The density with a likelihood and targets without autodiff, [N, T].
    pub fn new(likelihood: AnyLikelihood, targets: Tensor<2>) -> Self {
        Self {
            likelihood,
            targets,
        }
    }

    /// The type of the targets, in which expectations are computed.
    pub fn dtype(&self) -> DType {
        self.targets.dtype()
    }

    fn marginals(&self, means: &[f64], variances: &[f64]) -> Marginals {
        let column = |values: &[f64]| {
            let data = TensorData::new(values.to_vec(), [values.len(), 1]);
            Tensor::<2>::from_data(data, (&self.targets.device(), self.targets.dtype()))
        };
        Marginals {
            mean: column(means),
            variance: column(variances),
        }
    }

    /// The expectation with its derivatives. Autodiff gives them, so that any likelihood with one latent function
    /// serves.
    pub fn at(&self, means: &[f64], variances: &[f64]) -> Expectation {
        let Marginals { mean, variance } = self.marginals(means, variances);
        let mean = mean.autodiff().require_grad();
        let variance = variance.autodiff().require_grad();
        let likelihood = tracked_like(&mean, self.likelihood.clone()).no_grad();
        let marginals = Marginals {
            mean: mean.clone(),
            variance: variance.clone(),
        };
        let expected = likelihood.expected_log_density(self.targets.clone().autodiff(), marginals);
        let gradients = expected.clone().sum().backward();
        // A likelihood that does not depend on its function has no gradient.
        let slopes = |tensor: &Tensor<2>, factor: f64| {
            let slopes = tensor.grad(&gradients).map_or_else(Vec::new, numbers);
            let all = (0..means.len()).map(|row| factor * slopes.get(row).unwrap_or(&0.0));
            all.collect()
        };
        Expectation {
            value: numbers(expected.without_autodiff()).iter().sum(),
            slopes: slopes(&mean, 1.0),
            curvatures: slopes(&variance, -2.0),
        }
    }

    /// The expectation of a likelihood on a device with autodiff, `[1]`, with the gradient of its parameters.
    pub fn tracked(
        &self,
        likelihood: &AnyLikelihood,
        means: &[f64],
        variances: &[f64],
    ) -> Tensor<1> {
        let Marginals { mean, variance } = self.marginals(means, variances);
        let marginals = Marginals {
            mean: mean.autodiff(),
            variance: variance.autodiff(),
        };
        (likelihood.expected_log_density(self.targets.clone().autodiff(), marginals)).sum()
    }
}
