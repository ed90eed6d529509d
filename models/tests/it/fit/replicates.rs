//! Rows with equal inputs, which count as one row, compared with rows whose inputs differ in the last digits.

use temp_dir::TempDir;

use super::*;

const COPIES: usize = 4;
const DISTINCT: usize = 12;

/// Far more than rounding, and far less than what changes a prediction.
const NUDGE: f64 = 1e-11;

/// All inputs once, then all of them again, with other targets. With a nudge, no two are equal.
fn rows(nudge: f64) -> (Vec<[f64; 2]>, Vec<f64>) {
    let row = |row: usize| {
        let x = (row % DISTINCT) as f64;
        let moved = nudge * (1 + row) as f64;
        let x = [0.7 * x + moved, (5.0 * x) % 7.0 - moved];
        (x, x[0].sin() + 0.2 * x[1] + 0.3 * (2.9 * row as f64).cos())
    };
    (0..COPIES * DISTINCT).map(row).unzip()
}

fn fitted(config: &ModelConfig, nudge: f64) -> Fitted {
    let (x, y) = rows(nudge);
    // Few steps, which multiply rounding.
    let fit = Fit::l_bfgs().steps(6).on((&Device::flex(), DType::F64));
    config.fit(x, y, &fit).expect("a fit")
}

fn predictions(gp: &Fitted) -> Vec<f64> {
    let found = gp.predict(new()).expect("predictions");
    [numbers(found.mean()), numbers(found.variance())].concat()
}

#[test]
fn a_fit_is_that_of_rows_one_by_one() {
    let sgpr = SgprConfig::new(StationaryConfig::matern52()).with_inducing(6);
    for config in [exact().into(), ModelConfig::from(sgpr)] {
        println!("{}", config.name());
        let [ours, expected] = [0.0, NUDGE].map(|nudge| fitted(&config, nudge));
        let hyperparameters = |gp: &Fitted| -> Vec<f64> {
            let each = gp.hyperparameters().into_iter();
            each.flat_map(|own| own.values).collect()
        };
        let of = [&ours, &expected].map(hyperparameters);
        assert_close(&of[0], &of[1], 1e-6);
        assert_close(&predictions(&ours), &predictions(&expected), 1e-6);
        // Further rows, one of them a copy.
        let more = |gp: &Fitted| {
            let gp = gp.condition_on_observations([[0.7, 5.0], [3.3, 1.0]], [0.4, 1.0]);
            gp.expect("a model")
        };
        let [ours, expected] = [&ours, &expected].map(more);
        assert_close(&predictions(&ours), &predictions(&expected), 1e-6);
    }
}

/// All rows are kept, left out one by one, removed and saved.
#[test]
fn exact_models_keep_all_rows() {
    let [ours, expected] = [0.0, NUDGE].map(|nudge| fitted(&exact().into(), nudge));
    let kept = ours.model().observations().expect("rows");
    assert_eq!(kept.len(), COPIES * DISTINCT);
    let intervals = |gp: &Fitted| {
        let interval = gp.jackknife_plus(new(), 0.8).expect("intervals");
        [interval.lower, interval.upper].concat()
    };
    assert_close(&intervals(&ours), &intervals(&expected), 1e-6);
    // Without the copies of three inputs, and once more with all of them.
    let fewer = |gp: &Fitted| gp.retain_observations(|x| x[0] > 1.8).expect("a model");
    let [fewer, others] = [&ours, &expected].map(fewer);
    let kept = fewer.model().observations().expect("rows");
    assert_eq!(kept.len(), COPIES * (DISTINCT - 3));
    assert_close(&predictions(&fewer), &predictions(&others), 1e-6);
    let folder = TempDir::new().expect("a folder");
    ours.save(folder.path()).expect("saved");
    let again = Fitted::load(folder.path(), &Device::flex()).expect("loaded");
    assert_eq!(predictions(&again), predictions(&ours));
    let again = again.model().observations().expect("rows");
    assert_eq!(again.len(), COPIES * DISTINCT);
}
