//! What [`KernelConfig`](super::KernelConfig) needs to know about the configuration of each kernel.

use burn::tensor::TensorCreationOptions;

use super::{KernelConfig, inputs::Inputs};

/// The configuration of a kernel.
pub(super) trait Definition {
    /// Shares one parameter among all input dimensions wherever there is one per dimension.
    fn share_parameters(&mut self) {}

    /// Shares one parameter among all input dimensions with equal numbers in `groups`, in stationary
    /// and linear kernels. The numbers start at zero and have no gaps.
    fn share_among(&mut self, _groups: &[usize]) {}

    /// The largest zero-based input dimension that the kernel refers to and that inputs of
    /// `dimensions` dimensions lack.
    fn missing_dimension(&self, _dimensions: usize) -> Option<usize> {
        None
    }

    /// The values that must be positive, including sizes, by name.
    fn positive(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// The kernels that this one is built from, by name.
    fn parts(&self) -> Vec<(&'static str, &KernelConfig)> {
        Vec::new()
    }

    /// Any other problem with the values of this kernel.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// A configuration from which a kernel is made.
pub(super) trait ConfigBuild: Definition {
    /// The kernel.
    type Kernel;

    /// Makes the kernel for these inputs.
    fn build(&self, inputs: Inputs, options: TensorCreationOptions) -> Self::Kernel;
}

/// Implements [`Definition`] for a configuration with a field `ard` and other fields that must be
/// positive; those in parentheses may be absent.
macro_rules! ard {
    ($config:ty: $($field:ident)+ $(($optional:ident))?) => {
        impl $crate::kernels::definition::Definition for $config {
            fn share_parameters(&mut self) {
                self.ard = false;
            }

            $crate::kernels::definition::positive!($($field)+ $(($optional))?);
        }
    };
    ($config:ty, grouped: $($field:ident)+ $(($optional:ident))?) => {
        impl $crate::kernels::definition::Definition for $config {
            fn share_parameters(&mut self) {
                self.ard = false;
            }

            $crate::kernels::definition::positive!($($field)+ $(($optional))?);

            fn share_among(&mut self, groups: &[usize]) {
                self.groups = groups.to_vec();
            }
        }
    };
}

/// Implements [`Definition::positive`] for fields of a configuration.
macro_rules! positive {
    ($($field:ident)* $(($optional:ident))?) => {
        fn positive(&self) -> Vec<(&'static str, f64)> {
            let fields = [$((stringify!($field), self.$field as f64)),*].into_iter();
            $(let fields = fields.chain(self.$optional.map(|value| (stringify!($optional), value)));)?
            fields.collect()
        }
    };
}

pub(super) use {ard, positive};
