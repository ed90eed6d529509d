//! Expected log densities of training rows with weights and known noise.

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::{RowColumns, RowValues},
    likelihoods::{AnyLikelihood, Gaussian, ImpossibleTarget},
    ops::numbers,
    process::Marginals,
};

/// `w_n·Σ_p E[log p(y_np | f_np)]`, `[N]`.
pub fn expected_log_density(
    columns: RowColumns,
    likelihood: &AnyLikelihood,
    targets: Tensor<2>,
    marginals: Marginals,
) -> Tensor<1> {
    let RowValues {
        targets,
        weights,
        noise,
    } = columns.split(targets);
    let expected = match (noise, likelihood.downcast_ref::<Gaussian>()) {
        (Some(noise), Some(gaussian)) => {
            gaussian.expected_log_density_with_row_noise(targets, marginals, noise)
        }
        _ => likelihood.expected_log_density(targets, marginals),
    };
    match weights {
        Some(weights) => expected * weights,
        None => expected,
    }
}

/// Checks the targets, the weights and the noise variances.
///
/// # Errors
///
/// [`ImpossibleTarget`] for the first value that is impossible.
pub fn check(
    columns: RowColumns,
    likelihood: &AnyLikelihood,
    targets: &Tensor<2>,
) -> Result<(), ImpossibleTarget> {
    let RowValues {
        targets,
        weights,
        noise,
    } = columns.split(targets.clone());
    let [_, own] = targets.dims();
    if let Some(noise) = noise {
        let column = own + usize::from(columns.weights);
        check_not_negative(noise, column, ("gaussian", "noise variances of rows"))?;
    }
    if let Some(weights) = weights {
        check_not_negative(weights, own, ("weighted", "weights"))?;
    }
    likelihood.description().check_tensor(&targets)
}

/// Fails on the first value of a row, such as its weight, that is negative or not finite. `column` is the position of the
/// values among the target columns.
fn check_not_negative(
    values: Tensor<1>,
    column: usize,
    (likelihood, what): (&'static str, &str),
) -> Result<(), ImpossibleTarget> {
    let values = numbers(values);
    let is_wrong = |value: &f64| !(value.is_finite() && *value >= 0.0);
    match values.iter().position(is_wrong) {
        None => Ok(()),
        Some(row) => Err(ImpossibleTarget {
            row,
            column,
            value: values[row],
            likelihood,
            expected: format!("{what} that are not negative"),
            rounded: None,
        }),
    }
}
