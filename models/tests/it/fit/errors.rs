//! Data, configurations and options that `fit` and `predict` refuse.

use super::*;

#[test]
fn bad_data_have_their_errors() {
    let fit = Fit::new().steps(1);
    let mut rows = inputs();
    rows[3][1] = f64::NAN;
    let refused = error(exact().fit(&rows, targets(), &fit));
    assert!(matches!(refused, Error::NotFinite { row: 3, column: 1, value } if value.is_nan()));
    let mut wrong = targets();
    wrong[5] = f64::INFINITY;
    let refused = error(exact().fit(inputs(), &wrong, &fit));
    assert!(matches!(refused, Error::Target(target) if target.row == 5));
    let refused = error(exact().fit(inputs(), &targets()[1..], &fit));
    assert!(matches!(refused, Error::Rows { inputs: ROWS, targets } if targets == ROWS - 1));
    let none: Vec<f64> = Vec::new();
    assert!(matches!(
        error(exact().fit(&none, &none, &fit)),
        Error::Empty { what: "inputs" }
    ));
    assert!(matches!(
        error(exact().fit([1.0], &none, &fit)),
        Error::Empty { what: "targets" }
    ));
    let ragged = vec![vec![1.0, 2.0], vec![3.0]];
    let refused = error(exact().fit(&ragged, [0.0, 1.0], &fit));
    assert!(matches!(
        refused,
        Error::Ragged {
            row: 1,
            found: 1,
            expected: 2,
            ..
        }
    ));
    let two: Vec<[f64; 2]> = targets().iter().map(|y| [*y, 1.0]).collect();
    let sparse = SgprConfig::new(StationaryConfig::rbf());
    let refused = error(sparse.fit(inputs(), &two, &fit));
    assert!(
        matches!(refused, Error::TargetColumns { found: 2, .. }),
        "{refused}"
    );
    let three: Vec<[f64; 3]> = targets().iter().map(|y| [*y, 1.0, 1.0]).collect();
    let refused = error(svgp(LikelihoodConfig::fixed_noise()).fit(inputs(), three, &fit));
    assert!(
        matches!(refused, Error::TargetColumns { found: 3, .. }),
        "{refused}"
    );
    let mut outside = labels();
    outside[2] = 3;
    let refused = error(svgp(SoftmaxConfig::new(3)).fit(inputs(), outside, &fit));
    assert!(matches!(refused, Error::Target(target) if (target.row, target.value) == (2, 3.0)));
    let gp = exact().fit(inputs(), targets(), &fit).unwrap();
    let refused = gp.predict([1.0, 2.0]).err().expect("one column");
    assert!(matches!(
        refused,
        Error::InputColumns {
            found: 1,
            expected: 2
        }
    ));
    assert!(matches!(
        gp.predict([[1.0, f64::NAN]]),
        Err(Error::NotFinite { column: 1, .. })
    ));
    let predicted = gp.predict(new()).unwrap();
    assert!(matches!(
        predicted.log_density([1.0]),
        Err(Error::Rows { .. })
    ));
    assert!(matches!(
        predicted.quantile(0.0),
        Err(Error::OutOfRange { .. })
    ));
    assert!(matches!(
        predicted.interval(1.5),
        Err(Error::OutOfRange { .. })
    ));
    assert!(matches!(
        Fitted::load("nowhere", &Device::default()),
        Err(Error::Files(_))
    ));
}

#[test]
fn impossible_configurations_are_errors() {
    let fit = Fit::new().steps(1);
    let noise = exact().with_likelihood(GaussianConfig::new(-1.0));
    assert!(matches!(
        error(noise.fit(inputs(), targets(), &fit)),
        Error::Init(_)
    ));
    let kernel = StationaryConfig::matern52().with_variance(-2.0);
    let refused = error(ExactConfig::new(kernel).fit(inputs(), targets(), &fit));
    assert!(matches!(refused, Error::Init(_)), "{refused}");
    let one_class = svgp(SoftmaxConfig::new(1));
    assert!(matches!(
        error(one_class.fit(inputs(), labels(), &fit)),
        Error::Init(_)
    ));
    let actions = computation_aware().with_actions(ActionsConfig::Blocks {
        count: ROWS + 1,
        at_most: false,
        start: Default::default(),
        seed: 0,
        rows: Default::default(),
    });
    assert!(matches!(
        error(actions.fit(inputs(), targets(), &fit)),
        Error::Init(InitError::Actions { rows: ROWS, .. })
    ));
}

#[test]
fn options_without_effect_are_errors() {
    let unused =
        |config: ModelConfig, fit: Fit| match error(config.fit(inputs(), targets(), &fit.steps(1)))
        {
            Error::Unused { option, .. } => option,
            other => panic!("{other}"),
        };
    let svgp = || ModelConfig::from(svgp(GaussianConfig::default()));
    let exact = || ModelConfig::from(exact());
    assert_eq!(unused(exact(), Fit::new().batch_size(5)), "batch_size");
    assert_eq!(
        unused(exact(), Fit::new().natural_gradients(0.1)),
        "natural_gradients"
    );
    assert_eq!(unused(exact(), Fit::new().seed(1)), "seed");
    assert_eq!(unused(exact(), Fit::adam(0.1).tolerance(0.1)), "tolerance");
    assert_eq!(unused(svgp(), Fit::new().network_rate(0.1)), "network_rate");
    assert_eq!(unused(svgp(), Fit::l_bfgs().batch_size(3)), "batch_size");
    let layer = LayerConfig::new(StationaryConfig::rbf());
    let deep = DeepGpConfig::new(layer.clone(), GaussianConfig::default()).with_hidden(2, layer);
    assert_eq!(unused(deep.into(), Fit::l_bfgs()), "l_bfgs");
    let counts: Vec<usize> = (0..ROWS).collect();
    let poisson = self::svgp(LikelihoodConfig::poisson());
    let refused = error(poisson.fit(inputs(), counts, &Fit::new().scale_targets(true)));
    assert!(matches!(
        refused,
        Error::Unused {
            option: "scale_targets",
            ..
        }
    ));
    for fit in [
        Fit::adam(-0.1),
        Fit::adam(f64::NAN),
        Fit::new().batch_size(0),
    ] {
        let refused = error(svgp().fit(inputs(), targets(), &fit));
        assert!(matches!(refused, Error::OutOfRange { .. }), "{refused}");
    }
}
