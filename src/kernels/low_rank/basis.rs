//! Kernels of the outputs of a network.

use burn::{module::Module, tensor::Tensor};

use super::{FeatureMap, LowRankKernel, squared_norms};
use crate::{features::Features, kernels::Kernel, ops::NotPositiveDefinite};

/// `k(x, x′) = φ(x)ᵀφ(x′)` with basis functions `φ = factor · f` from the R outputs f of any network:
/// a deep basis kernel (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, eq. 4).
///
/// It is positive semi-definite and of rank R at most whatever the network; its variance is part of
/// the network too.
#[derive(Module, Debug)]
pub struct Basis<F: Module> {
    network: F,
    #[module(skip)]
    factor: f64,
}

impl<F: Features> Basis<F> {
    /// The outputs of `network` as basis functions.
    pub fn new(network: F) -> Self {
        Self {
            network,
            factor: 1.0,
        }
    }

    /// The basis functions times a constant, which is not trained.
    ///
    /// `1/√R` makes of the kernel the mean of the R outputs' own, `k(x, x′) = 1/R Σ_r f_r(x) f_r(x′)`,
    /// as wide networks are made to have a limit: neither the first variances nor what a step of Adam
    /// changes in them grow with R.
    pub fn times(mut self, factor: f64) -> Self {
        self.factor *= factor;
        self
    }

    /// The network.
    pub fn network(&self) -> &F {
        &self.network
    }
}

impl<F: Features> Kernel for Basis<F> {
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        self.features(x1).matmul(self.features(x2).transpose())
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        let features = self.features(x);
        features.clone().matmul(features.transpose())
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        squared_norms(self.features(x))
    }
}

impl<F: Features> FeatureMap for Basis<F> {
    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        let features = self.network.forward(x);
        match self.factor {
            1.0 => features,
            factor => features * factor,
        }
    }
}

impl<F: Features> LowRankKernel for Basis<F> {
    type Map = Self;

    fn feature_map(&self) -> Result<Self, NotPositiveDefinite> {
        Ok(self.clone())
    }
}
