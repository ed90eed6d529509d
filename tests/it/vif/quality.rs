//! How close the approximation is.

use super::{model, remote, settings};
use crate::reference::{
    Problem, Random, add_diagonal, double_precision, log_determinant, scalar, tensor,
};
use burn::tensor::DType;
use burn_gp_core::ops::Stationary;

/// `KL(p‖p̃) = ½(log|Σ̃| − log|Σ|)` is less than half of that with neighbors alone and of that with inducing points
/// alone, for a smooth kernel in two and five dimensions.
#[test]
fn both_together_are_closer_than_each_alone() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    for (dimensions, lengthscale) in [(2, 0.2), (5, 0.7)] {
        let mut random = Random(11);
        let x = random.uniform_rows(400, dimensions, 0.0, 1.0);
        let problem = Problem {
            kind: Stationary::Matern52,
            lengthscales: vec![lengthscale; dimensions],
            variance: 1.0,
            noise: 0.05,
            // With targets of zero, the log density is −½(log|Σ̃| + N·log 2π).
            y: vec![vec![0.0]; 400],
            z: random.uniform_rows(60, dimensions, 0.0, 1.0),
            new_x: Vec::new(),
            x,
        };
        let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
        let exact = -0.5 * (log_determinant(&noisy) + 400.0 * (2.0 * std::f64::consts::PI).ln());
        let (inputs, targets) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let divergence = |problem: &Problem, neighbors| {
            let vif = model(problem, settings(neighbors, 1), options);
            exact - scalar(vif.full_objective(inputs.clone(), targets.clone()).unwrap())
        };
        let mut alone = problem.clone();
        alone.z = remote(&problem);
        let [vecchia, fitc, both] = [
            divergence(&alone, 10),
            divergence(&problem, 0),
            divergence(&problem, 10),
        ];
        println!("D = {dimensions}: Vecchia {vecchia:.2}, FITC {fitc:.2}, both {both:.2}");
        assert!(both > 0.0, "{both}");
        assert!(2.0 * both < vecchia.min(fitc), "{vecchia}, {fitc}, {both}");
    }
}
