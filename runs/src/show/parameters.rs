//! Hyperparameters in the units of the data.

use burn_gp_core::{kernels::KernelConfig, parameter::Hyperparameter};
use burn_gp_datasets::Schema;
use serde::Serialize;

pub use crate::data_units::Units;
use crate::data_units::{Conversion, Conversions};
use crate::output::ModelContext;

/// A hyperparameter in the units of the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownParameter {
    /// Its path, such as `kernel.lengthscale`.
    pub path: String,
    /// Its values.
    pub values: Vec<f64>,
    /// The units of the values.
    pub units: Units,
    /// The names of the inputs, if there is a value for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
}

/// The hyperparameters in the units of the data. `kernel` acts on the inputs themselves; it is `None`
/// behind a network and in models with several layers.
pub fn in_units_of_data(
    parameters: &[Hyperparameter],
    kernel: Option<&KernelConfig>,
    context: &ModelContext,
) -> Vec<ShownParameter> {
    let mut conversions = Conversions::of_kernel(kernel, context.likelihood, &context.standardizer);
    conversions.others(parameters);
    let names = Names::of(&context.schema);
    parameters
        .iter()
        .map(|parameter| convert(parameter, &conversions, &names))
        .collect()
}

/// The names of the inputs.
struct Names<'a> {
    own: &'a [String],
    /// For each input, the name of its column if the column's inputs share values, otherwise its own
    /// name.
    shared: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(schema: &'a Schema) -> Self {
        let shared = schema.shared_inputs();
        let name = |&group: &usize| shared.names[group].clone();
        Self {
            own: &schema.input_names,
            shared: shared.groups.iter().map(name).collect(),
        }
    }
}

fn convert(
    parameter: &Hyperparameter,
    conversions: &Conversions<'_>,
    names: &Names<'_>,
) -> ShownParameter {
    let Hyperparameter { path, values } = parameter;
    let found = conversions.get(path);
    let fits = |known: &&Conversion| match known.units.are_by_input() {
        true => known.columns.len() == values.len(),
        false => known.factors.len() == 1,
    };
    let Some(known) = found
        .filter(fits)
        .or(conversions.shared(path, values).as_ref())
        .cloned()
    else {
        return ShownParameter {
            path: path.clone(),
            values: values.clone(),
            units: Units::Standardized,
            inputs: None,
        };
    };
    let factors = known.factors.iter().cycle();
    let converted = values.iter().zip(factors);
    let is_by_input = known.units.are_by_input() && known.columns.len() == values.len();
    ShownParameter {
        path: path.clone(),
        values: converted
            .map(|(value, factor)| value * factor + known.shift)
            .collect(),
        units: known.units,
        inputs: is_by_input.then(|| {
            known
                .columns
                .iter()
                .map(|&column| match known.is_shared {
                    true => names.shared[column].clone(),
                    false => names.own[column].clone(),
                })
                .collect()
        }),
    }
}
