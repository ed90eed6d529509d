//! Batched posteriors of functions with separate kernels.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use crate::{
    inducing::SeparateInducing,
    kernels::{KernelModule, SeparateKernels},
    ops::NotPositiveDefinite,
    process::{SeparateProcess, WithMean},
    variational::{
        Evaluation, Expansion, InducingGaussians, OrthogonallyDecoupled, Posterior,
        PriorCovariances, conditions, evaluate,
    },
};

impl<K: KernelModule, I: SeparateInducing<K>> PriorCovariances<I, 3> for SeparateKernels<K> {
    fn count(&self, u: &I) -> usize {
        u.count()
    }

    fn kuu(&self, u: &I) -> Tensor<3> {
        u.kuu(self)
    }

    fn kuu_columns(&self, u: &I, columns: Tensor<1, Int>) -> Tensor<3> {
        u.kuu_columns(self, columns)
    }

    fn kuv(&self, u: &I, v: &I) -> Tensor<3> {
        u.kuv(self, v)
    }

    fn kuf(&self, u: &I, x: Tensor<2>) -> Tensor<3> {
        u.kuf(self, x)
    }

    fn variances(&self, x: Tensor<2>) -> Tensor<2> {
        self.diagonals(x).transpose()
    }

    fn union(&self, sets: &[I]) -> I {
        I::union(sets)
    }
}

impl<K: KernelModule, Q: InducingGaussians> Posterior<SeparateKernels<K>> for Q
where
    Q::Inducing: SeparateInducing<K>,
{
    type Process = SeparateProcess<K, Q::Inducing>;

    fn evaluate(
        &self,
        kernels: &SeparateKernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        evaluate::<3, Q>(self, kernels, x)
    }

    fn condition(
        &self,
        kernels: &SeparateKernels<K>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let kernels = kernels.valid();
        let (inducing, factor, mean, scale) = conditions::<3, Q>(&self.valid(), &kernels)?;
        Ok(SeparateProcess::new(kernels, inducing, factor, mean, scale))
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> Posterior<SeparateKernels<K>>
    for OrthogonallyDecoupled<I>
{
    type Process = WithMean<SeparateProcess<K, I>>;

    fn evaluate(
        &self,
        kernels: &SeparateKernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        self.evaluate_under::<3>(kernels, x)
    }

    fn condition(
        &self,
        kernels: &SeparateKernels<K>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernels) = (self.valid(), kernels.valid());
        let (factor, mean, scale) = this.conditions::<3>(&kernels)?;
        let (inducing, orthogonal) = (this.inducing().clone(), this.orthogonal().clone());
        let expansion = Expansion::new(kernels.clone(), orthogonal, this.weights());
        let process = SeparateProcess::new(kernels, inducing, factor, mean, scale);
        Ok(WithMean::new(process, expansion))
    }

    fn after_step(self, _kernels: &SeparateKernels<K>) -> Self {
        self.advanced()
    }
}
