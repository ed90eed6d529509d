//! Exact regression of several correlated outputs, any of whose values may be missing.

mod entries;
mod entries_process;
mod kronecker;
mod kronecker_process;
mod outputs_process;

use burn::{module::Module, tensor::Tensor};

use entries::Entries;
pub use entries_process::EntriesProcess;
use kronecker::KroneckerTable;
pub use kronecker_process::KroneckerProcess;
pub use outputs_process::OutputsProcess;

use super::{ConditionError, check_rows, parts::parts};
use crate::{
    inducing::InducingPoints,
    kernels::{ActiveDimensions, AnyKernel, Index, Kernel, KernelModule, Product},
    likelihoods::{Gaussian, ImpossibleTarget, check_finite},
    means::AnyMean,
    ops::{
        Jitter, NotPositiveDefinite, add_diagonal, cholesky, gaussian_log_density,
        kronecker_log_density,
    },
    parameter::Priors,
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};

/// The noise acts as jitter, as in [`Exact`](super::Exact).
const JITTER: Jitter = Jitter::NONE;

/// Exact regression of P outputs with
/// `Cov[f_p(x), f_r(x′)] = Γ_pr·k(x, x′)` (E. Bonilla, K. Chai and C. Williams, *Multi-task Gaussian Process
/// Prediction*, NIPS 2007, eq. 2) and one noise variance σ_p² for each output. Targets that are NaN are missing:
/// nothing depends on them.
///
/// With n observed entries i of output p_i in row n_i, `K_ij = Γ_{p_i p_j}·k(x_{n_i}, x_{n_j}) + σ²_{p_i}·δ_ij` and
/// `r_i = y_i − m_{p_i}(x_{n_i})`, the objective is `log N(r | 0, K)`. Time n³ and memory n².
///
/// On the CPU, a table of N inputs with few missing targets takes less with a Γ of its own:
/// [`kronecker_log_density`] of a complete one takes time `N³ + P³` and memory N². The numbers are the same, and so
/// is the posterior; whichever way is faster is taken. On GPUs, and for kernels that distinguish equal inputs
/// ([`White`](crate::kernels::White)), it is the first.
///
/// Γ is an [`Index`] kernel. Without one, the kernel itself is a function of D + 1 inputs, of which the last is the
/// number of the output: a sum of products of index kernels and others is the linear model of coregionalization.
#[derive(Module, Debug)]
pub struct ExactOutputs<K: Module> {
    kernel: K,
    coregionalization: Option<Index>,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    observed: Entries,
}

parts!(ExactOutputs<K: KernelModule>);

impl<K: KernelModule> ExactOutputs<K> {
    /// Creates regression of these targets, `[N, P]`, with the given prior and noise. The kernel has D inputs with a
    /// covariance of outputs, and D + 1 without.
    ///
    /// # Panics
    ///
    /// If all targets are missing.
    #[track_caller]
    pub fn new(
        kernel: K,
        coregionalization: Option<Index>,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        targets: &Tensor<2>,
    ) -> Self {
        let observed = Entries::observed(targets);
        assert!(
            !observed.places.is_empty(),
            "ExactOutputs: all of the targets {:?} are missing",
            targets.dims()
        );
        Self {
            kernel,
            coregionalization,
            mean: mean.into(),
            likelihood,
            priors: Priors::default(),
            observed,
        }
    }

    /// The covariance of outputs, unless it is part of the kernel.
    pub fn coregionalization(&self) -> Option<&Index> {
        self.coregionalization.as_ref()
    }

    /// The kernel of `[N, D + 1]` inputs, whose last column is the number of the output.
    fn kernel_of_entries(&self, dimensions: usize) -> AnyKernel {
        let kernel = self.kernel.clone();
        match self.coregionalization.clone() {
            Some(outputs) => {
                let outputs = ActiveDimensions::new(outputs, vec![dimensions]);
                let inputs = ActiveDimensions::new(kernel, (0..dimensions).collect());
                Product::new(outputs, inputs).boxed()
            }
            None => kernel.boxed(),
        }
    }

    /// `r_i`, `[n, 1]`.
    fn residual(&self, entries: &Entries, inputs: Tensor<2>, targets: Tensor<2>) -> Tensor<2> {
        entries.of(targets) - entries.of(self.mean.forward(inputs))
    }

    /// K and r of these entries: `[n, n]` and `[n, 1]`.
    fn data_of(
        &self,
        entries: &Entries,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let [_, dimensions] = inputs.dims();
        let kernel = self.kernel_of_entries(dimensions);
        let matrix = kernel.matrix_at(entries.inputs(inputs.clone()));
        let noise = entries.of_outputs(self.likelihood.noise());
        (
            add_diagonal(matrix, noise),
            self.residual(entries, inputs, targets),
        )
    }

    /// The log evidence of the observed targets.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, missing where those were that the regression was created for
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When the covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If the targets have another shape than those that the regression was created for.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let expected = [self.observed.rows, self.observed.outputs];
        assert!(
            targets.dims() == expected,
            "targets {:?} of regression that was created for {expected:?}",
            targets.dims()
        );
        if let Some(table) = self.kronecker_table(&self.observed, &inputs, &targets) {
            let KroneckerTable {
                covariance,
                outputs,
                noise,
                residual,
                holes,
            } = table;
            return kronecker_log_density(covariance, outputs, noise, residual, &holes);
        }
        let (covariance, residual) = self.data_of(&self.observed, inputs, targets);
        gaussian_log_density(covariance, residual, JITTER)
    }

    /// The process given the observed targets, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, NaN where missing
    ///
    /// # Errors
    ///
    /// When an input is not finite or a target is infinite, or the covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If all targets are missing.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<OutputsProcess>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check_inputs(&inputs)?;
        check_observed(&targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let ([_, dimensions], [_, outputs]) = (inputs.dims(), targets.dims());
        let entries = Entries::observed(&targets);
        assert!(
            !entries.places.is_empty(),
            "ExactOutputs: all of the targets {:?} are missing",
            targets.dims()
        );
        if let Some(table) = this.kronecker_table(&entries, &inputs, &targets) {
            let process = KroneckerProcess::new(this.kernel.boxed(), inputs, table)?;
            let process = OutputsProcess::Kronecker(Box::new(process));
            return Ok(WithMean::new(process, this.mean));
        }
        let (covariance, residual) = this.data_of(&entries, inputs.clone(), targets);
        let factor = cholesky(covariance, JITTER)?;
        let mean = factor.solve(residual).transpose(); // [1, n]
        let process = ConditionedProcess::new(
            this.kernel_of_entries(dimensions),
            InducingPoints::new(entries.inputs(inputs)),
            factor,
            mean,
            WhitenedCovariance::Known,
        );
        let process = Box::new(EntriesProcess::new(process, outputs));
        Ok(WithMean::new(OutputsProcess::Entries(process), this.mean))
    }
}

/// Checks that targets, `[N, P]`, are finite or NaN, which marks missing ones.
///
/// # Errors
///
/// [`ImpossibleTarget`] for the first that is infinite.
pub fn check_observed(targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
    let missing = targets.clone().is_nan();
    check_finite(&targets.clone().mask_fill(missing, 0.0))
}
