//! Configurations of kernels as [`KernelConfig`](super::KernelConfig) sees them.

use burn::tensor::TensorCreationOptions;

use super::inputs::Inputs;

/// The configuration of a kernel.
pub(super) trait Definition {
    /// Shares one parameter among all input dimensions wherever there is one per dimension.
    fn share_parameters(&mut self) {}

    /// Shares one parameter among all input dimensions with equal numbers in `groups`, in stationary
    /// and linear kernels. The numbers are dense and start at zero.
    fn share_among(&mut self, _groups: &[usize]) {}

    /// The largest zero-based input dimension that the kernel refers to and that inputs of
    /// `dimensions` dimensions lack.
    fn missing_dimension(&self, _dimensions: usize) -> Option<usize> {
        None
    }
}

/// A configuration from which a kernel is made.
pub(super) trait Build: Definition {
    /// The kernel.
    type Kernel;

    /// Makes the kernel for these inputs.
    fn build(&self, inputs: Inputs, options: TensorCreationOptions) -> Self::Kernel;
}

/// Implements [`Definition`] for a configuration with a field `ard`.
macro_rules! ard {
    ($config:ty) => {
        impl $crate::kernels::definition::Definition for $config {
            fn share_parameters(&mut self) {
                self.ard = false;
            }
        }
    };
    ($config:ty, grouped) => {
        impl $crate::kernels::definition::Definition for $config {
            fn share_parameters(&mut self) {
                self.ard = false;
            }

            fn share_among(&mut self, groups: &[usize]) {
                self.groups = groups.to_vec();
            }
        }
    };
}

pub(super) use ard;
