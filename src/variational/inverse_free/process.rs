//! The process of an inverse-free posterior, ready for prediction.

use burn::tensor::Tensor;

use super::Relaxation;
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::ExactMatmul,
    process::{
        Joint, Marginals, Process, dummy_row_if_empty, nonnegative, prior_variances,
        product_of_each,
    },
};

/// The process conditioned on an [`InverseFree`](super::InverseFree) posterior: `μ = K_fu·v`,
/// `Σ = K_ff − K_fu·P_R·K_uf`, `P_R = 2T − TK̃T`, using matrix products only.
#[derive(Clone, Debug)]
pub struct InverseFreeProcess {
    prior: Kernels,
    inducing: AnyInducing,
    /// K_uu, S̃ and T, with a leading axis B
    relaxation: Relaxation,
    /// v, [P, M]
    weights: Tensor<2>,
}

impl InverseFreeProcess {
    pub(super) fn new(
        prior: Kernels,
        inducing: AnyInducing,
        relaxation: Relaxation,
        weights: Tensor<2>,
    ) -> Self {
        Self {
            prior,
            inducing,
            relaxation,
            weights,
        }
    }

    /// The prior.
    pub fn prior(&self) -> &Kernels {
        &self.prior
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The weights v of the mean, `[P, M]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.clone()
    }

    /// The variances s̃, flat.
    pub(crate) fn variances(&self) -> Tensor<1> {
        self.relaxation.variances.clone().flatten(0, 2)
    }

    /// `T·X` for columns, `[M, N]`, when all functions share one T.
    pub(crate) fn inverse(&self, columns: Tensor<2>) -> Tensor<2> {
        self.relaxation.inverse(columns.unsqueeze()).squeeze_dim(0)
    }

    /// The process of each function by itself, or of all functions if they share one T.
    pub(crate) fn functions(&self) -> Vec<Self> {
        let [batch, _, _] = self.relaxation.kuu.dims();
        if batch == 1 {
            return vec![self.clone()];
        }
        let kernels = self.prior.each();
        (kernels.iter().cycle().take(batch).enumerate())
            .map(|(function, kernel)| {
                let own = self.inducing.of_function(function);
                Self {
                    prior: kernel.clone().into(),
                    inducing: own.unwrap_or_else(|| self.inducing.clone()),
                    relaxation: self.relaxation.of_function(function),
                    weights: self.weights.clone().narrow(0, function, 1),
                }
            })
            .collect()
    }

    /// `K_uf`, `T·K_uf` and `K̃T·K_uf`, [B, M, N].
    fn solved(&self, x: Tensor<2>) -> [Tensor<3>; 3] {
        let kuf = self.inducing.kuf(&self.prior, x);
        let solved = self.relaxation.inverse(kuf.clone());
        let (_, products) = self.relaxation.products(solved.clone());
        [kuf, solved, products]
    }

    /// `K_fu·v`, [N, P].
    fn means(&self, kuf: Tensor<3>) -> Tensor<2> {
        product_of_each(kuf.transpose(), self.weights()).transpose()
    }
}

impl Process for InverseFreeProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let ([rows, _], [outputs, _]) = (x.dims(), self.weights.dims());
        let [kuf, solved, products] = self.solved(x.clone());
        let explained = Relaxation::explained(kuf.clone(), solved, products); // k_fuᵀP_R·k_fu
        let variance = prior_variances(&self.prior, x) - explained;
        Marginals {
            mean: self.means(kuf),
            variance: nonnegative(variance).expand([rows, outputs]),
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let [outputs, _] = self.weights.dims();
        let prior = self.prior.matrix_at(x.clone()); // [B, N, N]
        let [kuf, solved, products] = self.solved(x);
        // K_fu·T·(2K_uf − K̃T·K_uf)
        let explained = (solved.transpose()).exact_matmul(kuf.clone() * 2.0 - products);
        let covariance = prior - explained;
        let [batch, _, _] = covariance.dims();
        Joint {
            mean: self.means(kuf),
            covariance: covariance.repeat_dim(0, outputs / batch),
        }
    }
}
