//! The parts that all models have.

use burn_gp_core::{
    kernels::KernelConfig,
    likelihoods::{LikelihoodName, TargetKind},
    means::{ConstantMeanConfig, MeanConfig, MeanName, ZeroMeanConfig},
    parameter::{ParameterConfig, Priors},
};
use burn_gp_datasets::Schema;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;

const DEFAULT_NOISE: f64 = 0.1;

/// Checks that the options suit the likelihood, and that the likelihood suits the model.
pub(super) fn check_likelihood(
    options: &RunOptions,
    likelihood: LikelihoodName,
) -> Result<(), OptionError> {
    let model = options.model_fields();
    let has_column = options.noise_column.is_some();
    let own = model.config().likelihood().name();
    if !model.takes_any_likelihood() && likelihood.name() != own {
        return Err(OptionError::NeedsLikelihood {
            model: options.model().name(),
            likelihood: own,
        });
    }
    let unused = |option, advice| {
        Err(OptionError::NotForLikelihood {
            option,
            likelihood: likelihood.name(),
            advice,
        })
    };
    match (likelihood.target() == TargetKind::Measurements, has_column) {
        (true, false) => Err(OptionError::NoiseColumnMissing),
        (false, true) => unused(
            "--noise-column",
            "; remove it or use --likelihood fixed-noise",
        ),
        _ if options.class_order.is_some() && !likelihood.target().has_classes() => unused(
            "--class-order",
            ", whose targets are not labels; remove it, or use --likelihood ordinal",
        ),
        _ if options.noise.is_some() && !likelihood.has_noise() => unused("--noise", "; remove it"),
        _ => Ok(()),
    }
}

/// The kernel.
pub(super) fn kernel(resolved: &mut RunOptions) -> KernelConfig {
    let default = resolved.model_fields().has_images();
    let isotropic = *resolved.isotropic.get_or_insert(default);
    (resolved.kernel.get_or_insert_default()).config(isotropic)
}

/// The kernel on `inputs` inputs.
///
/// # Errors
///
/// [`OptionError::MissingInput`].
pub fn kernel_of(resolved: &mut RunOptions, inputs: usize) -> Result<KernelConfig, OptionError> {
    let kernel = kernel(resolved);
    match kernel.missing_dimension(inputs) {
        Some(missing) => Err(OptionError::MissingInput {
            input: missing + 1,
            inputs,
        }),
        None => Ok(kernel),
    }
}

/// The kernel on the inputs of the data. The inputs of a category with many levels share parameters.
///
/// # Errors
///
/// [`OptionError::MissingInput`].
pub fn kernel_of_data(
    resolved: &mut RunOptions,
    schema: &Schema,
) -> Result<KernelConfig, OptionError> {
    let kernel = kernel_of(resolved, schema.input_names.len())?;
    Ok(kernel.sharing(&schema.shared_inputs().groups))
}

/// The mean function. The default is constant for likelihoods whose zero function means a target of one
/// or one half, because targets may be far from that.
pub(super) fn mean(resolved: &mut RunOptions, likelihood: LikelihoodName) -> MeanName {
    *(resolved.mean).get_or_insert_with(|| match likelihood.target() {
        TargetKind::Counts | TargetKind::PositiveNumbers | TargetKind::Fractions => {
            MeanName::of::<ConstantMeanConfig>()
        }
        _ => MeanName::of::<ZeroMeanConfig>(),
    })
}

/// The mean function for the targets of `data`.
pub(super) fn mean_of_data(resolved: &mut RunOptions, data: &PreparedData) -> MeanConfig {
    let mean = mean(resolved, data.likelihood);
    match mean.is::<ConstantMeanConfig>() {
        true => {
            let target = data.likelihood.target();
            MeanConfig::constant(target.first_constant(&data.train.targets))
        }
        false => mean.config(),
    }
}

/// The initial noise variance. Fills in the option if the likelihood has noise.
pub(super) fn noise(resolved: &mut RunOptions, likelihood: LikelihoodName) -> f64 {
    let noise = resolved.noise.unwrap_or(DEFAULT_NOISE);
    resolved.noise = likelihood.has_noise().then_some(noise);
    noise
}

/// The parameter options, with numbers in standardized units. The last option for a parameter wins.
pub fn parameters(options: &RunOptions) -> ParameterConfig {
    let values = options.set.iter().flatten().cloned();
    let bounds = options.bound.iter().flatten().cloned();
    let priors = options.prior.iter().flatten().cloned();
    ParameterConfig {
        values: values.map(|option| (option.path, option.values)).collect(),
        bounds: bounds.map(|option| (option.path, option.bounds)).collect(),
        priors: Priors(priors.map(|option| (option.path, option.prior)).collect()),
        frozen: options.fix.clone().unwrap_or_default(),
    }
}
