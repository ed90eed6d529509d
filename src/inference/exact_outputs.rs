//! Exact regression of several correlated outputs, any of whose values may be missing.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use super::{ConditionError, check_rows, parts::parts};
use crate::{
    inducing::InducingPoints,
    kernels::{ActiveDimensions, AnyKernel, Index, Kernel, KernelModule, Product},
    likelihoods::{Gaussian, ImpossibleTarget, check_finite},
    means::AnyMean,
    ops::{Jitter, NotPositiveDefinite, add_diagonal, cholesky, gaussian_log_density, numbers},
    parameter::{Priors, both_tracked},
    process::{
        ConditionedProcess, Joint, JointAcrossOutputs, Marginals, Process, WhitenedCovariance,
        WithMean,
    },
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

/// Some of the entries of a table with one row for each input and one column for each output.
#[derive(Clone, Debug)]
struct Entries {
    /// The zero-based row and output of each.
    places: Vec<(usize, usize)>,
    rows: usize,
    outputs: usize,
}

impl Entries {
    /// All entries, row by row.
    fn all([rows, outputs]: [usize; 2]) -> Self {
        let places = (0..rows).flat_map(|row| (0..outputs).map(move |output| (row, output)));
        Self {
            places: places.collect(),
            rows,
            outputs,
        }
    }

    /// The entries of targets, `[N, P]`, that are not NaN.
    fn observed(targets: &Tensor<2>) -> Self {
        let values = numbers(targets.clone().inner());
        let mut entries = Self::all(targets.dims());
        let mut known = values.into_iter().map(|value| !value.is_nan());
        entries.places.retain(|_| known.next().unwrap_or(false));
        entries
    }

    /// Whole numbers of the entries, on the device of `like`.
    fn indices(&self, like: &Tensor<2>, of: impl Fn(usize, usize) -> usize) -> Tensor<1, Int> {
        let indices = self.places.iter().map(|&(row, output)| of(row, output));
        let indices: Vec<i64> = indices.map(|index| index as i64).collect();
        Tensor::from_data(indices.as_slice(), &like.device())
    }

    /// The inputs of each entry, with the number of its output in the last column: `[N, D]` to `[n, D + 1]`.
    fn inputs(&self, x: Tensor<2>) -> Tensor<2> {
        let outputs = self.indices(&x, |_, output| output);
        let outputs = outputs.float().cast(x.dtype()).unsqueeze_dim::<2>(1);
        let rows = self.indices(&x, |row, _| row);
        let (x, outputs) = both_tracked(x.select(0, rows), outputs);
        Tensor::cat(vec![x, outputs], 1)
    }

    /// The entries of a table, `[N, P]` to `[n, 1]`.
    fn of(&self, table: Tensor<2>) -> Tensor<2> {
        let flat = self.indices(&table, |row, output| row * self.outputs + output);
        let table = table.reshape([self.rows * self.outputs]);
        table.select(0, flat).unsqueeze_dim(1)
    }

    /// The value of the output of each entry, `[P]` to `[n]`; one value stands for all outputs.
    fn of_outputs(&self, values: Tensor<1>) -> Tensor<1> {
        match values.dims() {
            [1] => values.expand([self.places.len()]),
            _ => {
                let outputs = self.indices(&values.clone().unsqueeze(), |_, output| output);
                values.select(0, outputs)
            }
        }
    }
}

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
        let residual = entries.of(targets) - entries.of(self.mean.forward(inputs));
        (add_diagonal(matrix, noise), residual)
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
        Ok(WithMean::new(
            OutputsProcess { process, outputs },
            this.mean,
        ))
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

/// P functions as one function of D + 1 inputs, of which the last is the number of the output.
#[derive(Clone, Debug)]
pub struct OutputsProcess {
    process: ConditionedProcess,
    outputs: usize,
}

impl OutputsProcess {
    /// All outputs at inputs, `[N, D]` to `[N·P, D + 1]`.
    fn entries(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, dimensions] = x.dims();
        match rows {
            0 => Tensor::zeros([0, dimensions + 1], (&x.device(), x.dtype())),
            _ => Entries::all([rows, self.outputs]).inputs(x),
        }
    }

    /// One column of values of all entries as a table, `[N·P, 1]` to `[N, P]`.
    fn table(&self, values: Tensor<2>) -> Tensor<2> {
        let [entries, _] = values.dims();
        match entries {
            0 => Tensor::zeros([0, self.outputs], (&values.device(), values.dtype())),
            _ => values.reshape([entries / self.outputs, self.outputs]),
        }
    }
}

impl Process for OutputsProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        let Marginals { mean, variance } = self.process.marginals(self.entries(x));
        Marginals {
            mean: self.table(mean),
            variance: self.table(variance),
        }
    }

    fn rows_per_input(&self) -> usize {
        self.outputs
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        let JointAcrossOutputs { mean, covariance } = self.joint_across_outputs(x);
        let [outputs, _, rows, _] = covariance.dims();
        let options = (&mean.device(), mean.dtype());
        if rows == 0 {
            let covariance = Tensor::zeros([outputs, 0, 0], options);
            return Joint { mean, covariance };
        }
        let own = (0..outputs).map(|output| {
            let of_output = covariance.clone().narrow(0, output, 1).narrow(1, output, 1);
            of_output.squeeze_dim::<3>(0)
        });
        Joint {
            covariance: Tensor::cat(own.collect(), 0),
            mean,
        }
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let ([rows, _], outputs) = (x.dims(), self.outputs);
        let Joint { mean, covariance } = self.process.joint(self.entries(x));
        let covariance = match rows {
            0 => Tensor::zeros([outputs, outputs, 0, 0], (&mean.device(), mean.dtype())),
            _ => (covariance.reshape([rows, outputs, rows, outputs])).permute([1, 3, 0, 2]),
        };
        JointAcrossOutputs {
            mean: self.table(mean),
            covariance,
        }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let ([rows, _], outputs) = (x.dims(), self.outputs);
        if rows == 0 || samples == 0 {
            let options = (&x.device(), x.dtype());
            return Ok(Tensor::zeros([samples, outputs, rows], options));
        }
        let draws = self.process.sample(self.entries(x), samples, seed)?; // [S, 1, N·P]
        Ok(draws.reshape([samples, rows, outputs]).swap_dims(1, 2))
    }
}
