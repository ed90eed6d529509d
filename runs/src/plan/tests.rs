use super::*;
use crate::arguments::{KeepName, ModelFields, PolicyName};

const DATA: &str = "synthetic:friedman?n=60&d=16&noise=1&seed=1";

/// Options of all kinds, of which each model uses some.
fn options(model: ModelChoice) -> RunOptions {
    let fields = ModelFields::new(model, &RunOptions::default());
    let one_of_each_layer = |number| match fields.has("hidden") {
        true => vec![number; 2],
        false => vec![number],
    };
    RunOptions {
        model: Some(model),
        data: Some(DATA.into()),
        validation_fraction: Some(0.2),
        steps: Some(7),
        orthogonal: Some(5),
        columns: Some(2),
        pseudo_noise: Some(0.01),
        inversion_steps: Some(4),
        probes: Some(3),
        keep: Some(KeepName::Last),
        natural_gradient: Some(0.1),
        natural_gradient_warm_up: Some(3),
        inducing_rate: Some(0.001),
        inducing_momentum: Some(0.99),
        inducing_plateau: Some(100),
        plateau: Some(1000),
        output_deviation: Some(0.01),
        image: "4x4".parse().ok(),
        patch: Some(one_of_each_layer(2)),
        stride: Some(one_of_each_layer(1)),
        policy: fields.has("actions.rule").then_some(PolicyName::Unit),
        seed: Some(3),
        ..RunOptions::default()
    }
}

fn read_again(options: &RunOptions) -> RunOptions {
    serde_json::from_str(&serde_json::to_string(options).unwrap()).unwrap()
}

#[test]
fn the_options_of_a_run_describe_the_same_run() {
    for model in ModelChoice::named() {
        let typed = options(model);
        let source = typed.source().unwrap();
        let data = PreparedData::load(&source, &typed).unwrap();

        let checked = check(&typed, &source).unwrap();
        let resolved = resolve(&checked, &data).unwrap();

        assert_eq!(check(&read_again(&checked), &source), Ok(checked.clone()));
        let written = read_again(&resolved.0);
        assert_eq!(
            check(&written, &source),
            Ok(written.clone()),
            "{}",
            model.name()
        );
        assert_eq!(resolve(&written, &data), Ok(resolved), "{}", model.name());
    }
}

#[test]
fn options_without_use_are_left_out() {
    let sgpr = ModelChoice::find("sgpr").unwrap();
    let typed = options(sgpr);
    let checked = check(&typed, &typed.source().unwrap()).unwrap();
    assert_eq!(checked.without_use(sgpr), ["validation_fraction"]);
    assert_eq!(checked.validation_fraction, typed.validation_fraction);
    assert_eq!(checked.natural_gradient, None);
}

#[test]
fn a_wrong_option_is_found_without_data() {
    let wrong = RunOptions {
        batch_size: Some(0),
        ..RunOptions::default()
    };
    let found = check(&wrong, &wrong.source().unwrap()).unwrap_err();
    assert_eq!(
        found.to_string(),
        "--batch-size is 0 but must be at least 1"
    );
}

#[test]
fn early_stopping_excludes_other_held_out_rows() {
    let share = |early_stopping| RunOptions {
        early_stopping: Some(early_stopping),
        validation_fraction: Some(0.1),
        ..RunOptions::default()
    };
    let check = |options: RunOptions| check(&options, &options.source().unwrap());
    let (first, second) = ("early_stopping", "validation_fraction");
    let found = check(share(0.3)).unwrap_err();
    assert_eq!(found, OptionError::Exclusive { first, second });
    assert!(check(share(0.0)).is_ok());
}
