//! Predictions of the function.

use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::{Jitter, Stationary},
    process::{Process, WithMean},
};

use super::{Options, model};
use crate::reference::{
    Matrix, Problem, Random, assert_all_close, assert_close, double_precision, product, rows,
    solve, tensor, transpose, values,
};

/// Moments of the inducing values.
fn moments(problem: &Problem) -> [Vec<f64>; 2] {
    let mut random = Random(3);
    let deviations = problem.x.iter().map(|_| 0.1 + 0.5 * random.uniform());
    [problem.output(0), deviations.collect()]
}

fn process(
    problem: &Problem,
    neighbors: usize,
    options: Options<'_>,
) -> WithMean<burn_gp_core::inference::VnngpProcess<burn_gp_core::kernels::StationaryKernel>> {
    let mean = MeanConfig::constant(0.3).init(2, 1, options);
    let noise = Gaussian::new(problem.noise, options);
    let [means, deviations] =
        moments(problem).map(|values| Tensor::from_data(values.as_slice(), options));
    let model = model(problem, mean, noise, neighbors, Jitter::NONE, options);
    model.with_moments(means, deviations).condition()
}

/// Means and covariance of the function at new rows given all inducing values.
fn dense(problem: &Problem) -> (Vec<f64>, Matrix) {
    let [means, deviations] = moments(problem);
    let covariance = problem.covariance(&problem.x, &problem.x);
    let cross = problem.covariance(&problem.x, &problem.new_x);
    let weights = transpose(&solve(&covariance, &cross)); // [T, N]
    let column: Matrix = means.iter().map(|&value| vec![value]).collect();
    let mean = product(&weights, &column)
        .concat()
        .iter()
        .map(|value| value + 0.3)
        .collect();
    let scaled: Matrix = weights
        .iter()
        .map(|row| row.iter().zip(&deviations).map(|(w, s)| w * s).collect())
        .collect();
    let mut own = problem.covariance(&problem.new_x, &problem.new_x);
    let (explained, spread) = (
        product(&weights, &cross),
        product(&scaled, &transpose(&scaled)),
    );
    for (row, own) in own.iter_mut().enumerate() {
        for (column, own) in own.iter_mut().enumerate() {
            *own += spread[row][column] - explained[row][column];
        }
    }
    (mean, own)
}

/// With all neighbors, marginals, joint distributions and draws are those of dense algebra.
#[test]
fn all_neighbors_give_the_dense_predictions() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let (means, covariance) = dense(&problem);
    let process = process(&problem, 200, options);
    let new = tensor(&problem.new_x, options);
    let variances: Vec<f64> = (0..means.len()).map(|row| covariance[row][row]).collect();
    let marginals = process.marginals(new.clone());
    assert_all_close(&values(marginals.mean), &means, 1e-9, name);
    assert_all_close(&values(marginals.variance), &variances, 1e-9, name);
    let joint = process.joint(new.clone());
    assert_all_close(&values(joint.mean), &means, 1e-9, name);
    assert_all_close(&values(joint.covariance), &covariance.concat(), 1e-9, name);
    let samples = 40_000;
    let draws = process.sample(new.clone(), samples, 1).unwrap();
    let draws = rows(draws.squeeze_dim::<2>(1));
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

/// Gradients of predictions and draws in new inputs. Draws with and without autodiff are the same.
#[test]
fn gradients_flow_to_new_inputs() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let process = process(&problem, 10, options);
    let function = |x: Tensor<2>| {
        let marginals = process.marginals(x.clone());
        let draws = process.sample(x, 2, 3).unwrap();
        marginals.mean.sum() + marginals.variance.sum() * 2.0 + draws.sum()
    };
    let x = tensor(&problem.new_x, options).autodiff().require_grad();
    let value = function(x.clone());
    let plain = values(function(tensor(&problem.new_x, options)))[0];
    assert_close(values(value.clone())[0], plain, 1e-9, name);
    let slopes = x.grad(&value.backward()).unwrap();
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

/// Without new inputs there are no predictions, and inputs that are not finite have NaN.
#[test]
fn unusual_inputs() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let process = process(&Problem::plane(Stationary::Matern32), 10, options);
    let none = Tensor::<2>::zeros([0, 2], options);
    assert_eq!(process.marginals(none.clone()).mean.dims(), [0, 1]);
    assert_eq!(process.joint(none.clone()).covariance.dims(), [1, 0, 0]);
    assert_eq!(process.sample(none, 3, 0).unwrap().dims(), [3, 1, 0]);
    let bad = tensor(&vec![vec![0.1, f64::NAN], vec![0.3, 0.2]], options);
    let mean = values(process.marginals(bad).mean);
    assert!(mean[0].is_nan() && mean[1].is_finite(), "{mean:?}");
}
