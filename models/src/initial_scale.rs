//! Initial values at the scale of the targets.

use std::collections::BTreeMap;

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    kernels::{FunctionPrior, KernelConfig},
    likelihoods::LikelihoodDefinition,
    ops::number,
    parameter::{Parameters, Priors, rescaled},
};

use crate::training::TrainingData;

/// Model and target variances within this factor of each other count as close.
const FAR: f64 = 1e3;

/// The variance of the functions is averaged over at most this many rows.
const ROWS: usize = 1024;

/// The model for training, with its initial variances, of the functions and of the noise, at the scale of
/// the targets. `of_kernel` is `None` if the kernel has no variances.
///
/// They and their lower bounds are multiplied by the power of 100 nearest to the ratio of the targets'
/// variance to that of the model, so that training takes the same steps whatever the unit of the targets.
/// Nothing changes if the variance of the model is within a factor of a thousand of that of the targets, if
/// those of the functions and of the targets are within this factor of one, if the likelihood has no
/// [noise](LikelihoodDefinition::noise) in the units of the targets, or if parameters have priors, which
/// have the scale of the parameters. Frozen and bounded parameters stay.
pub(crate) fn scaled_to_targets<M: Module, K: FunctionPrior>(
    model: M,
    kernel: fn(&M) -> &K,
    (of_kernel, of_likelihood): (Option<&KernelConfig>, &dyn LikelihoodDefinition),
    priors: &Priors,
    data: &TrainingData,
) -> M {
    let model = model.train();
    let is_scaled = priors.is_empty() && !data.is_empty();
    let Some((noise, power)) = of_likelihood.noise().filter(|_| is_scaled) else {
        return model;
    };
    let noise = format!("likelihood.{noise}");
    let some = data.inputs.clone().inner();
    let some = some.narrow(0, 0, data.len().min(ROWS));
    let functions = kernel(&model).valid().mean_variance(some);
    let size = model.parameter(&noise).ok();
    let Some((functions, size)) = functions.zip(size) else {
        return model;
    };
    let variances = (functions, size[0].powi(2 / power as i32));
    let exponent = exponent(variances, variance_of(&data.targets));
    let variances = of_kernel.map_or_else(Vec::new, KernelConfig::variances);
    let variances = variances.into_iter().map(|path| format!("kernel.{path}"));
    let mut powers: BTreeMap<String, i64> = variances.map(|path| (path, 2)).collect();
    powers.insert(noise, power);
    rescaled(model, &|path| {
        // Each of several functions may have its own kernel.
        let separate = path.strip_prefix("kernel.kernels.");
        let own = separate.and_then(|path| path.split_once('.'));
        let shared = own.map(|(_, path)| format!("kernel.{path}"));
        let power = powers.get(shared.as_deref().unwrap_or(path));
        power.map_or(0, |power| power * exponent)
    })
}

/// The variance of the targets, averaged over columns.
fn variance_of(targets: &Tensor<2>) -> f64 {
    let targets = targets.clone().inner();
    let centered = targets.clone() - targets.mean_dim(0);
    // Divide by the largest value first, since squares of tiny numbers underflow in single
    // precision.
    let largest = number(centered.clone().abs().max());
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let squares = number((centered * largest.recip()).square().mean());
    squares * largest.powi(2)
}

/// The power of ten by which the standard deviation of the targets exceeds that of the model, given the
/// variances of the functions and of the noise; zero if they are close.
fn exponent((functions, noise): (f64, f64), targets: f64) -> i64 {
    let is_far = |own: f64| {
        let ratio = targets / own;
        ratio > 0.0 && ratio.is_finite() && !(FAR.recip()..=FAR).contains(&ratio)
    };
    // Functions and targets of about one leave the noise as it is meant.
    let is_usual = !is_far(1.0) && !is_far(functions);
    match is_far(functions + noise) && !is_usual {
        true => (0.5 * (targets / (functions + noise)).log10()).round() as i64,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn near_scales_stay() {
        assert_eq!(exponent((1.0, 0.1), 1.0), 0);
        assert_eq!(exponent((1.0, 0.1), 999.0), 0);
        assert_eq!(exponent((1.0, 0.1), 0.002), 0);
        assert_eq!(exponent((1.0, 0.1), 1e-8), -4);
        assert_eq!(exponent((1.0, 0.1), 1e8), 4);
        assert_eq!(exponent((1e-8, 1e-9), 1e-8), 0);
        // Large noise with standardized targets, and with others.
        assert_eq!(exponent((1.0, 1e12), 0.5), 0);
        assert_eq!(exponent((1e-8, 1.0), 1e-8), -4);
        // Constant targets, and no targets.
        assert_eq!(exponent((1.0, 0.1), 0.0), 0);
        assert_eq!(exponent((1.0, 0.1), f64::NAN), 0);
    }
}
