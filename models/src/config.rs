//! Parts of the configurations of ready-made models.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    kernels::AnyKernel,
    parameter::{ParameterConfig, Parameters},
};

/// The kernel with the initial values configured under `path`, which are set before anything is
/// derived from the kernel. Impossible values are skipped here; the model built from the kernel
/// reports them with their full path.
pub(crate) fn with_first_values(
    kernel: AnyKernel,
    parameters: &ParameterConfig,
    path: &str,
) -> AnyKernel {
    (parameters.values_within(path)).fold(kernel, |kernel, (path, values)| {
        let changed = kernel.clone().with_parameter(path, values);
        changed.unwrap_or(kernel)
    })
}

/// The number of outputs of the full-batch models.
pub(crate) const OUTPUTS: usize = 1;

/// The precision and device of a tensor, without autodiff.
pub(crate) fn options_of(tensor: &Tensor<2>) -> TensorCreationOptions {
    (&tensor.device().inner(), tensor.dtype()).into()
}
