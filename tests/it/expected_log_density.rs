//! The expected log-density of data with Gaussian noise, and its gradients.

use crate::support::{Dense, Input, Random, assert_close, check_gradients, numbers, platforms};
use burn_gp_core::ops::expected_gaussian_log_density;

/// Rows and outputs.
const SHAPES: [(usize, usize); 5] = [(1, 1), (7, 1), (5, 3), (300, 1), (0, 2)];

const NOISE: f64 = 0.3;

/// Means, variances and targets.
fn inputs(rows: usize, outputs: usize) -> [Dense; 3] {
    let mut random = Random::new((rows + 10 * outputs) as u64);
    let [mean, deviation, targets] = [(); 3].map(|()| random.matrix(rows, outputs));
    let square = |i, j| deviation[(i, j)] * deviation[(i, j)] + 0.1;
    [mean, Dense::from_function(rows, outputs, square), targets]
}

#[test]
fn expectations_are_those_of_the_formula() {
    for (rows, outputs) in SHAPES {
        let [mean, variance, targets] = inputs(rows, outputs);
        let expected: Vec<f64> = (0..rows)
            .map(|i| {
                let each = (0..outputs).map(|j| {
                    let error = targets[(i, j)] - mean[(i, j)];
                    (error * error + variance[(i, j)]) / NOISE
                        + (2.0 * std::f64::consts::PI * NOISE).ln()
                });
                -0.5 * each.sum::<f64>()
            })
            .collect();
        for platform in platforms() {
            let ours = expected_gaussian_log_density(
                platform.matrix(&mean),
                platform.matrix(&variance),
                platform.matrix(&targets),
                platform.tensor(&[NOISE], [1]),
            );
            // A few roundings of numbers of the size of the result.
            let tolerance = platform.tolerance(1e-14, 1e-6);
            let what = format!("{platform}, {rows} x {outputs}");
            assert_close(&what, &numbers(ours), &expected, tolerance);
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for (rows, outputs) in SHAPES.into_iter().filter(|&(rows, _)| rows > 0) {
        let [mean, variance, targets] = inputs(rows, outputs);
        let weights = Random::new(5).normals(rows);
        check_gradients(
            &format!("{rows} x {outputs}"),
            &[
                Input::from(&mean),
                Input::from(&variance),
                Input::from(&targets),
                vec![NOISE].into(),
            ],
            1e-4,
            &|platform, inputs| {
                let [mean, variance, targets] =
                    [0, 1, 2].map(|index: usize| inputs[index].clone().reshape([rows, outputs]));
                let noise = inputs[3].clone();
                let each = expected_gaussian_log_density(mean, variance, targets, noise);
                (each * platform.tensor(&weights, [rows])).sum()
            },
        );
    }
}

#[test]
#[should_panic(expected = "three of one shape")]
fn shapes_that_do_not_fit_are_the_callers_error() {
    let platform = &platforms()[0];
    let of = |outputs| platform.matrix(&Dense::from_function(2, outputs, |_, _| 1.0));
    expected_gaussian_log_density(of(2), of(1), of(2), platform.tensor(&[NOISE], [1]));
}
