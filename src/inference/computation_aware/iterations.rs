//! The recursion of computation-aware inference, which adds one action at a time.

use burn::{
    module::Module,
    tensor::{DType, Tensor, TensorData},
};
use faer::{MatRef, Side};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{ActionPolicy, DenseActions, Preconditioner, Regression};
use crate::{
    kernels::{KernelModule, covariance_product},
    ops::{ExactMatmul, Jitter, NotPositiveDefinite, cholesky, number, numbers},
    random::standard_normals,
};

/// The choice of the next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IterationRule {
    /// The residual `y − (K + σ²I)v`. The directions are those of conjugate gradients, and v is its
    /// iterate.
    Residuals,
    /// The residual times an approximate inverse, computed from `rank` pivots.
    PreconditionedResiduals {
        /// The number of pivots of the pivoted Cholesky factorization.
        rank: usize,
    },
    /// One point at a time, which gives the posterior of a subset of the data.
    UnitVectors,
    /// Independent standard normal vectors.
    RandomVectors,
    /// The eigenvectors of the covariance matrix with the largest eigenvalues, the most informative
    /// actions about the function. Time N³ and memory N², so only for small problems.
    Eigenvectors,
}

/// Actions chosen iteratively for each problem (J. Wenger, G. Pleiss, M. Pförtner, P. Hennig and J.
/// Cunningham, *Posterior and Computational Uncertainty in Gaussian Processes*, arXiv:2205.15449,
/// algorithm 1). Residuals are those of the first output.
#[derive(Module, Debug)]
pub struct Iterations {
    #[module(skip)]
    rule: IterationRule,
    #[module(skip)]
    count: usize,
    #[module(skip)]
    tolerance: f64,
    #[module(skip)]
    seed: u64,
}

/// The result of the iteration.
#[derive(Clone, Debug)]
pub struct Iterated {
    /// S, `[N, I]`, with columns of unit length; orthonormal if they are residuals.
    pub actions: Tensor<2>,
    /// D with `C = DDᵀ ≈ (K + σ²I)⁻¹`, `[N, I]`.
    pub directions: Tensor<2>,
    /// `v = C·y`, `[N, 1]`.
    pub weights: Tensor<2>,
    /// `‖y − (K + σ²I)v‖ / ‖y‖` after each iteration.
    pub residuals: Vec<f64>,
}

impl Iterations {
    /// Makes at most `count` iterations, but at least one. Stops early when the residual falls
    /// below `tolerance` times the norm of the targets.
    pub fn new(rule: IterationRule, count: usize, tolerance: f64) -> Self {
        Self {
            rule,
            count,
            tolerance,
            seed: 0,
        }
    }

    /// Sets the seed for random vectors.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs the iteration on a problem. With the action s, `z = (K + σ²I)s`, `d = s − Cz` and
    /// `η = zᵀd`, the update is `C ← C + ddᵀ/η` and `v ← v + d·(sᵀr)/η`. Ends early if η is not
    /// positive up to rounding, because the action is then a combination of earlier ones. Nothing
    /// is tracked by autodiff.
    ///
    /// # Errors
    ///
    /// When the preconditioner cannot be factored, or the first action has no positive variance
    /// because a covariance or a target is NaN.
    pub fn run<K: KernelModule>(
        &self,
        problem: &Regression<'_, K>,
    ) -> Result<Iterated, NotPositiveDefinite> {
        let kernel = problem.kernel.valid();
        let (noise, inputs) = (
            problem.noise.clone().inner(),
            problem.inputs.clone().inner(),
        );
        let residual = problem.residual.clone().inner().narrow(1, 0, 1);
        let problem = &Regression {
            kernel: &kernel,
            noise: &noise,
            inputs: &inputs,
            residual: &residual,
        };
        let mut rule = Rule::new(self, problem)?;
        let mut state = State::new(problem);
        let length = norm(&residual);
        let [rows, _] = inputs.dims();
        for index in 0..self.count.max(1).min(rows) {
            if index > 0 && norm(&state.residual) <= self.tolerance * length {
                break;
            }
            let action = match rule.next(&state) {
                Some(action) => action,
                // The targets are zero, so any data point is as informative as another.
                None if index == 0 => unit_vector(&residual, 0),
                None => break,
            };
            if !state.advance(problem, action)? {
                break;
            }
        }
        Ok(state.end(length))
    }
}

impl ActionPolicy for Iterations {
    type Actions = DenseActions;

    fn actions<K: KernelModule>(
        &self,
        problem: &Regression<'_, K>,
    ) -> Result<DenseActions, NotPositiveDefinite> {
        let autodiff = problem.noise.is_autodiff();
        let actions = self.run(problem)?.actions;
        Ok(DenseActions::new(if autodiff {
            actions.autodiff()
        } else {
            actions
        }))
    }
}

/// `‖x‖`
fn norm(column: &Tensor<2>) -> f64 {
    number(column.clone().square().sum()).sqrt()
}

/// A growing matrix of columns.
struct Columns {
    /// [N, I]
    matrix: Tensor<2>,
    count: usize,
}

impl Columns {
    fn new(like: &Tensor<2>, room: usize) -> Self {
        let [rows, _] = like.dims();
        let options = (&like.device(), like.dtype());
        Self {
            matrix: Tensor::zeros([room, rows], options),
            count: 0,
        }
    }

    /// Columns are stored as rows, which are contiguous. The capacity doubles when it runs out.
    fn push(&mut self, column: Tensor<2>) {
        let [room, rows] = self.matrix.dims();
        if self.count == room {
            self.matrix = Tensor::cat(vec![self.matrix.clone(), self.matrix.zeros_like()], 0);
        }
        let row = column.reshape([1, rows]);
        let place = self.count..self.count + 1;
        let all = std::mem::replace(&mut self.matrix, row.clone());
        self.matrix = all.slice_assign([place, 0..rows], row);
        self.count += 1;
    }

    /// `Bᵀx`, [I, 1].
    fn project(&self, column: Tensor<2>) -> Tensor<2> {
        self.matrix.clone().exact_matmul(column)
    }

    /// `B·w`, [N, 1].
    fn combine(&self, weights: Tensor<2>) -> Tensor<2> {
        self.matrix.clone().transpose().exact_matmul(weights)
    }

    fn all(&self) -> Tensor<2> {
        self.matrix.clone().narrow(0, 0, self.count).transpose()
    }
}

/// The initial capacity for columns.
const ROOM: usize = 16;

/// The state after some iterations.
struct State {
    actions: Columns,
    /// D
    directions: Columns,
    /// `(K + σ²I)D`
    images: Columns,
    target: Tensor<2>,
    /// `y − (K + σ²I)v`
    residual: Tensor<2>,
    residuals: Vec<f64>,
}

impl State {
    fn new<K: KernelModule>(problem: &Regression<'_, K>) -> Self {
        let columns = || Columns::new(problem.residual, ROOM);
        Self {
            actions: columns(),
            directions: columns(),
            images: columns(),
            target: problem.residual.clone(),
            residual: problem.residual.clone(),
            residuals: Vec::new(),
        }
    }

    /// Adds an action. Returns false if it is a combination of earlier ones. The first action is
    /// always added; it is an error if its variance is not a positive number.
    fn advance<K: KernelModule>(
        &mut self,
        problem: &Regression<'_, K>,
        action: Tensor<2>,
    ) -> Result<bool, NotPositiveDefinite> {
        let covariance =
            covariance_product(problem.kernel, problem.inputs.clone(), None, action.clone());
        let image = covariance + action.clone() * problem.noise_column(); // z
        // Orthogonalize twice: the rounding error that one pass leaves of earlier directions would
        // grow with every iteration.
        let (mut direction, mut moved) = (action.clone(), image.clone());
        for _ in 0..2 {
            let known = self.images.project(direction.clone()); // Dᵀz = (K̂D)ᵀs, [I, 1]
            direction = direction - self.directions.combine(known.clone());
            moved = moved - self.images.combine(known);
        }
        let size = number((direction.clone() * moved.clone()).sum());
        let variance = (action.clone() * image).sum(); // sᵀ(K + σ²I)s
        if self.actions.count == 0 {
            cholesky(variance.clone().reshape([1, 1]), Jitter::NONE)?;
        }
        let whole = number(variance);
        let epsilon = match direction.dtype() {
            DType::F64 => f64::EPSILON,
            _ => f64::from(f32::EPSILON),
        };
        // Use `!(>)` instead of `<=`, so that NaN stops the iteration.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(size > 16.0 * epsilon * whole) {
            return Ok(false);
        }
        self.actions.push(action);
        self.directions.push(direction / size.sqrt());
        self.images.push(moved / size.sqrt());
        // Recompute the residual from the whole sum, so that rounding errors do not accumulate.
        let weights = self.directions.project(self.target.clone());
        self.residual = self.target.clone() - self.images.combine(weights);
        self.residuals.push(norm(&self.residual));
        Ok(true)
    }

    fn end(self, length: f64) -> Iterated {
        let weights = self.directions.project(self.target.clone());
        let residuals = self.residuals.into_iter();
        Iterated {
            weights: self.directions.combine(weights),
            actions: self.actions.all(),
            directions: self.directions.all(),
            residuals: residuals
                .map(|residual| if length > 0.0 { residual / length } else { 0.0 })
                .collect(),
        }
    }
}

/// A rule with its state.
enum Rule {
    Residuals(Option<Box<Preconditioner>>),
    UnitVectors,
    RandomVectors(Box<ChaCha8Rng>),
    /// [N, N]
    Given(Box<Tensor<2>>),
}

impl Rule {
    fn new<K: KernelModule>(
        given: &Iterations,
        problem: &Regression<'_, K>,
    ) -> Result<Self, NotPositiveDefinite> {
        Ok(match given.rule {
            IterationRule::Residuals => Self::Residuals(None),
            IterationRule::PreconditionedResiduals { rank } => {
                let preconditioner = Preconditioner::new(problem, rank)?;
                Self::Residuals(Some(Box::new(preconditioner)))
            }
            IterationRule::UnitVectors => Self::UnitVectors,
            IterationRule::RandomVectors => {
                Self::RandomVectors(Box::new(ChaCha8Rng::seed_from_u64(given.seed)))
            }
            IterationRule::Eigenvectors => {
                let covariance = problem.kernel.matrix_at(problem.inputs.clone());
                Self::Given(Box::new(eigenvectors(covariance)))
            }
        })
    }

    /// The next action, [N, 1], of unit length, or `None` if there are no more.
    fn next(&mut self, state: &State) -> Option<Tensor<2>> {
        let like = &state.residual;
        let ([rows, _], index) = (like.dims(), state.actions.count);
        let action = match self {
            Self::Residuals(preconditioner) => {
                let mut action = match preconditioner {
                    Some(preconditioner) => preconditioner.solve(like.clone()),
                    None => like.clone(),
                };
                // Orthogonalize against earlier actions, to which residuals are orthogonal in exact
                // arithmetic. The span is the same, and SᵀS stays well conditioned in single
                // precision.
                for _ in 0..2 {
                    action = action.clone() / norm(&action);
                    let known = state.actions.project(action.clone());
                    action = action - state.actions.combine(known);
                }
                action
            }
            Self::UnitVectors => (index < rows).then(|| unit_vector(like, index))?,
            Self::RandomVectors(random) => vector(standard_normals(rows, random), like),
            Self::Given(columns) => {
                (index < rows).then(|| columns.as_ref().clone().narrow(1, index, 1))?
            }
        };
        let length = norm(&action);
        (length > 0.0 && length.is_finite()).then(|| action / length)
    }
}

/// A column vector, [N, 1].
fn vector(values: Vec<f64>, like: &Tensor<2>) -> Tensor<2> {
    let (rows, dtype) = (values.len(), like.dtype());
    let data = TensorData::new(values, [rows, 1]).convert_dtype(dtype);
    Tensor::from_data(data, (&like.device(), dtype))
}

fn unit_vector(like: &Tensor<2>, index: usize) -> Tensor<2> {
    let [rows, _] = like.dims();
    vector(
        (0..rows)
            .map(|row| f64::from(u8::from(row == index)))
            .collect(),
        like,
    )
}

/// The eigenvectors of a symmetric matrix as columns, in order of decreasing eigenvalues.
pub(super) fn eigenvectors(covariance: Tensor<2>) -> Tensor<2> {
    let ([size, _], options) = (
        covariance.dims(),
        (&covariance.device(), covariance.dtype()),
    );
    let values = numbers(covariance.clone());
    let matrix = MatRef::from_row_major_slice(&values, size, size);
    let Ok(decomposition) = matrix.self_adjoint_eigen(Side::Lower) else {
        // The matrix is not finite; the next factorization will report that.
        return covariance;
    };
    let vectors = decomposition.U();
    let row = |row: usize| (0..size).rev().map(move |column| vectors[(row, column)]);
    let values: Vec<f64> = (0..size).flat_map(row).collect();
    let data = TensorData::new(values, [size, size]).convert_dtype(options.1);
    Tensor::from_data(data, options)
}
