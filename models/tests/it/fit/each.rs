//! A model for each of many data sets.

use burn_gp_models::{Error, Fitted, fit_each};

use super::*;

/// Waves of different length, noise and size.
fn data_sets() -> Vec<(Vec<f64>, Vec<f64>)> {
    let data_set = |index: usize| {
        let rows = 12 + 5 * (index % 3);
        let x: Vec<f64> = (0..rows).map(|row| row as f64 / 3.0).collect();
        let wave = |x: &f64| (x * (1.0 + index as f64 / 4.0)).sin() + 0.2 * (31.0 * x).sin();
        let y = x.iter().map(|x| (index + 1) as f64 * wave(x)).collect();
        (x, y)
    };
    (0..7).map(data_set).collect()
}

fn predicted(model: Fitted) -> Vec<f64> {
    let predictions = model.predict([0.4, 2.5, 9.0]).expect("predictions");
    [numbers(predictions.mean()), numbers(predictions.variance())].concat()
}

/// Every model is that of its data set alone, bit for bit: each has its own standardization, hyperparameters and steps.
#[test]
fn models_of_many_data_sets_are_those_of_each_alone() {
    let fit = Fit::new();
    let together = fit_each(&exact(), data_sets(), &fit);
    assert_eq!(together.len(), data_sets().len());
    for (model, (x, y)) in together.into_iter().zip(data_sets()) {
        let alone = exact().fit(x, y, &fit).expect("a model");
        assert_eq!(predicted(model.expect("a model")), predicted(alone));
    }
    let config = svgp(GaussianConfig::default());
    let fit = Fit::adam(0.05).epochs(4);
    let together = fit_each(&config, data_sets(), &fit);
    for (model, (x, y)) in together.into_iter().zip(data_sets()) {
        let alone = config.fit(x, y, &fit).expect("a model");
        assert_eq!(predicted(model.expect("a model")), predicted(alone));
    }
}

#[test]
fn a_data_set_that_fails_stops_no_other() {
    let mut data_sets = data_sets();
    data_sets[2].1[3] = f64::NAN;
    data_sets[4].0.pop();
    let models = fit_each(&exact(), data_sets, &Fit::new());
    for (index, model) in models.into_iter().enumerate() {
        match (index, model) {
            (4, Err(Error::Rows { .. })) | (2, Err(_)) | (0 | 1 | 3 | 5 | 6, Ok(_)) => {}
            (index, model) => panic!("{index}: {:?}", model.err()),
        }
    }
    let none: [(Vec<f64>, Vec<f64>); 0] = [];
    assert!(fit_each(&exact(), none, &Fit::new()).is_empty());
}
