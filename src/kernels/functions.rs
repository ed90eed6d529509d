//! The kernels of several functions.

use std::borrow::Cow;

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use crate::{
    kernels::{
        AnyKernel, FunctionPrior, Kernel, Structure, matrix_columns,
        points::{expanded, one_set},
        structure::StationaryParameters,
    },
    ops::{self, number},
    parameter::{Hyperparameter, hyperparameters, member, stacked},
};

/// The prior of P independent functions `f_p ~ GP(0, k_p)`: one kernel that all of them share, or one for
/// each.
///
/// Its covariances have a leading axis B, which is 1 if the functions share a kernel, and P if each has its
/// own. A shared kernel computes the covariances of all functions in one call. So do kernels of one configuration
/// that are [`stacked`](Self::stacked), and separate kernels that are stationary and of the same kind; others are
/// called one after the other.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Kernels, Linear};
///
/// let device = Device::default();
/// let kernels = [1.0, 4.0].map(|variance| Linear::new(&[variance], &device));
/// let kernels = Kernels::separate(kernels);
/// let x = Tensor::<2>::from_data([[1.0], [2.0], [3.0]], &device);
/// // A variance for each of two functions and each row.
/// assert_eq!(kernels.diagonal_at(x.clone()).dims(), [2, 3]);
/// assert_eq!(kernels.matrix_at(x).dims(), [2, 3, 3]);
/// ```
#[derive(Module, Debug)]
pub enum Kernels {
    /// One kernel that all functions share.
    Shared(AnyKernel),
    /// One kernel for each function.
    Separate(KernelOfEach),
    /// One kernel whose hyperparameters have an axis of functions.
    Stacked(StackedKernel),
}

/// One kernel for each of P functions.
#[derive(Module, Debug)]
pub struct KernelOfEach {
    kernels: Vec<AnyKernel>,
}

/// One kernel whose hyperparameters have an axis of P functions.
#[derive(Module, Debug)]
pub struct StackedKernel {
    kernel: AnyKernel,
    #[module(skip)]
    functions: usize,
    #[module(skip)]
    has_hyperparameters: bool,
}

impl<K: Kernel> From<K> for Kernels {
    fn from(kernel: K) -> Self {
        Self::Shared(kernel.boxed())
    }
}

impl Kernels {
    /// One kernel for each function.
    ///
    /// # Panics
    ///
    /// If there are none.
    #[track_caller]
    pub fn separate<K: Kernel>(kernels: impl IntoIterator<Item = K>) -> Self {
        let kernels: Vec<AnyKernel> = kernels.into_iter().map(Kernel::boxed).collect();
        assert!(!kernels.is_empty(), "Kernels: no kernel given");
        Self::Separate(KernelOfEach { kernels })
    }

    /// The kernels of several functions, made from one configuration, in one kernel: their hyperparameters have an
    /// axis of functions ([`stacked`]), and covariances of all functions are one call. Networks and features are
    /// those of the first kernel.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::kernels::{KernelDefinition, Kernels, LinearConfig, StationaryConfig};
    ///
    /// let device = Device::default();
    /// let kernels = [0.5, 1.0, 2.0].map(|lengthscale| {
    ///     let smooth = StationaryConfig::rbf().with_lengthscale(lengthscale);
    ///     smooth.plus(LinearConfig::default()).init(1, &device)
    /// });
    /// let kernels = Kernels::stacked(&kernels);
    /// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
    /// assert_eq!(kernels.matrix_at(x).dims(), [3, 2, 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are none, or their hyperparameters differ in number, size or unit.
    #[track_caller]
    pub fn stacked(kernels: &[AnyKernel]) -> Self {
        Self::Stacked(StackedKernel {
            kernel: stacked(kernels),
            functions: kernels.len(),
            has_hyperparameters: kernels
                .iter()
                .any(|kernel| !hyperparameters(kernel).is_empty()),
        })
    }

    /// Clones of one kernel, with the same parameters, for `outputs` functions.
    ///
    /// # Panics
    ///
    /// If `outputs` is zero.
    #[track_caller]
    pub fn tied(kernel: impl Kernel, outputs: usize) -> Self {
        Self::separate(vec![kernel.boxed(); outputs])
    }

    /// The kernels, B of them.
    pub fn each(&self) -> Cow<'_, [AnyKernel]> {
        match self {
            Self::Stacked(all) => (0..all.functions)
                .map(|index| member(&all.kernel, index, all.functions))
                .collect(),
            _ => self.modules().into(),
        }
    }

    /// The kernels that compute covariances: one for all functions, or one for each.
    fn modules(&self) -> &[AnyKernel] {
        match self {
            Self::Shared(kernel) => std::slice::from_ref(kernel),
            Self::Separate(all) => &all.kernels,
            Self::Stacked(all) => std::slice::from_ref(&all.kernel),
        }
    }

    /// The number of kernels, B.
    pub fn count(&self) -> usize {
        match self {
            Self::Stacked(all) => all.functions,
            _ => self.modules().len(),
        }
    }

    /// The kernel that all functions share, that of the first function, or the stacked kernel of all.
    pub fn first(&self) -> &AnyKernel {
        &self.modules()[0]
    }

    /// The covariances between two distinct sets of points for each function, or between sets that all
    /// functions share.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[B, N1, D]` or `[1, N1, D]`, `x2`: `[B, N2, D]` or `[1, N2, D]`
    /// - result: `[B, N1, N2]`
    pub fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        match self.modules() {
            [kernel] => self.of_each(kernel.covariance(x1, x2)),
            kernels => fused(kernels, &x1, &x2).unwrap_or_else(|| {
                joined(kernels, |kernel, index| {
                    kernel.covariance(set_of(&x1, index), set_of(&x2, index))
                })
            }),
        }
    }

    /// The symmetric covariance matrices of one set of points for each function, or of one set.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]` or `[1, N, D]`
    /// - result: `[B, N, N]`
    pub fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        match self.modules() {
            [kernel] => self.of_each(kernel.matrix(x)),
            kernels => fused(kernels, &x, &x).unwrap_or_else(|| {
                joined(kernels, |kernel, index| kernel.matrix(set_of(&x, index)))
            }),
        }
    }

    /// [`covariance`](Self::covariance) between two sets of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[B, N1, N2]`
    pub fn covariance_at(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<3> {
        self.covariance(one_set(x1), one_set(x2))
    }

    /// [`matrix`](Self::matrix) of one set of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[B, N, N]`
    pub fn matrix_at(&self, x: Tensor<2>) -> Tensor<3> {
        self.matrix(one_set(x))
    }

    /// Selected columns of [`matrix`](Self::matrix), the same for every function.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]` or `[1, N, D]`, `columns`: `[C]`
    /// - result: `[B, N, C]`
    pub fn matrix_columns(&self, x: Tensor<3>, columns: Tensor<1, Int>) -> Tensor<3> {
        match self.modules() {
            [kernel] => self.of_each(matrix_columns(kernel, x, columns)),
            kernels => joined(kernels, |kernel, index| {
                matrix_columns(kernel, set_of(&x, index), columns.clone())
            }),
        }
    }

    /// The diagonals of the covariance matrices of one set of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[B, N]`
    pub fn diagonal_at(&self, x: Tensor<2>) -> Tensor<2> {
        let x = one_set(x);
        match self.modules() {
            [kernel] => self.of_each(kernel.diagonal(x)),
            kernels => joined(kernels, |kernel, _| kernel.diagonal(x.clone())),
        }
    }

    /// What a kernel computed for all functions; of a kernel without hyperparameters, a stack repeats it.
    #[track_caller]
    fn of_each<const R: usize>(&self, computed: Tensor<R>) -> Tensor<R> {
        let Self::Stacked(all) = self else {
            return computed;
        };
        let computed = match all.has_hyperparameters {
            true => computed,
            false => expanded(computed, all.functions),
        };
        assert!(
            computed.dims()[0] == all.functions,
            "{:?} of a stacked kernel for {} functions; a kernel that is stacked uses its parameters by \
             Positive::aligned",
            computed.dims(),
            all.functions
        );
        computed
    }
}

/// The covariances in one operation, if all kernels are stationary and alike.
fn fused(kernels: &[AnyKernel], x1: &Tensor<3>, x2: &Tensor<3>) -> Option<Tensor<3>> {
    let stationary = |kernel: &AnyKernel| match kernel.structure() {
        Structure::Stationary(parameters) => Some(parameters),
        _ => None,
    };
    let all = kernels.iter().map(stationary);
    let all = all.collect::<Option<Vec<StationaryParameters>>>()?;
    let form = |of: &StationaryParameters| (of.profile, of.lengthscales.dims());
    let (profile, _) = all.first().map(form)?;
    if all.windows(2).any(|pair| form(&pair[0]) != form(&pair[1])) {
        return None;
    }
    let [x1, x2] = [x1, x2].map(|points| expanded(points.clone(), kernels.len()));
    let lengthscales = all.iter().map(|of| of.lengthscales.clone()).collect();
    let variances = all.iter().map(|of| of.variance.clone()).collect();
    let (lengthscales, variances) = (Tensor::cat(lengthscales, 0), Tensor::cat(variances, 0));
    Some(ops::covariances(profile, x1, x2, lengthscales, variances))
}

/// Evaluates the kernel of each function and joins the results along the leading axis.
fn joined<const R: usize>(
    kernels: &[AnyKernel],
    of: impl Fn(&AnyKernel, usize) -> Tensor<R>,
) -> Tensor<R> {
    let each = (kernels.iter().enumerate()).map(|(index, kernel)| of(kernel, index));
    Tensor::cat(each.collect(), 0)
}

/// The points of one function, `[1, N, D]`, from `[B, N, D]`, or from points that all functions share.
fn set_of(points: &Tensor<3>, index: usize) -> Tensor<3> {
    match points.dims()[0] {
        1 => points.clone(),
        _ => points.clone().narrow(0, index, 1),
    }
}

impl FunctionPrior for Kernels {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(number(self.diagonal_at(x).mean()))
    }
}
