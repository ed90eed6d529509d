//! Actions: the linear combinations of the data that a computation-aware posterior conditions on.

use burn::{
    module::{Module, ModuleDisplay, Param},
    tensor::{IndexingUpdateOp, Int, Tensor, TensorData},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::iterations::eigenvectors;
use crate::{
    inducing::{AnyInducing, Inducing, same_type},
    kernels::{Kernel, KernelModule, Kernels, block_covariance, covariance_product},
    ops::{Blocks, ExactMatmul},
    random::standard_normals,
};

/// The columns of S, `[N, I]`: I linear combinations of the function values at N points.
pub trait Actions: Module + ModuleDisplay + Sync + 'static {
    /// The number of actions, I.
    fn count(&self) -> usize;

    /// `SᵀB`, `[I, C]`, for columns `[N, C]`.
    fn project(&self, columns: Tensor<2>) -> Tensor<2>;

    /// `S·B`, `[N, C]`, for weights `[I, C]`.
    fn combine(&self, weights: Tensor<2>) -> Tensor<2>;

    /// `SᵀS`, `[I, I]`.
    fn gram(&self) -> Tensor<2>;

    /// `Sᵀ·diag(v)·S`, `[I, I]`, for values v, `[N]`.
    fn weighted_gram(&self, values: Tensor<1>) -> Tensor<2>;

    /// `SᵀK(X, x)`, `[I, N′]`, at other points `[N′, D]`, or without them `SᵀK(X, X)`, `[I, N]`, at the points
    /// `[N, D]` themselves. No N×N matrix is stored.
    fn covariance(&self, kernel: &dyn Kernel, points: Tensor<2>, x: Option<Tensor<2>>)
    -> Tensor<2>;
}

/// The initial values of [`BlockActions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionStart {
    /// Independent normal values, with unit length on average.
    #[default]
    Normal,
    /// The targets of each run.
    Targets,
    /// For each run, the eigenvector of its covariance matrix with the largest eigenvalue; see
    /// [`BlockActions::principal`].
    Eigenvectors,
}

/// Trained actions, each a combination of one run of consecutive points. Column j of S is zero
/// outside of `B_j`, so only N values are trained and `SᵀS` is diagonal (J. Wenger et al.,
/// *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
/// arXiv:2411.01036, eqs. 13 and 14). The runs cover all points, and their lengths differ by at
/// most one.
#[derive(Module, Debug)]
pub struct BlockActions {
    /// s, `[N]`
    values: Param<Tensor<1>>,
    #[module(skip)]
    blocks: Blocks,
}

impl BlockActions {
    /// Creates actions with the given values, `[N]`.
    ///
    /// # Panics
    ///
    /// If the number of values differs from the number of points in the runs.
    #[track_caller]
    pub fn new(blocks: Blocks, values: Tensor<1>) -> Self {
        let ([count], points) = (values.dims(), blocks.points());
        assert!(
            count == points,
            "{count} values of actions for runs of {points} points"
        );
        Self {
            values: Param::from_tensor(values),
            blocks,
        }
    }

    /// For each run, the eigenvector of `K(X_j, X_j)` with the largest eigenvalue, at points
    /// `[N, D]`, which must not be on an autodiff device. Among all combinations of the run with
    /// unit length, it has the largest variance.
    pub fn principal<K: KernelModule>(blocks: Blocks, kernel: &K, points: &Tensor<2>) -> Self {
        let values = blocks.ranges().map(|run| {
            let points = points.clone().narrow(0, run.start, run.len());
            let all = eigenvectors(kernel.matrix_at(points));
            all.narrow(1, 0, 1).squeeze_dim::<1>(1)
        });
        Self::new(blocks, Tensor::cat(values.collect(), 0))
    }

    /// Initial actions at points `[N, D]` under the given kernel, for targets `[N, P]`, of which
    /// only the first column is used. `seed` applies to normal values. No argument may be on an
    /// autodiff device.
    pub fn starting<K: KernelModule>(
        start: ActionStart,
        blocks: Blocks,
        kernel: &K,
        (points, targets): (&Tensor<2>, &Tensor<2>),
        seed: u64,
    ) -> Self {
        let [rows, _] = targets.dims();
        let values = match start {
            ActionStart::Eigenvectors => return Self::principal(blocks, kernel, points),
            ActionStart::Normal => {
                let length = (rows as f64 / blocks.count() as f64).sqrt();
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut values = standard_normals(rows, &mut random);
                (values.iter_mut()).for_each(|value| *value /= length);
                let data = TensorData::new(values, [rows]);
                Tensor::from_data(data, (&targets.device(), targets.dtype()))
            }
            ActionStart::Targets => targets.clone().narrow(1, 0, 1).squeeze_dim(1),
        };
        Self::new(blocks, values)
    }

    /// s, `[N]`.
    pub fn values(&self) -> Tensor<1> {
        self.values.val()
    }

    /// The runs of points.
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// Whether the values are a frozen parameter of a model in training.
    pub(super) fn are_frozen(&self) -> bool {
        let values = self.values.val();
        values.is_autodiff() && !values.is_require_grad()
    }

    /// Scales each action to unit length; actions of length zero are unchanged.
    pub fn normalized(mut self) -> Self {
        let squares = self.project(self.column()); // [I, 1]
        let lengths = squares.clone().sqrt().mask_fill(squares.equal_elem(0), 1);
        let lengths = lengths.select(0, self.runs()).squeeze_dim::<1>(1); // [N]
        self.values = self.values.map(|values| {
            let is_trained = values.is_require_grad();
            (values / lengths).detach().set_require_grad(is_trained)
        });
        self
    }

    /// The index of the run that contains each point, `[N]`.
    fn runs(&self) -> Tensor<1, Int> {
        let runs = self.blocks.ranges().enumerate();
        let runs: Vec<i64> = runs
            .flat_map(|(run, points)| points.map(move |_| run as i64))
            .collect();
        Tensor::from_data(&runs[..], &self.values.val().device())
    }

    fn column(&self) -> Tensor<2> {
        self.values.val().unsqueeze_dim(1)
    }
}

impl Actions for BlockActions {
    fn count(&self) -> usize {
        self.blocks.count()
    }

    fn project(&self, columns: Tensor<2>) -> Tensor<2> {
        let ([_, width], options) = (columns.dims(), (&columns.device(), columns.dtype()));
        let weighted = columns.clone() * self.column();
        let zeros = Tensor::zeros([self.count(), width], options);
        zeros.select_assign(0, self.runs(), weighted, IndexingUpdateOp::Add)
    }

    fn combine(&self, weights: Tensor<2>) -> Tensor<2> {
        weights.select(0, self.runs()) * self.column()
    }

    fn gram(&self) -> Tensor<2> {
        diagonal(self.project(self.column()))
    }

    fn weighted_gram(&self, values: Tensor<1>) -> Tensor<2> {
        diagonal(self.project(self.column() * values.unsqueeze_dim(1)))
    }

    fn covariance(
        &self,
        kernel: &dyn Kernel,
        points: Tensor<2>,
        x: Option<Tensor<2>>,
    ) -> Tensor<2> {
        block_covariance(kernel, self.blocks, points, x, self.values())
    }
}

/// The matrix with this diagonal, [I, 1].
fn diagonal(values: Tensor<2>) -> Tensor<2> {
    let [size, _] = values.dims();
    Tensor::<2>::eye(size, &values.device()).cast(values.dtype()) * values
}

/// Actions that combine all points and are not trained.
#[derive(Module, Debug)]
pub struct DenseActions {
    /// S, [N, I]
    columns: Param<Tensor<2>>,
}

impl DenseActions {
    /// Creates actions with the given columns, `[N, I]`, which are detached.
    pub fn new(columns: Tensor<2>) -> Self {
        let columns = Param::from_tensor(columns.detach());
        Self {
            columns: columns.set_require_grad(false),
        }
    }

    /// S, `[N, I]`.
    pub fn columns(&self) -> Tensor<2> {
        self.columns.val()
    }
}

impl Actions for DenseActions {
    fn count(&self) -> usize {
        self.columns.val().dims()[1]
    }

    fn project(&self, columns: Tensor<2>) -> Tensor<2> {
        self.columns().transpose().exact_matmul(columns)
    }

    fn combine(&self, weights: Tensor<2>) -> Tensor<2> {
        self.columns().exact_matmul(weights)
    }

    fn gram(&self) -> Tensor<2> {
        self.project(self.columns())
    }

    fn weighted_gram(&self, values: Tensor<1>) -> Tensor<2> {
        self.project(self.columns() * values.unsqueeze_dim(1))
    }

    fn covariance(
        &self,
        kernel: &dyn Kernel,
        points: Tensor<2>,
        x: Option<Tensor<2>>,
    ) -> Tensor<2> {
        let product = match x {
            Some(x) => covariance_product(kernel, x, Some(points), self.columns()),
            None => covariance_product(kernel, points, None, self.columns()),
        };
        product.transpose()
    }
}

/// The combinations `u = Sᵀf(X)` as inducing variables, so that processes conditioned on inducing
/// variables can condition on them.
#[derive(Module, Debug)]
pub struct ActionVariables<A: Module> {
    sets: Vec<ActionSet<A>>,
}

/// Actions together with their points.
#[derive(Module, Debug)]
struct ActionSet<A: Module> {
    actions: A,
    /// [N, D]
    points: Param<Tensor<2>>,
}

impl<A: Actions> ActionVariables<A> {
    /// Creates the combinations of the function values at `points`, `[N, D]`, which are not
    /// trained.
    pub fn new(actions: A, points: Tensor<2>) -> Self {
        let points = Param::from_tensor(points).set_require_grad(false);
        Self {
            sets: vec![ActionSet { actions, points }],
        }
    }
}

impl<A: Actions> ActionSet<A> {
    /// `Cov[u, f(x)]`, [I, N′].
    fn covariance(&self, kernel: &dyn Kernel, x: Tensor<2>) -> Tensor<2> {
        (self.actions).covariance(kernel, self.points.val(), Some(x))
    }

    /// `Cov[u, u]`, [I, I].
    fn own(&self, kernel: &dyn Kernel) -> Tensor<2> {
        let covariance = (self.actions).covariance(kernel, self.points.val(), None); // SᵀK, [I, N]
        self.actions.project(covariance.transpose())
    }

    /// `Cov[u, v]` with the combinations of another set, [I, I2].
    fn with(&self, kernel: &dyn Kernel, other: &Self) -> Tensor<2> {
        let covariance = self.covariance(kernel, other.points.val());
        other.actions.project(covariance.transpose()).transpose()
    }
}

impl<A: Actions> ActionVariables<A> {
    /// `Cov[u, v]` with other combinations, `[1, I, I2]`.
    fn with(&self, kernels: &Kernels, other: &Self) -> Tensor<3> {
        let rows = self.sets.iter().map(|set| {
            let blocks = other.sets.iter();
            let blocks = blocks.map(|other| set.with(kernels.first(), other));
            Tensor::cat(blocks.collect(), 1)
        });
        Tensor::cat(rows.collect(), 0).unsqueeze()
    }
}

/// All functions share a kernel.
impl<A: Actions> Inducing for ActionVariables<A> {
    fn count(&self) -> usize {
        self.sets.iter().map(|set| set.actions.count()).sum()
    }

    fn kuu(&self, kernels: &Kernels) -> Tensor<3> {
        let kernel = kernels.first();
        let rows = self.sets.iter().enumerate().map(|(row, set)| {
            let blocks = self.sets.iter().enumerate().map(|(column, other)| {
                if row == column {
                    set.own(kernel)
                } else {
                    set.with(kernel, other)
                }
            });
            Tensor::cat(blocks.collect(), 1)
        });
        Tensor::cat(rows.collect(), 0).unsqueeze()
    }

    fn kuf(&self, kernels: &Kernels, x: Tensor<2>) -> Tensor<3> {
        let sets = self.sets.iter();
        let rows = sets.map(|set| set.covariance(kernels.first(), x.clone()));
        Tensor::cat(rows.collect(), 0).unsqueeze()
    }

    #[track_caller]
    fn kuv(&self, kernels: &Kernels, other: &AnyInducing) -> Tensor<3> {
        self.with(kernels, same_type(other))
    }

    #[track_caller]
    fn union(&self, others: &[&AnyInducing]) -> AnyInducing {
        let mut sets = self.sets.clone();
        sets.extend(
            others
                .iter()
                .flat_map(|other| same_type::<Self>(other).sets.clone()),
        );
        Self { sets }.into()
    }
}
