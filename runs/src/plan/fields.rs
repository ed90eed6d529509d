//! `--field`: values for any fields of the configurations of the model and of its training.

use burn_gp_datasets::{did_you_mean, nearest};
use serde_json::{Value, json};

use super::Plan;
use crate::arguments::read;
use crate::option_error::OptionError;
use crate::parameter_options::FieldOption;

/// The plan with the values of the options.
///
/// # Errors
///
/// [`OptionError::Field`] if there is no such field, or the configuration does not accept the value.
pub(super) fn with_fields(mut plan: Plan, options: &[FieldOption]) -> Result<Plan, OptionError> {
    for FieldOption { path, value } in options {
        let refused = |reason: String| OptionError::Field {
            path: path.clone(),
            reason,
        };
        let mut fields = json!({ "model": plan.model, "training": plan.training });
        set(&mut fields, path, value.clone()).map_err(refused)?;
        let reason = |error: OptionError| match error {
            OptionError::Rejected { reason, .. } => refused(reason),
            other => other,
        };
        plan.model = read("model", fields["model"].take()).map_err(reason)?;
        plan.training = read("training", fields["training"].take()).map_err(reason)?;
    }
    Ok(plan)
}

/// Sets the field at a path. A field may be absent, as those without a value are; what has fields may not.
///
/// # Errors
///
/// The reason why there is no such place.
fn set(fields: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = fields;
    let mut above = "the configuration".to_owned();
    for parent in parents.split('.') {
        let names: Vec<String> = keys(place).cloned().collect();
        place = match place.get_mut(parent).filter(|own| own.is_object()) {
            Some(inside) => inside,
            None if names.iter().any(|name| name == parent) => {
                return Err(format!("{parent} has no fields"));
            }
            None => return Err(unknown(parent, &above, &names)),
        };
        above = parent.to_owned();
    }
    place[name] = value;
    Ok(())
}

fn keys(value: &Value) -> impl Iterator<Item = &String> {
    value.as_object().into_iter().flat_map(|own| own.keys())
}

fn unknown(name: &str, above: &str, names: &[String]) -> String {
    let similar = did_you_mean(&nearest(name, names.iter().map(String::as_str)));
    format!("{above} has no {name}{similar} It has {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use burn_gp_models::{
        ModelConfig, SvgpConfig,
        training::{MiniBatchTraining, Training},
    };

    use super::*;

    fn plan() -> Plan {
        Plan {
            model: ModelConfig::from(SvgpConfig::default()),
            training: MiniBatchTraining::new(7).into(),
        }
    }

    fn with(options: &[&str]) -> Result<Plan, String> {
        let options: Vec<FieldOption> = options.iter().map(|text| text.parse().unwrap()).collect();
        with_fields(plan(), &options).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_of_the_model_and_of_training_are_set() {
        let found = with(&[
            "model.inducing.seed=3",
            "model.posterior.covariance=diagonal",
            "training.gradient_norm=2.5",
            "training.plateau={\"patience\":3,\"factor\":0.5,\"lowest\":1e-4}",
        ]);
        let Plan { model, training } = found.unwrap();
        let model: &SvgpConfig = model.downcast_ref().unwrap();
        assert_eq!(model.inducing.seed, 3);
        let Training::MiniBatch(training) = training else {
            panic!("{training:?}");
        };
        assert_eq!((training.steps, training.gradient_norm), (7, Some(2.5)));
        assert!(training.plateau.is_some());
        assert_eq!(with(&[]).unwrap(), plan());
    }

    #[test]
    fn what_is_wrong_is_said_with_what_there_is() {
        for (option, sentence) in [
            (
                "model.inducin.seed=3",
                "--field model.inducin.seed: model has no inducin; did you mean inducing?",
            ),
            ("model.inducing.sed=3", "unknown field `sed`"),
            ("model.inducing.seed=many", "expected u64"),
            ("model.inducing.seed.first=3", "seed has no fields"),
            ("training.learning_rat=0.1", "unknown field `learning_rat`"),
        ] {
            let error = with(&[option]).unwrap_err();
            assert!(error.contains(sentence), "{option}: {error}");
        }
    }
}
