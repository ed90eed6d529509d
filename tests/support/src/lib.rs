//! Shared code of the integration tests: platforms, seeded random numbers, dense reference algebra
//! in plain loops, comparisons and gradient checks.

pub mod comparison;
pub mod dense;
pub mod dense_posterior;
pub mod formulas;
pub mod gradients;
pub mod integrals;
pub mod inverse_free_case;
pub mod kernel_formulas;
pub mod kernel_registry;
pub mod likelihood_cases;
pub mod lines;
pub mod low_rank_case;
pub mod module_gradients;
pub mod orthogonal_case;
pub mod panics;
pub mod patch_case;
pub mod perceptron;
pub mod plane;
pub mod platforms;
pub mod posterior_case;
pub mod random;
pub mod separate_case;
pub mod stationary;
pub mod textbook;

pub use comparison::{assert_close, assert_finite, largest};
pub use dense::Dense;
pub use gradients::{
    Input, check_gradients, check_gradients_by_entry, check_gradients_to, symmetric,
};
pub use module_gradients::{check_module_gradients, parameter_gradients, parameter_values};
pub use plane::plane;
pub use platforms::{
    Platform, double_precision_platforms, first_platform, platforms, platforms_of_operations,
    reference_platform,
};
pub use random::Random;

use burn::tensor::Tensor;

/// A tensor's values, row-major.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
