//! Rows with equal inputs, which count as one row, compared with rows whose inputs differ in the last digits.

use burn::module::Module;
use burn_gp_core::inference::{Collapsed, Exact};
use burn_gp_models::training::{FullBatchTrainer, FullBatchTraining, Model, Trainer, TrainingData};
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

fn fitted(nudge: f64) -> Fitted {
    let (x, y) = rows(nudge);
    // Few steps, which multiply rounding.
    let fit = Fit::l_bfgs().steps(6).on((&Device::flex(), DType::F64));
    exact().fit(x, y, &fit).expect("a fit")
}

fn predictions(gp: &Fitted) -> Vec<f64> {
    let found = gp.predict(new()).expect("predictions");
    [numbers(found.mean()), numbers(found.variance())].concat()
}

/// The same start and the same data, with rows merged and one by one: the loss, leave-one-out predictions, parameters and
/// predictions after a few steps, which multiply rounding.
fn trained<M: Module + Model>(model: M, data: &TrainingData) -> Vec<f64> {
    let training = FullBatchTraining::default().with_iterations(6);
    let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
    for _ in 0..6 {
        trainer.step().expect("a step");
    }
    let model = trainer.model();
    let others = (model.leave_one_out(data).expect("a closed form")).expect("a factor");
    let trained = model.trained(data).expect("a trained model");
    let new = new();
    let found = (trained.predictor().expect("a predictor")).predict(new.as_flattened(), 2);
    let hyperparameters = model.hyperparameters().into_iter();
    [
        vec![trainer.loss().expect("a loss")],
        hyperparameters.flat_map(|own| own.values).collect(),
        numbers(others.mean),
        numbers(others.variance),
        found.mean,
        found.variance,
    ]
    .concat()
}

#[test]
fn training_is_that_of_rows_one_by_one() {
    let (x, y) = rows(0.0);
    let device = Device::flex().autodiff();
    let data = TrainingData::new(x.as_flattened(), &y, &device, DType::F64);
    let model = exact().init(&data).expect("a model");
    let (kernel, mean) = (model.kernel().clone(), model.mean().clone());
    let each = Exact::new(kernel, mean, model.likelihood().clone());
    assert_close(&trained(model, &data), &trained(each, &data), 1e-7);
    let config = SgprConfig::new(StationaryConfig::matern52()).with_inducing(6);
    let model = config.init(&data).expect("a model");
    let each = Collapsed::new(
        model.kernel().clone(),
        model.mean().clone(),
        model.likelihood().clone(),
        model.inducing().clone(),
        model.jitter(),
    );
    assert_close(&trained(model, &data), &trained(each, &data), 1e-7);
}

#[test]
fn fits_and_updates_are_those_of_rows_one_by_one() {
    let [ours, expected] = [0.0, NUDGE].map(fitted);
    let values = |gp: &Fitted| {
        let each = gp.hyperparameters().into_iter();
        each.flat_map(|own| own.values).collect::<Vec<f64>>()
    };
    assert_close(&values(&ours), &values(&expected), 1e-6);
    assert_close(&predictions(&ours), &predictions(&expected), 1e-6);
    // Further rows, one of them a copy.
    let more = |gp: &Fitted| {
        let gp = gp.condition_on_observations([[0.7, 5.0], [3.3, 1.0]], [0.4, 1.0]);
        gp.expect("a model")
    };
    let [ours, expected] = [&ours, &expected].map(more);
    assert_close(&predictions(&ours), &predictions(&expected), 1e-6);
}

/// All rows are kept, left out one by one, removed and saved.
#[test]
fn exact_models_keep_all_rows() {
    let [ours, expected] = [0.0, NUDGE].map(fitted);
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
