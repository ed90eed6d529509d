//! The convolutional kernel.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::Kernel;
use crate::patches::PatchGrid;

/// The kernel of functions of images that sum a response to every patch,
/// `f(x) = Σ_p w_p·g(x^[p])` with `g ~ GP(0, k_g)`:
/// `k(x, x′) = Σ_pp′ w_p·w_p′·k_g(x^[p], x′^[p′])`, with trained weights
/// (M. van der Wilk, C. E. Rasmussen and J. Hensman, *Convolutional Gaussian Processes*,
/// arXiv:1709.01894).
///
/// With a [location kernel](Self::with_location) the response depends on where a patch is, too: it
/// is insensitive to translation instead of invariant under it,
/// `k_g·k_loc` in the place of `k_g` with `k_loc` between places in rows and columns of patches
/// (V. Dutordoir, M. van der Wilk, A. Artemev and J. Hensman, *Bayesian Image Classification with
/// Deep Convolutional Gaussian Processes*, arXiv:1902.05888).
///
/// Weights are stored as multiples of `1/P`, so that an optimizer's step changes all of them by the
/// same share whatever the number of patches is. The functions' variance is that of `g` where all
/// patches are alike and all multiples one.
///
/// It is a kernel like all others, of whole images; what makes it efficient are inducing variables
/// that are values of `g`, [`InducingPatches`](crate::inducing::InducingPatches).
#[derive(Module, Debug)]
pub struct Convolutional<K: Module> {
    base: K,
    location: Option<K>,
    /// P·w, [P]
    patch_weights: Param<Tensor<1>>,
    #[module(skip)]
    grid: PatchGrid,
}

impl<K: Kernel> Convolutional<K> {
    /// Sums of responses with kernel `base` to the patches of `grid`, all with the weight `1/P`.
    pub fn new(base: K, grid: PatchGrid, options: impl Into<TensorCreationOptions>) -> Self {
        Self {
            base,
            location: None,
            patch_weights: Param::from_tensor(Tensor::ones([grid.count()], options)),
            grid,
        }
    }

    /// With a kernel of the places of patches, which have two dimensions.
    pub fn with_location(mut self, location: K) -> Self {
        self.location = Some(location);
        self
    }

    /// With the weights `w`, `[P]`.
    ///
    /// # Panics
    ///
    /// If there is another number of them than of patches.
    #[track_caller]
    pub fn with_weights(mut self, weights: Tensor<1>) -> Self {
        let ([count], patches) = (weights.dims(), self.grid.count());
        assert!(
            count == patches,
            "Convolutional: {count} weights for {patches} patches an image"
        );
        self.patch_weights = Param::from_tensor(weights * patches as f64);
        self
    }

    /// The kernel of the responses.
    pub fn base(&self) -> &K {
        &self.base
    }

    /// The kernel of the places of patches.
    pub fn location(&self) -> Option<&K> {
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

    /// Where the patches are, [P, 2].
    fn places(&self) -> Tensor<2> {
        let weights = self.patch_weights.val();
        (self.grid).locations((&weights.device(), weights.dtype()))
    }

    /// `Cov[g(z_m), f(x_n)]`, `[M, N]`, for responses to `patches` (z), `[M, d]`, at `places`,
    /// `[M, 2]`, which only a location kernel asks for.
    ///
    /// # Panics
    ///
    /// If there is a location kernel and no place.
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
            (Some(location), Some(places)) => location.covariance(places, self.places()) * weights,
            (Some(_), None) => {
                panic!("Convolutional: patches without a place under a location kernel")
            }
        };
        (self.base).patch_covariance(&self.grid, patches, images, weights)
    }
}

impl<K: Kernel> Kernel for Convolutional<K> {
    fn in_larger_unit(mut self, decades: i64) -> Self {
        self.base = self.base.in_larger_unit(decades);
        self
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        self.grid.check(&x1);
        let ([first, _], [second, _]) = (x1.dims(), x2.dims());
        let patches = self.grid.count();
        // Without a location kernel the places are not looked at.
        let places = (self.location.as_ref()).map(|_| self.places().repeat_dim(0, first));
        let responses = self.responses(self.grid.extract(x1), places, x2); // [N1·P, N2]
        let weights = self.weights().reshape([1, patches, 1]);
        let responses = responses.reshape([first, patches, second]) * weights;
        responses.sum_dim(1).squeeze_dim(1)
    }

    /// Where an image meets itself it is its own variance, which the responses of a white kernel
    /// make more than their covariance.
    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        let covariance = self.covariance(x.clone(), x.clone());
        let [count, _] = covariance.dims();
        let identity = Tensor::<2>::eye(count, &covariance.device()).cast(covariance.dtype());
        let diagonal = self.diagonal(x).unsqueeze::<2>() * identity.clone();
        covariance.clone() - covariance * identity + diagonal
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        self.grid.check(&x);
        let weights = self.weights();
        let products = weights.clone().unsqueeze_dim::<2>(1) * weights.unsqueeze_dim::<2>(0);
        let products = match &self.location {
            None => products,
            Some(location) => products * location.matrix(self.places()),
        };
        (self.base).patch_variance(&self.grid, x, products)
    }
}
