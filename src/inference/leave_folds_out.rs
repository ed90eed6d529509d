//! Exact regression without each of several folds of its rows, in closed form.

use std::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use super::{ConditionError, Exact, leave_one_out::LeaveOneOut, row_noise::NoisyRows};
use crate::{
    kernels::KernelModule,
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, column_squares, gram,
    },
    process::{ConditionedProcess, Marginals, Process, WithMean},
};

/// Exact regression conditioned on all folds but one, for each fold, at the hyperparameters of the model.
///
/// With `C = (K + σ²I)⁻¹`, `α = C(y − m)` and a fold `I`, the targets of the fold given all others have the mean
/// `y_I − C_II⁻¹α_I` and the covariance `C_II⁻¹`, noise included (Dubrule, *Cross validation of kriging in a unique
/// neighborhood*, 1983; Ginsbourger and Schärer, *Fast calculation of Gaussian process multiple-fold
/// cross-validation residuals and their covariances*, 2025). At a new input x, with `v = C k(X, x)`, the prediction
/// without the fold has the mean `μ(x) − v_Iᵀ C_II⁻¹ α_I` and the variance `s²(x) + v_Iᵀ C_II⁻¹ v_I`. One
/// factorization of `K + σ²I` serves all folds.
///
/// With a fold for each row these are leave-one-out predictions, as
/// [`Exact::leave_one_out`](super::Exact::leave_one_out) makes them, and predictions at new inputs without each row.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inference::{ConditionError, Exact}, kernels::StationaryConfig, likelihoods::Gaussian, means::ZeroMean,
/// };
///
/// # fn main() -> Result<(), ConditionError> {
/// let place = (&Device::default(), DType::F64);
/// let kernel = StationaryConfig::rbf().init(1, place);
/// let model = Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.1, place));
/// let x = Tensor::<2>::from_data([[0.0], [0.5], [1.0], [1.5]], place);
/// let y = Tensor::<2>::from_data([[0.1], [0.4], [0.8], [0.9]], place);
/// // The first and the last row form a fold.
/// let folds = model.leave_folds_out(x, y, &[0, 1, 2, 0])?;
/// assert_eq!(folds.targets().mean.dims(), [4, 1]);
/// let at = folds.at(Tensor::from_data([[0.7], [0.8]], place));
/// assert_eq!(at.mean.dims(), [2, 3, 1]);
/// assert_eq!(at.variance.dims(), [2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LeaveFoldsOut {
    process: WithMean<ConditionedProcess>,
    /// σ², `[1]`
    noise: Tensor<1>,
    /// `L⁻¹`, `[N, N]`, or with n merged rows `[n, N]`
    inverse: Tensor<2>,
    folds: Folds,
    targets: LeaveOneOut,
    log_density: Tensor<1>,
}

/// What is left out.
#[derive(Clone, Debug)]
enum Folds {
    /// One row in each fold.
    Rows(Box<SingleRows>),
    /// Several rows in a fold.
    Sets(Vec<Fold>),
}

/// Folds of one row each.
#[derive(Clone, Debug)]
struct SingleRows {
    /// `α/diag(C)`, `[N, P]`
    errors: Tensor<2>,
    /// `diag(C)`, `[N]`
    precision: Tensor<1>,
}

/// A fold of n rows.
#[derive(Clone, Debug)]
struct Fold {
    /// `[n]`
    rows: Tensor<1, Int>,
    /// The factor of `C_II`, `[n, n]`.
    factor: CholeskyFactor<2>,
    /// `R⁻¹α_I` with the factor R, `[n, P]`.
    weights: Tensor<2>,
}

/// What all folds need of the rows.
struct AllRows {
    rows: NoisyRows,
    /// σ², `[1]`
    noise: Tensor<1>,
    /// `L⁻¹`, `[N, N]`, or with n merged rows `[n, N]`
    inverse: Tensor<2>,
    /// α, `[N, P]`
    weights: Tensor<2>,
}

/// Predictions of new targets by models without each of K folds.
#[derive(Clone, Debug)]
pub struct WithoutFolds {
    /// The means, `[N, K, P]`.
    pub mean: Tensor<3>,
    /// The variances, noise included, which all outputs share, `[N, K]`.
    pub variance: Tensor<2>,
}

impl LeaveFoldsOut {
    /// The prediction of each training target without the fold of its row, in the order of the rows.
    pub fn targets(&self) -> &LeaveOneOut {
        &self.targets
    }

    /// `log p(y_I | y_−I)` of each of K folds, summed over outputs, `[K]`. The rows of a fold are predicted jointly.
    pub fn log_density(&self) -> Tensor<1> {
        self.log_density.clone()
    }

    /// The prediction at new inputs without each fold. Memory grows with N·N*, so predict many inputs in chunks.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N*, D]`
    pub fn at(&self, x: Tensor<2>) -> WithoutFolds {
        let Marginals { mean, variance } = self.process.marginals(x.clone());
        let features = self.process.process().features(x).squeeze_dim::<2>(0); // Λ = L⁻¹k(X, x), [N, N*]
        let weights = features.transpose().exact_matmul(self.inverse.clone()); // vᵀ, [N*, N]
        let (of_mean, of_variance) = match &self.folds {
            Folds::Rows(rows) => {
                let SingleRows { errors, precision } = rows.as_ref();
                // v_i α_i/C_ii and v_i²/C_ii
                let of_mean =
                    weights.clone().unsqueeze_dim::<3>(2) * errors.clone().unsqueeze::<3>();
                let of_variance = weights.square() / precision.clone().unsqueeze::<2>();
                (of_mean, of_variance)
            }
            Folds::Sets(folds) => {
                let each = folds.iter().map(|fold| fold.change(&weights));
                let (means, variances): (Vec<_>, Vec<_>) = each.unzip();
                (Tensor::cat(means, 1), Tensor::cat(variances, 1))
            }
        };
        let own = variance.narrow(1, 0, 1) + self.noise.clone().unsqueeze::<2>(); // [N*, 1]
        WithoutFolds {
            mean: mean.unsqueeze_dim::<3>(1) - of_mean,
            variance: of_variance + own,
        }
    }
}

impl Fold {
    /// From the rows of a fold.
    fn new(members: &[i64], all: &AllRows) -> Result<Self, NotPositiveDefinite> {
        let members = Tensor::<1, Int>::from_data(members, &all.inverse.device());
        let columns = all.inverse.clone().select(1, members.clone()); // [N, n]
        let precision = gram(columns.transpose()); // C_II = (L⁻¹)_Iᵀ(L⁻¹)_I
        let precision = match all.rows.within(members.clone(), all.noise.clone()) {
            Some(within) => precision + within,
            None => precision,
        };
        let factor = cholesky(precision, Jitter::NONE)?;
        let weights = factor.solve(all.weights.clone().select(0, members.clone()));
        Ok(Self {
            rows: members,
            factor,
            weights,
        })
    }

    /// `v_Iᵀ C_II⁻¹ α_I`, `[N*, 1, P]`, and `v_Iᵀ C_II⁻¹ v_I`, `[N*, 1]`, for `vᵀ`, `[N*, N]`.
    fn change(&self, weights: &Tensor<2>) -> (Tensor<3>, Tensor<2>) {
        let own = weights.clone().select(1, self.rows.clone()).transpose(); // v_I, [n, N*]
        let solved = self.factor.solve(own); // R⁻¹v_I
        let of_mean = (solved.clone().transpose()).exact_matmul(self.weights.clone());
        let of_variance = column_squares(solved).unsqueeze_dim::<2>(1);
        (of_mean.unsqueeze_dim::<3>(1), of_variance)
    }

    /// `C_II⁻¹α_I`, `[n, P]`, and the diagonal of `C_II⁻¹`, `[n]`.
    fn own(&self) -> (Tensor<2>, Tensor<1>) {
        let [size, _] = self.weights.dims();
        let options = (&self.weights.device(), self.weights.dtype());
        let identity = Tensor::<2>::eye(size, &self.weights.device()).cast(options.1);
        let inverse = self.factor.solve(identity); // R⁻¹
        let errors = inverse
            .clone()
            .transpose()
            .exact_matmul(self.weights.clone());
        (errors, column_squares(inverse))
    }

    /// `−½ α_Iᵀ C_II⁻¹ α_I + ½ P log|C_II| − ½ n P log 2π`, `[1]`
    fn log_density(&self) -> Tensor<1> {
        let [size, outputs] = self.weights.dims();
        let squares = self.weights.clone().square().sum();
        let determinant = self.factor.log_determinant() * outputs as f64;
        let constant = (size * outputs) as f64 * (2.0 * PI).ln();
        (determinant - squares - constant) * 0.5
    }
}

/// The rows of each fold in order, folds in the order of their numbers.
fn rows_of_folds(folds: &[usize]) -> Vec<Vec<i64>> {
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let mut rows = vec![Vec::new(); count];
    for (row, &fold) in folds.iter().enumerate() {
        rows[fold].push(row as i64);
    }
    rows
}

impl<K: KernelModule> Exact<K> {
    /// The regression without each fold of its rows, in one factorization. Time N³, memory N².
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - `folds`: the number of the fold of each row, `[N]`. With N folds, the number of a row is its position.
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If the number of folds differs from the number of rows, a number below the largest has no rows, or rows have weights.
    pub fn leave_folds_out(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        folds: &[usize],
    ) -> Result<LeaveFoldsOut, ConditionError> {
        let [rows, _] = inputs.dims();
        let members = rows_of_folds(folds);
        assert!(
            folds.len() == rows && members.iter().all(|rows| !rows.is_empty()),
            "{} numbers of folds for {rows} rows, the largest {:?}; expected the numbers 0 … K − 1, [N]",
            folds.len(),
            folds.iter().max()
        );
        assert!(
            !self.row_columns().weights,
            "Exact::leave_folds_out: rows with weights; expected rows without"
        );
        let process = self.condition(inputs.clone(), targets.clone())?;
        let this = self.valid();
        let noise = this.likelihood().noise();
        let rows = this.rows(inputs.inner(), targets.inner());
        let factor = process.process().factor().member(0);
        let [count, _] = rows.inputs.dims();
        let identity = Tensor::<2>::eye(count, &rows.inputs.device()).cast(rows.inputs.dtype());
        let inverse = factor.solve(identity); // L⁻¹, [N, N]
        let whitened = process.process().whitened_mean().transpose(); // L⁻¹r, [N, P]
        let weights = inverse.clone().transpose().exact_matmul(whitened); // α = L⁻ᵀL⁻¹r
        let is_in_order = (members.iter().enumerate()).all(|(row, own)| *own == [row as i64]);
        let all = AllRows {
            weights: rows.weights(weights.clone(), noise.clone()),
            inverse: rows.columns(inverse.clone()),
            rows,
            noise,
        };
        let (folds, targets, log_density) = match is_in_order {
            true => all.one_by_one(column_squares(inverse), weights), // diag(C) = colsum((L⁻¹)²)
            false => all.in_sets(&members)?,
        };
        Ok(LeaveFoldsOut {
            process,
            noise: all.noise,
            inverse: all.inverse,
            folds,
            targets,
            log_density,
        })
    }
}

impl AllRows {
    /// Each row by itself, from `diag(C)` and α of the rows after merging: the folds, the prediction of each target, and
    /// its log density.
    fn one_by_one(
        &self,
        precision: Tensor<1>,
        weights: Tensor<2>,
    ) -> (Folds, LeaveOneOut, Tensor<1>) {
        let others =
            (self.rows).leave_one_out(weights, precision.clone(), None, self.noise.clone());
        let precision = self.rows.precision(precision, self.noise.clone());
        let errors = self.weights.clone() / precision.clone().unsqueeze_dim::<2>(1);
        let density = others.log_density(self.rows.all_targets());
        let rows = SingleRows { errors, precision };
        (Folds::Rows(Box::new(rows)), others, density)
    }

    /// The folds with these rows, the prediction of each target, and the log density of each fold.
    fn in_sets(
        &self,
        members: &[Vec<i64>],
    ) -> Result<(Folds, LeaveOneOut, Tensor<1>), NotPositiveDefinite> {
        let folds = (members.iter())
            .map(|rows| Fold::new(rows, self))
            .collect::<Result<Vec<_>, _>>()?;
        let others = of_sets(&folds, members, self.rows.all_targets());
        let densities = folds.iter().map(Fold::log_density).collect();
        Ok((Folds::Sets(folds), others, Tensor::cat(densities, 0)))
    }
}

/// The prediction of each target, `[N, P]`, without its fold.
fn of_sets(folds: &[Fold], members: &[Vec<i64>], targets: Tensor<2>) -> LeaveOneOut {
    let (errors, variances): (Vec<_>, Vec<_>) = folds.iter().map(Fold::own).unzip();
    // The folds one after the other, and the position of each row there.
    let mut positions = vec![0i64; targets.dims()[0]];
    for (position, &row) in members.iter().flatten().enumerate() {
        positions[row as usize] = position as i64;
    }
    let positions = Tensor::<1, Int>::from_data(positions.as_slice(), &targets.device());
    LeaveOneOut {
        mean: targets - Tensor::cat(errors, 0).select(0, positions.clone()),
        variance: Tensor::cat(variances, 0).select(0, positions),
    }
}
