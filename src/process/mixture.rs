//! Mixtures of processes.

use burn::tensor::Tensor;

use crate::{
    ops::{ExactMatmul, NotPositiveDefinite},
    process::{Joint, JointAcrossOutputs, Marginals, Process, dummy_row_if_empty},
};

/// The process `f = W·g` of P functions, which are mixtures of the Q independent functions of a
/// process.
#[derive(Clone, Debug)]
pub struct Mixture<G> {
    latent: G,
    /// W, [P, Q]
    mixing: Tensor<2>,
}

impl<G: Process> Mixture<G> {
    /// Mixes the functions of `latent` with the weights `mixing`, `[P, Q]`.
    pub fn new(latent: G, mixing: Tensor<2>) -> Self {
        Self { latent, mixing }
    }

    /// The process of the latent functions.
    pub fn latent(&self) -> &G {
        &self.latent
    }

    /// The mixing matrix, `[P, Q]`.
    pub fn mixing(&self) -> Tensor<2> {
        self.mixing.clone()
    }
}

/// The marginals of `W·g`, `[N, P]`, from the marginals of independent g, `[N, Q]`.
pub(crate) fn mix(latent: Marginals, mixing: Tensor<2>) -> Marginals {
    let weights = mixing.transpose(); // [Q, P]
    Marginals {
        mean: latent.mean.exact_matmul(weights.clone()),
        variance: latent.variance.exact_matmul(weights.square()),
    }
}

/// `Σ_q w_rq·C_q`, [R, N, N], from rows of weights, [R, Q], and covariances, [Q, N, N].
fn weighted_sums(weights: Tensor<2>, covariances: Tensor<3>) -> Tensor<3> {
    let ([rows, latent], [_, points, _]) = (weights.dims(), covariances.dims());
    (weights.exact_matmul(covariances.reshape([latent, points * points])))
        .reshape([rows, points, points])
}

impl<G: Process> Process for Mixture<G> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        mix(self.latent.marginals(x), self.mixing())
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let Joint { mean, covariance } = self.latent.joint(x);
        Joint {
            mean: mean.exact_matmul(self.mixing().transpose()),
            covariance: weighted_sums(self.mixing().square(), covariance),
        }
    }

    /// `Cov[f_p(x_n), f_p′(x_n′)] = Σ_q W_pq·W_p′q·Cov[g_q(x_n), g_q(x_n′)]`.
    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let Joint { mean, covariance } = self.latent.joint(x);
        let [outputs, latent] = self.mixing.dims();
        let [_, points, _] = covariance.dims();
        let pairs = self.mixing().unsqueeze_dim::<3>(1) * self.mixing().unsqueeze_dim::<3>(0);
        let covariance = weighted_sums(pairs.reshape([outputs * outputs, latent]), covariance);
        JointAcrossOutputs {
            mean: mean.exact_matmul(self.mixing().transpose()),
            covariance: covariance.reshape([outputs, outputs, points, points]),
        }
    }

    /// Draws of different outputs are correlated like the outputs.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let ([rows, _], [outputs, _]) = (x.dims(), self.mixing().dims());
        if rows == 0 || samples == 0 {
            return Ok(Tensor::zeros(
                [samples, outputs, rows],
                (&x.device(), x.dtype()),
            ));
        }
        let latent = self.latent.sample(x, samples, seed)?; // [S, Q, N]
        Ok(mix_draws(latent, self.mixing()))
    }
}

/// `W·g`, [S, P, N], for draws of g, [S, Q, N].
pub(crate) fn mix_draws(latent: Tensor<3>, mixing: Tensor<2>) -> Tensor<3> {
    let ([samples, _, _], [outputs, count]) = (latent.dims(), mixing.dims());
    mixing
        .unsqueeze::<3>()
        .expand([samples, outputs, count])
        .exact_matmul(latent)
}
