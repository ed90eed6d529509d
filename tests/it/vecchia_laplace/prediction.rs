//! Predictions of latent values and targets.

use burn::tensor::{DType, Tensor};
use burn_gp_core::{likelihoods::LikelihoodConfig, ops::Stationary, process::Process};

use super::{Options, model, targets};
use crate::reference::{
    Matrix, Problem, assert_all_close, assert_close, double_precision, product, rows, solve,
    tensor, transpose, values,
};

/// Predictions of the dense Laplace approximation for counts: means and covariance.
fn dense(problem: &Problem, counts: &[f64]) -> (Vec<f64>, Matrix) {
    let covariance = problem.covariance(&problem.x, &problem.x);
    let cross = problem.covariance(&problem.new_x, &problem.x);
    let rate = |g: f64| (g + 0.3).exp();
    let mut latent = vec![0.0; counts.len()];
    let mut noisy = covariance.clone();
    for _ in 0..50 {
        noisy = covariance.clone();
        (0..counts.len()).for_each(|row| noisy[row][row] += 1.0 / rate(latent[row]));
        let pseudo: Matrix = (0..counts.len())
            .map(|row| vec![latent[row] + (counts[row] - rate(latent[row])) / rate(latent[row])])
            .collect();
        latent = product(&covariance, &solve(&noisy, &pseudo)).concat();
    }
    let column: Matrix = latent.iter().map(|&value| vec![value]).collect();
    let means = product(&cross, &solve(&covariance, &column)).concat();
    let explained = product(&cross, &solve(&noisy, &transpose(&cross)));
    let mut own = problem.covariance(&problem.new_x, &problem.new_x);
    for (row, explained) in own.iter_mut().zip(&explained) {
        row.iter_mut()
            .zip(explained)
            .for_each(|(own, explained)| *own -= explained);
    }
    (means.iter().map(|mean| mean + 0.3).collect(), own)
}

fn counts(problem: &Problem, options: Options<'_>) -> Tensor<2> {
    targets(
        problem,
        &*LikelihoodConfig::poisson().init(options),
        options,
    )
}

/// With all neighbors, marginals, joint distributions and draws are those of the dense approximation.
#[test]
fn all_neighbors_give_the_dense_predictions() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let y = counts(&problem, options);
    let (means, covariance) = dense(&problem, &values(y.clone()));
    let likelihood = LikelihoodConfig::poisson().init(options);
    let model = model(&problem, likelihood, 49, options);
    let process = model.condition(tensor(&problem.x, options), y).unwrap();
    let new = tensor(&problem.new_x, options);
    let variances: Vec<f64> = (0..means.len()).map(|row| covariance[row][row]).collect();
    let marginals = process.marginals(new.clone());
    assert_all_close(&values(marginals.mean), &means, 1e-6, name);
    assert_all_close(&values(marginals.variance), &variances, 1e-6, name);
    let joint = process.joint(new.clone());
    assert_all_close(&values(joint.mean), &means, 1e-6, name);
    assert_all_close(&values(joint.covariance), &covariance.concat(), 1e-6, name);
    let samples = 40_000;
    let draws = rows(
        process
            .sample(new.clone(), samples, 1)
            .unwrap()
            .squeeze_dim::<2>(1),
    );
    for (first, own) in covariance.iter().enumerate() {
        for (second, expected) in own.iter().enumerate() {
            let products = draws
                .iter()
                .map(|row| (row[first] - means[first]) * (row[second] - means[second]));
            // Five standard errors.
            let error = 5.0 * (2.0 * variances[first] * variances[second] / samples as f64).sqrt();
            let found = products.sum::<f64>() / samples as f64;
            assert!(
                (found - expected).abs() < error,
                "{name}: {found}, {expected}"
            );
        }
    }
}

/// Gradients of predictions and draws in new inputs.
#[test]
fn gradients_flow_to_new_inputs() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let likelihood = LikelihoodConfig::poisson().init(options);
    let model = model(&problem, likelihood, 10, options);
    let process = model
        .condition(tensor(&problem.x, options), counts(&problem, options))
        .unwrap();
    let function = |x: Tensor<2>| {
        let marginals = process.marginals(x.clone());
        let draws = process.sample(x, 2, 3).unwrap();
        marginals.mean.sum() + marginals.variance.sum() * 2.0 + draws.sum()
    };
    let x = tensor(&problem.new_x, options).autodiff().require_grad();
    let slopes = x.grad(&function(x.clone()).backward()).unwrap();
    let step = 1e-6;
    for (row, slopes) in rows(slopes).iter().enumerate() {
        for (column, slope) in slopes.iter().enumerate() {
            let moved = |step: f64| {
                let mut new = problem.new_x.clone();
                new[row][column] += step;
                values(function(tensor(&new, options)))[0]
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            assert_close(*slope, difference, 1e-5, name);
        }
    }
}

/// A prediction does not depend on the other rows, and likelihoods make probabilities of it.
#[test]
fn labels_have_probabilities() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let labels = problem
        .output(0)
        .into_iter()
        .map(|value| vec![f64::from(u8::from(value > 0.0))]);
    let y = tensor(&labels.collect(), options);
    let likelihood = LikelihoodConfig::bernoulli().init(options);
    let model = model(&problem, likelihood, 10, options);
    let process = model.condition(tensor(&problem.x, options), y).unwrap();
    let all = process.marginals(tensor(&problem.new_x, options));
    let one = process.marginals(tensor(&problem.new_x[2..3].to_vec(), options));
    assert_close(
        values(one.mean)[0],
        values(all.mean.clone())[2],
        1e-12,
        name,
    );
    let probabilities = model.likelihood().class_probabilities(all).unwrap();
    for row in rows(probabilities) {
        assert_close(row.iter().sum(), 1.0, 1e-12, name);
        assert!(
            row.iter().all(|&value| (0.0..=1.0).contains(&value)),
            "{name}: {row:?}"
        );
    }
}

/// Without new inputs there are no predictions, and inputs that are not finite have NaN.
#[test]
fn unusual_inputs() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let likelihood = LikelihoodConfig::poisson().init(options);
    let model = model(&problem, likelihood, 10, options);
    let process = model
        .condition(tensor(&problem.x, options), counts(&problem, options))
        .unwrap();
    let none = Tensor::<2>::zeros([0, 2], options);
    assert_eq!(process.marginals(none.clone()).mean.dims(), [0, 1]);
    assert_eq!(process.joint(none.clone()).covariance.dims(), [1, 0, 0]);
    assert_eq!(process.sample(none, 3, 0).unwrap().dims(), [3, 1, 0]);
    let bad = tensor(&vec![vec![0.1, f64::NAN], vec![0.3, 0.2]], options);
    let mean = values(process.marginals(bad).mean);
    assert!(mean[0].is_nan() && mean[1].is_finite(), "{mean:?}");
}
