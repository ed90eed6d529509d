//! Targets, likelihoods and files that have no transformation of targets.

use burn_gp_core::likelihoods::CensoredConfig;

use super::*;

#[test]
fn impossible_transformations_in_files_are_refused() {
    let log = json!({"kind": "log"});
    for (transforms, expected) in [
        (
            json!([{"kind": "box-cox", "power": -0.5}]),
            "impossible numbers of the transformation box-cox",
        ),
        (
            json!([log, log]),
            "the number of targets that it transforms is 2; the model has 1",
        ),
    ] {
        let text = error(with_transforms_in_its_file(&transforms).1).to_string();
        assert!(
            text.contains("model.json cannot be read") && text.contains(expected),
            "{text}"
        );
    }
}

#[test]
fn targets_without_a_transformed_value_are_named() {
    let mut targets = prices();
    targets[17] = -3.0;
    let fit = with(TransformName::Log).steps(1);
    let refused = error(exact().fit(places(), &targets, &fit));
    assert_eq!(
        refused.to_string(),
        "target -3 in row 17, column 0 cannot be transformed by log, which takes positive numbers; try yeo-johnson"
    );
    assert!(matches!(
        refused,
        Error::Untransformable {
            row: 17,
            column: 0,
            ..
        }
    ));
    let yeo_johnson = with(TransformName::YeoJohnson).steps(1);
    assert!(exact().fit(places(), &targets, &yeo_johnson).is_ok());
    let gp = exact().fit(places(), prices(), &fit).unwrap();
    let is_untransformable = |error: Error| {
        matches!(
            error,
            Error::Untransformable {
                row: 1,
                value: 0.0,
                ..
            }
        )
    };
    let densities = gp
        .predict(at())
        .unwrap()
        .log_density([1.0, 0.0, 1.0, 1.0, 1.0]);
    assert!(is_untransformable(
        densities.expect_err("zero has no logarithm")
    ));
    let further = gp.condition_on_observations([1.0, 2.0], [3.0, 0.0]);
    assert!(is_untransformable(error(further)));
    let given = gp.predict_given([1.0, 2.0], [3.0, 0.0]);
    assert!(is_untransformable(
        given.err().expect("zero has no logarithm")
    ));
    let stopping = with(TransformName::Log)
        .epochs(1)
        .early_stopping([1.0, 2.0], [3.0, 0.0], 1);
    let refused = svgp(GaussianConfig::default()).fit(places(), prices(), &stopping);
    assert!(is_untransformable(error(refused)));
}

#[test]
fn likelihoods_without_a_transformation_say_why() {
    let refused = |config: ModelConfig, targets: Matrix, transform| {
        error(config.fit(places(), targets, &with(transform).steps(1))).to_string()
    };
    let counts: Vec<usize> = (0..40).map(|row| row % 7).collect();
    let log = TransformName::Log;
    assert_eq!(
        refused(
            svgp(LikelihoodConfig::poisson()).into(),
            Matrix::from(&counts),
            log
        ),
        "transform_targets(log) does not apply: the likelihood takes labels, counts, positive numbers or fractions as they are"
    );
    let labels: Vec<usize> = (0..40).map(|row| row % 3).collect();
    let text = refused(
        svgp(SoftmaxConfig::new(3)).into(),
        Matrix::from(&labels),
        log,
    );
    assert!(text.contains("takes labels"), "{text}");
    let measured: Vec<[f64; 2]> = prices().iter().map(|y| [*y, 0.1]).collect();
    assert_eq!(
        refused(
            svgp(LikelihoodConfig::fixed_noise()).into(),
            Matrix::from(&measured),
            log
        ),
        "transform_targets(log) does not apply: the known noise of a target is not known noise of its transformed value"
    );
    let censored = CensoredConfig {
        lower: Some(1.0),
        ..Default::default()
    };
    let text = refused(svgp(censored).into(), Matrix::from(&prices()), log);
    assert!(text.contains("the likelihood has limits"), "{text}");
    let text = refused(
        exact().into(),
        Matrix::from(&prices()),
        TransformName::Quantile,
    );
    assert!(
        text.starts_with("transform_targets(quantile) does not apply: the density"),
        "{text}"
    );
    // Nothing is asked for.
    let fit = with(TransformName::None).steps(1);
    assert!(
        svgp(LikelihoodConfig::poisson())
            .fit(places(), counts, &fit)
            .is_ok()
    );
}
