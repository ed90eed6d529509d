//! Independent Gaussians over the function at inputs.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor, TensorData},
};

use crate::{inference::vecchia_laplace::LatentPrecision, process::Marginals};

/// `q(u) = Π_j N(μ_j, s_j²)` over the function, less its prior mean, at M distinct inputs.
#[derive(Module, Debug)]
pub struct MeanField {
    /// Z, [M, D], not trained
    inputs: Param<Tensor<2>>,
    /// μ, `[M]`
    mean: Param<Tensor<1>>,
    /// log s, `[M]`
    log_deviation: Param<Tensor<1>>,
}

/// Some of the inducing values.
pub struct Terms {
    /// Their marginals under q, `[R, 1]` each.
    pub marginals: Marginals,
    /// KL_j, `[R]`
    pub divergences: Tensor<1>,
}

impl MeanField {
    /// Values with mean zero and standard deviation one at inputs, `[M, D]`.
    pub fn standard(inputs: Tensor<2>) -> Self {
        let ([rows, _], options) = (inputs.dims(), (&inputs.device(), inputs.dtype()));
        let zeros = Tensor::<1>::zeros([rows], options);
        Self {
            mean: Param::from_tensor(zeros.clone()),
            log_deviation: Param::from_tensor(zeros),
            inputs: Param::from_tensor(inputs).set_require_grad(false),
        }
    }

    /// The same with other means and standard deviations, `[M]` each.
    pub fn with_moments(self, mean: Tensor<1>, deviation: Tensor<1>) -> Self {
        Self {
            mean: self.mean.map(|old| like(mean, &old)),
            log_deviation: (self.log_deviation).map(|old| like(deviation.log(), &old)),
            inputs: self.inputs,
        }
    }

    /// Z, `[M, D]`
    pub fn inputs(&self) -> Tensor<2> {
        self.inputs.val()
    }

    /// μ, `[M]`
    pub fn mean(&self) -> Tensor<1> {
        self.mean.val()
    }

    /// s, `[M]`
    pub fn deviation(&self) -> Tensor<1> {
        self.log_deviation.val().exp()
    }

    /// The inducing values j at some places, with their divergences from the prior given their neighbors,
    /// `KL_j = ½[log F_j − log s_j² − 1 + (s_j² + Σ_k b_jk²s_k² + (μ_j − Σ_k b_jk μ_k)²)/F_j]`.
    pub fn terms(&self, prior: &LatentPrecision, places: &[usize]) -> Terms {
        let (mean, log_deviation) = (self.mean.val(), self.log_deviation.val());
        let (rows, width) = (places.len(), prior.width());
        let options = (&mean.device(), mean.dtype());
        let (mut neighbors, mut weights) = (Vec::new(), Vec::new());
        for (row, &place) in places.iter().enumerate() {
            for (neighbor, weight) in prior.entries(place) {
                neighbors.push(neighbor as i64);
                weights.push(weight);
            }
            // Rows with fewer neighbors are filled up with weights of zero.
            neighbors.resize((row + 1) * width, place as i64);
            weights.resize((row + 1) * width, 0.0);
        }
        let variances = places.iter().map(|&place| prior.variances()[place]);
        let variances: Vec<f64> = variances.collect();
        let variances = Tensor::<1>::from_data(variances.as_slice(), options); // F
        let own: Vec<i64> = places.iter().map(|&place| place as i64).collect();
        let own = Tensor::<1, Int>::from_data(own.as_slice(), &mean.device());
        let own_mean = mean.clone().select(0, own.clone());
        let own_log = log_deviation.clone().select(0, own) * 2.0; // log s²
        let own_variance = own_log.clone().exp();
        let mut spread = own_variance.clone();
        let mut error = own_mean.clone();
        if width > 0 {
            let neighbors = Tensor::<1, Int>::from_data(neighbors.as_slice(), &mean.device());
            let weights = TensorData::new(weights, [rows, width]);
            let weights = Tensor::<2>::from_data(weights, options); // b, [R, m]
            let of_neighbors =
                |values: Tensor<1>| (values.select(0, neighbors.clone())).reshape([rows, width]);
            let predicted = of_neighbors(mean) * weights.clone();
            error = error - predicted.sum_dim(1).squeeze_dim::<1>(1);
            let passed_on = of_neighbors((log_deviation * 2.0).exp()) * weights.square();
            spread = spread + passed_on.sum_dim(1).squeeze_dim::<1>(1);
        }
        let scaled = (spread + error.square()) / variances.clone();
        Terms {
            divergences: (variances.log() - own_log - 1.0 + scaled) * 0.5,
            marginals: Marginals {
                mean: own_mean.unsqueeze_dim(1),
                variance: own_variance.unsqueeze_dim(1),
            },
        }
    }
}

/// Values in the place of old ones: on their device and trained if they are.
fn like(values: Tensor<1>, old: &Tensor<1>) -> Tensor<1> {
    let values = match old.is_autodiff() {
        true => values.without_autodiff().autodiff(),
        false => values,
    };
    values.set_require_grad(old.is_require_grad())
}
