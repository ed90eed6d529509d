//! The convolutional kernel.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    AnyKernel, Kernel, KernelModule, patch_covariance, patch_variance, points::covariance_shape,
};
use crate::{
    parameter::{Part, Role},
    patches::PatchGrid,
};

/// The kernel of functions of images that sum the responses to all patches,
/// `f(x) = Σ_p w_p·g(x^[p])` with `g ~ GP(0, k_g)`:
/// `k(x, x′) = Σ_pp′ w_p·w_p′·k_g(x^[p], x′^[p′])`, with trained weights (M. van der Wilk, C. E.
/// Rasmussen and J. Hensman, *Convolutional Gaussian Processes*, arXiv:1709.01894).
///
/// With a [location kernel](Self::with_location) the response also depends on the location of the
/// patch: `k_g·k_loc` replaces `k_g`, where `k_loc` compares locations in rows and columns of
/// patches. The kernel is then insensitive to translations instead of invariant under them (V.
/// Dutordoir, M. van der Wilk, A. Artemev and J. Hensman, *Bayesian Image Classification with Deep
/// Convolutional Gaussian Processes*, arXiv:1902.05888).
///
/// Weights are stored as multiples of `1/P`, so that the relative size of an optimizer step does
/// not depend on the number of patches. If all patches of an image are identical and all multiples
/// are one, the variance of the functions is that of `g`.
///
/// It can be used like any other kernel on whole images. For efficiency, use inducing variables
/// that are values of `g`, [`InducingPatches`](crate::inducing::InducingPatches).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{Convolutional, KernelModule, StationaryConfig},
///     ops::Stationary,
///     patches::{ImageShape, PatchGrid},
/// };
///
/// # fn main() -> Result<(), burn_gp_core::patches::PatchError> {
/// let device = Device::default();
/// let grid = PatchGrid::new(ImageShape::new(5, 5, 1), 3, 1)?;
/// let base = StationaryConfig::new(Stationary::SquaredExponential).init(9, &device);
/// let kernel = Convolutional::new(base, grid, &device);
/// let images = Tensor::<2>::zeros([2, 25], &device);
/// let values: Vec<f64> = kernel.matrix_at(images).into_data().iter().collect();
/// // All patches of all images are equal, so the functions have the variance of one patch.
/// assert!(values.iter().all(|value| (value - 1.0).abs() < 1e-5));
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Convolutional {
    base: AnyKernel,
    location: Option<AnyKernel>,
    /// P·w, [P]
    patch_weights: Part<Param<Tensor<1>>>,
    #[module(skip)]
    grid: PatchGrid,
}

fn features(weights: Tensor<1>) -> Part<Param<Tensor<1>>> {
    Part::new(Role::Features, Param::from_tensor(weights))
}

impl Convolutional {
    /// Sums responses with kernel `base` to the patches of `grid`, each with weight `1/P`.
    pub fn new(
        base: impl Kernel,
        grid: PatchGrid,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        Self {
            base: base.boxed(),
            location: None,
            patch_weights: features(Tensor::ones([grid.count()], options)),
            grid,
        }
    }

    /// Sets the kernel on patch locations, which have two dimensions.
    pub fn with_location(mut self, location: impl Kernel) -> Self {
        self.location = Some(location.boxed());
        self
    }

    /// Sets the weights `w`, `[P]`.
    ///
    /// # Panics
    ///
    /// If the number of weights differs from the number of patches.
    #[track_caller]
    pub fn with_weights(mut self, weights: Tensor<1>) -> Self {
        let ([count], patches) = (weights.dims(), self.grid.count());
        assert!(
            count == patches,
            "Convolutional: {count} weights for {patches} patches per image"
        );
        self.patch_weights = features(weights * patches as f64);
        self
    }

    /// The kernel of the responses.
    pub fn base(&self) -> &AnyKernel {
        &self.base
    }

    /// The kernel on patch locations.
    pub fn location(&self) -> Option<&AnyKernel> {
        self.location.as_ref()
    }

    /// The patches.
    pub fn grid(&self) -> &PatchGrid {
        &self.grid
    }

    /// The weights `w`, `[P]`.
    pub fn weights(&self) -> Tensor<1> {
        self.patch_weights.val() * (self.grid.count() as f64).recip()
    }

    /// The patch locations, [P, 2].
    fn places(&self) -> Tensor<2> {
        let weights = self.patch_weights.val();
        (self.grid).locations((&weights.device(), weights.dtype()))
    }

    /// `Cov[g(z_m), f(x_n)]`, `[M, N]`, for responses to `patches` (z), `[M, d]`, at `places`,
    /// `[M, 2]`, which only a location kernel needs.
    ///
    /// # Panics
    ///
    /// If there is a location kernel but no `places`.
    #[track_caller]
    pub(crate) fn responses(
        &self,
        patches: Tensor<2>,
        places: Option<Tensor<2>>,
        images: Tensor<2>,
    ) -> Tensor<2> {
        self.grid.check(&images);
        let ([count, _], weights) = (patches.dims(), self.weights().unsqueeze::<2>());
        let weights = match (&self.location, places) {
            (None, _) => weights.expand([count, self.grid.count()]),
            (Some(location), Some(places)) => {
                location.covariance_at(places, self.places()) * weights
            }
            (Some(_), None) => {
                panic!("Convolutional: a location kernel needs the places of the patches")
            }
        };
        patch_covariance(&self.base, &self.grid, patches, images, weights)
    }

    /// `w_p·w_p′`, times the covariances `of` the locations of the patches, `[P, P]`.
    fn pair_weights(&self, of: impl Fn(&AnyKernel, Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        let weights = self.weights();
        let products = weights.clone().unsqueeze_dim::<2>(1) * weights.unsqueeze_dim::<2>(0);
        match &self.location {
            None => products,
            Some(location) => products * of(location, self.places()),
        }
    }

    /// The covariances between B sets of images, `[B, N1, N2]`, from those between all their patches.
    fn of_all_patches(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let ([batch, first, second], patches) = (covariance_shape(&x1, &x2), self.grid.count());
        let [x1, x2] = [x1, x2].map(|x| {
            let [sets, images, values] = x.dims();
            let all = self.grid.extract(x.reshape([sets * images, values]));
            all.reshape([sets, images * patches, self.grid.dimensions()])
        });
        let weights = self.pair_weights(|kernel, at| kernel.covariance_at(at.clone(), at));
        let all = self.base.covariance(x1, x2); // [B, N1·P, N2·P]
        let all = all.reshape([batch * first, patches, second, patches]);
        let weighted = all * weights.reshape([1, patches, 1, patches]);
        weighted
            .sum_dim(3)
            .sum_dim(1)
            .reshape([batch, first, second])
    }
}

/// One set of images is compared patch by patch, and nothing is kept. Several sets in one call hold the
/// covariances between all their patches in memory.
impl Kernel for Convolutional {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let [batch, first, second] = covariance_shape(&x1, &x2);
        if batch > 1 {
            return self.of_all_patches(x1, x2);
        }
        let (x1, x2) = (x1.squeeze_dim::<2>(0), x2.squeeze_dim::<2>(0));
        let patches = self.grid.count();
        // Locations matter only to a location kernel.
        let places = (self.location.as_ref()).map(|_| self.places().repeat_dim(0, first));
        let responses = self.responses(self.grid.extract(x1), places, x2); // [N1·P, N2]
        let weights = self.weights().reshape([1, patches, 1]);
        let responses = responses.reshape([first, patches, second]) * weights;
        responses.sum_dim(1).squeeze_dim::<2>(1).unsqueeze()
    }

    /// The diagonal needs separate treatment: the variance of an image includes the noise of a
    /// white base kernel, but its covariance with a copy does not.
    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        let covariance = self.covariance(x.clone(), x.clone());
        let [_, count, _] = covariance.dims();
        let identity = Tensor::<2>::eye(count, &covariance.device()).cast(covariance.dtype());
        let identity = identity.unsqueeze::<3>();
        let diagonal = self.diagonal(x).unsqueeze_dim::<3>(1) * identity.clone();
        covariance.clone() - covariance * identity + diagonal
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        let [batch, count, values] = x.dims();
        let images = x.reshape([batch * count, values]);
        self.grid.check(&images);
        let weights = self.pair_weights(KernelModule::matrix_at);
        patch_variance(&self.base, &self.grid, images, weights).reshape([batch, count])
    }
}
