//! The numbers of options in standardized units.

use std::collections::BTreeMap;

use burn_gp_core::{
    kernels::KernelConfig,
    parameter::{Bounds, ParameterConfig, Prior},
};

use super::parts::{kernel_of_data, parameters};
use crate::arguments::{RunOptions, name_of};
use crate::data_units::{Conversion, Conversions};
use crate::kernel_expression::GivenNumber;
use crate::parameter_options::NumberUnits;
use crate::preparation::PreparedData;
use crate::setting_error::SettingError;

/// The option with a period.
const PERIOD: &str = "period";

/// The kernel of a function of the inputs, with its numbers in standardized units. Periods, and
/// numbers that differ among the inputs, come as first values by the paths of their parameters, too.
///
/// # Errors
///
/// If the kernel names an input that does not exist, inputs with several scales share a number in
/// the units of the data, or a number is out of range.
pub(super) fn kernel_in_units(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<(KernelConfig, BTreeMap<String, Vec<f64>>), SettingError> {
    let as_typed = kernel_of_data(resolved, &data.schema)?;
    let conversions = conversions(&as_typed, data);
    let expression = resolved.kernel.clone().unwrap_or_default();
    let (mut first, mut by_input) = (BTreeMap::new(), BTreeMap::new());
    for number in expression.numbers() {
        let path = path_of(number);
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
        // A period that is typed is never replaced, even if it is the default.
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

fn path_of(number: &GivenNumber) -> String {
    format!("kernel.{}", number.path)
}

/// Fails if the inputs of a parameter, which have several scales, share its number.
fn require_separate(
    number: &GivenNumber,
    conversion: &Conversion,
    options: &RunOptions,
    data: &PreparedData,
) -> Result<(), SettingError> {
    // The components of a mixture start at different numbers.
    let is_of_mixture = number.path.contains("components.0.");
    match options.isotropic == Some(true) || is_of_mixture {
        false => Ok(()),
        true => Err(SettingError::SharedNumber {
            option: format!("{}={} in --kernel", number.option, number.value),
            inputs: names(conversion, data),
            advice: "add std to count in their standard deviations, or restrict the kernel to one input, \
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

/// The options of parameters in standardized units. `kernel` is that of a function of the inputs,
/// and `None` behind a network or in several layers.
///
/// # Errors
///
/// If an option is in the units of the data and its parameter has none, or inputs with several scales
/// share its number.
pub(super) fn parameters_in_units(
    options: &RunOptions,
    kernel: Option<&KernelConfig>,
    data: &PreparedData,
) -> Result<ParameterConfig, SettingError> {
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

/// The prior of `(value − shift)/factor` for a prior of the value. Parameters with a shift take any
/// number, and uniform priors alone.
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
        Prior::HalfNormal { scale } => Prior::HalfNormal {
            scale: scale / factor,
        },
        Prior::Uniform { lower, upper } => Prior::Uniform {
            lower: (lower - shift) / factor,
            upper: (upper - shift) / factor,
        },
    }
}

/// Converts the numbers of options.
struct Converter<'a> {
    conversions: Conversions<'a>,
    options: &'a RunOptions,
    data: &'a PreparedData,
}

impl Converter<'_> {
    fn conversion(&self, option: &str, path: &str) -> Result<&Conversion, SettingError> {
        let without = || SettingError::WithoutUnits {
            option: format!("{option} {path}"),
            model: name_of(self.options.model()),
        };
        self.conversions.get(path).ok_or_else(without)
    }

    fn shared(&self, option: &str, path: &str, conversion: &Conversion) -> SettingError {
        SettingError::SharedNumber {
            option: format!("{option} {path}"),
            inputs: names(conversion, self.data),
            advice: "leave \"data\" out to count in their standard deviations",
        }
    }

    /// The factor and the shift of all values of a parameter.
    fn single(&self, option: &str, path: &str) -> Result<(f64, f64), SettingError> {
        let conversion = self.conversion(option, path)?;
        match conversion.factors.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => {
                Ok((*first, conversion.shift))
            }
            _ => Err(self.shared(option, path, conversion)),
        }
    }

    /// The values of a parameter: those of each input, or one for all.
    fn values(&self, option: &str, path: &str, values: &[f64]) -> Result<Vec<f64>, SettingError> {
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

/// Warnings about periods that are longer than the data: nothing in them repeats.
pub fn long_periods(options: &RunOptions, data: &PreparedData) -> Vec<String> {
    let Some(expression) = &options.kernel else {
        return Vec::new();
    };
    let model = options.model();
    if model.has_network() || model.has_layers() {
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
        let columns = (conversions.get(&path_of(number)))
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
            "the period {period} is longer than the training rows, whose input {} has the range \
             {range:.4}; nothing repeats in them",
            data.schema.input_names[column]
        )
    })
}
