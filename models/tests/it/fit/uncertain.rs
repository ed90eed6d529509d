//! Predictions at inputs that are not known exactly.

use burn_gp_models::VecchiaConfig;

use super::*;

const POINTS: [[f64; 2]; 3] = [[0.3, 1.0], [2.5, 3.0], [4.0, 0.5]];

/// Any model, with one component or many: exact inputs have the usual predictions, uncertain ones wider intervals, and
/// rows do not depend on the others.
#[test]
fn every_kind_of_model_predicts_at_uncertain_inputs() {
    let (x, y) = (inputs(), targets());
    let layer =
        LayerConfig::new(StationaryConfig::matern52()).with_inducing(InducingConfig::new(10));
    let deep = DeepGpConfig::new(layer.clone(), GaussianConfig::default()).with_hidden(2, layer);
    let fitted = [
        exact().fit(&x, &y, &Fit::new().steps(5)),
        svgp(StudentTConfig::default()).fit(&x, &y, &Fit::adam(0.05).epochs(5)),
        VecchiaConfig::new(StationaryConfig::matern52()).fit(&x, &y, &Fit::new().steps(5)),
        deep.fit(&x, &y, &Fit::adam(0.05).epochs(3)),
    ];
    for (kind, model) in fitted.into_iter().enumerate() {
        let model = model.expect("a model");
        let exact = model.predict(POINTS).expect("predictions");
        let none = model
            .predict_uncertain(POINTS, [[0.0; 2]; 3])
            .expect("predictions");
        assert_close(&numbers(none.mean()), &numbers(exact.mean()), 1e-9);
        assert_close(&numbers(none.variance()), &numbers(exact.variance()), 1e-9);
        let deviations = [[0.0; 2], [0.5, 0.0], [0.0; 2]];
        let some = model
            .predict_uncertain(POINTS, deviations)
            .expect("predictions");
        let (some, exact) = (numbers(some.variance()), numbers(exact.variance()));
        // Nearest neighbors predict rows together, and each row with the others.
        if kind != 2 {
            assert_close(&[some[0], some[2]], &[exact[0], exact[2]], 1e-9);
        }
        // After so few steps, the function of the variational models hardly varies.
        let (with, without) = (some[1], exact[1]);
        let is_wider = with > without || kind % 2 == 1;
        assert!(
            (with - without).abs() > 1e-6 && is_wider,
            "model {kind}: {with} for {without}"
        );
    }
}

#[test]
fn impossible_deviations_are_errors() {
    let model = exact()
        .fit(inputs(), targets(), &Fit::new().steps(2))
        .expect("a model");
    let error = |deviations: Vec<[f64; 2]>| {
        let found = model.predict_uncertain(POINTS, &deviations).err();
        found.expect("an error").to_string()
    };
    assert!(error(vec![[0.1, 0.1]; 2]).contains("2"));
    assert!(error(vec![[0.1, -0.1]; 3]).contains("must not be negative"));
    assert!(error(vec![[0.1, f64::NAN]; 3]).contains("NaN"));
}
