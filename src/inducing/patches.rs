//! Inducing patches: responses of convolutional kernels to trained patches.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use super::{AnyInducing, Inducing, same_type};
use crate::{
    kernels::{AnyKernel, Convolutional, Kernel, Kernels, matrix_columns},
    parameter::Part,
};

/// `u = g(Z)`: the values of the response function of a [`Convolutional`] kernel at trained patches
/// `Z`, `[M, d]`. With a location kernel they also have trained locations, `[M, 2]`.
///
/// They are inter-domain variables. A patch has `d` values, fewer than an image, so covariances
/// among them cost no more than those of points, and the covariance with an image takes one
/// covariance per patch (M. van der Wilk, C. E. Rasmussen and J. Hensman, *Convolutional Gaussian
/// Processes*, arXiv:1709.01894).
#[derive(Module, Debug)]
pub struct InducingPatches {
    patches: Part<Param<Tensor<2>>>,
    places: Option<Part<Param<Tensor<2>>>>,
}

impl InducingPatches {
    /// Creates inducing patches that start at `patches`, `[M, d]`.
    pub fn new(patches: Tensor<2>) -> Self {
        Self {
            patches: Part::inducing(Param::from_tensor(patches)),
            places: None,
        }
    }

    /// Sets the initial locations, `[M, 2]`, in rows and columns of patches.
    ///
    /// # Panics
    ///
    /// If there is not one location with two coordinates per patch.
    #[track_caller]
    pub fn with_places(mut self, places: Tensor<2>) -> Self {
        let [count, _] = self.patches().dims();
        assert!(
            places.dims() == [count, 2],
            "InducingPatches: places {:?} for {count} patches; expected [M, 2]",
            places.dims()
        );
        self.places = Some(Part::inducing(Param::from_tensor(places)));
        self
    }

    /// The patches, `[M, d]`.
    pub fn patches(&self) -> Tensor<2> {
        self.patches.val()
    }

    /// The locations of the patches, `[M, 2]`, if they have any.
    pub fn places(&self) -> Option<Tensor<2>> {
        self.places.as_ref().map(|places| places.val())
    }

    /// `k_g(z, z′)`; with a location kernel, times `k_loc` of the locations, `[1, M, M2]`.
    #[track_caller]
    fn covariance(
        &self,
        kernels: &Kernels,
        of: impl Fn(&AnyKernel, &dyn Fn(&Self) -> Tensor<3>) -> Tensor<3>,
    ) -> Tensor<3> {
        let kernel = convolutional(kernels);
        let responses = of(kernel.base(), &|set: &Self| set.patches().unsqueeze());
        match kernel.location() {
            None => responses,
            Some(location) => {
                responses * of(location, &|set: &Self| set.required_places().unsqueeze())
            }
        }
    }

    #[track_caller]
    fn required_places(&self) -> Tensor<2> {
        match self.places() {
            Some(places) => places,
            None => panic!("InducingPatches: a location kernel needs patches with places"),
        }
    }
}

/// The kernel that all functions of images share.
#[track_caller]
fn convolutional(kernels: &Kernels) -> &Convolutional {
    match kernels.count() {
        1 => kernels.first().downcast_ref(),
        _ => None,
    }
    .unwrap_or_else(|| panic!("InducingPatches need one Convolutional kernel, not {kernels:?}"))
}

impl Inducing for InducingPatches {
    fn count(&self) -> usize {
        self.patches.lazy_shape().dims::<2>()[0]
    }

    #[track_caller]
    fn kuu(&self, kernels: &Kernels) -> Tensor<3> {
        self.covariance(kernels, |kernel, points| kernel.matrix(points(self)))
    }

    #[track_caller]
    fn kuf(&self, kernels: &Kernels, x: Tensor<2>) -> Tensor<3> {
        let responses = convolutional(kernels).responses(self.patches(), self.places(), x);
        responses.unsqueeze()
    }

    #[track_caller]
    fn kuv(&self, kernels: &Kernels, other: &AnyInducing) -> Tensor<3> {
        let other = same_type::<Self>(other);
        self.covariance(kernels, |kernel, points| {
            kernel.covariance(points(self), points(other))
        })
    }

    #[track_caller]
    fn kuu_columns(&self, kernels: &Kernels, columns: Tensor<1, Int>) -> Tensor<3> {
        self.covariance(kernels, |kernel, points| {
            matrix_columns(kernel, points(self), columns.clone())
        })
    }

    #[track_caller]
    fn union(&self, others: &[&AnyInducing]) -> AnyInducing {
        let mut sets = vec![self];
        sets.extend(others.iter().map(|other| same_type::<Self>(other)));
        let all = |each: Vec<Tensor<2>>| Tensor::cat(each, 0).detach();
        let patches = Self::new(all(sets.iter().map(|set| set.patches()).collect()));
        let places: Option<Vec<_>> = sets.iter().map(|set| set.places()).collect();
        match places {
            Some(places) => patches.with_places(all(places)).into(),
            None => patches.into(),
        }
    }
}
