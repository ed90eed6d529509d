//! Options that a model has no use for.

use super::{SettingError, optimizer_of};
use crate::arguments::{ModelName, OptimizerName, PolicyName, RunOptions, name_of};

/// The first option that the model has no use for is an error; `options` are those typed.
///
/// # Errors
///
/// [`SettingError::NotApplicable`].
pub fn require_applicable(options: &RunOptions, model: ModelName) -> Result<(), SettingError> {
    match without_use(options, model).first() {
        Some(option) => Err(SettingError::NotApplicable {
            option,
            model: name_of(model),
        }),
        None => Ok(()),
    }
}

/// The options given that the model has no use for.
pub fn without_use(options: &RunOptions, model: ModelName) -> Vec<&'static str> {
    let schedule = [
        ("--schedule", options.schedule.is_some()),
        ("--stages", options.stages.is_some()),
        ("--stage-factor", options.stage_factor.is_some()),
    ];
    let full_batch = [
        ("--batch-size", options.batch_size.is_some()),
        ("--plateau", options.plateau.is_some()),
        ("--gradient-norm", options.gradient_norm.is_some()),
        (
            "--validation-fraction",
            options.validation_fraction.is_some(),
        ),
        ("--early-stopping", options.early_stopping.is_some()),
        ("--validation-epochs", options.validation_epochs.is_some()),
        ("--patience", options.patience.is_some()),
        ("--keep", options.keep.is_some()),
    ];
    let batches = [("--batch-size", options.batch_size.is_some())];
    let points = [
        ("--inducing-frozen", options.inducing_frozen.is_some()),
        ("--inducing-rate", options.inducing_rate.is_some()),
        ("--inducing-momentum", options.inducing_momentum.is_some()),
        ("--inducing-plateau", options.inducing_plateau.is_some()),
    ];
    let kernel = [
        ("--kernel", options.kernel.is_some()),
        ("--isotropic", options.isotropic.is_some()),
    ];
    let network = &options.network;
    let (networks, correction) = (network.given(), network.given_to_correction());
    let rank = [("--rank", network.rank.is_some())];
    let features = [
        ("--features", network.features.is_some()),
        ("--from-identity", network.from_identity.is_some()),
    ];
    let dense = [
        ("--inducing", options.inducing.is_some()),
        ("--initializer", options.initializer.is_some()),
    ];
    let jitter = [("--jitter", options.jitter.is_some())];
    let gaussian = [
        ("--covariance", options.covariance.is_some()),
        ("--natural-gradient", options.natural_gradient.is_some()),
        (
            "--natural-gradient-warm-up",
            options.natural_gradient_warm_up.is_some(),
        ),
    ];
    let pseudo_observations = options.pseudo_observations.given();
    let inverse_free = options.pseudo_observations.given_to_inverse_free();
    let orthogonal = [("--orthogonal", options.orthogonal.is_some())];
    let actions = [("--actions", options.actions.is_some())];
    let trained_actions = [
        ("--action-start", options.action_start.is_some()),
        ("--action-rows", options.action_rows.is_some()),
    ];
    let given = &options.all_rows;
    let optimizer = [("--optimizer", given.optimizer.is_some())];
    let tolerance = [("--tolerance", given.tolerance.is_some())];
    let policy = [("--policy", given.policy.is_some())];
    let solves = [
        ("--iterations", given.iterations.is_some()),
        ("--trace-probes", given.trace_probes.is_some()),
        ("--cached-variances", given.cached_variances.is_some()),
    ];
    let pivots = [("--pivots", given.pivots.is_some())];
    let columns = [("--columns", options.columns.is_some())];
    let layers = &options.layers;
    let (layered, deep, images) = (
        layers.given(),
        layers.given_to_deep(),
        layers.given_to_images(),
    );
    let of_layers: [(&[(&'static str, bool)], bool); 8] = [
        (&layered, !model.has_layers()),
        (&deep, !model.is_deep()),
        (&images, !model.is_of_images()),
        (&kernel, model.has_basis()),
        (&networks, !model.has_network()),
        (&rank, !model.has_basis()),
        (&features, !model.is_deep_kernel()),
        (&correction, !model.has_correction()),
    ];
    let is_cggp = model == ModelName::Cggp;
    let has_schedule = model.is_mini_batch() || optimizer_of(options, model) == OptimizerName::Adam;
    let has_rank = given.policy == Some(PolicyName::PreconditionedCg);
    let model = model.single_layer(layers.posterior);
    let options: [(&[(&'static str, bool)], bool); 18] = [
        (&schedule, !has_schedule),
        (&optimizer, model.is_mini_batch()),
        (&trained_actions, model != ModelName::CagpOpt),
        (&tolerance, !model.has_iterations() && !is_cggp),
        (&solves, !is_cggp),
        (&policy, model != ModelName::Itergp),
        (
            &pivots,
            !is_cggp && (model != ModelName::Itergp || !has_rank),
        ),
        (&dense, !model.has_inducing()),
        (&actions, !model.has_actions()),
        (&jitter, !model.has_jitter()),
        (&gaussian, !model.has_covariance_shape()),
        (&pseudo_observations, !model.has_pseudo_observations()),
        (&inverse_free, model != ModelName::InverseFree),
        (&batches, !model.has_batches()),
        (&full_batch, !model.is_mini_batch()),
        (&points, !(model.is_mini_batch() && model.has_inducing())),
        (&orthogonal, !model.has_orthogonal()),
        (&columns, model != ModelName::Odvgp),
    ];
    let useless = (options.iter().chain(&of_layers)).filter(|(_, useless)| *useless);
    let given = useless
        .flat_map(|(options, _)| options.iter())
        .filter(|(_, given)| *given);
    given.map(|&(option, _)| option).collect()
}
