//! The kernels of several functions.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use crate::{
    kernels::{AnyKernel, FunctionPrior, Kernel, StationaryKernel},
    ops::number,
    parameter::{Hyperparameter, hyperparameters},
};

/// The prior of P independent functions `f_p ~ GP(0, k_p)`: one kernel that all of them share, or one for
/// each.
///
/// Its covariances have a leading axis B, which is 1 if the functions share a kernel, and P if each has its
/// own. The covariances of all functions are computed in one operation if the kernels are stationary and of
/// the same kind.
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
/// assert_eq!(kernels.diagonal(x.clone()).dims(), [2, 3]);
/// assert_eq!(kernels.matrix_at(x).dims(), [2, 3, 3]);
/// ```
#[derive(Module, Debug)]
pub enum Kernels {
    /// One kernel that all functions share.
    Shared(AnyKernel),
    /// One kernel for each function.
    Separate(KernelOfEach),
}

/// One kernel for each of P functions.
#[derive(Module, Debug)]
pub struct KernelOfEach {
    kernels: Vec<AnyKernel>,
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
    pub fn each(&self) -> &[AnyKernel] {
        match self {
            Self::Shared(kernel) => std::slice::from_ref(kernel),
            Self::Separate(all) => &all.kernels,
        }
    }

    /// The number of kernels, B.
    pub fn count(&self) -> usize {
        self.each().len()
    }

    /// The kernel that all functions share, or that of the first function.
    pub fn first(&self) -> &AnyKernel {
        &self.each()[0]
    }

    /// The covariances between two distinct sets of points for each function, or between sets that all
    /// functions share.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[B, N1, D]` or `[1, N1, D]`, `x2`: `[B, N2, D]` or `[1, N2, D]`
    /// - result: `[B, N1, N2]`
    pub fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let count = self.batch(&x1).max(self.batch(&x2));
        if count == 1 {
            let covariance = self
                .first()
                .covariance(x1.squeeze_dim(0), x2.squeeze_dim(0));
            return covariance.unsqueeze();
        }
        self.fused(count, &x1, &x2).unwrap_or_else(|| {
            self.one_by_one(count, |kernel, index| {
                kernel.covariance(points_of(&x1, index), points_of(&x2, index))
            })
        })
    }

    /// The symmetric covariance matrices of one set of points for each function, or of one set.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]` or `[1, N, D]`
    /// - result: `[B, N, N]`
    pub fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        let count = self.batch(&x);
        if count == 1 {
            return self.first().matrix(x.squeeze_dim(0)).unsqueeze();
        }
        self.fused(count, &x, &x).unwrap_or_else(|| {
            self.one_by_one(count, |kernel, index| kernel.matrix(points_of(&x, index)))
        })
    }

    /// [`covariance`](Self::covariance) between two sets of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[B, N1, N2]`
    pub fn covariance_at(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<3> {
        match self.each() {
            [kernel] => kernel.covariance(x1, x2).unsqueeze(),
            _ => self.covariance(x1.unsqueeze(), x2.unsqueeze()),
        }
    }

    /// [`matrix`](Self::matrix) of one set of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[B, N, N]`
    pub fn matrix_at(&self, x: Tensor<2>) -> Tensor<3> {
        match self.each() {
            [kernel] => kernel.matrix(x).unsqueeze(),
            _ => self.matrix(x.unsqueeze()),
        }
    }

    /// Selected columns of [`matrix`](Self::matrix), the same for every function.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]` or `[1, N, D]`, `columns`: `[C]`
    /// - result: `[B, N, C]`
    pub fn matrix_columns(&self, x: Tensor<3>, columns: Tensor<1, Int>) -> Tensor<3> {
        self.one_by_one(self.batch(&x), |kernel, index| {
            kernel.matrix_columns(points_of(&x, index), columns.clone())
        })
    }

    /// The diagonals of the covariance matrices of one set of points that all functions share.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[B, N]`
    pub fn diagonal(&self, x: Tensor<2>) -> Tensor<2> {
        let each = self.each().iter();
        let each = each.map(|kernel| kernel.diagonal(x.clone()));
        Tensor::stack(each.collect(), 0)
    }

    /// The kernel of one of B functions.
    fn kernel(&self, index: usize) -> &AnyKernel {
        let all = self.each();
        if all.len() == 1 { &all[0] } else { &all[index] }
    }

    /// The leading axis of covariances with these points.
    fn batch(&self, points: &Tensor<3>) -> usize {
        points.dims()[0].max(self.count())
    }

    /// The covariances in one operation, if all kernels are stationary and alike.
    fn fused(&self, count: usize, x1: &Tensor<3>, x2: &Tensor<3>) -> Option<Tensor<3>> {
        let kernels = (0..count).map(|index| self.kernel(index).downcast_ref());
        let kernels: Option<Vec<&StationaryKernel>> = kernels.collect();
        let [x1, x2] = [x1, x2].map(|points| {
            let [own, rows, dimensions] = points.dims();
            match own == count {
                true => points.clone(),
                false => points.clone().expand([count, rows, dimensions]),
            }
        });
        StationaryKernel::fused(&kernels?, x1, x2)
    }

    /// Evaluates the kernel of each function and stacks the results.
    fn one_by_one(
        &self,
        count: usize,
        covariance: impl Fn(&AnyKernel, usize) -> Tensor<2>,
    ) -> Tensor<3> {
        if count == 1 {
            return covariance(self.first(), 0).unsqueeze();
        }
        let each = (0..count).map(|index| covariance(self.kernel(index), index));
        Tensor::stack(each.collect(), 0)
    }
}

/// The points of one function, `[N, D]`, from `[B, N, D]`, or from points that all functions share.
fn points_of(points: &Tensor<3>, index: usize) -> Tensor<2> {
    let own = if points.dims()[0] == 1 { 0 } else { index };
    points.clone().narrow(0, own, 1).squeeze_dim(0)
}

impl FunctionPrior for Kernels {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(number(self.diagonal(x).mean()))
    }
}
