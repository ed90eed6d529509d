//! The log density of the rows of a series.

use burn::tensor::Tensor;

use super::timeline::Timeline;
use crate::{
    kernels::{StateSpace, StateSpaceMatrices, precise},
    ops::{LinearSeries, StateSpaceError, numbers, state_space_score},
};

/// `Σ_p log N(y_p | 0, K + diag(r))` of residuals y, `[1, N, P]` in the order of time, with noise variances, `[1]`, or
/// `[N]` in the order of time. Matrices and their derivatives are plain numbers: autodiff sees only the parameters of
/// the kernel's blocks.
pub(super) fn log_density(
    form: &StateSpace,
    timeline: &Timeline,
    noise: Tensor<1>,
    targets: Tensor<3>,
) -> Result<Tensor<1>, StateSpaceError> {
    let dtype = targets.dtype();
    let columns = targets.dims()[2];
    let tracked = [form.parameters(), noise, targets.flatten(0, 2)].map(precise::<1>);
    let wants_gradient = tracked.iter().any(Tensor::is_autodiff);
    let [noise, targets] =
        [1, 2].map(|part: usize| numbers(tracked[part].clone().without_autodiff()));
    let model = form.numbers();
    let first = timeline.times.first().copied().unwrap_or(0.0);
    let matrices = model.matrices(&timeline.steps, first);
    let series = LinearSeries {
        blocks: &model.blocks(),
        transitions: &matrices.transitions,
        process_noise: &matrices.process_noise,
        prior: &matrices.prior,
        rows: &model.row(),
        noise: &noise,
        targets: &targets,
        columns,
        events: &timeline.events,
    };
    let (value, slopes) = state_space_score(series, wants_gradient)?;
    let plain = tracked[2].clone().without_autodiff();
    let place = (&plain.device(), plain.dtype());
    let value = Tensor::<1>::from_data([value], place);
    if !wants_gradient {
        return Ok(value.cast(dtype));
    }
    let of_matrices = StateSpaceMatrices {
        transitions: slopes.transitions,
        process_noise: slopes.process_noise,
        prior: slopes.prior,
    };
    let of_parameters = model.slopes(&timeline.steps, first, &of_matrices);
    // The value, and terms of value zero with these derivatives.
    let mut surrogate = value.autodiff();
    let all = tracked
        .into_iter()
        .zip([of_parameters, slopes.noise, slopes.targets]);
    for (tensor, slopes) in all.filter(|(tensor, _)| tensor.is_autodiff()) {
        let slopes = Tensor::<1>::from_data(slopes.as_slice(), place).autodiff();
        let change = (tensor * slopes).sum();
        surrogate = surrogate + (change.clone() - change.detach());
    }
    Ok(surrogate.cast(dtype))
}
