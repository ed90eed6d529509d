//! The configuration of the model: its defaults, with options for the fields that it has.

use burn_gp_core::parameter::ParameterConfig;
use burn_gp_models::ModelConfig;

use super::actions::{self, actions};
use super::images::check_patches;
use super::inducing::inducing;
use super::layers::{layers, set_layers};
use super::mini_batch::mini_batch;
use super::networks::{self, correction, set_network};
use super::parts::{kernel, kernel_of, likelihood_of_data, mean_of_data};
use super::posterior::{posterior, posterior_of};
use super::units::{kernel_in_units, parameters_in_units};
use crate::arguments::{InputScaleName, ModelFields, RunOptions};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;

type Check = fn(&mut RunOptions) -> Result<(), OptionError>;

/// The checks of options, with the fields that the options set.
const CHECKS: [(&str, Check); 5] = [
    ("actions", actions::check),
    ("joint_predictions", |options| {
        joint_predictions(options);
        Ok(())
    }),
    ("network", |options| {
        networks::fill(options);
        Ok(())
    }),
    ("correction", |options| correction(options).map(drop)),
    ("output", |options| layers(options).map(drop)),
];

/// Whether new rows are predicted together.
fn joint_predictions(resolved: &mut RunOptions) -> bool {
    !*resolved.independent_predictions.get_or_insert(false)
}

/// Checks the options of the model and of its mini-batches.
pub(super) fn check(checked: &mut RunOptions) -> Result<(), OptionError> {
    let mut model = checked.model_fields();
    kernel(checked);
    model.fill(checked)?;
    posterior(checked, &model)?;
    if model.is_mini_batch() {
        mini_batch(checked)?;
    }
    for (_, check) in CHECKS.iter().filter(|(path, _)| model.has(path)) {
        check(checked)?;
    }
    Ok(())
}

/// The configuration of the model.
pub(super) fn model(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<ModelConfig, OptionError> {
    let mut model = resolved.model_fields();
    model.fill(resolved)?;
    let mut inputs = data.dimensions();
    if model.has("network") {
        let network;
        (network, inputs) = networks::network(resolved, data)?;
        set_network(&mut model, network, inputs)?;
    }
    let parameters = set_kernel(&mut model, resolved, (data, inputs))?;
    model.set("parameters", &parameters);
    model.set("mean", &mean_of_data(resolved, data));
    let likelihood = likelihood_of_data(resolved, data)?;
    match model.takes_any_likelihood() {
        true => model.set("likelihood", &likelihood),
        false => model.set("likelihood.noise", &resolved.noise),
    }
    if model.has("actions") {
        model.set("actions", &actions(resolved, data)?);
    }
    if model.has("joint_predictions") {
        model.set("joint_predictions", &joint_predictions(resolved));
    }
    model.set("settings.rank", &resolved.pivots);
    model.set("settings.seed", &resolved.seed());
    if model.has("correction") {
        model.set("correction", &correction(resolved)?);
    }
    if model.has("inducing") {
        let inducing = inducing(resolved, data)?;
        if let Some(posterior) = posterior_of(resolved, &model, inducing.orthogonal)? {
            model.set("posterior", &posterior);
        }
        model.set("inducing", &inducing);
    }
    if model.has("output") {
        set_layers(&mut model, resolved, data)?;
    }
    let mut config = model.build()?;
    if let Some(config) = config.downcast_ref() {
        check_patches(config)?;
    }
    // The priors are for standardized inputs.
    let is_standard = resolved.input_scale() == InputScaleName::Standard;
    if *resolved.default_priors.get_or_insert(is_standard) {
        config.add_default_priors(data.training_rows(), data.dimensions());
    }
    Ok(config)
}

/// Sets the kernel, which takes the inputs of the data or the outputs of a network. Returns the settings of the
/// parameters, with the initial values in the kernel.
fn set_kernel(
    model: &mut ModelFields,
    resolved: &mut RunOptions,
    (data, inputs): (&PreparedData, usize),
) -> Result<ParameterConfig, OptionError> {
    if model.config().kernel().is_none() {
        if model.has("kernel") {
            model.set("kernel", &kernel_of(resolved, inputs)?);
        }
        return parameters_in_units(resolved, None, data);
    }
    let (kernel, first) = kernel_in_units(resolved, data)?;
    model.set("kernel", &kernel);
    let mut parameters = parameters_in_units(resolved, Some(&kernel), data)?;
    parameters.values = first.into_iter().chain(parameters.values).collect();
    Ok(parameters)
}
