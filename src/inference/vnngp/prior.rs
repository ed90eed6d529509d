//! The prior of the inducing values, kept while the kernel does not change.

use std::sync::{Arc, Mutex, PoisonError};

use burn::{
    module::{ModuleVisitor, Param},
    tensor::Tensor,
};

use super::{VecchiaSettings, input_index::InputIndex};
use crate::{
    inference::{
        vecchia::Metric,
        vecchia_laplace::{LatentPrecision, Rows},
    },
    kernels::KernelModule,
    ops::{Jitter, NotPositiveDefinite, numbers},
};

/// The prior of the function at the inputs with inducing values.
#[derive(Debug)]
pub struct Prior {
    /// The distribution of each value given its neighbors.
    pub conditionals: LatentPrecision,
    /// The inputs.
    pub index: InputIndex,
}

impl Prior {
    /// The prior at distinct inputs, `[M, D]`. The kernel and the inputs are without autodiff. `jitter`, `[1]`, is
    /// added to the variances.
    ///
    /// # Errors
    ///
    /// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive.
    fn new<K: KernelModule>(
        kernel: &K,
        inputs: Tensor<2>,
        count: usize,
        jitter: &Tensor<1>,
    ) -> Result<Self, NotPositiveDefinite> {
        let ([_, dimensions], options) = (inputs.dims(), (&inputs.device(), inputs.dtype()));
        let metric = Metric::new(kernel, dimensions, options.into());
        let sets = metric.neighbors(&inputs, count)?;
        let index = InputIndex::new(&inputs);
        let conditionals = Rows::new(inputs, sets).precision(kernel, jitter)?;
        Ok(Self {
            conditionals,
            index,
        })
    }

    /// The standard deviations of independent values that are nearest to the prior in divergence, `[M]`:
    /// `1/s_j² = 1/F_j + Σ_i b_ij²/F_i` over the rows i that have j as a neighbor.
    pub fn independent_deviations(&self) -> Vec<f64> {
        let prior = &self.conditionals;
        let mut precisions = vec![0.0; prior.rows()];
        for (row, variance) in prior.variances().iter().enumerate() {
            precisions[row] += variance.recip();
            for (neighbor, weight) in prior.entries(row) {
                precisions[neighbor] += weight.powi(2) / variance;
            }
        }
        precisions
            .into_iter()
            .map(|value| value.sqrt().recip())
            .collect()
    }
}

/// The prior at the last values of the kernel's parameters. All copies of a model share it.
#[derive(Clone, Debug, Default)]
pub struct PriorCache(Arc<Mutex<Option<Known>>>);

/// A prior with the values of the kernel's parameters.
#[derive(Clone, Debug)]
struct Known {
    values: Vec<f64>,
    prior: Arc<Prior>,
}

impl PriorCache {
    /// The prior of a kernel at distinct inputs, `[M, D]`, both without autodiff.
    ///
    /// # Errors
    ///
    /// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive.
    pub fn prior<K: KernelModule>(
        &self,
        kernel: &K,
        inputs: Tensor<2>,
        settings: VecchiaSettings,
        jitter: Jitter,
    ) -> Result<Arc<Prior>, NotPositiveDefinite> {
        let mut values = Values(Vec::new());
        kernel.visit(&mut values);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*known
            && found.values == values.0
        {
            return Ok(found.prior.clone());
        }
        let jitter = kernel.diagonal_at(inputs.clone()).mean() * jitter.initial;
        let prior = Arc::new(Prior::new(kernel, inputs, settings.neighbors, &jitter)?);
        *known = Some(Known {
            values: values.0,
            prior: prior.clone(),
        });
        Ok(prior)
    }
}

/// The values of all parameters.
struct Values(Vec<f64>);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.extend(numbers(param.val()));
    }
}
