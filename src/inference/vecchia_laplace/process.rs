//! The posterior of latent values given neighbors.

use burn::tensor::Tensor;

use crate::{
    inference::vecchia::{Observations, draws_of_normals, each_row},
    kernels::KernelModule,
    ops::{ExactMatmul, NotPositiveDefinite},
    process::{Joint, Marginals, Process, dummy_row_if_empty},
};

/// The process where each new row is conditioned on the latent values of neighbors, which have the Gaussian
/// distribution `N(ĝ, VVᵀ)` of the Laplace approximation: `μ = bᵀĝ_c` and `σ² = d + |V_cᵀb|²`.
///
/// Rows, neighbors and joint predictions are as for [`VecchiaProcess`](super::super::VecchiaProcess): the joint
/// covariance is `U·diag(d)·Uᵀ` plus that of the latent values, which `U = (I − B)⁻¹` passes on.
///
/// Values are NaN at inputs that are not finite.
#[derive(Clone, Debug)]
pub struct VecchiaLaplaceProcess<K> {
    /// With the values ĝ and V, [N, 1 + K].
    observed: Observations<K>,
}

impl<K: KernelModule> VecchiaLaplaceProcess<K> {
    /// `observed` have the values ĝ and V, [N, 1 + K].
    pub(super) fn new(observed: Observations<K>) -> Self {
        Self { observed }
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let new = self.observed.of_each(&x);
        let [_, columns] = new.known.dims();
        let spread = new.known.clone().narrow(1, 1, columns - 1); // Vᵀb
        Marginals {
            mean: new.known.narrow(1, 0, 1), // bᵀĝ_c
            variance: new.variance.unsqueeze_dim(1) + spread.square().sum_dim(1),
        }
    }

    /// The means, [T, 1], and a root of the covariance, [T, K + T]: what V and the variances d become.
    fn joint_root(&self, x: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let (system, known) = self.observed.system(x);
        let factor = system.factor(self.observed.count());
        let places = system.places(x);
        let [rows, columns] = known.dims();
        let passed = factor.solve(known); // U·(bᵀĝ_c, bᵀV_c)
        let eye = Tensor::<2>::eye(rows, &passed.device()).cast(passed.dtype());
        let own = factor.solve(eye) * system.variance.sqrt().unsqueeze_dim::<2>(0); // U·√diag(d)
        let root = Tensor::cat(vec![passed.clone().narrow(1, 1, columns - 1), own], 1);
        let mean = passed.narrow(1, 0, 1);
        (mean.select(0, places.clone()), root.select(0, places))
    }

    /// Draws by forward substitution, [T, S], from latent values of the observed rows and noise for each row.
    fn substituted_draws(&self, x: &Tensor<2>, [of_latent, noise]: [Tensor<2>; 2]) -> Tensor<2> {
        let (system, _) = self.observed.system(x);
        let values = self.observed.values(); // ĝ, V
        let [_, columns] = values.dims();
        let mean = values.clone().narrow(1, 0, 1);
        let root = values.clone().narrow(1, 1, columns - 1);
        let latent = root.exact_matmul(of_latent) + mean; // [N, S]
        system.substituted_draws(x, latent, &system.scaled(noise))
    }
}

impl<K: KernelModule> Process for VecchiaLaplaceProcess<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    /// Means and covariances given observed rows and each other. Time and memory grow with the square of the
    /// number of rows.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let (mean, root) = self.joint_root(&x);
        let covariance = root.clone().exact_matmul(root.transpose());
        Joint {
            mean,
            covariance: covariance.unsqueeze(),
        }
    }

    /// Draws of the joint distribution, in time proportional to the number of rows; at inputs on a device with
    /// autodiff, to its square.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let [_, columns] = self.observed.values().dims();
        draws_of_normals(x, (columns - 1, samples, seed), |x, normals| {
            if !x.is_autodiff() {
                return self.substituted_draws(x, normals);
            }
            let (mean, root) = self.joint_root(x);
            root.exact_matmul(Tensor::cat(normals.to_vec(), 0)) + mean
        })
    }
}
