//! Predictions of rows together, and of each by itself.

use super::{model, settings, zero};
use crate::reference::{
    Matrix, Problem, Random, add_diagonal, assert_all_close, cholesky, double_precision, product,
    rows, solve, tensor, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inference::VecchiaProcess,
    kernels::StationaryKernel,
    ops::Stationary,
    process::{Marginals, Process, WithMean},
};

/// A draw of the process at 300 places around a square gap, and 121 places on a lattice in the gap.
fn around_a_gap() -> Problem {
    let mut random = Random(11);
    let is_outside = |place: &Vec<f64>| place.iter().any(|x| x.abs() > 1.0);
    let places = random.uniform_rows(600, 2, -2.0, 2.0);
    let x: Matrix = places.into_iter().filter(is_outside).take(300).collect();
    let lattice = |index: i32| 0.18 * f64::from(index) - 0.9;
    let new_x = (0..121).map(|place| vec![lattice(place / 11), lattice(place % 11)]);
    let mut problem = Problem {
        lengthscales: vec![1.0, 1.0],
        noise: 0.01,
        new_x: new_x.collect(),
        x,
        ..Problem::plane(Stationary::Matern12)
    };
    let covariance = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let normals = (0..300).map(|_| vec![random.normal()]).collect();
    problem.y = product(&cholesky(&covariance), &normals);
    problem
}

/// `K_*f(K_ff + σ²I)⁻¹y`
fn exact_means(problem: &Problem) -> Matrix {
    let covariance = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let solved = solve(&covariance, &problem.y);
    product(&problem.covariance(&problem.new_x, &problem.x), &solved)
}

fn process(
    problem: &Problem,
    joint_predictions: bool,
) -> WithMean<VecchiaProcess<StationaryKernel>> {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let model = model(problem, zero(problem.outputs()), settings(10, 12), options)
        .with_joint_predictions(joint_predictions);
    let data = (tensor(&problem.x, options), tensor(&problem.y, options));
    model.condition(data.0, data.1).unwrap()
}

fn new_inputs(rows: &Matrix) -> Tensor<2> {
    let (_, device) = double_precision().remove(0);
    tensor(rows, (&device, DType::F64))
}

/// In a gap, joint means are closer to the exact means than those of each row by itself; the variances are the same.
#[test]
fn joint_means_are_closer_to_the_exact_means() {
    let problem = around_a_gap();
    let exact = exact_means(&problem);
    let x = new_inputs(&problem.new_x);
    let [joint, independent] = [true, false].map(|is_joint| {
        let process = process(&problem, is_joint);
        let Marginals { mean, variance } = process.marginals(x.clone());
        let squares = rows(mean).into_iter().zip(&exact).map(|(ours, exact)| {
            let pairs = ours.iter().zip(exact);
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>()
        });
        let distance = (squares.sum::<f64>() / exact.len() as f64).sqrt();
        (distance, values(variance))
    });
    assert!(
        joint.0 < 0.8 * independent.0,
        "distances to the exact means: {} jointly, {} independently",
        joint.0,
        independent.0
    );
    assert_eq!(joint.1, independent.1);
}

/// Without joint predictions, a row's prediction is the same whatever the other rows are; with them, it differs a
/// little. A single row is predicted in the same way by both.
#[test]
fn rows_are_independent_if_the_settings_say_so() {
    let problem = around_a_gap();
    let one_by_one = |process: &WithMean<VecchiaProcess<_>>| -> Vec<f64> {
        let each = problem.new_x.iter();
        each.flat_map(|row| values(process.marginals(new_inputs(&vec![row.clone()])).mean))
            .collect()
    };
    let together = |process: &WithMean<VecchiaProcess<_>>| {
        values(process.marginals(new_inputs(&problem.new_x)).mean)
    };
    let (joint, independent) = (process(&problem, true), process(&problem, false));
    assert_eq!(independent.joint_inputs(), 1);
    assert!(joint.joint_inputs() > 10_000);
    let each = one_by_one(&independent);
    // Tiles of another size may sum in another order.
    assert_all_close(&together(&independent), &each, 1e-12, "independent");
    assert_all_close(&one_by_one(&joint), &each, 1e-12, "single rows");
    let off = (together(&joint).into_iter().zip(&each)).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) > 1e-3);
}

/// Rows with an input that is not finite have no prediction and change no other; equal rows have equal predictions;
/// zero rows have zero predictions.
#[test]
fn unusual_rows_do_not_change_the_others() {
    let problem = around_a_gap();
    let process = process(&problem, true);
    let usual = process.marginals(new_inputs(&problem.new_x));
    let mut more = problem.new_x.clone();
    more.push(vec![f64::NAN, 0.0]);
    more.push(problem.new_x[60].clone());
    more.push(vec![0.1, f64::INFINITY]);
    let found = process.marginals(new_inputs(&more));
    for (found, usual) in [(found.mean, usual.mean), (found.variance, usual.variance)] {
        let (found, usual) = (values(found), values(usual));
        assert_all_close(&found[..121], &usual, 1e-12, "usual rows");
        assert!(found[121].is_nan() && found[123].is_nan(), "{found:?}");
        assert_eq!(found[122], found[60]);
    }
    let unusable = process.marginals(new_inputs(&vec![vec![f64::NAN, 1.0]]));
    assert!(values(unusable.mean)[0].is_nan());
    let (_, device) = double_precision().remove(0);
    let none = process.marginals(Tensor::zeros([0, 2], (&device, DType::F64)));
    assert_eq!((none.mean.dims(), none.variance.dims()), ([0, 1], [0, 1]));
}
