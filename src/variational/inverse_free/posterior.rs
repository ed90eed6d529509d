//! Implementations of [`Posterior`] for inverse-free posteriors, under shared and separate kernels.

use burn::module::Module;
use burn::tensor::Tensor;

use super::{
    super::{
        Evaluation, FunctionMatrices, MeanForm, Posterior, PriorCovariances, expansion::weighted,
    },
    InverseFree, InverseFreeProcess, Relaxation,
    process::shaped,
};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, SeparateKernels},
    ops::NotPositiveDefinite,
    process::{Marginals, nonnegative},
};

impl<I: Module> InverseFree<I> {
    /// Whether the mean is `K_uu·P_R·m̃`.
    fn is_preconditioned(&self) -> bool {
        self.observations.form() == MeanForm::Preconditioned
    }

    /// The random vectors of this step, with the type and device of `kuu`, if the traces are
    /// estimated.
    fn probes_of_step<const D: usize>(&self, kuu: &Tensor<D>) -> Option<Tensor<D>> {
        let [_, size] = self.observations.dims();
        let probes = self
            .probes
            .filter(|probes| (1..=size).contains(&probes.count))?;
        let mut shape = kuu.dims();
        shape[D - 1] = probes.count;
        Some(probes.of_step(self.updates_made(), shape, kuu))
    }

    fn evaluate_under<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
        x: Tensor<2>,
    ) -> Evaluation
    where
        Tensor<D>: FunctionMatrices,
    {
        let (mean, variances) = (self.observations.mean(), self.observations.variances());
        let ([outputs, size], [rows, _]) = (mean.dims(), x.dims());
        let kuu = prior.kuu(&self.inducing);
        let probes = self.probes_of_step(&kuu);
        let kuf = prior.kuf(&self.inducing, x.clone());
        let relaxation = Relaxation::new(kuu, variances.clone(), self.root());
        let columns = Tensor::<D>::right_hand_sides(mean.unsqueeze_dim(2));
        let terms = relaxation.terms(kuf.clone(), columns, self.is_preconditioned(), probes);

        let [count] = variances.dims();
        let covariance =
            terms.traces - relaxation.log_determinant() - variances.log().sum() - count as f64;
        let shared = (outputs * size) as f64 / count as f64;
        let weights = terms.weights.of_each(outputs).squeeze_dim::<2>(2);
        Evaluation {
            marginals: Marginals {
                mean: weighted(kuf.transpose(), weights).transpose(),
                variance: nonnegative(prior.variances(x) - terms.explained).expand([rows, outputs]),
            },
            kl: (terms.squares + covariance * shared) * 0.5,
        }
    }

    /// `K̃`, L, v and s̃ of a conditioned process, without autodiff. `K̃` and L are `[1, M, M]` or
    /// `[P, M, M]`, v is `[P, M]` and s̃ is flat.
    fn conditions<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
    ) -> (Tensor<D>, Tensor<3>, Tensor<2>, Tensor<1>)
    where
        Tensor<D>: FunctionMatrices,
    {
        let (mean, variances) = (self.observations.mean(), self.observations.variances());
        let [outputs, _] = mean.dims();
        let (kuu, root) = (prior.kuu(&self.inducing), self.root());
        if !self.is_preconditioned() {
            return (kuu, root, mean, variances);
        }
        let relaxation = Relaxation::new(kuu.clone(), variances.clone(), root.clone());
        let columns = Tensor::<D>::right_hand_sides(mean.unsqueeze_dim(2));
        let weights = relaxation.preconditioned(columns);
        (kuu, root, shaped(weights, outputs), variances)
    }
}

/// Implements [`Posterior`] for [`InverseFree`] under one type of prior.
macro_rules! posterior_under {
    ($prior:ty, $variables:ident, $rank:literal) => {
        impl<K: KernelModule, I: $variables<K>> Posterior<$prior> for InverseFree<I> {
            type Process = InverseFreeProcess<$prior, I>;

            fn evaluate(
                &self,
                prior: &$prior,
                x: Tensor<2>,
            ) -> Result<Evaluation, NotPositiveDefinite> {
                Ok(self.evaluate_under::<$rank>(prior, x))
            }

            fn condition(&self, prior: &$prior) -> Result<Self::Process, NotPositiveDefinite> {
                let (this, prior) = (self.valid(), prior.valid());
                let conditions = this.conditions::<$rank>(&prior);
                Ok(InverseFreeProcess::new(prior, this.inducing, conditions))
            }

            fn after_step(self, prior: &$prior) -> Self {
                self.stepped::<$rank>(&prior.valid())
            }

            fn synchronized(self, prior: &$prior) -> Self {
                self.restarted::<$rank>(&prior.valid())
            }
        }
    };
}

posterior_under!(K, InducingVariables, 2);
posterior_under!(SeparateKernels<K>, SeparateInducing, 3);
