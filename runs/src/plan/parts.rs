//! The parts that all models have.

use burn::tensor::Device;
use burn_gp_core::{
    kernels::KernelConfig,
    likelihoods::{FixedNoiseConfig, GaussianConfig, LikelihoodConfig, LikelihoodName, TargetKind},
    means::{ConstantMeanConfig, MeanConfig, MeanName, OffsetMeanConfig, ZeroMeanConfig},
    parameter::{ParameterConfig, Priors},
};
use burn_gp_datasets::Schema;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::preparation::{PreparedData, on_kernel_inputs};

const DEFAULT_NOISE: f64 = 0.1;

/// Checks that the options suit the likelihood, and that the likelihood suits the model.
pub(super) fn check_likelihood(
    options: &RunOptions,
    likelihood: LikelihoodName,
) -> Result<(), OptionError> {
    let model = options.model_fields();
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
    check_companion(options, likelihood)?;
    match likelihood.target() {
        _ if options.input_noise.is_some() && !has_normal_noise(likelihood) => unused(
            "--input-noise",
            ", whose noise is not normal; remove it or use --likelihood gaussian",
        ),
        _ if options.exposure.is_some() && !has_log_link(likelihood) => unused(
            "--exposure",
            ", whose link is not the logarithm; use --likelihood poisson or another one of counts or positive numbers",
        ),
        _ if options.offset.is_some() && has_several_functions(likelihood) => {
            unused("--offset", ", which has several functions; remove it")
        }
        _ if options.class_order.is_some() && !likelihood.target().has_classes() => unused(
            "--class-order",
            ", whose targets are not labels; remove it, or use --likelihood ordinal",
        ),
        _ if options.noise.is_some() && !likelihood.has_noise() => unused("--noise", "; remove it"),
        _ if (options.lower.is_some() || options.upper.is_some()) && !takes_limits(likelihood) => {
            let option = match options.lower {
                Some(_) => "--lower",
                None => "--upper",
            };
            unused(option, "; remove it or use --likelihood censored")
        }
        _ => Ok(()),
    }
}

/// Whether the noise of the targets is normal, with one variance or a known one for each target.
fn has_normal_noise(likelihood: LikelihoodName) -> bool {
    likelihood.is::<GaussianConfig>() || likelihood.is::<FixedNoiseConfig>()
}

/// Checks that the likelihood has the column that says more about each target, and no such column that it does not use.
fn check_companion(options: &RunOptions, likelihood: LikelihoodName) -> Result<(), OptionError> {
    let kind = likelihood.target();
    let has_row_noise = options.noise_column.is_some() && likelihood.is::<GaussianConfig>();
    if has_row_noise && !options.model_fields().config().takes_row_columns().noise {
        return Err(OptionError::NoRowNoise(options.model().name()));
    }
    let companions = [
        (
            TargetKind::Measurements,
            "--noise-column",
            options.noise_column.is_some() && !has_row_noise,
            OptionError::NoiseColumnMissing,
            "; remove it or use --likelihood fixed-noise",
        ),
        (
            TargetKind::Successes,
            "--trials",
            options.trials.is_some(),
            OptionError::TrialsMissing {
                likelihood: likelihood.name(),
            },
            "; remove it or use --likelihood binomial or beta-binomial",
        ),
        (
            TargetKind::Intervals,
            "--upper-column",
            options.upper_column.is_some(),
            OptionError::UpperColumnMissing,
            "; remove it or use --likelihood interval-censored",
        ),
    ];
    let mut unused = None;
    for (own, option, is_given, missing, advice) in companions {
        if own == kind && !is_given {
            return Err(missing);
        }
        if own != kind && is_given && unused.is_none() {
            unused = Some(OptionError::NotForLikelihood {
                option,
                likelihood: likelihood.name(),
                advice,
            });
        }
    }
    unused.map_or(Ok(()), Err)
}

/// Whether the mean of the targets is proportional to the exponential of the function.
fn has_log_link(likelihood: LikelihoodName) -> bool {
    let kind = likelihood.target();
    matches!(kind, TargetKind::Counts | TargetKind::PositiveNumbers)
}

/// Whether a target has several functions, to which a known term would all be added.
fn has_several_functions(likelihood: LikelihoodName) -> bool {
    let likelihood = likelihood.config().init(&Device::default());
    likelihood.description().latents > 1
}

/// Fails if a mean adds inputs that no option names.
pub(super) fn check_mean(options: &RunOptions) -> Result<(), OptionError> {
    let mut given = [options.mean, options.hidden_mean].into_iter().flatten();
    match given.any(|mean| mean.is::<OffsetMeanConfig>()) {
        true => Err(OptionError::OffsetWithoutColumn),
        false => Ok(()),
    }
}

/// Whether a likelihood has limits of the targets.
fn takes_limits(likelihood: LikelihoodName) -> bool {
    serde_json::to_value(likelihood.config()).is_ok_and(|fields| has_limits(&fields))
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
/// [`OptionError::MissingInput`] or [`OptionError::KernelInputs`].
pub fn kernel_of(resolved: &mut RunOptions, inputs: usize) -> Result<KernelConfig, OptionError> {
    let kernel = kernel(resolved);
    match kernel.missing_dimension(inputs) {
        Some(missing) => Err(OptionError::MissingInput {
            input: missing + 1,
            inputs,
        }),
        None => match kernel.check_inputs(inputs) {
            Ok(()) => Ok(kernel),
            Err(reason) => Err(OptionError::KernelInputs(reason)),
        },
    }
}

/// The kernel on the inputs of the data, except for known terms of the function, which do not count in its numbers of
/// inputs. The inputs of a category with many levels share parameters.
///
/// # Errors
///
/// [`OptionError::MissingInput`] or [`OptionError::KernelInputs`].
pub fn kernel_of_data(
    resolved: &mut RunOptions,
    schema: &Schema,
) -> Result<KernelConfig, OptionError> {
    let inputs = schema.input_names.len() - schema.offset_inputs().len();
    let kernel = on_kernel_inputs(kernel_of(resolved, inputs)?, schema);
    Ok(kernel.sharing(&schema.shared_inputs().groups))
}

/// The mean function. The default is constant for likelihoods whose zero function means a target of one
/// or one half, because targets may be far from that.
pub(super) fn mean(resolved: &mut RunOptions, likelihood: LikelihoodName) -> MeanName {
    *(resolved.mean).get_or_insert_with(|| match likelihood.target() {
        TargetKind::Counts
        | TargetKind::PositiveNumbers
        | TargetKind::Fractions
        | TargetKind::Successes => MeanName::of::<ConstantMeanConfig>(),
        _ => MeanName::of::<ZeroMeanConfig>(),
    })
}

/// The mean function for the targets of `data`, with the known terms.
pub(super) fn mean_of_data(resolved: &mut RunOptions, data: &PreparedData) -> MeanConfig {
    let mean = mean(resolved, data.likelihood);
    let base = match mean.is::<ConstantMeanConfig>() {
        true => MeanConfig::constant(data.first_constant()),
        false => mean.config(),
    };
    let offsets = data.schema.offset_inputs();
    match offsets.is_empty() {
        true => base,
        false => OffsetMeanConfig::new(offsets).with_base(base).into(),
    }
}

/// The initial noise variance. Fills in the option if the likelihood has noise.
pub(super) fn noise(resolved: &mut RunOptions, likelihood: LikelihoodName) -> f64 {
    let noise = resolved.noise.unwrap_or(DEFAULT_NOISE);
    resolved.noise = likelihood.has_noise().then_some(noise);
    noise
}

/// The likelihood of the data, whose targets are standardized. Fills in the initial noise variance and the limits, if the
/// likelihood has these.
///
/// # Errors
///
/// If a limit is out of range.
pub(super) fn likelihood_of_data(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<LikelihoodConfig, OptionError> {
    let noise = noise(resolved, data.likelihood);
    let own = data.likelihood.for_data(noise, data.classes());
    let mut likelihood = with_limits(resolved, own)?;
    let units = &data.standardizer;
    likelihood.set_units(&[units.target_mean], &[units.target_scale]);
    Ok(likelihood)
}

/// The likelihood with the limits of the options. Fills in the options if there are none, but the likelihood has limits.
pub(super) fn with_limits(
    resolved: &mut RunOptions,
    likelihood: LikelihoodConfig,
) -> Result<LikelihoodConfig, OptionError> {
    let mut fields = serde_json::to_value(&likelihood).unwrap_or_default();
    if !has_limits(&fields) {
        return Ok(likelihood);
    }
    if resolved.lower.is_none() && resolved.upper.is_none() {
        let default = |name: &str| fields[name].as_f64();
        (resolved.lower, resolved.upper) = (default("lower"), default("upper"));
        return Ok(likelihood);
    }
    for (name, limit) in [("lower", resolved.lower), ("upper", resolved.upper)] {
        fields[name] = limit.into();
    }
    let rejected = |reason: String| OptionError::Rejected {
        component: "likelihood",
        reason,
    };
    let likelihood: LikelihoodConfig =
        serde_json::from_value(fields).map_err(|reason| rejected(reason.to_string()))?;
    (likelihood.check()).map_err(|reason| rejected(reason.to_string()))?;
    Ok(likelihood)
}

/// Whether the configuration of a likelihood, as written to files, has limits of the targets.
fn has_limits(fields: &serde_json::Value) -> bool {
    fields.get("lower").is_some() && fields.get("upper").is_some()
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
