//! Conversion of the values of options to standardized units.

use std::collections::BTreeMap;

use burn_gp_core::{
    kernels::KernelConfig,
    parameter::{Bounds, ParameterConfig, Prior},
};

use super::parts::{kernel_of_data, parameters};
use crate::arguments::RunOptions;
use crate::data_units::{Conversion, Conversions};
use crate::kernel_expression::GivenNumber;
use crate::option_error::OptionError;
use crate::parameter_options::NumberUnits;
use crate::preparation::PreparedData;

/// The option with a period.
const PERIOD: &str = "period";

/// The kernel on the inputs, with its values in standardized units. Also returns initial values by parameter
/// path, for periods and for values that differ among the inputs.
///
/// # Errors
///
/// If the kernel uses an input that does not exist, inputs with different scales share a value in the units
/// of the data, or a value is out of range.
pub(super) fn kernel_in_units(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<(KernelConfig, BTreeMap<String, Vec<f64>>), OptionError> {
    let as_typed = kernel_of_data(resolved, &data.schema)?;
    let conversions = conversions(&as_typed, data);
    let expression = resolved.kernel.clone().unwrap_or_default();
    let (mut first, mut by_input) = (BTreeMap::new(), BTreeMap::new());
    for number in expression.numbers() {
        let path = path_of(number, data);
        let conversion = conversions.get(&path).filter(|_| !number.is_standardized);
        let values = match conversion {
            Some(conversion) => conversion.standardized(number.value),
            None => vec![number.value],
        };
        if let (Some(conversion), true) = (conversion, values.len() > 1) {
            require_separate(number, conversion, resolved, data)?;
        }
        if let (Some(_), Some(value)) = (conversion, values.first()) {
            first.insert(number.place, *value);
        }
        // An explicit period is never replaced, even if it equals the default.
        let is_period = number.option == PERIOD && conversions.get(&path).is_some();
        if values.len() > 1 || is_period {
            by_input.insert(path, values);
        }
    }
    let mut converted = RunOptions {
        kernel: Some(expression.standardized(&first)?),
        isotropic: resolved.isotropic,
        model: resolved.model,
        ..RunOptions::default()
    };
    Ok((kernel_of_data(&mut converted, &data.schema)?, by_input))
}

fn conversions<'a>(kernel: &KernelConfig, data: &'a PreparedData) -> Conversions<'a> {
    Conversions::of_kernel(Some(kernel), data.likelihood, &data.standardizer)
}

/// The path of a number of the kernel. With known terms among the inputs, the kernel is one on the other inputs.
fn path_of(number: &GivenNumber, data: &PreparedData) -> String {
    match data.schema.offset_inputs().is_empty() {
        true => format!("kernel.{}", number.path),
        false => format!("kernel.base.{}", number.path),
    }
}

/// Fails if the inputs of a parameter share its value although their scales differ.
fn require_separate(
    number: &GivenNumber,
    conversion: &Conversion,
    options: &RunOptions,
    data: &PreparedData,
) -> Result<(), OptionError> {
    // The components of a mixture start at different values.
    let is_of_mixture = number.path.contains("components.0.");
    match options.isotropic == Some(true) || is_of_mixture {
        false => Ok(()),
        true => Err(OptionError::SharedNumber {
            option: format!("{}={} in --kernel", number.option, number.value),
            inputs: names(conversion, data),
            advice: "add std to give it in their standard deviations, or restrict the kernel to one input, \
                     such as rbf[1]",
        }),
    }
}

/// The names of the inputs of a parameter.
fn names(conversion: &Conversion, data: &PreparedData) -> String {
    let columns = conversion.columns.iter();
    let names = columns.map(|&column| data.schema.input_names[column].as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// The parameter options in standardized units. `kernel` is the kernel on the inputs; it is `None` for
/// kernels on the outputs of networks and for models of layers.
///
/// # Errors
///
/// If an option is in the units of the data but its parameter has none, or inputs with different scales
/// share its value.
pub(super) fn parameters_in_units(
    options: &RunOptions,
    kernel: Option<&KernelConfig>,
    data: &PreparedData,
) -> Result<ParameterConfig, OptionError> {
    let mut conversions = Conversions::of_kernel(kernel, data.likelihood, &data.standardizer);
    conversions.others(&[]);
    let converter = Converter {
        conversions,
        options,
        data,
    };
    let mut converted = options.clone();
    for option in converted.set.iter_mut().flatten() {
        if option.units == NumberUnits::Data {
            option.values = converter.values("--set", &option.path, &option.values)?;
        }
    }
    for option in converted.bound.iter_mut().flatten() {
        if option.units == NumberUnits::Data {
            let (factor, shift) = converter.single("--bound", &option.path)?;
            let end = |end: f64| (end - shift) / factor;
            option.bounds = Bounds {
                lower: option.bounds.lower.map(end),
                upper: option.bounds.upper.map(end),
            };
        }
    }
    for option in converted.prior.iter_mut().flatten() {
        if option.units == NumberUnits::Data {
            let (factor, shift) = converter.single("--prior", &option.path)?;
            option.prior = standardized_prior(option.prior, factor, shift);
        }
    }
    Ok(parameters(&converted))
}

/// The prior of `(value − shift)/factor` for a prior of the value. Parameters with a shift can be negative,
/// so they only take uniform priors.
fn standardized_prior(prior: Prior, factor: f64, shift: f64) -> Prior {
    match prior {
        Prior::Gamma { shape, rate } => Prior::Gamma {
            shape,
            rate: rate * factor,
        },
        Prior::LogNormal { mean, deviation } => Prior::LogNormal {
            mean: mean - factor.ln(),
            deviation,
        },
        Prior::SplitLogNormal { mode, below, above } => Prior::SplitLogNormal {
            mode: mode - factor.ln(),
            below,
            above,
        },
        Prior::HalfNormal { scale } => Prior::HalfNormal {
            scale: scale / factor,
        },
        Prior::Uniform { lower, upper } => Prior::Uniform {
            lower: (lower - shift) / factor,
            upper: (upper - shift) / factor,
        },
    }
}

/// Converts the values of options.
struct Converter<'a> {
    conversions: Conversions<'a>,
    options: &'a RunOptions,
    data: &'a PreparedData,
}

impl Converter<'_> {
    fn conversion(&self, option: &str, path: &str) -> Result<&Conversion, OptionError> {
        let without = || OptionError::WithoutUnits {
            option: format!("{option} {path}"),
            model: self.options.model().name(),
        };
        self.conversions.get(path).ok_or_else(without)
    }

    fn shared(&self, option: &str, path: &str, conversion: &Conversion) -> OptionError {
        OptionError::SharedNumber {
            option: format!("{option} {path}"),
            inputs: names(conversion, self.data),
            advice: "remove \"data\" to give it in their standard deviations",
        }
    }

    /// The factor and the shift that all values of a parameter have.
    fn single(&self, option: &str, path: &str) -> Result<(f64, f64), OptionError> {
        let conversion = self.conversion(option, path)?;
        match conversion.factors.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => {
                Ok((*first, conversion.shift))
            }
            _ => Err(self.shared(option, path, conversion)),
        }
    }

    /// The values of a parameter: one for each input, or one for all.
    fn values(&self, option: &str, path: &str, values: &[f64]) -> Result<Vec<f64>, OptionError> {
        let conversion = self.conversion(option, path)?;
        let (&[value], count) = (values, conversion.factors.len()) else {
            let factors = conversion.factors.iter().cycle();
            let each = values.iter().zip(factors);
            return Ok(each
                .map(|(value, factor)| (value - conversion.shift) / factor)
                .collect());
        };
        let converted = conversion.standardized(value);
        match self.options.isotropic == Some(true) && count > 1 && converted.len() > 1 {
            true => Err(self.shared(option, path, conversion)),
            false => Ok(converted),
        }
    }
}

/// Warnings about periods that are longer than the range of the data, in which nothing repeats.
pub fn long_periods(options: &RunOptions, data: &PreparedData) -> Vec<String> {
    let Some(expression) = &options.kernel else {
        return Vec::new();
    };
    if options.model_fields().config().kernel().is_none() {
        return Vec::new();
    }
    let mut options = options.clone();
    let Ok(kernel) = kernel_of_data(&mut options, &data.schema) else {
        return Vec::new();
    };
    let conversions = conversions(&kernel, data);
    let periods = expression
        .numbers()
        .iter()
        .filter(|number| number.option == PERIOD);
    let warnings = periods.flat_map(|number| {
        let columns = (conversions.get(&path_of(number, data)))
            .map_or_else(Vec::new, |conversion| conversion.columns.clone());
        columns
            .into_iter()
            .filter_map(|column| long_period(number, column, data))
    });
    warnings.collect()
}

fn long_period(number: &GivenNumber, column: usize, data: &PreparedData) -> Option<String> {
    let inputs = &data.train.inputs;
    let values = inputs
        .values()
        .iter()
        .skip(column)
        .step_by(inputs.columns());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    let scale = data.standardizer.input_scale[column];
    let range = scale * (high - low);
    let period = match number.is_standardized {
        true => scale * number.value,
        false => number.value,
    };
    (period > range).then(|| {
        format!(
            "the period {period} is longer than the range of the input {} in the training rows, {range:.4}, \
             so that nothing repeats",
            data.schema.input_names[column]
        )
    })
}
